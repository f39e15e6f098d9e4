package bench

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/apiserver"
	"github.com/signpost-dns/signpost/test/bench/compare"
	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/process"
)

// BenchmarkTimeToAnswer changes the address of a load balancer and asks the authoritative
// server until it answers the new one. Signpost is a process of its own, and writes the
// names itself, by its built-in publisher. CoreDNS with its etcd, and BIND, are real. The
// API server is one of this process. So many names are in each zone, and one of them changes.
// An answer that is neither the old address nor the new one fails the benchmark.
func BenchmarkTimeToAnswer(b *testing.B) {
	for _, names := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("names=%d", names), func(b *testing.B) {
			w := newAnswerWorld(b, names)
			times := compare.Run(b, time.Millisecond,
				compare.Contender{Name: "CoreDNS", Before: pause, Turn: w.zones[0].follow},
				compare.Contender{Name: "BIND", Before: pause, Turn: w.zones[1].follow})
			b.ReportMetric(float64(len(times[0])), "changes")
		})
	}
}

// answerWorld is a Signpost that publishes a zone on each of the DNS servers.
type answerWorld struct {
	edge     *apiserver.Server
	signpost *fixture.Signpost
	zones    []*answerZone
}

// answerZone is a zone on a server. The name www in it follows the Service of the zone's name.
type answerZone struct {
	edge    *apiserver.Server
	server  string // HOST:PORT
	record  string // the DNS update record, and the Service
	domain  string
	address netip.Addr // that www has
}

// The Services of the names that stay as they are have so many names each.
const namesOfAService = 1000

func newAnswerWorld(b *testing.B, names int) *answerWorld {
	b.Helper()
	w := &answerWorld{edge: apiserver.Start(b, "paris", 0)}
	var ports process.Ports
	start := func(p *process.Process, err error) {
		b.Helper()
		require.NoError(b, err)
		b.Cleanup(func() {
			p.Kill()
			if b.Failed() {
				b.Logf("=== %s\n%s", p.Name, p.Tail(30))
			}
		})
		require.NoError(b, p.Start(b.Context()))
	}
	store, err := etcd.NewServer(b.Context(), b.TempDir(), &ports)
	start(store.Process, err)
	coreDNS, err := dns.NewCoreDNS(b.Context(), b.TempDir(), store.URL, &ports)
	start(coreDNS.Process, err)
	bind, err := dns.NewBIND(b.Context(), b.TempDir(), &ports)
	start(bind.Process, err)
	program, err := fixture.Build(b.Context(), b.TempDir())
	require.NoError(b, err)
	w.signpost, err = fixture.NewSignpost(program, b.TempDir(), "--publisher-servers", "127.0.0.1")
	start(w.signpost.Process, err)
	w.zones = []*answerZone{
		{edge: w.edge, server: coreDNS.Address, record: "lab", domain: dns.CoreDNSZone, address: netip.MustParseAddr("198.18.0.1")},
		{edge: w.edge, server: bind.Address, record: "corp", domain: dns.BINDZone, address: netip.MustParseAddr("198.19.0.1")},
	}
	w.begin(b, map[string]any{
		"provider": "coredns", "environment": map[string]any{"ETCD_URLS": store.URL},
		"external-dns-parameters": map[string]any{"domain-filter": dns.CoreDNSZone, "coredns-prefix": dns.CoreDNSPath + "/"},
	}, map[string]any{
		"provider": "rfc2136", "external-dns-parameters": map[string]any{
			"domain-filter": dns.BINDZone, "rfc2136-host": []string{bind.Host}, "rfc2136-port": strconv.Itoa(bind.Port),
			"rfc2136-zone": []string{dns.BINDZone}, "rfc2136-tsig-keyname": bind.KeyName, "rfc2136-tsig-secret": bind.Secret,
			"rfc2136-tsig-secret-alg": bind.Algorithm, "rfc2136-tsig-axfr": true,
		},
	})
	for _, zone := range w.zones {
		zone.publish(b, w, names)
	}
	w.post(b, string(group)+"/instantiate", nil)
	for _, zone := range w.zones {
		zone.await(b, "www", zone.address)
		zone.await(b, filler(names-2), unmoved)
	}
	return w
}

// begin writes the documents that have no names, with the records of the zones.
func (w *answerWorld) begin(b *testing.B, records ...map[string]any) {
	b.Helper()
	kubeconfig, err := w.edge.Kubeconfig()
	require.NoError(b, err)
	document := func(path, name string, spec map[string]any) {
		w.post(b, path, map[string]any{"metadata": map[string]any{"name": name}, "spec": spec})
	}
	document("cluster-providers", "edge", map[string]any{})
	document("cluster-providers/edge/clusters", "paris", map[string]any{"kubeconfig": kubeconfig})
	document("projects", "shop", map[string]any{"namespace": "shop-dns"})
	document("projects/shop/logical-clouds", "eu", map[string]any{"namespace": appNamespace, "clusters": []string{"edge/paris"}})
	for n, spec := range records {
		spec["deployOn"], spec["logicalClouds"] = map[string]any{"publisher": "built-in"}, []string{"eu"}
		document("projects/shop/dns-update-records", w.zones[n].record, spec)
	}
	document("projects/shop/composite-apps", "store", map[string]any{"compositeAppVersion": "v1"})
	document("projects/shop/composite-apps/store/v1/deployment-intent-groups", "prod",
		map[string]any{"logicalCloud": "eu", "apps": []any{map[string]any{"name": "web"}}})
}

// post posts a document or, if that is nil, an action.
func (w *answerWorld) post(b *testing.B, path string, document any) {
	b.Helper()
	var body []byte
	if document != nil {
		var err error
		body, err = json.Marshal(document)
		require.NoError(b, err)
	}
	answer, err := w.signpost.Do(b.Context(), http.MethodPost, "/v2/"+path, string(body))
	require.NoError(b, err)
	require.Less(b, answer.Status, http.StatusMultipleChoices, "%s: %s", answer.Call, answer.Body)
}

// unmoved is the address of all names but www.
var unmoved = netip.MustParseAddr("198.18.255.1")

// filler is a label of a zone that stays as it is.
func filler(n int) string { return fmt.Sprintf("name-%05d", n) }

// publish has Signpost publish so many names of the zone.
func (z *answerZone) publish(b *testing.B, w *answerWorld, names int) {
	b.Helper()
	intent := func(service string, labels []string) {
		var hostnames []string
		for _, label := range labels {
			hostnames = append(hostnames, label+"."+z.domain)
		}
		w.post(b, string(group)+"/dns-intents", map[string]any{"metadata": map[string]any{"name": service},
			"spec": map[string]any{"app": "web", "serviceName": service, "hostnames": hostnames, "ttl": 30, "records": []string{z.record}}})
	}
	z.edge.SetService(appNamespace, z.record, z.address.String())
	intent(z.record, []string{"www"})
	var labels []string
	for n := range names - 1 {
		labels = append(labels, filler(n))
	}
	n := 0
	for some := range slices.Chunk(labels, namesOfAService) {
		service := fmt.Sprintf("%s-%d", z.record, n)
		z.edge.SetService(appNamespace, service, unmoved.String())
		intent(service, some)
		n++
	}
}

// follow changes the address of www and tells how long the server took to answer it.
func (z *answerZone) follow(b *testing.B) time.Duration {
	b.Helper()
	before := z.address
	z.address = before.Next()
	began := time.Now()
	z.edge.SetService(appNamespace, z.record, z.address.String())
	z.await(b, "www", z.address, before)
	return time.Since(began)
}

// await asks until the server answers the address. If others are given, it has to have one
// of those until then.
func (z *answerZone) await(b *testing.B, label string, address netip.Addr, others ...netip.Addr) {
	b.Helper()
	const every, patience = time.Millisecond, 5 * time.Minute
	tick := time.NewTicker(every)
	defer tick.Stop()
	for tooLong := time.After(patience); ; {
		got, err := dns.Query(b.Context(), z.server, label+"."+z.domain, "A")
		require.NoError(b, err)
		if len(got) == 1 && got[0] == address.String() {
			return
		}
		if len(others) > 0 {
			require.True(b, len(got) == 1 && slices.ContainsFunc(others, func(o netip.Addr) bool { return o.String() == got[0] }), "wrong answer: %v", got)
		}
		select {
		case <-tick.C:
		case <-tooLong:
			b.Fatalf("%s.%s did not become %s within %s, but is %v", label, z.domain, address, patience, got)
		}
	}
}
