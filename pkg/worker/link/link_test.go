package link

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

// TestWhatIsSeenWakesStepAndProber: the prober looks at Deployments, and is woken by nobody else when they change.
func TestWhatIsSeenWakesStepAndProber(t *testing.T) {
	t.Parallel()
	of := &state.Cluster{Name: "edge+hub", Signals: state.NewSignals()}
	l := &Link{Cluster: of}
	l.seen(bundle.ID{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "external-dns-lab"})
	require.Len(t, of.Signals.Step, 1)
	require.Len(t, of.Signals.Probe, 1)
	ids, all := of.Agenda.Take()
	require.Equal(t, map[bundle.ID]bool{{Cluster: "edge+hub", Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "external-dns-lab"}: true}, ids)
	require.False(t, all)
	l.seen()
	_, all = of.Agenda.Take()
	require.True(t, all)
}

// TestThePublicationOfDNSEndpointsIsLookedAt: of those that are told of, or of all; also if the cluster is watched anew.
func TestThePublicationOfDNSEndpointsIsLookedAt(t *testing.T) {
	t.Parallel()
	of := &state.Cluster{Name: "edge+hub", Signals: state.NewSignals()}
	l := &Link{Cluster: of}
	l.published(bundle.EndpointID("", "shop", "web"))
	require.Len(t, of.Signals.Probe, 1)
	ids, all := of.Publications.Take()
	require.Equal(t, map[bundle.ID]bool{bundle.EndpointID("edge+hub", "shop", "web"): true}, ids)
	require.False(t, all)
	l.published()
	_, all = of.Publications.Take()
	require.True(t, all)
	of.SetWatches(nil, nil)
	_, all = of.Publications.Take()
	require.True(t, all)
}
