package render

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// TestRenderingEndsWithItsContext, and tells that, rather than that something is
// wrong with the group.
func TestRenderingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	manifest := json.RawMessage(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`)
	for name, g := range map[string]plan.Group{
		"of objects": {LogicalCloudNamespace: "shop", Apps: []plan.App{{Name: "web", Clusters: []string{"edge+hub"}, Manifests: []json.RawMessage{manifest}}}},
		"of names":   {Bindings: []plan.Binding{{Cluster: "edge+hub", Record: "lab", Hosts: []plan.Host{{Name: "www.lab.example"}}}}},
	} {
		sources := Sources{health: func(context.Context) (clusterHealth, error) { return clusterHealth{}, nil }}
		_, err := Render(ctx, g, nil, state.DrainedClusters{}, nil, sources)
		require.ErrorIs(t, err, context.Canceled, name)
		require.NotEqual(t, intent.Conflict, intent.CodeOf(err), name)
	}
}
