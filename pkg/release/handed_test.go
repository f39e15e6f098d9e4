package release_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// handed is a world in which rsync puts objects into clusters, and knows an
// owner's contexts by these ids.
func (w *world) handed(children *appcontext.Children) {
	w.options.DelegatedContexts = func(_ context.Context, owner appcontext.Owner, clusters []string) (appcontext.Children, error) {
		if owner != appcontext.Owner(prod) || !slices.Contains(clusters, hub) {
			return appcontext.Children{}, nil
		}
		return *children, nil
	}
	w.service = release.New(w.options)
}

// TestWithRsyncPlansRefuseWhatItCannotDo: all of it is said before anything is
// accepted.
func TestWithRsyncPlansRefuseWhatItCannotDo(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		spoil func(w *world)
		says  []string
	}{
		"a credential by value": {
			func(w *world) {
				w.put("secrets/sealed", `{}`)
				w.put(lab, record("lab.example", `,"credentials":[{"environment":"ETCD_PASSWORD","valueRef":"sealed"}]`))
			},
			[]string{string(lab) + "#/spec/credentials/0", "which would be readable in app contexts, which EMCO's rsync (--rsync-endpoint) reads; give it by secretRef to a Secret of namespace shop-dns"},
		},
		"a directory": {
			func(w *world) { w.put("cluster-providers/edge/clusters/hub", `{"directory":"hub"}`) },
			[]string{"cluster-providers/edge/clusters/hub#/spec/directory", "into which EMCO's rsync (--rsync-endpoint) puts nothing"},
		},
		"a cluster that does not exist": {
			func(w *world) {
				w.put(eu, `{"namespace":"shop","controllerCluster":{"clusterProvider":"edge","cluster":"none"}}`)
			},
			[]string{"cluster edge+none does not exist"},
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newShop(t)
			w.handed(&appcontext.Children{})
			c.spoil(w)
			w.refuses(intent.Instantiate, prod, c.says...)
		})
	}
}

func TestWithRsyncAClusterNeedsNoKubeconfig(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put("cluster-providers/edge/clusters/hub", `{}`)
	w.refuses(intent.Instantiate, prod, "inventory only")
	w.handed(&appcontext.Children{})
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Equal(t, intent.Instantiated, w.state(prod))
}

func TestWithRsyncACloudsDNSCannotBeImported(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	w.handed(&appcontext.Children{})
	w.resolve(`[{"domain":"foo.com","nameservers":["1.2.3.4"]}]`, `,"mode":"import"`)
	w.refuses(intent.Instantiate, eu, string(resolvers)+"#/spec/mode", "use mode dedicated")
}

// TestWithRsyncTheParentNamesWhatRsyncKnows: EMCO's orchestrator has rsync
// uninstall the children of what it terminates.
func TestWithRsyncTheParentNamesWhatRsyncKnows(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	var children appcontext.Children
	w.handed(&children)
	w.appContext(firstContext)
	w.event(firstContext, intent.Instantiate)
	w.settle(prod)
	require.Empty(t, w.children(firstContext), "rsync knows nothing yet")
	own := w.contextID()
	meta := "/context/" + firstContext + "/meta/"
	w.putKey(meta, strings.Replace(w.value(meta), `"ChildContextIDs":null`, `"ChildContextIDs":["77",`+`"`+own+`"]`, 1))
	w.settle(prod)
	require.Equal(t, []string{"77"}, w.children(firstContext), "nor anything of contexts that the sync worker had put into clusters")
	w.putKey(meta, strings.Replace(w.value(meta), `["77"]`, `null`, 1))

	children = appcontext.Children{Now: []string{"501", "502"}}
	w.settle(prod)
	require.Equal(t, []string{"501", "502"}, w.children(firstContext))

	children = appcontext.Children{Now: []string{"502", "601"}, Former: []string{"501"}}
	w.settle(prod)
	require.Equal(t, []string{"502", "601"}, w.children(firstContext))

	w.serve("two.lab.example")
	w.appContext(secondContext)
	require.Equal(t, []string{"502", "601"}, w.children(secondContext), "what outlives the first one, from the beginning")
	w.event(secondContext, intent.Update)
	w.settle(prod)
	require.Equal(t, []string{"502", "601"}, w.children(secondContext))
	require.Empty(t, w.children(firstContext))

	w.event(secondContext, intent.Terminate)
	w.outlive()
	require.Empty(t, w.children(secondContext))
}
