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
