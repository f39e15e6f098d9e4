package release_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release"
)

// TestACallFreezesARelease: what a group's intents ask for is frozen for the
// app context, by the rules of instantiate, and nothing is deployed yet.
func TestACallFreezesARelease(t *testing.T) {
	w := newOrchestrated(t)
	require.Empty(t, w.changedBy("/context/", func() { w.called(early) }), "nothing in the context is to be changed")
	_, frozen := w.prepared(early)
	g := frozen.Group
	require.Equal(t, &plan.Orchestrated{AppContext: early, Namespace: "shop", Level: "0"}, g.Orchestrated)
	require.Equal(t, []plan.App{{Name: "web", Namespace: "shop", Clusters: []string{berlin, paris}}}, g.Apps)
	require.Len(t, g.Bindings, 1)
	require.Equal(t, hub, g.Bindings[0].Cluster)
	require.Equal(t, []string{berlin, paris}, g.Bindings[0].Sources)
	l := w.stored(prod)
	require.Zero(t, l.Seq)
	require.Equal(t, []release.Prepared{{AppContext: early, ContextID: l.Prepared[0].ContextID, Traffic: []string{"front"}}}, l.Prepared)
	w.settle(prod)
	require.Empty(t, w.inClusters())
}
