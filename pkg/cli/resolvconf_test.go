package cli

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/resolvconf"
)

const nodesResolvConf = "nameserver 10.1.1.10\nsearch foo.com\noptions ndots:1\n"

// podIntent is the file of an intent of this spec.
func podIntent(t *testing.T, spec string) string {
	t.Helper()
	return write(t, "intent.yaml", "metadata: {name: web}\nspec: "+spec+"\n")
}

// TestResolvconfOfTheSeedsExamples: "configurable pod DNS", to the letter.
func TestResolvconfOfTheSeedsExamples(t *testing.T) {
	t.Parallel()
	host := write(t, "resolv.conf", nodesResolvConf)
	for spec, want := range map[string]string{
		`{dnsPolicy: Default}`: nodesResolvConf,
		`{dnsPolicy: Custom, dnsConfig: {nameservers: ["1.2.3.4"], searches: [ns1.svc.cluster.local, my.dns.search.suffix], options: [{name: ndots, value: 2}, {name: edns0}]}}`: "nameserver 1.2.3.4\nsearch ns1.svc.cluster.local my.dns.search.suffix\noptions ndots:2 edns0\n",
		`{dnsPolicy: ClusterFirst, dnsConfig: {options: [{name: ndots, value: 1}]}}`:                                                                                             "nameserver 10.0.0.10\nsearch default.svc.cluster.local svc.cluster.local cluster.local foo.com\noptions ndots:1\n",
	} {
		got := signpost(t, "", "resolvconf", "-f", podIntent(t, spec), "--host", host, "--cluster-dns", "10.0.0.10")
		require.Equal(t, result{exitDone, want, ""}, got)
	}
}

// TestResolvconfTellsWhatALookupCosts: "minimizes the number of DNS queries at
// client side to atmost 2(A, AAAA)".
func TestResolvconfTellsWhatALookupCosts(t *testing.T) {
	t.Parallel()
	args := []string{
		"resolvconf", "-f", podIntent(t, `{dnsPolicy: clusterFirstWithAutopath}`), "--host", write(t, "resolv.conf", nodesResolvConf),
		"--namespace", "shop", "--cluster-domain", "k8s.example", "--local-ip", "169.254.99.1", "--name", "service123",
	}
	got := signpost(t, "", args...)
	require.Equal(t, result{exitDone, `nameserver 169.254.99.1
search search.shop.k8s.example.ap.k8s.io
options ndots:5

BEFORE: 10 QUERIES                     AFTER: 2 QUERIES
service123.shop.svc.k8s.example. A     service123.search.shop.k8s.example.ap.k8s.io. A
service123.shop.svc.k8s.example. AAAA  service123.search.shop.k8s.example.ap.k8s.io. AAAA
service123.svc.k8s.example. A          -
service123.svc.k8s.example. AAAA       -
service123.k8s.example. A              -
service123.k8s.example. AAAA           -
service123.foo.com. A                  -
service123.foo.com. AAAA               -
service123. A                          -
service123. AAAA                       -
`, ""}, got)

	var preview resolvconf.Preview
	require.NoError(t, json.Unmarshal([]byte(signpost(t, "", append(args, "-o", "json")...).out), &preview))
	require.Len(t, preview.Queries.Before, 10)
	require.Len(t, preview.Queries.After, 2)
	require.NotNil(t, preview.Warnings)
}

func TestResolvconfOfAPodOnTheNodesNetwork(t *testing.T) {
	t.Parallel()
	got := signpost(t, "", "resolvconf", "-f", podIntent(t, `{dnsPolicy: ClusterFirst}`), "--host", write(t, "resolv.conf", nodesResolvConf), "--host-network")
	require.Equal(t, exitDone, got.code)
	require.Equal(t, nodesResolvConf, got.out)
	require.Contains(t, got.err, "warning: the pod is on the node's network: kubelet treats ClusterFirst as Default there")
}

func TestResolvconfReadsStandardInput(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(repository + "/examples/pod-dns/web.yaml")
	require.NoError(t, err)
	got := withInput(t.Context(), "", string(content), "resolvconf", "-f", "-", "--cluster-dns", "10.0.0.10")
	require.Equal(t, result{exitDone, "nameserver 10.0.0.10\nsearch default.svc.cluster.local svc.cluster.local cluster.local lab.example\noptions ndots:2\n", ""}, got)
}

func TestResolvconfSaysWhatIsWrongAndWhere(t *testing.T) {
	t.Parallel()
	file := podIntent(t, `{dnsPolicy: ClusterFirst, dnsConfig: {options: [{name: nodts}]}}`)
	got := signpost(t, "", "resolvconf", "-f", file, "--host", write(t, "resolv.conf", "nameserver\n"), "--namespace", "Shop", "--cluster-domain", "a_b", "--name", "a..b", "--local-ip", "127.0.0.1")
	require.Equal(t, exitFailed, got.code)
	require.Empty(t, got.out)
	require.Contains(t, got.err, "signpost resolvconf: there is no preview of "+file+"\n")
	for _, fault := range []string{
		"\n  /spec/dnsConfig/options/0/name: \"nodts\" is not an option that glibc's or musl's resolver knows; the nearest known one is ndots",
		"\n  --cluster-dns: is missing, but with dnsPolicy ClusterFirst pods ask the cluster's DNS",
		"\n  --host: line 1 has a nameserver without address",
		"\n  --namespace: \"Shop\" is not a namespace",
		"\n  --cluster-domain: \"a_b\" is not a DNS domain",
		"\n  --name: \"a..b\" has an empty label",
		"\n  --local-ip: \"127.0.0.1\" is a loopback address, which each pod has for itself",
	} {
		require.Contains(t, got.err, fault)
	}
}

func TestResolvconfRefusesWhatIsNoIntent(t *testing.T) {
	t.Parallel()
	for content, says := range map[string]string{
		"":                                     "has 0 documents; give a file with a single pod DNS intent",
		"spec: {}\n---\nspec: {}\n":            "has 2 documents",
		"metadata: {}\n":                       "it has no spec",
		"dnsPolicy: None\n":                    "it has no spec; dnsPolicy and dnsConfig go below spec:, beside app, as in\n  metadata: {name: web}\n  spec: {app: web,",
		"kind: Pod\nspec: {dnsPolicy: None}\n": "is a Kubernetes object, not a pod DNS intent: dnsPolicy and dnsConfig go below spec:, beside app",
		"- a\n":                                "it has no spec",
		"spec: {}\nspec: {}\n":                 "already set",
		"spec: {}\nspecs: {}\n":                "did you mean spec?",
		"spec: {}\n":                           "/spec/dnsPolicy",
		"spec: {dnsPolicy: Default, dnsConfig: [{options: [{name: ndots}, {value: 1}]}]}\n": `/spec/dnsConfig: must be an object as in {"options":[{"name":"ndots","value":"1"}]}, not a list`,
	} {
		got := signpost(t, "", "resolvconf", "-f", write(t, "intent.yaml", content))
		require.Equal(t, exitFailed, got.code, content)
		require.Contains(t, got.err, says, content)
	}
	for _, args := range [][]string{{}, {"-f", "/nowhere"}, {"-f", podIntent(t, "{dnsPolicy: Default}"), "--host", "/nowhere"}, {"intent.yaml"},
		{"-f", podIntent(t, "{dnsPolicy: Default}"), "--name", ""}, {"-f", podIntent(t, "{dnsPolicy: Default}"), "-f", podIntent(t, "{dnsPolicy: None}")}} {
		require.Equal(t, exitUsage, signpost(t, "", append([]string{"resolvconf"}, args...)...).code, args)
	}
}

func TestResolvconfSaysWhatClusterDNSIsFor(t *testing.T) {
	t.Parallel()
	got := signpost(t, "", "resolvconf", "-f", podIntent(t, `{dnsPolicy: clusterFirstWithAutopath}`), "--cluster-dns", "10.0.0.10")
	require.Equal(t, exitDone, got.code)
	require.Equal(t, "warning: --cluster-dns has no effect: pods with autopath ask --local-ip; in mode static without nodeLocalDNS, give the address of the Service dns-default there\n", got.err)
	help := signpost(t, "", "resolvconf", "--help").out
	require.Contains(t, help, "If the autopath of the logical cloud has\nmode static without nodeLocalDNS, set --local-ip to the address of the Service dns-default")
}

func TestResolvconfTakesOneFile(t *testing.T) {
	t.Parallel()
	file := podIntent(t, "{dnsPolicy: Default}")
	require.Contains(t, signpost(t, "", "resolvconf", "-f", file, "-f", file).err, "-f is given 2 times: give a single file")
	require.Contains(t, signpost(t, "", "resolvconf", "-f", file, "--name", "").err, "--name is empty: give a name to look up")
}
