package status_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/query"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/release/status"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// TestTheAppContextOfEMCOIsNamed with what rsync says of it.
func TestTheAppContextOfEMCOIsNamed(t *testing.T) {
	snap := running(t)
	require.Nil(t, status.Of(*snap).AppContext)
	snap.AppContext = &query.AppContextReport{ID: "7007", State: "Instantiated"}
	require.Equal(t, &intent.AppContextStatus{ID: "7007", State: "Instantiated"}, status.Of(*snap).AppContext)
	snap.AppContext = &query.AppContextReport{ID: "7007", Why: "app context 7007 does not exist"}
	require.Equal(t, &intent.AppContextStatus{ID: "7007", Message: "app context 7007 does not exist"}, status.Of(*snap).AppContext)
}

// TestWhyEMCOIsNotFollowedIsTold: before the first release, too.
func TestWhyEMCOIsNotFollowedIsTold(t *testing.T) {
	snap := running(t)
	snap.Lifecycle.Prepared = []state.Prepared{{AppContext: "7007"}, {AppContext: "7008", Failure: "a record is gone"}, {AppContext: "7009"}}
	require.Equal(t, "EMCO's app context 7008 is not followed: a record is gone", status.Of(*snap).Message)
	created := query.Snapshot{Lifecycle: state.Lifecycle{Prepared: snap.Lifecycle.Prepared}}
	require.Equal(t, "EMCO's app context 7008 is not followed: a record is gone", status.Of(created).Message)
	require.Equal(t, intent.Created, status.Of(created).State)
}

// TestAClusterThatOthersServeIsNotWaitedFor: nobody contacts it.
func TestAClusterThatOthersServeIsNotWaitedFor(t *testing.T) {
	snap := running(t)
	drop(snap, "ConfigMap")
	snap.Group.Clusters = []plan.Cluster{{Name: hub}, {Name: berlin, Inventory: true}}
	snap.Clusters[berlin] = query.ClusterReport{Reachability: (*observed.Reachability)(nil)}
	s := status.Of(*snap)
	require.Equal(t, "Signpost does not connect to it: EMCO's monitor tells its addresses", s.Clusters[0].Message)
	require.Equal(t, committed+"Synced=True/Applied Published=True/Published Verified=Unknown/NotAsked", summary(s.Conditions))
}
