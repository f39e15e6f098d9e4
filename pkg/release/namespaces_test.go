package release_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// namespaces are whose namespaces of clusters are, as the store has it, as
// "cluster namespace: project".
func (w *world) namespaces() []string {
	w.Helper()
	items, _, err := w.fake.Range(context.Background(), kv.Range{Prefix: "/signpost/name/namespace-"})
	require.NoError(w, err)
	out := []string{}
	for _, item := range items {
		cluster, name, _ := strings.Cut(strings.TrimPrefix(item.Key, "/signpost/name/namespace-"), "/")
		_, project, _ := strings.Cut(string(item.Value), `"project":"`)
		project, _, _ = strings.Cut(project, `"`)
		out = append(out, strings.ReplaceAll(cluster, "%2B", "+")+" "+name+": "+project)
	}
	return out
}

// TestAProjectsNamespaceIsNotWhereOthersRun: neither its external-dns nor its
// DNSEndpoints go where another project's release is, whatever the documents of
// that say by now.
func TestAProjectsNamespaceIsNotWhereOthersRun(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.put(eu, `{"namespace":"bank-dns","controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`)
	w.member(eu, "hub")
	w.put(www(bankProd), `{"app":"web","serviceName":"web","hostnames":["bank.lab.example"]}`)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.put(eu, `{"namespace":"elsewhere","controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`)
	w.refuses(intent.Instantiate, bankProd, string(bank)+"#/spec/namespace", `namespace "bank-dns" of cluster edge+hub is another project's; external-dns cannot run there`)

	w.put(bank, `{"namespace":"of-the-bank"}`)
	w.do(intent.Instantiate, bankProd)
	w.settle(bankProd)
	require.Contains(t, w.namespaces(), "edge+hub of-the-bank: bank")
}

// TestAProjectsNamespaceIsItsOwnWhileItsExternalDNSIsThere: apps and DNS of
// others are refused there, and the project itself is kept from nothing.
func TestAProjectsNamespaceIsItsOwnWhileItsExternalDNSIsThere(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Equal(t, []string{"edge+berlin shop: shop", "edge+hub shop-dns: shop", "edge+paris shop: shop"}, w.namespaces())
	w.member(bankCloud, "hub")
	w.put(bankCloud, `{"namespace":"shop-dns"}`)
	w.put(www(bankProd), `{"app":"web","serviceName":"web","hostnames":["bank.lab.example"]}`)
	w.refuses(intent.Instantiate, bankProd, string(bankCloud)+"#/spec/namespace", `namespace "shop-dns" of cluster edge+hub is another project's`)

	w.put(us, `{"namespace":"us","controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`)
	w.member(us, "paris")
	w.associate(us, "lab")
	w.put(test, `{"logicalCloud":"us","apps":[{"name":"api"}]}`, us)
	w.put(test.Child("traffic-group-intents", "front"), `{}`)
	w.put(www(test), `{"app":"api","serviceName":"api","hostnames":["api.lab.example"]}`)
	w.do(intent.Instantiate, test)
	w.settle(test)
	w.do(intent.Update, prod)
	w.do(intent.Terminate, test)
	w.outlive()
	w.do(intent.Terminate, prod)
	w.outlive()
	w.do(intent.Instantiate, prod)
	w.settle(prod)
}

// TestAProjectsNamespaceFollowsItsRecords to the home that they move to, and no
// record moves to where the namespace is another's.
func TestAProjectsNamespaceFollowsItsRecords(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.put(bankCloud, `{"namespace":"shop-dns"}`)
	w.put(www(bankProd), `{"app":"web","serviceName":"web","hostnames":["bank.lab.example"]}`)
	w.do(intent.Instantiate, bankProd)
	w.settle(bankProd)
	require.ErrorContains(t, w.moveTo("paris"), `namespace "shop-dns" of cluster edge+paris is`)
	require.NotContains(t, w.namespaces(), "edge+paris shop-dns: shop")

	require.NoError(t, w.moveTo("berlin"))
	require.Contains(t, w.namespaces(), "edge+berlin shop-dns: shop", "at once")
	w.settle(prod)
	w.member(bankCloud, "berlin")
	w.refuses(intent.Update, bankProd, `namespace "shop-dns" of cluster edge+berlin is another project's`)
}

// TestServicesOfOthersArePublishedByNobodyElse: an intent reads no Services of a
// namespace that is another project's.
func TestServicesOfOthersArePublishedByNobodyElse(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.member(bankCloud, "berlin")
	w.put(www(bankProd), `{"app":"web","serviceName":"web","namespace":"shop","hostnames":["bank.lab.example"]}`)
	w.refuses(intent.Instantiate, bankProd, string(www(bankProd))+"#/spec/namespace", `namespace "shop" of cluster edge+berlin is another project's; service "web" cannot be published from there`)

	w.put(www(bankProd), `{"app":"web","serviceName":"web","hostnames":["bank.lab.example"]}`)
	w.do(intent.Instantiate, bankProd)
	w.settle(bankProd)

	const shared = `{"app":"web","serviceName":"web","namespace":"ingress","hostnames":["bank.lab.example"]}`
	w.put(www(bankProd), shared)
	w.do(intent.Update, bankProd)
	w.settle(bankProd)
	w.put(www(prod), `{"app":"web","serviceName":"web","namespace":"ingress","hostnames":["www.lab.example"]}`)
	w.do(intent.Update, prod)
	w.settle(prod)
}

// TestDNSGoesToNoNamespaceOfOthers, neither that of their logical clouds, nor of
// their apps, nor where their external-dns is.
func TestDNSGoesToNoNamespaceOfOthers(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web","namespace":"shop-web"}]}`, eu)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.member(bankCloud, "hub")
	w.nodes = map[string][]placement.Node{hub: {linux("h1")}, berlin: {linux("b1")}, paris: {linux("p1")}}
	mine := bankCloud + "/dns-cr-intents/mine"
	for namespace, cluster := range map[string]string{"shop": paris, "shop-web": paris, "shop-dns": hub} {
		w.put(mine, `{"namespace":"`+namespace+`"}`)
		w.refuses(intent.Instantiate, bankCloud, string(mine)+"#/spec/namespace", `namespace "`+namespace+`" of cluster `+cluster+` is another project's; give the DNS CR intent another`)
	}
	for _, own := range []string{"bank", "bank-dns", "elsewhere", "signpost-dns"} {
		w.put(mine, `{"namespace":"`+own+`"}`)
		w.do(intent.Instantiate, bankCloud)
		w.settle(bankCloud)
		w.do(intent.Terminate, bankCloud)
		w.settle(bankCloud)
	}
}

// TestANamespaceOfDNSGoesFromProjectToProject: it is another's as soon as the DNS
// of one is gone, and not while it may still be there.
func TestANamespaceOfDNSGoesFromProjectToProject(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*world){
		"terminated": func(w *world) { w.do(intent.Terminate, eu) },
		"vacated cluster": func(w *world) {
			w.resolve(`[]`, `,"namespace":"net","clusters":[{"clusterProvider":"edge","cluster":"berlin"}]`)
			w.do(intent.Update, eu)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCloud(t)
			w.resolve(`[]`, `,"namespace":"net"`)
			w.rival(foreign)
			w.put(foreign+"/dns-cr-intents/mine", `{"namespace":"net"}`)
			w.do(intent.Instantiate, eu)
			w.settle(eu)
			require.Contains(t, w.namespaces(), paris+" net: shop")
			w.down[paris] = true
			leave(w)
			require.NoError(t, w.rest())
			w.refuses(intent.Instantiate, foreign, `namespace "net" of cluster edge+paris is another project's`)
			w.down[paris] = false
			w.settle(eu)
			w.do(intent.Instantiate, foreign)
			w.settle(foreign)
			require.Contains(t, w.namespaces(), paris+" net: rival")
			require.Contains(t, w.objects(appcontext.Owner(foreign)), paris+" DaemonSet dns-default")
		})
	}
}

// TestAnAppDoesNotGoWhereTheDNSOfOthersIs until that is terminated.
func TestAnAppDoesNotGoWhereTheDNSOfOthersIs(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.nodes = map[string][]placement.Node{berlin: {linux("b1")}, paris: {linux("p1")}}
	w.resolve(`[]`, `,"namespace":"bank"`)
	w.do(intent.Instantiate, eu)
	w.settle(eu)
	w.put(www(bankProd), `{"app":"web","serviceName":"web","hostnames":["bank.lab.example"]}`)
	w.refuses(intent.Instantiate, bankProd, `namespace "bank" of cluster edge+paris is another project's`)
	w.do(intent.Terminate, eu)
	w.settle(eu)
	w.do(intent.Instantiate, bankProd)
	w.settle(bankProd)
}

// TestNamespaceTenantIsWhoRunsThere, for who asks before a project is made.
func TestNamespaceTenantIsWhoRunsThere(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	tenant := func(namespace, but string) string {
		project, _, err := w.service.NamespaceTenant(t.Context(), namespace, but)
		require.NoError(t, err)
		return project
	}
	require.Empty(t, tenant("shop", "acme"))
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.put(eu, `{"namespace":"elsewhere"}`)
	require.Equal(t, "shop", tenant("shop", "acme"))
	require.Equal(t, "shop", tenant("shop-dns", "acme"))
	require.Empty(t, tenant("shop", "shop"))
	require.Empty(t, tenant("acme", "acme"))
}

// TestANamespaceThatBecomesAnotherProjectsIsNotPublishedFrom: neither what its
// Services offered before, nor what they offer later, and maxRemoval keeps nothing.
func TestANamespaceThatBecomesAnotherProjectsIsNotPublishedFrom(t *testing.T) {
	t.Parallel()
	const spied = 20
	for name, c := range map[string]struct {
		manifests []string
		granted   bool // it was there before, made by others
		want      int  // names
	}{
		"one that Signpost makes":                {manifests: []string{aConfigMap}},
		"one that is granted":                    {manifests: []string{aConfigMap}, granted: true},
		"one that is claimed by no object":       {want: spied},
		"one of others that no object is put in": {granted: true, want: spied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := rivals(t)
			w.strangers["Namespace bread"] = c.granted
			w.put(www(bankProd), `{"app":"web","serviceName":"web","namespace":"bread","hostnames":["`+strings.Join(numbered(spied, "lab.example"), `","`)+`"]}`)
			w.observe(paris, "bread/web", "203.0.113.66")
			w.do(intent.Instantiate, bankProd)
			w.settle(bankProd)
			require.Len(t, w.published(bankProd), spied)

			w.put(eu, `{"namespace":"bread","controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`)
			w.deploys(c.manifests...)
			w.do(intent.Instantiate, prod)
			w.settle(prod, bankProd)
			require.Len(t, w.published(bankProd), c.want)
			if c.want > 0 {
				return
			}
			w.observe(paris, "bread/web", "203.0.113.67")
			_, err := w.service.ReconcileService(t.Context(), bankProd, "bread/web")
			require.NoError(t, err)
			w.settle(bankProd)
			require.Empty(t, w.published(bankProd))
			choice := w.snapshot(bankProd).Choices[0][0]
			require.Equal(t, []string{paris}, choice.Foreign)
			require.Empty(t, choice.Rejected, "no address is told")
			l, err := state.ReadLifecycle(w.lifecycleOf(bankProd))
			require.NoError(t, err)
			require.Equal(t, []string{paris}, l.Foreign, "lists of names tell nothing of it, either")
		})
	}
}

// TestANamespaceThatSomethingIsLeftInStaysItsProjects, also without the logical cloud
// that it was made for: a Secret may be left in it.
func TestANamespaceThatSomethingIsLeftInStaysItsProjects(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.put(eu, `{"namespace":"bread","controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`)
	w.deploys(aConfigMap)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.do(intent.Terminate, prod)
	w.outlive()
	kept := ledger.Entry{ID: bundle.ID{Cluster: paris, Kind: "Namespace", Name: "bread"}, UID: "u", CreatedByUs: true, Kept: true, Status: ledger.Deleted}
	require.NoError(t, w.ledger.Write(t.Context(), fence, []ledger.Entry{kept}, nil))
	for _, path := range []intent.Path{
		www(prod), prod.Child("traffic-group-intents", "front"), prod, eu.Child("kv-pairs", intent.AssociationName),
		eu.Child("cluster-references", "berlin"), eu.Child("cluster-references", "paris"), eu,
	} {
		require.NoError(t, w.delete(path))
	}
	w.put(bankCloud, `{"namespace":"bread","controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`)
	_, err := w.service.SweepClaims(t.Context())
	require.NoError(t, err)
	w.refuses(intent.Instantiate, bankProd, string(bankCloud)+"#/spec/namespace", `namespace "bread" of cluster edge+paris is another project's`)
	all := intent.As(t.Context(), intent.Actor{Reads: func(string) bool { return true }})
	_, err = w.service.Instantiate(all, bankProd, "", "root")
	require.ErrorContains(t, err, `for projects/shop/logical-clouds/eu and until it is gone from the cluster`)

	require.NoError(t, w.ledger.Write(t.Context(), fence, nil, []bundle.ID{kept.ID}))
	w.do(intent.Instantiate, bankProd)
}
