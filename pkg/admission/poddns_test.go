package admission_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

const podDNS intent.Path = front + "/pod-dns-intents/web"

// pods is a right intent of this policy with this dnsConfig.
func pods(policy, config string) string {
	return fmt.Sprintf(`{"app":"web","dnsPolicy":%q,"dnsConfig":%s}`, policy, config)
}

// options is a right intent with these options of the resolver.
func options(list string) string { return pods("ClusterFirst", `{"options":[`+list+`]}`) }

// many is a JSON list of that many domains of so many characters each.
func many(count, length int) string {
	domain := strings.Repeat("a234567.", length/8+1)[:length-1] + "z"
	return `["` + strings.Join(strings.Split(strings.TrimSuffix(strings.Repeat(domain+" ", count), " "), " "), `","`) + `"]`
}

func TestPodDNSIntentsAreRefused(t *testing.T) {
	const at = "/spec/dnsConfig"
	refused(t, []refusal{
		{reason: "an app that the group does not have", path: podDNS, spec: `{"app":"db","dnsPolicy":"Default"}`, errors: map[string]string{"/spec/app": "whose apps are: web, api"}},
		{reason: "a policy in another letter case", path: podDNS, spec: pods("clusterfirst", `{}`), errors: map[string]string{"/spec/dnsPolicy": "the nearest known one is ClusterFirst"}},
		{reason: "a policy that nothing is like", path: podDNS, spec: pods("xxxxxxxxxxxxxxxx", `{}`), errors: map[string]string{
			"/spec/dnsPolicy": "known are Default, ClusterFirst, ClusterFirstWithHostNet, None, Custom, clusterFirstWithAutopath"}},
		{reason: "not a policy", path: podDNS, spec: `{"app":"web"}`, errors: map[string]string{"/spec/dnsPolicy": "known are Default"}},
		{reason: "None without dnsConfig", path: podDNS, spec: `{"app":"web","dnsPolicy":"None"}`, errors: map[string]string{at + "/nameservers": "dnsPolicy None gives no nameserver; give 1 to 3"}},
		{reason: "None without a nameserver", path: podDNS, spec: pods("None", `{"searches":["a.example"]}`), errors: map[string]string{at + "/nameservers": "missing"}},
		{reason: "Custom without a nameserver", path: podDNS, spec: pods("Custom", `{"nameservers":[]}`), errors: map[string]string{at + "/nameservers": "dnsPolicy Custom gives no nameserver"}},
		{reason: "more nameservers than Kubernetes takes", path: podDNS, spec: pods("Default", `{"nameservers":["192.0.2.1","192.0.2.2","192.0.2.3","192.0.2.4"]}`),
			errors: map[string]string{at + "/nameservers": "has 4 nameservers; Kubernetes takes at most 3: leave some out"}},
		{reason: "more searches than Kubernetes takes", path: podDNS, spec: pods("Default", `{"searches":`+many(33, 8)+`}`), errors: map[string]string{at + "/searches": "has 33 searches; Kubernetes takes at most 32: leave some out"}},
		{reason: "more characters than Kubernetes takes", path: podDNS, spec: pods("Default", `{"searches":`+many(32, 64)+`}`),
			errors: map[string]string{at + "/searches": "has searches of 2079 characters, joined by spaces; Kubernetes takes at most 2048: leave some out"}},
		{reason: "everything at once, where it was written", path: podDNS,
			spec: pods("Clusterfirst", `{"nameservers":["dns.example"],"search":["A.example"],"options":[{"name":"edns0"},{"name":"ndots"}]}`),
			errors: map[string]string{"/spec/dnsPolicy": "ClusterFirst", at + "/nameservers/0": "not an IP address", at + "/search/0": "in lower case",
				at + "/options/1/value": `give a number from 0 to 15 beside the name, as in {"name":"ndots","value":"1"}`}},
		{reason: "more than Kubernetes takes in the seed's spelling", path: podDNS, spec: pods("Default", `{"search":`+many(33, 8)+`}`), errors: map[string]string{at + "/search": "has 33 searches"}},
		{reason: "both spellings of searches", path: podDNS, spec: pods("Default", `{"searches":["a.example"],"search":["b.example"]}`), errors: map[string]string{at + "/search": "is also given as searches"}},
		{reason: "the place of previews as name", path: front + "/pod-dns-intents/preview", spec: pods("Default", `{}`), errors: map[string]string{"/metadata/name": "choose another name"}},
	})
}

func TestNameserversOfPodsAreRefused(t *testing.T) {
	w := newShop(t)
	for given, why := range map[string]string{
		"": "not an IP address; give one such as", "dns.example": "not an IP address", "192.0.2": "not an IP address", "192.0.2.01": "not an IP address", "http://192.0.2.1": "not an IP address",
		"192.0.2.1:53": "always 53; give 192.0.2.1", "[2001:db8::1]:53": "give 2001:db8::1", "[2001:db8::1]": "has brackets, which resolv.conf cannot hold; give 2001:db8::1",
		"fe80::1%eth0": "zone id", "0.0.0.0": "address of a nameserver", "ff02::fb": "address of a nameserver",
		"::ffff:192.0.2.1": "is an IPv4 address, written as IPv6; give 192.0.2.1", "::ffff:192.0.2.1%1": "give 192.0.2.1",
	} {
		_, err := w.admit(podDNS, pods("ClusterFirst", `{"nameservers":[`+mustJSON(t, given)+`]}`))
		assertFields(t, err, intent.Invalid, map[string]string{"/spec/dnsConfig/nameservers/0": why})
	}
}

func TestSearchDomainsAreTakenAsKubernetesTakesThem(t *testing.T) {
	w := newShop(t)
	long := strings.Repeat("abcdefg.", 31) + "abcde" // 253 characters
	for _, right := range []string{"a.example", "a", ".", "a.example.", "_sip._tcp.a.example", "a_b.example", "1.2", long, long + ".", strings.Repeat("a", 63)} {
		w.must(podDNS, pods("ClusterFirst", `{"searches":[`+mustJSON(t, right)+`]}`))
	}
	for _, wrong := range []string{"", "..", "A.example", "a..example", ".example", "-a.example", "a-.example", "a_.example", "__a.example", "a b", "a,b", "bücher.example", "*.example",
		"a.example\n", long + "f", strings.Repeat("a", 64), "http://a.example"} {
		_, err := w.admit(podDNS, pods("ClusterFirst", `{"searches":["a.example",`+mustJSON(t, wrong)+`]}`))
		assertFields(t, err, intent.Invalid, map[string]string{"/spec/dnsConfig/searches/1": "not a search domain; give one in lower case such as a.example"})
	}
}

func TestOptionsOfTheResolver(t *testing.T) {
	w := newShop(t)
	for _, right := range []string{
		`{"name":"ndots","value":"0"}`, `{"name":"ndots","value":15}`, `{"name":"timeout","value":"30"}`, `{"name":"attempts","value":5}`,
		`{"name":"edns0"}`, `{"name":"edns0","value":""}`, `{"name":"single-request-reopen"}`, `{"name":"no_tld_query"}`, `{"name":"trust-ad"}`, `{"name":"ndots","value":1},{"name":"ndots","value":2}`,
	} {
		w.must(podDNS, options(right))
	}
	for wrong, why := range map[string]string{
		`{"name":"ndots","value":"16"}`:      "/spec/dnsConfig/options/0/value: give a number from 0 to 15",
		`{"name":"ndots","value":-1}`:        "/spec/dnsConfig/options/0/value: give a number from 0 to 15",
		`{"name":"timeout","value":31}`:      "/spec/dnsConfig/options/0/value: give a number from 0 to 30",
		`{"name":"attempts","value":"6"}`:    "/spec/dnsConfig/options/0/value: give a number from 0 to 5",
		`{"name":"ndots","value":1.5}`:       "/spec/dnsConfig/options/0/value: \"1.5\" is not a value of ndots",
		`{"name":"ndots","value":"many"}`:    "/spec/dnsConfig/options/0/value: \"many\" is not a value of ndots",
		`{"name":"ndots"}`:                   "/spec/dnsConfig/options/0/value: is missing",
		`{"name":"edns0","value":"1"}`:       "/spec/dnsConfig/options/0/value: edns0 has no value; remove the value",
		`{"name":"ndots:2"}`:                 `/spec/dnsConfig/options/0/name: give {"name":"ndots","value":"2"}`,
		`{"name":"nodts","value":"1"}`:       "/spec/dnsConfig/options/0/name: the nearest known one is ndots",
		`{"name":"single-request-reopn"}`:    "/spec/dnsConfig/options/0/name: the nearest known one is single-request-reopen",
		`{"name":"NDOTS","value":"1"}`:       "/spec/dnsConfig/options/0/name: the nearest known one is ndots",
		`{"name":""}`:                        "/spec/dnsConfig/options/0/name: known are ndots, timeout, attempts, rotate",
		`{"name":"a b\nnameserver 1"}`:       "/spec/dnsConfig/options/0/name: is not an option that glibc's or musl's resolver knows",
		`{"name":"ndots","value":"1 debug"}`: "/spec/dnsConfig/options/0/value: is not a value of ndots",
	} {
		_, err := w.admit(podDNS, options(wrong))
		pointer, detail, _ := strings.Cut(why, ": ")
		assertFields(t, err, intent.Invalid, map[string]string{pointer: detail})
	}
}

func TestPodDNSIntentsAreStoredAsWritten(t *testing.T) {
	accepted(t, []acceptance{
		{reason: "the seed's own resolver, whose numbers become text", path: podDNS, refs: []intent.Path{front},
			spec:   pods("Custom", `{"nameservers":["1.2.3.4"],"searches":["ns1.svc.cluster.local","my.dns.search.suffix"],"options":[{"name":"ndots","value":2},{"name":"edns0"}]}`),
			stored: pods("Custom", `{"nameservers":["1.2.3.4"],"searches":["ns1.svc.cluster.local","my.dns.search.suffix"],"options":[{"name":"ndots","value":"2"},{"name":"edns0"}]}`)},
		{reason: "the seed's search", path: podDNS, spec: pods("ClusterFirst", `{"search":["a.example","a.example"]}`), stored: pods("ClusterFirst", `{"searches":["a.example","a.example"]}`)},
		{reason: "autopath in the seed's letter case", path: podDNS, spec: `{"app":"web","dnsPolicy":"clusterFirstWithAutopath"}`, stored: `{"app":"web","dnsPolicy":"clusterFirstWithAutopath"}`},
		{reason: "autopath in another letter case", path: podDNS, spec: `{"app":"web","dnsPolicy":"ClusterFirstWithAutoPath"}`, stored: `{"app":"web","dnsPolicy":"ClusterFirstWithAutoPath"}`},
		{reason: "None, and all that Kubernetes takes", path: podDNS,
			spec:   pods("None", `{"nameservers":["192.0.2.1","2001:db8::1"],"searches":`+many(32, 63)+`}`),
			stored: pods("None", `{"nameservers":["192.0.2.1","2001:db8::1"],"searches":`+many(32, 63)+`}`)},
		{reason: "ClusterFirstWithHostNet and nothing else", path: podDNS, spec: `{"app":"api","dnsPolicy":"ClusterFirstWithHostNet"}`, stored: `{"app":"api","dnsPolicy":"ClusterFirstWithHostNet"}`},
	})
}

func TestASecondPodDNSIntentForAnAppIsAConflictThatNamesTheOther(t *testing.T) {
	w := newShop(t)
	w.must(podDNS, pods("Default", `{}`))
	w.must(podDNS, pods("None", `{"nameservers":["192.0.2.1"]}`))
	back := prod + "/traffic-group-intents/back"
	w.must(back, `{}`)
	for _, other := range []intent.Path{front + "/pod-dns-intents/other", back + "/pod-dns-intents/web"} {
		_, err := w.admit(other, pods("Default", `{}`))
		assertFields(t, err, intent.Conflict, map[string]string{"/spec/app": string(other) + ` names app "web", whose pods already have their DNS from ` + string(podDNS)})
		w.must(other, `{"app":"api","dnsPolicy":"Default"}`)
		_, err = w.admit(other, pods("Default", `{}`))
		assertFields(t, err, intent.Conflict, map[string]string{"/spec/app": string(podDNS)})
		require.NoError(t, w.admitter.Delete(t.Context(), other, intent.Always()))
	}
}

// giving makes the app web have these manifests.
func giving(manifests ...string) string {
	return `{"logicalCloud":"eu","apps":[{"name":"web","manifests":[` + strings.Join(manifests, ",") + `]},{"name":"api"}]}`
}

func TestAutopathIsRefusedForPodsOnTheNodesNetwork(t *testing.T) {
	const host = `{"containers":[{"name":"web"}],"hostNetwork":true}`
	const leftAlone = `{"apiVersion":"example.com/v1","kind":"Rollout","metadata":{"name":"web"},"spec":{"template":{"spec":` + host + `}}}`
	w := newShop(t)
	w.must(prod, giving(leftAlone, `{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"night"},"spec":{"jobTemplate":{"spec":{"template":{"spec":`+host+`}}}}}`))
	_, err := w.admit(podDNS, pods("CLUSTERFIRSTWITHAUTOPATH", `{}`))
	assertFields(t, err, intent.Invalid, map[string]string{
		"/spec/dnsPolicy": `manifest 1 of app "web" (CronJob night) has hostNetwork: true; give ClusterFirstWithHostNet, or remove hostNetwork`})
	w.must(podDNS, pods("ClusterFirstWithHostNet", `{}`))
	w.must(front+"/pod-dns-intents/api", `{"app":"api","dnsPolicy":"clusterFirstWithAutopath"}`)
	w.must(prod, giving(leftAlone, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"hostNetwork":false}}`))
	w.must(podDNS, pods("clusterFirstWithAutopath", `{}`))
}

func TestAnAppIsNotDroppedWhileAPodDNSIntentNamesIt(t *testing.T) {
	w := newShop(t)
	w.must(podDNS, pods("Default", `{}`))
	_, err := w.admit(prod, `{"logicalCloud":"eu","apps":[{"name":"api"}]}`)
	assertFields(t, err, intent.Conflict, map[string]string{"/spec/apps": `leaves out app "web", which ` + string(podDNS) + " names"})
}

func TestWarningsOfPodDNSIntents(t *testing.T) {
	w := newShop(t)
	w.must(prod, giving(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"web"}]}}`))
	warnings := func(path intent.Path, spec string) []string {
		w.must(path, spec)
		var shown struct{ Status review.Status }
		require.NoError(t, json.Unmarshal([]byte(w.shown(path)), &shown))
		require.NotNil(t, shown.Status.Warnings)
		lines := []string{}
		for _, warning := range shown.Status.Warnings {
			lines = append(lines, warning.Parameter+" "+warning.Message)
		}
		return lines
	}
	assert.Equal(t, []string{"app api has no manifests, so Signpost cannot change its pods, and instantiate and update refuse this unless EMCO's orchestrator deploys the app; give the app manifests, or delete the intent"},
		warnings(front+"/pod-dns-intents/api", `{"app":"api","dnsPolicy":"Default"}`))
	const needs = "dnsPolicy clusterFirstWithAutopath needs a DNS CR intent of logical cloud eu with autopath, which does not exist: until one is deployed, instantiate and update refuse this"
	resolvers := eu.Child("dns-cr-intents", "resolvers")
	assert.Equal(t, []string{needs}, warnings(podDNS, pods("clusterFirstWithAutopath", `{}`)))
	w.must(resolvers, `{"nodeLocalDNS":{"enabled":true}}`)
	assert.Equal(t, []string{needs}, warnings(podDNS, pods("clusterFirstWithAutopath", `{}`)), "a cache alone walks nothing")
	assert.Empty(t, warnings(podDNS, pods("ClusterFirst", `{}`)))
	w.must(resolvers, `{"autopath":{"mode":"static"}}`)
	for _, quiet := range []string{
		`{"app":"web","dnsPolicy":"clusterFirstWithAutopath"}`, pods("clusterFirstWithAutopath", `{"nameservers":["192.0.2.1"],"options":[{"name":"ndots","value":"5"},{"name":"edns0"}]}`),
		pods("ClusterFirst", `{"nameservers":["192.0.2.1","192.0.2.2"],"searches":["a.example"],"options":[{"name":"ndots","value":1}]}`),
		pods("None", `{"nameservers":["192.0.2.1","192.0.2.2","192.0.2.3"]}`),
	} {
		assert.Empty(t, warnings(podDNS, quiet), quiet)
	}
	assert.Equal(t, []string{
		"ndots is given more than once; the last value counts",
		"nameservers are one more than Kubernetes allows beside that of autopath, so a plan refuses them; give at most 2",
		"searches are one more than Kubernetes allows beside that of autopath, so a plan refuses them; give at most 31",
		"searches come after that of autopath, which answers first; give them as autopath.searches of the DNS CR intent",
		"ndots costs additional queries: names with as many dots are asked for as they are before autopath gets them; remove it to use 5",
		"searches have 287 characters, joined by spaces: musl, as in Alpine images, ignores all of them above 255; give fewer or shorter ones",
	}, warnings(podDNS, pods("clusterFirstWithAutopath", `{"nameservers":["192.0.2.1","192.0.2.2","192.0.2.3"],"searches":`+many(32, 8)+`,"options":[{"name":"ndots","value":1},{"name":"ndots","value":5}]}`)))
	const itself = " is the pod itself, where no nameserver listens unless the pod has one; with systemd-resolved, the node's /run/systemd/resolve/resolv.conf has the nameservers that pods can ask"
	assert.Equal(t, []string{"127.0.0.53" + itself, "::1" + itself}, warnings(podDNS, pods("None", `{"nameservers":["127.0.0.53","192.0.2.1","::1"]}`)))
	assert.Equal(t, []string{"nameservers come after the nameserver of the cluster's DNS, and kubelet drops all after the third"},
		warnings(podDNS, pods("ClusterFirstWithHostNet", `{"nameservers":["192.0.2.1","192.0.2.2","192.0.2.3"]}`)))
}

// counted is a store that counts what is read of one document.
type counted struct {
	intent.Store
	path  intent.Path
	reads int
}

func (s *counted) Get(ctx context.Context, path intent.Path) (intent.Document, error) {
	if path == s.path {
		s.reads++
	}
	return s.Store.Get(ctx, path)
}

// TestAPageOfPodDNSIntentsReadsTheirGroupOnce: it may be large.
func TestAPageOfPodDNSIntentsReadsTheirGroupOnce(t *testing.T) {
	store := &counted{Store: etcd.New(kvtest.NewFake()), path: prod}
	w := newShopOn(t, store)
	page := []intent.Document{w.must(podDNS, pods("Default", `{}`)), w.must(front+"/pod-dns-intents/api", `{"app":"api","dnsPolicy":"Default"}`)}
	store.reads = 0
	views, err := w.admitter.Views(t.Context(), page)
	require.NoError(t, err)
	assert.Equal(t, 1, store.reads)
	for i, view := range views {
		assert.Equal(t, page[i].Path.Name(), view.Metadata.Name)
		assert.Contains(t, view.Status.Warnings[0].Message, view.Metadata.Name+" has no manifests")
	}
	_, err = w.admitter.Views(t.Context(), append(page, intent.Document{Path: "nothing/of/ours"}))
	assert.Equal(t, intent.NotFound, intent.CodeOf(err))
}
