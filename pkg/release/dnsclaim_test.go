package release_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

const (
	us      intent.Path = "projects/shop/logical-clouds/us"
	foreign intent.Path = "projects/rival/logical-clouds/secret"
)

// rival gives a logical cloud a DNS CR intent "mine" for paris, in the
// namespace that eu has its DNS in, too.
func (w *world) rival(cloud intent.Path) {
	w.Helper()
	if project := cloud.Parent(); project != shop {
		w.put(project, `{}`)
	}
	w.put(cloud, `{"namespace":"ours"}`)
	w.member(cloud, "paris")
	w.put(cloud+"/dns-cr-intents/mine", `{}`)
}

func TestTwoLogicalCloudsShareNoNamespaceOnACluster(t *testing.T) {
	t.Parallel()
	w := resolving(t)
	w.rival(us)
	w.refuses(intent.Instantiate, us, `"mine" and "resolvers", of `+string(eu), paris, `"signpost-dns"`)

	w.put(us+"/dns-cr-intents/mine", `{"namespace":"us-dns"}`)
	w.do(intent.Instantiate, us)
	w.settle(us)
	assert.Contains(t, w.objects(appcontext.Owner(us)), paris+" DaemonSet dns-default")
}

// TestOfTwoLogicalCloudsAtOnceOneGetsTheNamespace: neither can see the other.
func TestOfTwoLogicalCloudsAtOnceOneGetsTheNamespace(t *testing.T) {
	t.Parallel()
	for _, other := range []intent.Path{us, foreign} {
		for _, between := range []string{"/signpost/cluster-dns/", "/signpost/release/"} {
			w := newCloud(t)
			w.rival(other)
			by, refused := w.atOnce(eu, other, between)
			require.ErrorContains(t, refused, `cluster edge+paris in namespace "signpost-dns"`)
			if other == us {
				require.ErrorContains(t, refused, string(by))
			}
		}
	}
}

// TestWhoseDNSItIsIsNotToldToAnotherProject neither by plans nor by who comes
// first of two at once.
func TestWhoseDNSItIsIsNotToldToAnotherProject(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	w.rival(foreign)
	refusals := map[string]error{}
	w.meanwhile("/signpost/release/", func() { _, refusals["at once"] = w.try(intent.Instantiate, foreign, "") })
	w.do(intent.Instantiate, eu)
	w.settle(eu)
	_, refusals["afterwards"] = w.try(intent.Instantiate, foreign, "")
	for when, refused := range refusals {
		require.ErrorContains(t, refused, `"mine" and another project's both`, when)
		require.NotContains(t, refused.Error(), "resolvers", when)
		require.NotContains(t, refused.Error(), string(shop), when)
	}
}

// TestANamespaceIsFreeWhenItsDNSIsGone at once, and not while it may still be there.
func TestANamespaceIsFreeWhenItsDNSIsGone(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*world){
		"terminated":        func(w *world) { w.do(intent.Terminate, eu) },
		"another namespace": func(w *world) { w.moveDNS() },
		"vacated cluster": func(w *world) {
			w.resolve(`[]`, `,"clusters":[{"clusterProvider":"edge","cluster":"berlin"}]`)
			w.do(intent.Update, eu)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := resolving(t)
			w.rival(us)
			w.down[paris] = true
			leave(w)
			require.NoError(t, w.rest())
			w.refuses(intent.Instantiate, us, `"mine" and "resolvers"`)
			w.down[paris] = false
			w.settle(eu)
			w.do(intent.Instantiate, us)
			w.settle(us)
		})
	}
}

// TestANamespaceIsFreeWhenItsReleaseWasNeverAccepted: as when the process died.
func TestANamespaceIsFreeWhenItsReleaseWasNeverAccepted(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	w.rival(us)
	w.diesBeforeItIsAccepted(eu, us, "signpost-dns")
}

// TestTwoLogicalCloudsShareNoAddressOnTheNodes: the nodes' caches of both would
// listen there together, and each would get some of the other one's queries.
func TestTwoLogicalCloudsShareNoAddressOnTheNodes(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	w.resolve(`[]`, `,"autopath":{}`)
	w.do(intent.Instantiate, eu)
	w.settle(eu)
	for _, other := range []intent.Path{us, foreign} {
		w.rival(other)
		w.put(other+"/dns-cr-intents/mine", `{"namespace":"my-dns","nodeLocalDNS":{"enabled":true}}`)
		named := `"mine" and "resolvers", of ` + string(eu)
		if other == foreign {
			named = `"mine" and another project's`
		}
		w.refuses(intent.Instantiate, other, named, "the nodes of cluster "+paris+" at 169.254.20.10", "give one of them another localIP")
	}
	w.put(us+"/dns-cr-intents/mine", `{"namespace":"us-dns","nodeLocalDNS":{"enabled":true,"localIP":"169.254.20.11"}}`)
	w.do(intent.Instantiate, us)
	w.settle(us)
	w.resolve(`[]`, ``)
	w.do(intent.Update, eu)
	w.settle(eu)
	w.put(us+"/dns-cr-intents/mine", `{"namespace":"us-dns","nodeLocalDNS":{"enabled":true}}`)
	w.do(intent.Update, us)
}

// TestOfTwoLogicalCloudsAtOnceOneGetsTheAddress: neither can see the other.
func TestOfTwoLogicalCloudsAtOnceOneGetsTheAddress(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	w.resolve(`[]`, `,"autopath":{}`)
	w.rival(us)
	w.put(us+"/dns-cr-intents/mine", `{"namespace":"us-dns","autopath":{}}`)
	_, refused := w.atOnce(eu, us, "/signpost/release/")
	require.ErrorContains(t, refused, "at 169.254.20.10")
}
