package admission_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const resolvers intent.Path = "projects/shop/logical-clouds/eu/dns-cr-intents/resolvers"

// forward is a spec with one domain of these nameservers, and more fields of
// the plugin.
func forward(domain, nameservers, more string) string {
	return fmt.Sprintf(`{"pluginConfig":{"forwardPlugins":[{"domain":%q,"nameservers":%s%s}]}}`, domain, nameservers, more)
}

// serving is a spec with one server whose forwardPlugin has these fields.
func serving(fields string) string {
	return `{"servers":[{"name":"foo","zones":["foo.com"],"forwardPlugin":{` + fields + `}}]}`
}

// tolerating is a spec with one toleration.
func tolerating(toleration string) string {
	return `{"nodePlacement":{"tolerations":[` + toleration + `]}}`
}

func TestDNSCRIntentsAreRefused(t *testing.T) {
	const one = `["1.2.3.4"]`
	sixteen := `["1.2.3.4"` + strings.Repeat(`,"1.2.3.4"`, 15) + `]`
	at := "/spec/pluginConfig/forwardPlugins/0"
	server := "/spec/servers/0/forwardPlugin"
	toleration := "/spec/nodePlacement/tolerations/0"
	refused(t, []refusal{
		{reason: "more than 15 nameservers", path: resolvers, spec: forward("foo.com", sixteen, ``), errors: map[string]string{at + "/nameservers": "has 16; CoreDNS takes at most 15"}},
		{reason: "more than 15 upstreams", path: resolvers, spec: serving(`"upstreams":` + sixteen), errors: map[string]string{server + "/upstreams": "at most 15"}},
		{reason: "is not the address of a nameserver", path: resolvers, spec: forward("foo.com", `[]`, ``), errors: map[string]string{at + "/nameservers": "give 1 to 15"}},
		{reason: "cluster.local", path: resolvers, spec: forward("Cluster.Local.", one, ``), errors: map[string]string{at + "/domain": "a cluster's own domain unless it has another"}},
		{reason: "what cluster.local lies in", path: resolvers, spec: forward("local", one, ``), errors: map[string]string{at + "/domain": "contains cluster.local"}},
		{reason: "CoreDNS' own zone", path: resolvers, spec: forward("hostname.bind", one, ``), errors: map[string]string{at + "/domain": "give another zone"}},
		{reason: "what CoreDNS' own zone lies in", path: resolvers, spec: forward("Bind.", one, ``), errors: map[string]string{at + "/domain": "hostname.bind"}},
		{reason: "Services' names that go to every node", path: resolvers,
			spec:   `{"nodeResolver":{"services":["a/b"]},"servers":[{"name":"s","zones":["foo.com","svc.cluster.local"],"forwardPlugin":{"upstreams":` + one + `}}]}`,
			errors: map[string]string{"/spec/servers/0/zones/1": "so its nameservers could choose the entries that nodeResolver writes to each node's /etc/hosts; give a zone outside of it, or remove nodeResolver"}},
		{reason: "one zone in two plugins", path: resolvers,
			spec:   `{"pluginConfig":{"forwardPlugins":[{"domain":"foo.com","nameservers":` + one + `},{"domain":"FOO.com.","nameservers":` + one + `}]}}`,
			errors: map[string]string{"/spec/pluginConfig/forwardPlugins/1/domain": "the same zone as /spec/pluginConfig/forwardPlugins/0/domain"}},
		{reason: "one zone in a plugin and a server, and twice in a server", path: resolvers,
			spec: `{"pluginConfig":{"forwardPlugin":[{"domain":"foo.com","nameservers":` + one + `}]},
				"servers":[{"name":"s","zones":["foo.com","bar.com","bar.com"],"forwardPlugin":{"upstreams":` + one + `}}]}`,
			errors: map[string]string{
				"/spec/servers/0/zones/0": "the same zone as /spec/pluginConfig/forwardPlugin/0/domain",
				"/spec/servers/0/zones/2": "the same zone as /spec/servers/0/zones/1",
			}},
		{reason: "an unknown policy", path: resolvers, spec: forward("foo.com", one, `,"policy":"Fastest"`), errors: map[string]string{at + "/policy": "give Random, RoundRobin or Sequential"}},
		{reason: "/etc/resolv.conf as upstream of a server", path: resolvers, spec: serving(`"upstreams":["/etc/resolv.conf"]`),
			errors: map[string]string{server + "/upstreams/0": "upstreamResolvers"}},
		{reason: "TLS without anything", path: resolvers, spec: serving(`"upstreams":["1.2.3.4"],"transportConfig":{"transport":"TLS"}`),
			errors: map[string]string{server + "/transportConfig/tls": "give the serverName"}},
		{reason: "TLS without a server name", path: resolvers, spec: serving(`"upstreams":["1.2.3.4"],"transportConfig":{"transport":"tls","tls":{"serverName":"","caBundle":{"name":"My CA"}}}`),
			errors: map[string]string{server + "/transportConfig/tls/serverName": "is missing", server + "/transportConfig/tls/caBundle/name": "not a name of a ConfigMap"}},
		{reason: "TLS that is not used", path: resolvers, spec: serving(`"upstreams":["1.2.3.4"],"transportConfig":{"tls":{"serverName":"dns.foo.com"}}`),
			errors: map[string]string{server + "/transportConfig/tls": "give that, or leave tls out"}},
		{reason: "an unknown transport and protocol strategy", path: resolvers, spec: serving(`"upstreams":["1.2.3.4"],"transportConfig":{"transport":"QUIC"},"protocolStrategy":"UDP"`),
			errors: map[string]string{server + "/transportConfig/transport": "give Cleartext or TLS", server + "/protocolStrategy": "give TCP"}},
		{reason: "servers without a label or a zone, or of one name", path: resolvers,
			spec: `{"servers":[{"name":"Foo","zones":[],"forwardPlugin":{"upstreams":["1.2.3.4"]}},
				{"name":"a","zones":["a.com"],"forwardPlugin":{"upstreams":["1.2.3.4"]}},{"name":"a","zones":["b.com"],"forwardPlugin":{"upstreams":["1.2.3.4"]}}]}`,
			errors: map[string]string{"/spec/servers/0/name": "not a name of a server", "/spec/servers/0/zones": "at least one", "/spec/servers/2/name": "twice"}},
		{reason: "a label that Kubernetes would refuse", path: resolvers, spec: `{"nodePlacement":{"nodeSelector":{"a b":"x","kubernetes.io/os":"linux!"}}}`,
			errors: map[string]string{"/spec/nodePlacement/nodeSelector/a b": "not a key of a label", "/spec/nodePlacement/nodeSelector/kubernetes.io~1os": "not a value of a label"}},
		{reason: "Exists with a value", path: resolvers, spec: tolerating(`{"key":"a","operator":"Exists","value":"b"}`), errors: map[string]string{toleration + "/value": "remove it"}},
		{reason: "Equal without a key", path: resolvers, spec: tolerating(`{"value":"b"}`), errors: map[string]string{toleration + "/operator": "must be Exists if there is no key"}},
		{reason: "an unknown operator and effect", path: resolvers, spec: tolerating(`{"key":"a","operator":"exists","effect":"NoRun"}`),
			errors: map[string]string{toleration + "/operator": "give Exists or Equal", toleration + "/effect": "give NoSchedule"}},
		{reason: "tolerationSeconds without NoExecute", path: resolvers, spec: tolerating(`{"key":"a","operator":"Exists","effect":"NoSchedule","tolerationSeconds":60}`),
			errors: map[string]string{toleration + "/tolerationSeconds": "NoExecute"}},
		{reason: "no key and not a value of a taint", path: resolvers, spec: tolerating(`{"key":"a b","value":"c d"}`),
			errors: map[string]string{toleration + "/key": "not a key of a taint", toleration + "/value": "not a value of a taint"}},
		{reason: "cache times", path: resolvers, spec: `{"cache":{"positiveTTL":"-1500ms","negativeTTL":"-1s"}}`,
			errors: map[string]string{"/spec/cache/positiveTTL": "out of range", "/spec/cache/negativeTTL": "out of range"}},
		{reason: "no cache times", path: resolvers, spec: `{"cache":{"positiveTTL":"soon","negativeTTL":"600000h"}}`,
			errors: map[string]string{"/spec/cache/positiveTTL": "not a duration", "/spec/cache/negativeTTL": "out of range"}},
		{reason: "log levels", path: resolvers, spec: `{"logLevel":"Verbose","operatorLogLevel":"Loud"}`, errors: map[string]string{"/spec/logLevel": "give Normal, Debug or Trace", "/spec/operatorLogLevel": "give Normal"}},
		{reason: "services of the node resolver", path: resolvers, spec: `{"nodeResolver":{"services":["registry","a/b/c","a/B","a/b","a/b"]}}`,
			errors: map[string]string{"/spec/nodeResolver/services/0": "namespace and name", "/spec/nodeResolver/services/1": "namespace and name",
				"/spec/nodeResolver/services/2": "namespace and name", "/spec/nodeResolver/services/4": "twice"}},
		{reason: "no service for the node resolver", path: resolvers, spec: `{"nodeResolver":{"services":[]}}`, errors: map[string]string{"/spec/nodeResolver/services": "at least one"}},
		{reason: "what is not managed", path: resolvers, spec: `{"managementState":"Unmanaged"}`, errors: map[string]string{"/spec/managementState": "give Managed"}},
		{reason: "an unknown mode", path: resolvers, spec: `{"mode":"shared"}`, errors: map[string]string{"/spec/mode": "give dedicated or import"}},
		{reason: "certificates for somebody else's CoreDNS", path: resolvers,
			spec: `{"mode":"import","servers":[{"name":"foo","zones":["foo.com"],"forwardPlugin":{"upstreams":["1.2.3.4"],"transportConfig":{"transport":"TLS","tls":{"serverName":"dns.foo.com","caBundle":{"name":"ca"}}}}}],
				"upstreamResolvers":{"upstreams":[{"type":"Network","address":"1.2.3.4"}],"transportConfig":{"transport":"TLS","tls":{"serverName":"dns.foo.com","caBundle":{"name":"ca"}}}}}`,
			errors: map[string]string{"/spec/servers/0/forwardPlugin/transportConfig/tls/caBundle": "mode import", "/spec/upstreamResolvers/transportConfig/tls/caBundle": "mode import"}},
		{reason: "Kubernetes' namespace", path: resolvers, spec: `{"namespace":"kube-system"}`, errors: map[string]string{"/spec/namespace": "Kubernetes"}},
		{reason: "Signpost's namespace", path: resolvers, spec: `{"namespace":"signpost"}`, errors: map[string]string{"/spec/namespace": "is the namespace of Signpost with its ServiceAccounts"}},
		{reason: "everybody's namespace", path: resolvers, spec: `{"namespace":"default"}`, errors: map[string]string{"/spec/namespace": "or remove the field for signpost-dns"}},
		{reason: "another project's namespace", path: resolvers, code: intent.Conflict, spec: `{"namespace":"other-dns"}`, errors: map[string]string{"/spec/namespace": "the namespace of another project"}},
		{reason: "an image that is not allowed", path: resolvers, spec: `{"image":"evil.example/coredns:1.15.0"}`, errors: map[string]string{"/spec/image": "not allowed"}},
		{reason: "no image", path: resolvers, spec: `{"image":"CoreDNS!"}`, errors: map[string]string{"/spec/image": "docker.io/coredns/coredns"}},
		{reason: "a cluster that is not a reference of the logical cloud", path: resolvers, code: intent.Conflict, spec: `{"clusters":[{"clusterProvider":"edge","cluster":"hub"}]}`,
			errors: map[string]string{"/spec/clusters/0": "not a cluster reference of projects/shop/logical-clouds/eu; its clusters are: edge+berlin"}},
		{reason: "a cluster that does not exist", path: resolvers, code: intent.Conflict, spec: `{"clusters":[{"clusterProvider":"edge","cluster":"rome"}]}`,
			errors: map[string]string{"/spec/clusters/0": "does not exist"}},
		{reason: "labels of clusters", path: resolvers, spec: `{"clusterLabels":{"a b":"c"}}`, errors: map[string]string{"/spec/clusterLabels/a b": "not a key of a label"}},
	})
}

func TestUpstreamResolversAreRefused(t *testing.T) {
	const at = "/spec/upstreamResolvers"
	network := func(count int) string {
		return strings.TrimSuffix(strings.Repeat(`{"type":"Network","address":"192.0.2.1"},`, count), ",")
	}
	resolving := func(upstreams, more string) string {
		return `{"upstreamResolvers":{"upstreams":[` + upstreams + `]` + more + `}}`
	}
	const overTLS = `,"transportConfig":{"transport":"TLS","tls":{"serverName":"dns.foo.com"}}`
	refused(t, []refusal{
		{reason: "an unknown type, behind one that is given twice", path: resolvers, spec: resolving(`{"type":"SystemResolvConf"},{},{"type":"Local"}`, ``),
			errors: map[string]string{at + "/upstreams/2/type": "give SystemResolvConf or Network"}},
		{reason: "Network without an address", path: resolvers, spec: resolving(`{"type":"Network"}`, ``), errors: map[string]string{at + "/upstreams/0/address": "is missing"}},
		{reason: "an address that is none", path: resolvers, spec: resolving(`{"type":"Network","address":"dns.example"},{"type":"Network","address":"1.2.3.4:53"},{"type":"Network","address":"fe80::1%eth0"},{"type":"Network","address":"::"}`, ``),
			errors: map[string]string{at + "/upstreams/0/address": "not an IP address", at + "/upstreams/1/address": "the port as port",
				at + "/upstreams/2/address": "zone id", at + "/upstreams/3/address": "is not the address of a nameserver"}},
		{reason: "ports", path: resolvers, spec: resolving(`{"type":"Network","address":"1.2.3.4","port":65536},{"type":"Network","address":"1.2.3.4","port":-1}`, ``),
			errors: map[string]string{at + "/upstreams/0/port": "65536 is not a port", at + "/upstreams/1/port": "-1 is not a port"}},
		{reason: "the node's resolvers over TLS", path: resolvers, spec: resolving(`{"type":"SystemResolvConf"}`, overTLS), errors: map[string]string{at + "/transportConfig": "give upstreams of type Network only"}},
		{reason: "the node's resolvers by default, over TLS", path: resolvers, spec: resolving(``, overTLS), errors: map[string]string{at + "/transportConfig": "give upstreams of type Network only"}},
		{reason: "more than 15", path: resolvers, spec: resolving(network(16), ``), errors: map[string]string{at + "/upstreams": "give at most 15"}},
		{reason: "more than 15 with the three of the node", path: resolvers, spec: resolving(`{"type":"SystemResolvConf"},`+network(13), ``), errors: map[string]string{at + "/upstreams": "give at most 12"}},
		{reason: "policy and protocol", path: resolvers, spec: resolving(network(1), `,"policy":"Best","protocolStrategy":"QUIC"`),
			errors: map[string]string{at + "/policy": "give Random", at + "/protocolStrategy": "give TCP"}},
	})
}

// Each error has the pointer to what was written, and all come at once.
func TestDNSCRIntentsAreRefusedAllAtOnceAndByTheUsersOwnSpelling(t *testing.T) {
	refused(t, []refusal{{reason: "the seed's spelling", path: resolvers, spec: `{
		"pluginConfig":{"forwardPlugin":[
			{"domain":"foo_bar.com","nameServers":["ns.foo.com","1.2.3.4:0","2001:db8:0:0:0:0:0:1:53"],"policy":"best"},
			{"domain":"cluster.local","nameservers":["1.2.3.4:99999"]},
			{"domain":"foo.com","nameservers":["1.2.3.4"],"nameServers":["1.2.3.4"]}]},
		"nodePlacement":{"tolerations":[{"operator":"Exists","value":"x"}]},
		"logLevel":"loud"}`,
		errors: map[string]string{
			"/spec/pluginConfig/forwardPlugin/0/domain":        "label with other characters than letters",
			"/spec/pluginConfig/forwardPlugin/0/nameServers/0": "is not an IP address",
			"/spec/pluginConfig/forwardPlugin/0/nameServers/1": "has port 0",
			"/spec/pluginConfig/forwardPlugin/0/nameServers/2": "give [2001:db8::1]:53",
			"/spec/pluginConfig/forwardPlugin/0/policy":        "is not a valid policy",
			"/spec/pluginConfig/forwardPlugin/1/domain":        "own domain",
			"/spec/pluginConfig/forwardPlugin/1/nameservers/0": "has a wrong port",
			"/spec/pluginConfig/forwardPlugin/2/nameServers":   "is also given as nameservers",
			"/spec/nodePlacement/tolerations/0/value":          "remove it",
			"/spec/logLevel": "is not a valid log level",
		}},
		{reason: "a spelling that no schema knows", path: resolvers, spec: `{"pluginConfig":{"FORWARDPLUGINS":[{"domain":"foo.com","nameservers":["1.2.3.4"]}]}}`,
			errors: map[string]string{"/spec/pluginConfig": "give forwardPlugins"}},
		{reason: "both spellings of the list", path: resolvers, spec: `{"pluginConfig":{"forwardPlugin":[],"forwardPlugins":[{"domain":"-"}]}}`,
			errors: map[string]string{"/spec/pluginConfig/forwardPlugin": "is also given as forwardPlugins"}},
	})
}

func TestNameservers(t *testing.T) {
	w := newShop(t)
	for given, wrong := range map[string]string{
		"1.2.3.4": "", "1.2.3.4:5353": "", "2001:db8::53": "", "[2001:db8::53]:5353": "", "::1": "", "2001:4860:4860::8888": "",
		"2620:fe::fe:9": "", "2001:db8:0:0:0:0:1:5353": "", "::ffff:1.2.3.4": "", "127.0.0.1:10053": "", "169.254.169.253": "", "1.2.3.4:65535": "",
		"": "not an IP address", "ns.foo.com": "cannot look up its own nameservers", "ns.foo.com:53": "not an IP address", "localhost": "not an IP address",
		"1.2.3.4:": "wrong port", "1.2.3.4:65536": "wrong port", "1.2.3.4:dns": "wrong port", "1.2.3.4:-1": "wrong port", "1.2.3.4:0": "port 0", "[::1]:0": "port 0", "[::1]:x": "wrong port",
		"1.2.3": "not an IP address", "1.2.3.256": "not an IP address", "01.2.3.4": "not an IP address", "1.2.3.4/24": "not an IP address", "1.2.3.4 ": "not an IP address", "1.2.3.4,5.6.7.8": "not an IP address",
		"2001:db8:0:0:0:0:0:1:53": "without brackets; give [2001:db8::1]:53", "fd00::1:53": "may be an address or [fd00::1]:53", "2001:db8::1:5353": "may be an address or [2001:db8::1]:5353",
		"[2001:db8::53]": "brackets but no port", "[1.2.3.4]:53": "which are for IPv6; give 1.2.3.4:53", "fe80::1%eth0": "zone id", "[fe80::1%eth0]:53": "zone id",
		"tls://1.2.3.4": "scheme", "dns://1.2.3.4:53": "scheme", "/etc/resolv.conf": "upstreamResolvers", "/etc/hosts": "not an IP address",
		"0.0.0.0": "is not the address of a nameserver", "::": "is not the address of a nameserver", "::ffff:0.0.0.0": "is not the address of a nameserver", "224.0.0.1": "is not the address of a nameserver", "ff02::1": "is not the address of a nameserver", "255.255.255.255:53": "is not the address of a nameserver",
		"{$HOME}": "not an IP address", "1.2.3.4\n}": "not an IP address",
	} {
		t.Run(given, func(t *testing.T) {
			_, err := w.admit(resolvers, forward("foo.com", mustJSON(t, []string{given}), ``))
			if wrong == "" {
				require.NoError(t, err)
				return
			}
			assertFields(t, err, intent.Invalid, map[string]string{"/spec/pluginConfig/forwardPlugins/0/nameservers/0": wrong})
		})
	}
}

func TestZonesAreCanonical(t *testing.T) {
	for given, want := range map[string]string{
		"foo.com": "foo.com", "Foo.COM.": "foo.com", "Bücher.example": "xn--bcher-kva.example", "corp": "corp", "10.in-addr.arpa": "10.in-addr.arpa",
		"svc.cluster.local": "svc.cluster.local", "notcluster.local": "notcluster.local", "3com.example": "3com.example",
	} {
		t.Run(given, func(t *testing.T) {
			w := newShop(t)
			w.must(resolvers, forward(given, `["1.2.3.4"]`, ``))
			stored, err := intent.Of[intent.DNSCRIntent](*w.old(resolvers))
			require.NoError(t, err)
			assert.Equal(t, want, stored.Spec.PluginConfig.ForwardPlugins[0].Domain)
		})
	}
}

func TestZonesThatRFC1123ForbidsAreRefused(t *testing.T) {
	w := newShop(t)
	for given, wrong := range map[string]string{
		"": "empty label", ".": "upstreamResolvers", "foo..com": "empty label", ".foo.com": "empty label", "foo.com..": "empty label", "foo_bar.com": "label with other characters than letters",
		"-foo.com": "label with other characters than letters", "foo-.com": "label with other characters than letters", "*.foo.com": "a zone holds all names below it", "foo.com:53": "label with other characters than letters",
		"foo com": "label with other characters than letters", "10.0.0.0/8": "label with other characters than letters", "1.2.3.4": "10.in-addr.arpa", "dns://foo.com": "label with other characters than letters",
		"{$HOME}": "label with other characters than letters", "foo.com{": "label with other characters than letters", "xn--0.example": "IDNA",
		strings.Repeat("a", 64) + ".com": "longer than 63", strings.Repeat("abcdefg.", 32) + "com": "longer than 253",
	} {
		t.Run(given[:min(len(given), 20)], func(t *testing.T) {
			_, err := w.admit(resolvers, forward(given, `["1.2.3.4"]`, ``))
			assertFields(t, err, intent.Invalid, map[string]string{"/spec/pluginConfig/forwardPlugins/0/domain": wrong})
		})
	}
}

func TestTheClustersOwnDomainIsRefusedWhereTheIntentIsFor(t *testing.T) {
	w := newShop(t)
	w.must("cluster-providers/edge/clusters/berlin", `{"labels":{"region":"eu"},"dns":{"domain":"berlin.corp"}}`)
	w.must("cluster-providers/edge/clusters/paris", `{"dns":{"domain":"paris.corp"}}`)
	w.must(eu.Child("cluster-references", "paris"), `{"clusterProvider":"edge","cluster":"paris"}`)
	spec := func(domain, more string) string {
		return strings.TrimSuffix(forward(domain, `["1.2.3.4"]`, ``), "}") + more + "}"
	}
	const at = "/spec/pluginConfig/forwardPlugins/0/domain"
	for _, c := range []struct{ reason, spec, wrong string }{
		{"one of all clusters", spec("paris.corp", ``), "the own domain of cluster edge+paris"},
		{"what it lies in", spec("corp", ``), "contains berlin.corp, the own domain of cluster edge+berlin"},
		{"cluster.local all the same", spec("cluster.local", ``), "own domain"},
		{"below it", spec("sub.paris.corp", ``), ""},
		{"not among the clusters", spec("paris.corp", `,"clusters":[{"clusterProvider":"edge","cluster":"berlin"}]`), ""},
		{"without the label", spec("paris.corp", `,"clusterLabels":{"region":"eu"}`), ""},
		{"with the label", spec("berlin.corp", `,"clusterLabels":{"region":"eu"}`), "edge+berlin"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			_, err := w.admit(resolvers, c.spec)
			if c.wrong == "" {
				require.NoError(t, err)
				return
			}
			assertFields(t, err, intent.Invalid, map[string]string{at: c.wrong})
		})
	}
}

// TestZonesOfAClustersOwnAddressesAreRefused, where its DNS service is known to be one.
func TestZonesOfAClustersOwnAddressesAreRefused(t *testing.T) {
	w := newShop(t)
	w.must("cluster-providers/edge/clusters/berlin", `{"dns":{"address":"10.96.0.10"}}`)
	w.must("cluster-providers/edge/clusters/paris", `{"dns":{"address":"fd00:10:96::a"}}`)
	w.must(eu.Child("cluster-references", "paris"), `{"clusterProvider":"edge","cluster":"paris"}`)
	for zone, wrong := range map[string]string{
		"10.in-addr.arpa": "Services of cluster edge+berlin, whose dns.address is 10.96.0.10", "96.10.in-addr.arpa": "edge+berlin", "in-addr.arpa": "edge+berlin",
		"d.f.ip6.arpa": "edge+paris", "arpa": "the names of all addresses",
		"97.10.in-addr.arpa": "", "168.192.in-addr.arpa": "", "0.c.f.ip6.arpa": "", "home.arpa": "",
	} {
		_, err := w.admit(resolvers, forward(zone, `["1.2.3.4"]`, ``))
		if wrong == "" {
			require.NoError(t, err, zone)
			continue
		}
		assertFields(t, err, intent.Invalid, map[string]string{"/spec/pluginConfig/forwardPlugins/0/domain": wrong})
		_, err = w.admit(resolvers, `{"servers":[{"name":"s","zones":["foo.com",`+fmt.Sprintf("%q", zone)+`],"forwardPlugin":{"upstreams":["1.2.3.4"]}}]}`)
		assertFields(t, err, intent.Invalid, map[string]string{"/spec/servers/0/zones/1": wrong})
	}
}

func TestDNSCRIntentsAreStoredAsTheyWereWritten(t *testing.T) {
	everything := `{"pluginConfig":{"forwardPlugins":[{"domain":"foo.com","nameservers":["1.2.3.4","5.6.7.8:5353"],"policy":"roundrobin"}]},
		"servers":[{"name":"bar","zones":["bar.com","baz.com"],"forwardPlugin":{"upstreams":["[2001:db8::1]:853"],"policy":"SEQUENTIAL","protocolStrategy":"tcp",
			"transportConfig":{"transport":"TLS","tls":{"serverName":"dns.bar.com","caBundle":{"name":"bar-ca"}}}}}],
		"upstreamResolvers":{"upstreams":[{"type":"SystemResolvConf"},{"type":"Network","address":"192.0.2.1","port":5353}],"policy":"Random"},
		"cache":{"positiveTTL":"1h30m","negativeTTL":"0s"},"logLevel":"debug",
		"nodePlacement":{"nodeSelector":{"kubernetes.io/os":"linux","node-role.kubernetes.io/infra":""},
			"tolerations":[{"operator":"Exists"},{"key":"a.b/c","value":"d"},{"key":"a","operator":"Equal","value":"b","effect":"NoExecute","tolerationSeconds":0}]},
		"nodeResolver":{"services":["image-registry/image-registry"]},
		"clusters":[{"clusterProvider":"edge","cluster":"berlin"}],"mode":"dedicated","namespace":"signpost-dns","image":"mirror.example:5000/coredns/coredns:1.15.0","managementState":"Managed"}`
	accepted(t, []acceptance{
		{reason: "nothing", path: resolvers, spec: `{}`, stored: `{}`},
		{reason: "everything", path: resolvers, spec: everything, stored: everything, refs: []intent.Path{eu.Child("cluster-references", "berlin")}},
		{reason: "other spellings", path: resolvers,
			spec:   `{"pluginConfig":{"forwardPlugin":[{"domain":"foo.com","nameServers":["1.2.3.4"]}]}}`,
			stored: `{"pluginConfig":{"forwardPlugins":[{"domain":"foo.com","nameservers":["1.2.3.4"]}]}}`},
		{reason: "the name of a server, in canonical form", path: resolvers,
			spec:   serving(`"upstreams":["1.2.3.4"],"transportConfig":{"transport":"TLS","tls":{"serverName":"DNS.Foo.com."}}`),
			stored: serving(`"upstreams":["1.2.3.4"],"transportConfig":{"transport":"TLS","tls":{"serverName":"dns.foo.com"}}`)},
		{reason: "what OpenShift's Go client writes", path: resolvers,
			spec:   `{"servers":[{"name":"foo","zones":["foo.com"],"forwardPlugin":{"upstreams":["1.2.3.4"],"transportConfig":{"transport":"TLS","tls":{"serverName":"dns.foo.com","caBundle":{"name":""}}},"protocolStrategy":""}}],"upstreamResolvers":{"upstreams":null,"transportConfig":{},"protocolStrategy":""},"nodePlacement":{},"cache":{"positiveTTL":"1m30.5s","negativeTTL":"500ms"}}`,
			stored: `{"servers":[{"name":"foo","zones":["foo.com"],"forwardPlugin":{"upstreams":["1.2.3.4"],"transportConfig":{"transport":"TLS","tls":{"serverName":"dns.foo.com"}}}}],"upstreamResolvers":{"transportConfig":{}},"nodePlacement":{},"cache":{"positiveTTL":"1m30s","negativeTTL":"0s"}}`},
		{reason: "no certificates with mode import", path: resolvers,
			spec:   `{"mode":"import","servers":[{"name":"foo","zones":["foo.com"],"forwardPlugin":{"upstreams":["1.2.3.4"],"transportConfig":{"transport":"TLS","tls":{"serverName":"dns.foo.com","caBundle":{"name":""}}}}}]}`,
			stored: `{"mode":"import","servers":[{"name":"foo","zones":["foo.com"],"forwardPlugin":{"upstreams":["1.2.3.4"],"transportConfig":{"transport":"TLS","tls":{"serverName":"dns.foo.com"}}}}]}`},
		{reason: "resolvers without a type, and those of the node more than once", path: resolvers,
			spec:   `{"upstreamResolvers":{"upstreams":[{"type":""},{"type":"SystemResolvConf"},{"type":"","address":"192.0.2.1"},{"type":"systemresolvconf","port":53}]}}`,
			stored: `{"upstreamResolvers":{"upstreams":[{"type":"SystemResolvConf"},{"type":"Network","address":"192.0.2.1"}]}}`},
		{reason: "what OpenShift fills in by itself", path: resolvers,
			spec:   `{"cache":{"negativeTTL":"0s","positiveTTL":"0s"},"logLevel":"Normal","nodePlacement":{},"operatorLogLevel":"Normal","upstreamResolvers":{"policy":"Sequential","transportConfig":{},"upstreams":[{"port":53,"type":"SystemResolvConf"}]}}`,
			stored: `{"cache":{"negativeTTL":"0s","positiveTTL":"0s"},"logLevel":"Normal","nodePlacement":{},"operatorLogLevel":"Normal","upstreamResolvers":{"policy":"Sequential","transportConfig":{},"upstreams":[{"port":53,"type":"SystemResolvConf"}]}}`},
	})
}

func TestAnIntentHasAtMost500Zones(t *testing.T) {
	w := newShop(t)
	zones := make([]string, 501)
	for i := range zones {
		zones[i] = fmt.Sprintf("z%d.example", i)
	}
	spec := func(n int) string {
		return `{"servers":[{"name":"many","zones":` + mustJSON(t, zones[:n]) + `,"forwardPlugin":{"upstreams":["1.2.3.4"]}}]}`
	}
	_, err := w.admit(resolvers, spec(500))
	require.NoError(t, err)
	_, err = w.admit(resolvers, spec(501))
	assertFields(t, err, intent.Invalid, map[string]string{"/spec/servers/0/zones/500": "at most 500"})
}

func TestANodeResolverHasAtMost100Services(t *testing.T) {
	w := newShop(t)
	services := make([]string, 101)
	for i := range services {
		services[i] = fmt.Sprintf("%s/s%d", strings.Repeat("n", 63), i)
	}
	spec := func(n int) string { return `{"nodeResolver":{"services":` + mustJSON(t, services[:n]) + `}}` }
	_, err := w.admit(resolvers, spec(100))
	require.NoError(t, err)
	_, err = w.admit(resolvers, spec(101))
	assertFields(t, err, intent.Invalid, map[string]string{"/spec/nodeResolver/services": "has 101; give at most 100"})
}

// TestNoAnswerOfATenantsNameserverGoesToTheNodesForAService: in the domains of
// all clusters that the intent is for. Without a node resolver, as in mode
// import, a warning is enough.
func TestNoAnswerOfATenantsNameserverGoesToTheNodesForAService(t *testing.T) {
	w := newShop(t)
	w.must("cluster-providers/edge/clusters/berlin", `{"dns":{"domain":"berlin.corp"}}`)
	spec := func(more string) string {
		return strings.TrimSuffix(forward("registry.svc.berlin.corp", `["1.2.3.4"]`, ``), "}") + more + "}"
	}
	_, err := w.admit(resolvers, spec(`,"nodeResolver":{"services":["a/b"]}`))
	assertFields(t, err, intent.Invalid, map[string]string{"/spec/pluginConfig/forwardPlugins/0/domain": "the own domain of cluster edge+berlin"})
	for _, more := range []string{``, `,"nodeResolver":{"services":["a/b"]},"mode":"import"`} {
		_, err := w.admit(resolvers, spec(more))
		require.NoError(t, err)
	}
}

// intentWarnings are the warnings of a stored intent, by parameter.
func intentWarnings(t *testing.T, spec string) map[string]string {
	t.Helper()
	w := newShop(t)
	w.must(resolvers, spec)
	var shown struct {
		Status struct{ Warnings []intent.Warning }
	}
	require.NoError(t, json.Unmarshal([]byte(w.shown(resolvers)), &shown))
	require.NotNil(t, shown.Status.Warnings)
	found := map[string]string{}
	for _, warning := range shown.Status.Warnings {
		found[warning.Parameter] = warning.Message
	}
	return found
}

func TestWhatADNSCRIntentIsWarnedOf(t *testing.T) {
	nameservers := func(plugins int) string {
		var list []string
		for i := range plugins {
			list = append(list, fmt.Sprintf(`{"domain":"z%d.example","nameservers":["192.0.2.1","192.0.2.2","192.0.2.3","192.0.2.4","192.0.2.5"]}`, i))
		}
		return `{"pluginConfig":{"forwardPlugins":[` + strings.Join(list, ",") + `]}}`
	}
	for _, c := range []struct {
		reason, spec string
		want         map[string]string
	}{
		{"nothing odd", forward("foo.com", `["1.2.3.4"]`, ``), nil},
		{"fifty nameservers", nameservers(10), nil},
		{"many nameservers (seed 000, gap 4)", nameservers(11), map[string]string{"nameservers": "are 55 in all"}},
		{"the pod itself", forward("foo.com", `["127.0.0.1:53"]`, ``), map[string]string{"127.0.0.1:53": "the DNS pod itself"}},
		{"one nameserver twice", forward("foo.com", `["1.2.3.4","1.2.3.4:53"]`, ``), map[string]string{"1.2.3.4:53": "is given twice for foo.com"}},
		{"names of the cluster", forward("svc.cluster.local", `["1.2.3.4"]`, ``), map[string]string{"svc.cluster.local": "hides these names from clusters whose own domain is cluster.local"}},
		{"names of addresses that may be the cluster's", forward("10.in-addr.arpa", `["1.2.3.4"]`, ``), map[string]string{"10.in-addr.arpa": "PTR records"}},
		{"names of public addresses", forward("113.0.203.in-addr.arpa", `["1.2.3.4"]`, ``), nil},
		{"an operator's log level", `{"operatorLogLevel":"Debug"}`, map[string]string{"operatorLogLevel": "no operator"}},
		{"a node-local cache that is off", `{"nodeLocalDNS":{"enabled":false,"localIP":"169.254.20.10"}}`, map[string]string{"nodeLocalDNS": "not enabled"}},
		{"an address of the node's resolvers", `{"upstreamResolvers":{"upstreams":[{"type":"SystemResolvConf","address":"1.2.3.4"}]}}`, map[string]string{"upstreamResolvers": "no effect"}},
		{"somebody else's CoreDNS", `{"mode":"import","upstreamResolvers":{},"cache":{},"logLevel":"Normal","nodePlacement":{},"nodeResolver":{"services":["a/b"]},"image":"docker.io/coredns/coredns:1.15.0"}`,
			map[string]string{"upstreamResolvers": "mode import", "logLevel": "mode import", "nodePlacement": "mode import", "nodeResolver": "mode import", "image": "mode import"}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got := intentWarnings(t, c.spec)
			require.Len(t, got, len(c.want), "%v", got)
			for parameter, part := range c.want {
				assert.Contains(t, got[parameter], part, parameter)
			}
		})
	}
}

func TestAReferenceKeepsTheClusterThatADNSCRIntentNames(t *testing.T) {
	w := newShop(t)
	w.must(resolvers, `{"clusters":[{"clusterProvider":"edge","cluster":"berlin"}]}`)
	_, err := w.admit(eu.Child("cluster-references", "berlin"), `{"clusterProvider":"edge","cluster":"paris"}`)
	assertFields(t, err, intent.Conflict, map[string]string{"/spec": string(resolvers) + " uses that cluster"})
	err = w.store.Delete(t.Context(), eu.Child("cluster-references", "berlin"), intent.Always())
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
}
