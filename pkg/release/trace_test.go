package release_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// trace asks for the way of an A query.
func (w *world) trace(cluster, name string) (corefile.Way, error) {
	return w.service.Trace(w.Context(), resolvers, cluster, corefile.Query{Name: name, Type: "A"})
}

// domain gives paris a domain of its own.
func (w *world) domain(name string) {
	w.put("cluster-providers/edge/clusters/paris", `{"kubeconfigRef":"sealed","dns":{"domain":"`+name+`"}}`)
}

// A trace is of the document as it is, whether it is deployed or not.
func TestTraceIsOfTheDocumentAsItIs(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	way, err := w.trace("", "www.foo.com")
	require.NoError(t, err)
	require.Equal(t, corefile.Way{
		Server: "foo.com:5353", Plugin: "forward", Upstreams: []string{"1.2.3.4:53", "5.6.7.8:5353"}, Policy: "round_robin",
		Why: []string{"foo.com is the longest zone that www.foo.com belongs to", "upstreams are asked over UDP, and over TCP when the answer was truncated"},
	}, way)

	w.resolve(`[{"domain":"foo.com","nameservers":["1.2.3.4"]},{"domain":"www.foo.com","nameservers":["9.9.9.9"]}]`, ``)
	way, err = w.trace("", "www.foo.com")
	require.NoError(t, err)
	require.Equal(t, "www.foo.com:5353", way.Server)
	require.Equal(t, []string{"9.9.9.9:53"}, way.Upstreams)
}

func TestTraceKnowsTheClustersDomain(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	w.domain("paris.example")
	for _, one := range []struct{ cluster, name, plugin string }{
		{"", "web.shop.svc.cluster.local", "kubernetes"},
		{berlin, "web.shop.svc.cluster.local", "kubernetes"},
		{"", "web.shop.svc.paris.example", "forward"},
		{paris, "web.shop.svc.paris.example", "kubernetes"},
		{paris, "web.shop.svc.cluster.local", "forward"},
	} {
		way, err := w.trace(one.cluster, one.name)
		require.NoError(t, err)
		require.Equal(t, ".:5353", way.Server)
		require.Equal(t, one.plugin, way.Plugin, one)
	}
}

func TestTraceOfServersThatAreImported(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	w.resolve(`[{"domain":"foo.com","nameservers":["1.2.3.4"]}]`, `,"mode":"import"`)
	way, err := w.trace("", "www.foo.com")
	require.NoError(t, err)
	require.Equal(t, "foo.com:53", way.Server)
	way, err = w.trace("", "web.shop.svc.cluster.local")
	require.NoError(t, err)
	require.Equal(t, corefile.Way{Why: []string{
		"no server has a zone for web.shop.svc.cluster.local, so the query follows the rest of the CoreDNS that imports the servers, which is unknown here",
	}}, way)
}

func TestTraceInAClusterThatTheIntentIsNotFor(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	w.resolve(`[{"domain":"foo.com","nameservers":["1.2.3.4"]}]`, `,"clusters":[{"clusterProvider":"edge","cluster":"paris"}]`)
	_, err := w.trace(berlin, "foo.com")
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, "DNS CR intent \"resolvers\" does not configure cluster edge+berlin")
}

func TestTraceWhereTheIntentCannotWork(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	_, err := w.service.Trace(w.Context(), eu+"/dns-cr-intents/others", "", corefile.Query{Name: "a", Type: "A"})
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
	_, err = w.trace("edge+nowhere", "foo.com")
	require.Equal(t, intent.Invalid, intent.CodeOf(err))
	require.ErrorContains(t, err, "/cluster: edge+nowhere is not registered")
	_, err = w.trace(hub, "foo.com")
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, "not a cluster reference")
	w.domain("foo.com")
	_, err = w.trace(paris, "foo.com")
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, "cannot work on edge+paris")
	require.ErrorContains(t, err, "/spec/pluginConfig/forwardPlugins/0/domain")
	_, err = w.trace(berlin, "foo.com")
	require.NoError(t, err)
}
