package nameindex

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/memory"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// TestAFurtherNameOfAGroupTakesLittle: the names of a binding differ in their host names only. These are not counted.
func TestAFurtherNameOfAGroupTakesLittle(t *testing.T) {
	const many, most = 4000, 100 // bytes of each
	b := plan.Binding{App: "web", Service: "web", Namespace: "shop", Record: "lab", Scope: intent.Public, Cluster: "edge+hub", Sources: []string{"edge+paris"}}
	for n := range many {
		b.Hosts = append(b.Hosts, plan.Host{Name: fmt.Sprintf("n%d.lab.example", n)})
	}
	g := plan.Group{Project: plan.Project{Name: "shop", Namespace: "shop-dns"}, Bindings: []plan.Binding{b}}
	before, index := memory.InUse(), newTables()
	index.put("projects/shop/composite-apps/store/v1/deployment-intent-groups/g", &state.Lifecycle{}, g)
	index.settle()
	each := (memory.InUse() - before) / many
	require.Len(t, index.rows, many)
	runtime.KeepAlive(g)
	t.Logf("%d bytes", each)
	require.Less(t, each, most)
}
