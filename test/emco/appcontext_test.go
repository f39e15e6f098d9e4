package emco_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/golden"
	"github.com/signpost-dns/signpost/test/emco"
)

const service = `# Source: web/templates/service.yaml
apiVersion: v1
kind: Service
metadata:
  name: web
  annotations: {note: "a < b & c"}
`

func shop() emco.AppContext {
	return emco.AppContext{
		ID: "4243",
		Meta: emco.Meta{
			Project: "shop", CompositeApp: "store", Version: "v1", Release: "r1", DeploymentIntentGroup: "prod",
			Namespace: "shop", Level: "0", LogicalCloud: "eu", Extra: map[string]any{"ServiceMesh": map[string]any{"kind": "istio"}},
		},
		Apps: []emco.App{
			{Name: "web", Clusters: []emco.Cluster{
				{
					Name: "edge+paris", Group: "1", Resources: []emco.Resource{{Name: "web+Service", Text: service}},
					CRDs: []emco.Resource{{Name: "things+CustomResourceDefinition", Text: "kind: CustomResourceDefinition"}},
				},
				{Name: "edge+berlin", Group: "2", Resources: []emco.Resource{{Name: "web+Service", Text: "{}\nno newline at its end"}}},
			}},
			{
				Name: "api", Dependency: []emco.AppDependency{{App: "web", OpStatus: "Ready", Wait: 2}},
				Clusters: []emco.Cluster{{Name: "edge+paris", Group: "1"}},
			},
		},
	}
}

func TestAContextIsWrittenInTheLayout(t *testing.T) {
	w := startWorld(t, emco.Options{Etcd: startServers(t).etcd.URL})
	require.NoError(t, w.WriteContext(t.Context(), shop()))
	first, err := w.Dump(t.Context(), "4243", nil)
	require.NoError(t, err)
	golden.Equal(t, "context.txt", first)
	again, err := w.Dump(t.Context(), "4243", nil)
	require.NoError(t, err)
	require.Equal(t, first, again)

	require.ErrorContains(t, w.WriteContext(t.Context(), shop()), "exists")
	require.NoError(t, w.DeleteContext(t.Context(), "4243"))
	keys, err := w.Keys(t.Context(), "4243")
	require.NoError(t, err)
	require.Empty(t, keys)
}

// The id of one context may begin with that of another.
func TestOneContextIsDeletedAndNoOther(t *testing.T) {
	w := startWorld(t, emco.Options{Etcd: startServers(t).etcd.URL})
	longer := shop()
	longer.ID = "42431"
	require.NoError(t, w.WriteContext(t.Context(), longer))
	require.NoError(t, w.WriteContext(t.Context(), shop()))
	require.NoError(t, w.DeleteContext(t.Context(), "4243"))
	keys, err := w.Keys(t.Context(), "42431")
	require.NoError(t, err)
	require.NotEmpty(t, keys)
}

func TestAWriterThatIsKilledLeavesItsFirstKeys(t *testing.T) {
	w := startWorld(t, emco.Options{Etcd: startServers(t).etcd.URL})
	w.CrashAfter(5)
	require.ErrorContains(t, w.WriteContext(t.Context(), shop()), "killed")
	keys, err := w.Keys(t.Context(), "4243")
	require.NoError(t, err)
	require.Len(t, keys, 5)
	require.Contains(t, keys, "/context/4243/meta/")
	require.Contains(t, keys, "/context/4243/app/web/cluster/edge+paris/!@#metaGrp/")
	require.NotContains(t, keys, "/context/4243/app/instruction/order/")
	w.CrashAfter(-1)
	require.NoError(t, w.DeleteContext(t.Context(), "4243"))
	require.NoError(t, w.WriteContext(t.Context(), shop()))
}

func TestADumpShowsEveryByte(t *testing.T) {
	w := startWorld(t, emco.Options{Etcd: startServers(t).etcd.URL})
	require.NoError(t, w.Put(t.Context(), "7", "a/", "one line"))
	require.NoError(t, w.Put(t.Context(), "7", "b/", "two\nlines\n"))
	require.NoError(t, w.Put(t.Context(), "7", "c/", "two\nlines"))
	require.NoError(t, w.Put(t.Context(), "7", "d/", map[string]any{"Other": "4243"}))
	dump, err := w.Dump(t.Context(), "7", map[string]string{"4243": "CHILD"})
	require.NoError(t, err)
	require.Equal(t, "/context/ID/a/\n  > one line\n/context/ID/b/\n  | two\n  | lines\n/context/ID/c/\n  | two\n  | lines\n  (no newline)\n/context/ID/d/\n  {\"Other\":\"CHILD\"}\n", dump)
}

// EMCO's service discovery writes back what it knows of a context's meta.
func TestAnotherControllerLosesKeysOfTheMeta(t *testing.T) {
	w := startWorld(t, emco.Options{Etcd: startServers(t).etcd.URL})
	require.NoError(t, w.WriteContext(t.Context(), shop()))
	require.NoError(t, w.AddChild(t.Context(), "4243", "99"))
	require.NoError(t, w.AddResource(t.Context(), "4243", "web", "edge+paris", emco.Resource{Name: "more+ConfigMap", Text: "x"}))
	require.NoError(t, w.AddResource(t.Context(), "4243", "web", "edge+paris", emco.Resource{Name: "more+ConfigMap", Text: "y"}))
	keys, err := w.Keys(t.Context(), "4243")
	require.NoError(t, err)
	require.Contains(t, keys["/context/4243/meta/"], `"ChildContextIDs":["99"],"LogicalCloud":""`)
	require.NotContains(t, keys["/context/4243/meta/"], "ServiceMesh")
	require.Equal(t, `"{\"resorder\":[\"web+Service\",\"more+ConfigMap\"]}"`, keys["/context/4243/app/web/cluster/edge+paris/resource/instruction/order/"])
	require.NoError(t, w.Remove(t.Context(), "4243", "meta/"))
	keys, err = w.Keys(t.Context(), "4243")
	require.NoError(t, err)
	require.NotContains(t, keys, "/context/4243/meta/")
}

func TestALargeContextIsWrittenAtOnce(t *testing.T) {
	w := startWorld(t, emco.Options{Etcd: startServers(t).etcd.URL})
	large := emco.AppContext{ID: emco.NewID(), Apps: []emco.App{{Name: "web"}}}
	for c := range 100 {
		on := emco.Cluster{Name: fmt.Sprintf("edge+c%d", c)}
		for r := range 20 {
			on.Resources = append(on.Resources, emco.Resource{Name: fmt.Sprintf("r%d+ConfigMap", r), Text: strings.Repeat("x", 1024)})
		}
		large.Apps[0].Clusters = append(large.Apps[0].Clusters, on)
	}
	require.NoError(t, w.WriteContextAtOnce(t.Context(), large))
	keys, err := w.Keys(t.Context(), large.ID)
	require.NoError(t, err)
	require.Len(t, keys, 5+100*(20+2))

	small, same := shop(), shop()
	same.ID = "4244"
	require.NoError(t, w.WriteContext(t.Context(), small))
	require.NoError(t, w.WriteContextAtOnce(t.Context(), same))
	one, err := w.Dump(t.Context(), small.ID, nil)
	require.NoError(t, err)
	other, err := w.Dump(t.Context(), same.ID, nil)
	require.NoError(t, err)
	require.Equal(t, one, other)
}
