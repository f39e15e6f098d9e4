package release_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

const (
	stockImage = "docker.io/coredns/coredns:1.15.0"
	ownImage   = "docker.io/signpost-dns/signpost-dns:v0.1.0"
)

// asks puts the DNS CR intent with these fields, and brings it about.
func (w *world) asks(fields string) {
	w.Helper()
	w.put(resolvers, `{`+fields+`}`)
	w.do(intent.Update, eu)
	w.settle(eu)
}

// TestEachModeOfAutopathRunsTheImageThatKnowsIt: with edns0 DNS pods run
// signpost-dns, otherwise stock CoreDNS, whatever was pinned before.
func TestEachModeOfAutopathRunsTheImageThatKnowsIt(t *testing.T) {
	t.Parallel()
	w := resolving(t)
	for _, c := range []struct{ reason, fields, image, resolver string }{
		{"neither", ``, stockImage, ""},
		{"edns0 by default", `"autopath":{}`, ownImage, ownImage},
		{"static", `"autopath":{"mode":"Static"}`, stockImage, ""},
		{"edns0 again", `"autopath":{"mode":"EDNS0"}`, ownImage, ownImage},
		{"a cache alone", `"nodeLocalDNS":{"enabled":true}`, stockImage, ownImage},
		{"static behind a cache", `"nodeLocalDNS":{"enabled":true},"autopath":{"mode":"static"}`, stockImage, ownImage},
		{"a cache that is not enabled", `"nodeLocalDNS":{"localIP":"169.254.9.9"}`, stockImage, ""},
		{"an image of one's own", `"autopath":{},"image":"registry.example/dns:1"`, "registry.example/dns:1", ownImage},
		{"of which nothing stays", `"autopath":{}`, ownImage, ownImage},
	} {
		w.asks(c.fields)
		assert.Equal(t, c.image, w.dns(berlin).Image, c.reason)
		assert.Equal(t, c.resolver, w.dns(berlin).ResolverImage, c.reason)
	}
}

// TestPinnedImagesDoNotCrossOverBetweenModes: what DNS pods run stays as long as
// the mode does, and no longer.
func TestPinnedImagesDoNotCrossOverBetweenModes(t *testing.T) {
	t.Parallel()
	w := resolving(t)
	w.asks(`"autopath":{}`)
	w.options.ImageRegistry = "registry.example"
	w.restartOn(w.fake)
	w.asks(`"autopath":{"option":65100}`)
	assert.Equal(t, ownImage, w.dns(berlin).Image, "another version of Signpost brings no other image")
	assert.Equal(t, ownImage, w.dns(berlin).ResolverImage)
	w.asks(`"autopath":{"mode":"static"}`)
	assert.Equal(t, "registry.example/coredns/coredns:1.15.0", w.dns(berlin).Image)
	w.asks(`"autopath":{}`)
	assert.Equal(t, "registry.example/signpost-dns/signpost-dns:v0.1.0", w.dns(berlin).Image)
}

// TestStockCoreDNSWalksTheSearchPathsOfTheLogicalCloudsNamespace: beside those
// that the intent names, each once; and so a trace tells.
func TestStockCoreDNSWalksTheSearchPathsOfTheLogicalCloudsNamespace(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	w.put(resolvers, `{"autopath":{"mode":"static","namespaces":["shop","batch"],"searches":["corp.example"]}}`)
	w.do(intent.Instantiate, eu)
	w.settle(eu)
	require.Equal(t, []string{"batch", "shop"}, w.dns(berlin).Spec.Autopath.Namespaces)

	for name, want := range map[string]corefile.Way{
		"web.search.shop.cluster.local.ap.k8s.io": {Server: "search.shop.cluster.local.ap.k8s.io:5353", Plugin: "autopath", Why: []string{
			"the search paths of namespace shop are walked: web.shop.svc.cluster.local, web.svc.cluster.local, web.cluster.local, web.corp.example, and at last web are looked up, each on its own way, until one is there",
		}},
		"web.search.other.cluster.local.ap.k8s.io": {Server: "ap.k8s.io:5353", Plugin: "template", Why: []string{
			"web.search.other.cluster.local.ap.k8s.io is in no search domain of a namespace whose search paths are walked: it does not exist",
		}},
	} {
		way, err := w.trace("", name)
		require.NoError(t, err)
		require.Equal(t, want, way)
	}
	w.put(resolvers, `{"autopath":{"mode":"static"}}`)
	way, err := w.trace("", "web.search.shop.cluster.local.ap.k8s.io")
	require.NoError(t, err)
	require.Equal(t, "autopath", way.Plugin, "the document names no namespace")
}

// TestTheCachesOnTheNodesAreSeenWhereThereAreToBeAny: what was seen of earlier
// ones is not told.
func TestTheCachesOnTheNodesAreSeenWhereThereAreToBeAny(t *testing.T) {
	t.Parallel()
	w := resolving(t)
	w.asks(`"autopath":{}`)
	require.Nil(t, w.dns(berlin).Caches, "nobody has seen them yet")
	writer, err := w.observed.Writer(t.Context(), berlin, fence)
	require.NoError(t, err)
	for name, ready := range map[string]int32{"dns-default": 2, "node-local-dns": 3} {
		require.NoError(t, writer.SetDaemonSet(t.Context(), "signpost-dns", name, observed.DaemonSet{Available: true, Ready: ready}))
	}
	assert.EqualValues(t, 2, w.dns(berlin).Pods.Ready)
	assert.EqualValues(t, 3, w.dns(berlin).Caches.Ready)
	assert.Nil(t, w.dns(paris).Caches)
	w.asks(`"autopath":{"mode":"static"}`)
	assert.Nil(t, w.dns(berlin).Caches)
}
