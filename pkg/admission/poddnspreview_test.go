package admission_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/admission/poddns"
	"github.com/signpost-dns/signpost/pkg/dns/resolvconf"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const previews = front + "/pod-dns-intents/preview"

// preview asks in the shop.
func (w *world) preview(question string) (resolvconf.Preview, error) {
	return w.admitter.PreviewPodDNS(w.Context(), previews, []byte(question))
}

func (w *world) mustPreview(question string) resolvconf.Preview {
	w.Helper()
	preview, err := w.preview(question)
	require.NoError(w, err, question)
	return preview
}

// TestPreviewOfTheSeedsExamples: the resolv.conf texts of "configurable pod
// DNS", to the letter.
func TestPreviewOfTheSeedsExamples(t *testing.T) {
	w := newShop(t)
	for spec, want := range map[string]string{
		`{"dnsPolicy":"Default"}`: "nameserver 10.1.1.10\nsearch foo.com\noptions ndots:1\n",
		`{"dnsPolicy":"ClusterFirst","dnsConfig":{"options":[{"name":"ndots","value":1}]}}`:                                                                                                  "nameserver 10.0.0.10\nsearch default.svc.cluster.local svc.cluster.local cluster.local foo.com\noptions ndots:1\n",
		`{"dnsPolicy":"Custom","dnsConfig":{"nameservers":["1.2.3.4"],"searches":["ns1.svc.cluster.local","my.dns.search.suffix"],"options":[{"name":"ndots","value":2},{"name":"edns0"}]}}`: "nameserver 1.2.3.4\nsearch ns1.svc.cluster.local my.dns.search.suffix\noptions ndots:2 edns0\n",
	} {
		preview := w.mustPreview(`{"spec":` + spec + `,"hostResolvConf":"nameserver 10.1.1.10\nsearch foo.com\noptions ndots:1\n","namespace":"default","clusterDNS":"10.0.0.10"}`)
		require.Equal(t, resolvconf.Preview{ResolvConf: want, Warnings: []string{}}, preview)
	}
}

// TestPreviewOfAutopath: "at most 2 (A, AAAA)".
func TestPreviewOfAutopath(t *testing.T) {
	w := newShop(t)
	w.must(eu.Child("dns-cr-intents", "resolvers"), `{"autopath":{}}`)
	preview := w.mustPreview(`{"spec":{"dnsPolicy":"clusterFirstWithAutopath"},"hostResolvConf":"search foo.com bar.com","namespace":"default","name":"service123"}`)
	require.Equal(t, "nameserver 169.254.20.10\nsearch search.default.cluster.local.ap.k8s.io\noptions ndots:5\n", preview.ResolvConf)
	require.Len(t, preview.Queries.Before, 12)
	require.Equal(t, "service123.default.svc.cluster.local. A", preview.Queries.Before[0])
	require.Equal(t, []string{"service123.search.default.cluster.local.ap.k8s.io. A", "service123.search.default.cluster.local.ap.k8s.io. AAAA"}, preview.Queries.After)
	require.Equal(t, []string{}, preview.Warnings)
}

func TestWhatAPreviewIsNotToldFollowsFromTheDocuments(t *testing.T) {
	searches := func(question string) string {
		w := newShop(t)
		w.must(prod, `{"logicalCloud":"eu","apps":[{"name":"web"},{"name":"api","namespace":"backend"}]}`)
		_, rest, _ := strings.Cut(w.mustPreview(question).ResolvConf, "search ")
		first, _, _ := strings.Cut(rest, " ")
		return first
	}
	const ask = `{"clusterDNS":"10.0.0.10","spec":{"dnsPolicy":"ClusterFirst"`
	require.Equal(t, "shop.svc.cluster.local", searches(ask+`}}`), "the logical cloud's namespace")
	require.Equal(t, "shop.svc.cluster.local", searches(ask+`,"app":"web"}}`), "the logical cloud's namespace")
	require.Equal(t, "backend.svc.cluster.local", searches(ask+`,"app":"api"}}`), "the app's")
	require.Equal(t, "here.svc.cluster.local", searches(ask+`,"app":"api"},"namespace":"here"}`), "the question's")
	require.Equal(t, "here.svc.k8s.example", searches(ask+`},"namespace":"here","clusterDomain":"K8s.example."}`))
}

func TestPreviewKnowsPodsOnTheNodesNetwork(t *testing.T) {
	const (
		onNode = `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"agent"},"spec":{"template":{"spec":{"hostNetwork":true}}}}`
		own    = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"template":{"spec":{}}}}`
		config = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"one"},"spec":{"dnsConfig":{"searches":["a.example"]}}}`
		ask    = `{"spec":{"app":"web","dnsPolicy":"ClusterFirst"},"hostResolvConf":"nameserver 10.1.1.10\n","clusterDNS":"10.0.0.10"}`
	)
	w := newShop(t)
	w.must(prod, giving(onNode))
	preview := w.mustPreview(ask)
	require.Equal(t, "nameserver 10.1.1.10\n", preview.ResolvConf)
	require.Len(t, preview.Warnings, 1)
	require.Contains(t, preview.Warnings[0], "kubelet treats ClusterFirst as Default there")
	_, err := w.preview(`{"spec":{"app":"web","dnsPolicy":"clusterFirstWithAutopath"}}`)
	assertFields(t, err, intent.Invalid, map[string]string{"/spec/dnsPolicy": "manifest 0 of app \"web\" (DaemonSet agent) has hostNetwork: true"})

	w.must(prod, giving(onNode, own, config))
	preview = w.mustPreview(ask)
	require.Contains(t, preview.ResolvConf, "nameserver 10.0.0.10\n")
	require.Equal(t, []string{
		"Pod one has a dnsConfig of its own, which this preview ignores; a plan shows the merged result",
		"the pods of DaemonSet agent are on the node's network, and get the node's settings instead",
	}, preview.Warnings)

	w.must(prod, giving(onNode, own))
	require.Empty(t, w.mustPreview(strings.Replace(ask, "ClusterFirst", "ClusterFirstWithHostNet", 1)).Warnings, "which is the same for both")

	w.must(prod, giving(config))
	preview = w.mustPreview(strings.Replace(ask, `"ClusterFirst"`, `"None","dnsConfig":{"nameservers":["192.0.2.1"],"searches":["b.example"]}`, 1))
	require.Equal(t, resolvconf.Preview{ResolvConf: "nameserver 192.0.2.1\nsearch a.example b.example\n", Warnings: []string{}}, preview,
		"what the template has comes before the intent's")
	w.must(eu.Child("dns-cr-intents", "resolvers"), `{"autopath":{}}`)
	preview = w.mustPreview(`{"spec":{"app":"web","dnsPolicy":"clusterFirstWithAutopath"}}`)
	require.Equal(t, resolvconf.Preview{ResolvConf: "nameserver 169.254.20.10\nsearch search.shop.cluster.local.ap.k8s.io\noptions ndots:5\n", Warnings: []string{}}, preview, "with autopath it is set aside")
}

// TestPreviewAsksTheCacheOnTheNode: the localIP of the logical cloud's DNS CR
// intents with nodeLocalDNS.
func TestPreviewAsksTheCacheOnTheNode(t *testing.T) {
	w := newShop(t)
	nameserver := func() (string, []string) {
		preview := w.mustPreview(`{"spec":{"dnsPolicy":"clusterFirstWithAutopath"}}`)
		first, _, _ := strings.Cut(preview.ResolvConf, "\n")
		return strings.TrimPrefix(first, "nameserver "), preview.Warnings
	}
	const guess = "nameserver 169.254.20.10 is a guess, because no DNS CR intent of logical cloud eu has a cache on each node"
	at := eu.Child("dns-cr-intents", "resolvers")
	for _, c := range []struct{ spec, want, warning string }{
		{`{}`, "169.254.20.10", guess},
		{`{"autopath":{"mode":"static"}}`, "169.254.20.10", "nameserver 169.254.20.10 is a placeholder, because the address of the Service dns-default is unknown; autopath of logical cloud eu is of mode static without a cache on each node; give that address as clusterDNS"},
		{`{"autopath":{"mode":"Static"},"nodeLocalDNS":{"enabled":true}}`, "169.254.20.10", ""},
		{`{"nodeLocalDNS":{"enabled":false,"localIP":"169.254.99.1"}}`, "169.254.20.10", guess},
		{`{"nodeLocalDNS":{"enabled":true}}`, "169.254.20.10", ""},
		{`{"nodeLocalDNS":{"enabled":true,"localIP":"169.254.99.1"}}`, "169.254.99.1", ""},
		{`{"autopath":{"mode":"edns0"},"nodeLocalDNS":{"enabled":true,"localIP":"169.254.99.2"}}`, "169.254.99.2", ""},
	} {
		w.must(at, c.spec)
		got, warnings := nameserver()
		require.Equal(t, c.want, got, c.spec)
		if c.warning == "" {
			require.Empty(t, warnings, c.spec)
		} else {
			require.Equal(t, []string{c.warning}, warnings, c.spec)
		}
	}
}

// TestPreviewIsJudgedAsAStoredIntentIs: all at once, what is not of the intent
// too.
func TestPreviewIsJudgedAsAStoredIntentIs(t *testing.T) {
	w := newShop(t)
	_, err := w.preview(`{
		"spec": {"app": "db", "dnsPolicy": "None", "dnsConfig": {"search": ["A.example"], "options": [{"name": "nodts"}]}},
		"hostResolvConf": "search foo.com\nnameserver\n", "namespace": "Shop", "clusterDomain": "k8s_local", "clusterDNS": "dns.example", "name": "a..b"}`)
	assertFields(t, err, intent.Invalid, map[string]string{
		"/spec/app":                      "whose apps are: web, api",
		"/spec/dnsConfig/nameservers":    "is missing or empty",
		"/spec/dnsConfig/search/0":       "not a search domain",
		"/spec/dnsConfig/options/0/name": "the nearest known one is ndots",
		"/hostResolvConf":                "line 2 has a nameserver without address; kubelet does not start such a pod",
		"/namespace":                     `"Shop" is not a namespace`,
		"/clusterDomain":                 `"k8s_local" is not a DNS domain; give one such as cluster.local`,
		"/clusterDNS":                    `"dns.example" is not an IP address; give one such as 10.96.0.10`,
		"/name":                          "has an empty label",
	})
	for _, policy := range []string{"ClusterFirst", "ClusterFirstWithHostNet"} {
		_, err = w.preview(`{"spec":{"dnsPolicy":"` + policy + `"}}`)
		assertFields(t, err, intent.Invalid, map[string]string{"/clusterDNS": "is missing, but with dnsPolicy " + policy + " pods ask the cluster's DNS; give its IP address, such as 10.96.0.10"})
	}
	_, err = w.preview(`{"spec":{"dnsPolicy":"Default","dnsConfig":[]}}`)
	require.Equal(t, intent.Invalid, intent.CodeOf(err))
}

func TestWarningsOfTheIntentAreAPreviewsToo(t *testing.T) {
	w := newShop(t)
	preview := w.mustPreview(`{"clusterDNS":"10.0.0.10","spec":{"dnsPolicy":"ClusterFirst","dnsConfig":{"nameservers":["192.0.2.1","192.0.2.2","192.0.2.3"]}}}`)
	require.Equal(t, []string{
		"kubelet leaves out nameserver 192.0.2.3: there are at most 3",
		"nameservers come after the nameserver of the cluster's DNS, and kubelet drops all after the third",
	}, preview.Warnings)
}

func TestADotAtTheEndOfAPreviewsNameMakesADifference(t *testing.T) {
	w := newShop(t)
	for name, want := range map[string][]string{
		"WWW.example.com.": {"www.example.com. A", "www.example.com. AAAA"},
		".":                {". A", ". AAAA"},
		"192.0.2.1":        {},
	} {
		preview := w.mustPreview(`{"clusterDNS":"fd00::A","spec":{"dnsPolicy":"ClusterFirst"},"name":"` + name + `"}`)
		require.Equal(t, want, preview.Queries.After, name)
		require.Contains(t, preview.ResolvConf, "nameserver fd00::a\n", "as kubelet writes it")
	}
}

// TestPreviewWithoutDNSConfigLeavesTheNodesSettingsAsTheyAre: kubelet merges,
// and drops duplicates, for pods that have one alone; a plan writes no empty one.
func TestPreviewWithoutDNSConfigLeavesTheNodesSettingsAsTheyAre(t *testing.T) {
	w := newShop(t)
	const ask = `{"hostResolvConf":"nameserver 10.1.1.10\nnameserver 10.1.1.10\n","spec":{"dnsPolicy":"Default"`
	require.Equal(t, "nameserver 10.1.1.10\nnameserver 10.1.1.10\n", w.mustPreview(ask+`}}`).ResolvConf)
	require.Equal(t, "nameserver 10.1.1.10\nnameserver 10.1.1.10\n", w.mustPreview(ask+`,"dnsConfig":{}}}`).ResolvConf)
	require.Equal(t, "nameserver 10.1.1.10\noptions edns0\n", w.mustPreview(ask+`,"dnsConfig":{"options":[{"name":"edns0"}]}}}`).ResolvConf)
}

func TestPreviewWhereThereIsNoGroup(t *testing.T) {
	w := newShop(t)
	for _, path := range []intent.Path{prod + "/traffic-group-intents/none/pod-dns-intents/preview", prod + "s/traffic-group-intents/front/pod-dns-intents/preview"} {
		_, err := w.admitter.PreviewPodDNS(t.Context(), path, []byte(`{"spec":{"dnsPolicy":"Default"}}`))
		require.Equal(t, intent.NotFound, intent.CodeOf(err), path)
	}
}

// TestPreviewWithoutDocuments is what the command line asks.
func TestPreviewWithoutDocuments(t *testing.T) {
	ask := func(question string, more func(*poddns.PodDNSPreview)) (resolvconf.Preview, error) {
		p, err := poddns.ReadPodDNSPreview([]byte(question))
		require.NoError(t, err)
		more(p)
		return p.Answer()
	}
	preview, err := ask(`{"spec":{"dnsPolicy":"clusterFirstWithAutopath"}}`, func(p *poddns.PodDNSPreview) { p.LocalIP = "169.254.99.1" })
	require.NoError(t, err)
	require.Equal(t, "nameserver 169.254.99.1\nsearch search.default.cluster.local.ap.k8s.io\noptions ndots:5\n", preview.ResolvConf)
	preview, err = ask(`{"spec":{"dnsPolicy":"ClusterFirst"},"hostResolvConf":"nameserver 10.1.1.10\n"}`, func(p *poddns.PodDNSPreview) { p.HostNetwork = true })
	require.NoError(t, err)
	require.Equal(t, "nameserver 10.1.1.10\n", preview.ResolvConf)
	_, err = ask(`{"spec":{"dnsPolicy":"clusterFirstWithAutopath"}}`, func(p *poddns.PodDNSPreview) { p.LocalIP, p.HostNetwork = "127.0.0.1", true })
	assertFields(t, err, intent.Invalid, map[string]string{
		"/localIP":        "which each pod has for itself",
		"/spec/dnsPolicy": "autopath is only for pods with a network of their own; give ClusterFirstWithHostNet",
	})
}

// TestPreviewOfStaticAutopathAsksTheClustersDNS: without nodeLocalDNS pods ask
// the Service dns-default.
func TestPreviewOfStaticAutopathAsksTheClustersDNS(t *testing.T) {
	w := newShop(t)
	w.must("cluster-providers/edge/clusters/berlin", `{"dns":{"address":"10.96.0.10"}}`)
	resolvers := eu.Child("dns-cr-intents", "resolvers")
	w.must(resolvers, `{"autopath":{"mode":"static"}}`)
	const ask = `{"spec":{"dnsPolicy":"clusterFirstWithAutopath"}`
	const search = "\nsearch search.shop.cluster.local.ap.k8s.io\noptions ndots:5\n"
	require.Equal(t, resolvconf.Preview{ResolvConf: "nameserver 10.96.7.7" + search, Warnings: []string{}}, w.mustPreview(ask+`,"clusterDNS":"10.96.7.7"}`))
	preview := w.mustPreview(ask + `}`)
	require.Equal(t, "nameserver 169.254.20.10"+search, preview.ResolvConf)
	require.Contains(t, preview.Warnings[0], "because the address of the Service dns-default is unknown", "the cluster's own DNS is not the Service dns-default")
	_, err := w.preview(ask + `,"clusterDNS":"10.96.7.7:53"}`)
	assertFields(t, err, intent.Invalid, map[string]string{"/clusterDNS": "has a port"})
	w.must(resolvers, `{"autopath":{"mode":"static"},"nodeLocalDNS":{"enabled":true}}`)
	require.Equal(t, "nameserver 169.254.20.10"+search, w.mustPreview(ask+`,"clusterDNS":"10.96.7.7"}`).ResolvConf)
}

// TestPreviewTakesDomainAndAddressOfTheClusters where all of the app's clusters
// have the same.
func TestPreviewTakesDomainAndAddressOfTheClusters(t *testing.T) {
	w := newShop(t)
	const berlin, paris = intent.Path("cluster-providers/edge/clusters/berlin"), intent.Path("cluster-providers/edge/clusters/paris")
	const ask = `{"spec":{"app":"web","dnsPolicy":"ClusterFirst"}`
	w.must(eu.Child("cluster-references", "paris"), `{"clusterProvider":"edge","cluster":"paris"}`)
	w.must(berlin, `{"labels":{"zone":"b"},"dns":{"domain":"k8s.example","address":"10.96.0.10"}}`)
	w.must(paris, `{"dns":{"domain":"k8s.example","address":"10.96.0.10"}}`)
	require.Equal(t, resolvconf.Preview{ResolvConf: "nameserver 10.96.0.10\nsearch shop.svc.k8s.example svc.k8s.example k8s.example\noptions ndots:5\n", Warnings: []string{}}, w.mustPreview(ask+`}`))
	require.Contains(t, w.mustPreview(ask+`,"clusterDNS":"10.0.0.1","clusterDomain":"a.example"}`).ResolvConf, "nameserver 10.0.0.1\nsearch shop.svc.a.example ", "what is given counts")

	w.must(paris, `{"dns":{"address":"10.97.0.10"}}`)
	_, err := w.preview(ask + `}`)
	assertFields(t, err, intent.Invalid, map[string]string{"/clusterDNS": "such as 10.96.0.10; the clusters have different ones (edge+berlin: 10.96.0.10, edge+paris: 10.97.0.10)"})
	preview := w.mustPreview(ask + `,"clusterDNS":"10.0.0.1"}`)
	require.Equal(t, "nameserver 10.0.0.1\nsearch shop.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5\n", preview.ResolvConf)
	require.Equal(t, []string{"clusterDomain cluster.local is a guess, because the clusters have different ones (edge+berlin: k8s.example, edge+paris: cluster.local); give the domain of the pod's cluster"}, preview.Warnings)

	for _, of := range []string{`"clusters":[{"clusterProvider":"edge","cluster":"berlin"}]`, `"clusterLabels":{"zone":"b"}`} {
		w.must(prod, `{"logicalCloud":"eu","apps":[{"name":"web",`+of+`}]}`)
		require.Contains(t, w.mustPreview(ask+`}`).ResolvConf, "nameserver 10.96.0.10\nsearch shop.svc.k8s.example ", "of the app's clusters alone: "+of)
	}
	w.must(berlin, `{"labels":{"zone":"b"}}`)
	_, err = w.preview(ask + `}`)
	assertFields(t, err, intent.Invalid, map[string]string{"/clusterDNS": "is missing"})
}

// TestManifestsGoToTheLogicalCloudsNamespace, whatever the app's is.
func TestManifestsGoToTheLogicalCloudsNamespace(t *testing.T) {
	w := newShop(t)
	given := strings.Replace(giving(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"}}`), `{"name":"web",`, `{"name":"web","namespace":"backend",`, 1)
	require.Contains(t, given, "backend")
	w.must(prod, given)
	require.Contains(t, w.mustPreview(`{"clusterDNS":"10.0.0.10","spec":{"app":"web","dnsPolicy":"ClusterFirst"}}`).ResolvConf, "search shop.svc.cluster.local ")
}

func TestPreviewTellsWhatItWasNotGiven(t *testing.T) {
	w := newShop(t)
	for question, want := range map[string]string{
		`{"spec":{"dnsPolicy":"Default"}}`: "hostResolvConf (or --host) was not given: the pod has the nameservers of its node, which are not known here",
		`{"spec":{"dnsPolicy":"Default","dnsConfig":{"nameservers":["192.0.2.1"]}},"hostResolvConf":"127.0.0.1 localhost\n"}`: "no line of hostResolvConf (or --host) is a line of a resolv.conf, such as nameserver 10.1.1.10",
		`{"spec":{"dnsPolicy":"Default"},"hostResolvConf":"search foo.com\n"}`:                                                "the pod has no nameserver: its resolver asks 127.0.0.1",
		`{"spec":{"dnsPolicy":"Default"},"hostResolvConf":"nameserver 127.0.0.53\n"}`:                                         "nameserver 127.0.0.53 of the node is each pod itself for its pods, where no nameserver listens; with systemd-resolved, the node's /run/systemd/resolve/resolv.conf has the nameservers that pods can ask: kubelet's resolvConf should name that file",
		`{"spec":{"dnsPolicy":"ClusterFirst"},"clusterDNS":"10.0.0.10","name":"10.1.2.3"}`:                                    "name 10.1.2.3 is an IP address, which is not looked up: it costs no query",
		`{"spec":{"dnsPolicy":"ClusterFirst"},"clusterDNS":"10.0.0.10","name":"fd00::1"}`:                                     "name fd00::1 is an IP address, which is not looked up: it costs no query",
	} {
		require.Equal(t, []string{want}, w.mustPreview(question).Warnings, question)
	}
	require.Empty(t, w.mustPreview(`{"spec":{"dnsPolicy":"ClusterFirst"},"clusterDNS":"10.0.0.10","hostResolvConf":"nameserver 127.0.0.53\n"}`).Warnings, "pods ask the cluster's")
}
