package admission_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// walking is a spec with autopath of these fields.
func walking(fields string) string { return `{"autopath":{` + fields + `}}` }

// strings of a number of different names, as JSON.
func listOf(t *testing.T, count int, format string) string {
	t.Helper()
	var all []string
	for i := range count {
		all = append(all, fmt.Sprintf(format, i))
	}
	return mustJSON(t, all)
}

// TestAutopathNeedsAClusterDomainOfItsOwn: no DNS pod would start where search
// domains lie in the cluster's own.
func TestAutopathNeedsAClusterDomainOfItsOwn(t *testing.T) {
	for _, domain := range []string{"ap.k8s.io", "x.ap.k8s.io"} {
		w := newShop(t)
		w.must("cluster-providers/edge/clusters/berlin", `{"kubeconfigRef":"sealed","dns":{"domain":"`+domain+`"}}`)
		_, err := w.admit(resolvers, `{"autopath":{}}`)
		assertFields(t, err, intent.Invalid, map[string]string{"/spec/autopath": domain + " is the own domain of cluster edge+berlin, which lies in ap.k8s.io"})
		_, err = w.admit(resolvers, `{"nodeLocalDNS":{"enabled":true}}`)
		require.NoError(t, err)
	}
}

func TestAutopathIsRefused(t *testing.T) {
	const at = "/spec/autopath"
	refused(t, []refusal{
		{reason: "an unknown mode", path: resolvers, spec: walking(`"mode":"dynamic"`), errors: map[string]string{at + "/mode": `"dynamic" is not a valid mode of autopath; give edns0 or static`}},
		{reason: "somebody else's CoreDNS", path: resolvers, spec: `{"mode":"import","autopath":{"mode":"static"}}`, errors: map[string]string{at: "not supported with mode import"}},
		{reason: "a cache for somebody else's CoreDNS", path: resolvers, spec: `{"mode":"import","nodeLocalDNS":{"enabled":true}}`, errors: map[string]string{"/spec/nodeLocalDNS": "not supported with mode import"}},
		{reason: "edns0 without the cache on the nodes", path: resolvers, spec: `{"autopath":{},"nodeLocalDNS":{"enabled":false,"localIP":"169.254.20.10"}}`,
			errors: map[string]string{"/spec/nodeLocalDNS/enabled": "set it to true, remove nodeLocalDNS, or use mode static"}},
		{reason: "what is edns0's, with static", path: resolvers, spec: walking(`"mode":"STATIC","option":65001,"clients":["192.0.2.0/24"]`),
			errors: map[string]string{at + "/option": "belongs only to mode edns0; remove it", at + "/clients": "belongs only to mode edns0; remove it"}},
		{reason: "what is static's, with edns0", path: resolvers, spec: walking(`"mode":"EDNS0","namespaces":["shop"]`), errors: map[string]string{at + "/namespaces": "belongs only to mode static; remove it"}},
		{reason: "option 15, as in the seed", path: resolvers, spec: walking(`"option":15`), errors: map[string]string{at + "/option": "15 is not a code for local use; give 65001 to 65534"}},
		{reason: "an option too high", path: resolvers, spec: walking(`"option":65535`), errors: map[string]string{at + "/option": "give 65001 to 65534"}},
		{reason: "searches", path: resolvers, spec: walking(`"searches":["-a.example","*.example","foo.com","FOO.com.","search.shop.cluster.local.ap.k8s.io","ap.k8s.io","cluster.local","svc.Cluster.Local.","10.0.0.1",""]`),
			errors: map[string]string{
				at + "/searches/0": "letters, digits and '-'", at + "/searches/1": `has a "*"`, at + "/searches/3": "is given twice", at + "/searches/4": "lies in ap.k8s.io",
				at + "/searches/5": "lies in ap.k8s.io", at + "/searches/6": "is a search path of every pod", at + "/searches/7": "is a search path of every pod",
				at + "/searches/8": "is an address", at + "/searches/9": "empty label",
			}},
		{reason: "more searches than fit", path: resolvers, spec: walking(`"searches":` + listOf(t, 17, "d%d.example")), errors: map[string]string{at + "/searches": "has 17; give at most 16"}},
		{reason: "longer searches than fit", path: resolvers, spec: walking(`"searches":` + listOf(t, 16, strings.Repeat("abcdefg.", 8)+"d%d")), errors: map[string]string{at + "/searches": "give at most 1024"}},
		{reason: "namespaces", path: resolvers, spec: walking(`"mode":"static","namespaces":["Shop","a.b","","batch","batch"]`), errors: map[string]string{
			at + "/namespaces/0": "is not a namespace", at + "/namespaces/1": "is not a namespace", at + "/namespaces/2": "is not a namespace", at + "/namespaces/4": "is given twice"}},
		{reason: "more namespaces than fit", path: resolvers, spec: walking(`"mode":"static","namespaces":` + listOf(t, 101, "n%d")), errors: map[string]string{at + "/namespaces": "give at most 100, or use mode edns0"}},
		{reason: "clients", path: resolvers, spec: walking(`"clients":["10.0.0.1","10.0.0.1/8","node","fe80::1%eth0/64","192.0.2.0/24","192.0.2.0/24","192.0.2.0/33"]`), errors: map[string]string{
			at + "/clients/0": "give 10.0.0.1/32", at + "/clients/1": "give 10.0.0.0/8", at + "/clients/2": "is not a CIDR", at + "/clients/3": "is not a CIDR",
			at + "/clients/5": "is given twice", at + "/clients/6": "is not a CIDR"}},
		{reason: "more clients than nodes are in", path: resolvers, spec: walking(`"clients":` + listOf(t, 101, "10.0.%d.0/24")), errors: map[string]string{at + "/clients": "give at most 100"}},
		{reason: "zones among search domains", path: resolvers,
			spec: `{"autopath":{"mode":"static"},"pluginConfig":{"forwardPlugins":[{"domain":"AP.k8s.io.","nameservers":["1.2.3.4"]}]},
				"servers":[{"name":"s","zones":["k8s.io","search.shop.cluster.local.ap.k8s.io"],"forwardPlugin":{"upstreams":["1.2.3.4"]}}]}`,
			errors: map[string]string{"/spec/pluginConfig/forwardPlugins/0/domain": "lies in ap.k8s.io, the zone of autopath's search domains; give another zone, or remove autopath", "/spec/servers/0/zones/1": "or remove autopath"}},
	})
}

func TestLocalIPIsAnAddressThatEveryNodeCanHave(t *testing.T) {
	w := newShop(t)
	for given, wrong := range map[string]string{
		"": "", "169.254.20.10": "", "169.254.25.10": "", "fd00::10": "", "10.96.0.99": "", "192.0.2.1": "",
		"localhost": "is not an IP address", "169.254.20.10:53": "without a port", "169.254.20.10/32": "is not an IP address", "169.254.20": "is not an IP address", "[fd00::10]": "is not an IP address",
		"127.0.0.1": "which each pod has for itself", "::1": "which each pod has for itself", "0.0.0.0": "is not the address of a nameserver", "::": "is not the address of a nameserver", "224.0.0.251": "is not the address of a nameserver", "ff02::fb": "is not the address of a nameserver",
		"255.255.255.255": "is not the address of a nameserver", "fe80::10": "works only with a zone", "fe80::10%eth0": "works only with a zone", "fd00::10%eth0": "zone id",
		"::ffff:169.254.20.10": "give 169.254.20.10", "169.254.169.254": "where clouds tell nodes about themselves",
	} {
		for _, more := range []string{``, `,"autopath":{"mode":"edns0"}`} {
			_, err := w.admit(resolvers, `{"nodeLocalDNS":{"enabled":true,"localIP":"`+given+`"}`+more+`}`)
			if wrong == "" {
				require.NoError(t, err, given)
				continue
			}
			assertFields(t, err, intent.Invalid, map[string]string{"/spec/nodeLocalDNS/localIP": wrong})
		}
	}
}

// TestNoNameserverIsTheCacheThatAsksTheDNSPods: they would ask each other for
// ever.
func TestNoNameserverIsTheCacheThatAsksTheDNSPods(t *testing.T) {
	w := newShop(t)
	circle := map[string]string{"/spec/nodeLocalDNS/localIP": "queries would go in a circle"}
	with := func(spec, more string) string { return strings.TrimSuffix(spec, "}") + "," + more + "}" }
	const edns0, elsewhere = `"autopath":{}`, `"nodeLocalDNS":{"enabled":true,"localIP":"169.254.99.9"}`
	for _, spec := range []string{
		forward("foo.com", `["169.254.20.10"]`, ``), serving(`"upstreams":["169.254.20.10:53"]`),
		`{"upstreamResolvers":{"upstreams":[{"type":"Network","address":"169.254.20.10"}]}}`,
	} {
		_, err := w.admit(resolvers, with(spec, edns0))
		assertFields(t, err, intent.Invalid, circle)
		_, err = w.admit(resolvers, with(spec, `"nodeLocalDNS":{"enabled":true}`))
		assertFields(t, err, intent.Invalid, circle)
		_, err = w.admit(resolvers, with(spec, edns0+","+elsewhere))
		require.NoError(t, err, "the cache is elsewhere")
		_, err = w.admit(resolvers, spec)
		require.NoError(t, err, "there is no cache")
	}
	_, err := w.admit(resolvers, with(serving(`"upstreams":["169.254.20.10:5353"]`), edns0))
	require.NoError(t, err, "another port is somebody else's")
}

// TestLocalIPIsNotTheDNSServiceOfACluster: of those that the intent is for, whose
// nodes could not reach it any more.
func TestLocalIPIsNotTheDNSServiceOfACluster(t *testing.T) {
	w := newShop(t)
	taken := map[string]string{"/spec/nodeLocalDNS/localIP": "169.254.20.10 is the address of the DNS service of cluster edge+berlin"}
	w.must("cluster-providers/edge/clusters/berlin", `{"dns":{"domain":"berlin.corp","address":"169.254.20.10"}}`)
	for _, spec := range []string{`{"nodeLocalDNS":{"enabled":true}}`, `{"autopath":{}}`, `{"nodeLocalDNS":{"enabled":true,"localIP":"169.254.20.10"},"autopath":{"mode":"static"}}`} {
		_, err := w.admit(resolvers, spec)
		assertFields(t, err, intent.Invalid, taken)
	}
	for reason, spec := range map[string]string{
		"another address": `{"nodeLocalDNS":{"enabled":true,"localIP":"169.254.20.11"}}`, "no cache": `{"autopath":{"mode":"static"}}`,
		"another cluster's": `{"nodeLocalDNS":{"enabled":true},"clusterLabels":{"none":"such"}}`,
	} {
		_, err := w.admit(resolvers, spec)
		require.NoError(t, err, reason)
	}
}

// TestStockCoreDNSHasNoPluginForTheOption: an image of docker.io/coredns/, or its
// copy under --image-registry.
func TestStockCoreDNSHasNoPluginForTheOption(t *testing.T) {
	stock := map[string]string{"/spec/image": "is stock CoreDNS, which has no plugin for autopath of mode edns0"}
	w := newShop(t)
	running := func(mode, image string) string {
		return `{"image":"` + image + `","autopath":{"mode":"` + mode + `"}}`
	}
	for _, image := range []string{"docker.io/coredns/coredns:1.15.0", "coredns/coredns", "mirror.example:5000/coredns/coredns:1.15.0"} {
		_, err := w.admit(resolvers, running("edns0", image))
		assertFields(t, err, intent.Invalid, stock)
		_, err = w.admit(resolvers, running("static", image))
		require.NoError(t, err, "mode static takes stock CoreDNS")
	}
	_, err := w.admit(resolvers, running("edns0", "docker.io/signpost-dns/signpost-dns:v0.1.0"))
	require.NoError(t, err)
}

// TestSearchesAreNoPathsOfTheClustersThemselves: of those that the intent is for.
func TestSearchesAreNoPathsOfTheClustersThemselves(t *testing.T) {
	w := newShop(t)
	w.must("cluster-providers/edge/clusters/berlin", `{"dns":{"domain":"berlin.corp"}}`)
	_, err := w.admit(resolvers, walking(`"searches":["svc.berlin.corp","corp","paris.corp"]`))
	assertFields(t, err, intent.Invalid, map[string]string{"/spec/autopath/searches/0": "is a search path of every pod"})
}

func TestAutopathIsStoredAsItWasWritten(t *testing.T) {
	for _, spec := range []string{
		`{"autopath":{}}`, `{"autopath":{"mode":"Edns0","option":65534,"clients":["192.0.2.0/24","2001:db8::/32","0.0.0.0/0"]},"nodeLocalDNS":{"enabled":true,"localIP":"169.254.25.10"}}`,
		`{"autopath":{"mode":"static","namespaces":["shop","batch"],"searches":["corp.example","svc.other.local"]}}`, `{"nodeLocalDNS":{"enabled":true}}`,
	} {
		accepted(t, []acceptance{{reason: spec, path: resolvers, spec: spec, stored: spec}})
	}
	accepted(t, []acceptance{{reason: "searches in canonical form", path: resolvers,
		spec: walking(`"searches":["Corp.Example.","Bücher.example"]`), stored: walking(`"searches":["corp.example","xn--bcher-kva.example"]`)}})
}

func TestWhatAutopathIsWarnedOf(t *testing.T) {
	for _, c := range []struct {
		reason, spec string
		want         map[string]string
	}{
		{"nothing odd", `{"autopath":{"clients":["192.0.2.0/24"]},"nodeLocalDNS":{"enabled":true,"localIP":"169.254.25.10"}}`, nil},
		{"an address of the network's own", `{"nodeLocalDNS":{"enabled":true,"localIP":"fd00::10"}}`, nil},
		{"stock CoreDNS where it does", `{"autopath":{"mode":"Static"},"image":"docker.io/coredns/coredns:1.15.0"}`, nil},
		{"an image of one's own where ours is needed", `{"autopath":{"clients":["192.0.2.0/24"]},"image":"docker.io/signpost-dns/signpost-dns:v0.1.0"}`, map[string]string{"image": "must hold the program signpost-dns"}},
		{"a pod may send the option, and poison a cache that is not Signpost's", `{"autopath":{}}`, map[string]string{"clients": "and other caches before the DNS pods would keep the answers for everybody; give the networks of the nodes"}},
		{"an address that may be somebody's", `{"nodeLocalDNS":{"enabled":true,"localIP":"10.1.2.3"}}`, map[string]string{"localIP": "no node could reach the owner of this address"}},
		{"a cache that is not enabled", `{"autopath":{"mode":"static"},"nodeLocalDNS":{"localIP":"10.1.2.3"}}`, map[string]string{"nodeLocalDNS": "not enabled"}},
	} {
		got := intentWarnings(t, c.spec)
		require.Len(t, got, len(c.want), "%s: %v", c.reason, got)
		for parameter, part := range c.want {
			assert.Contains(t, got[parameter], part, c.reason)
		}
	}
}
