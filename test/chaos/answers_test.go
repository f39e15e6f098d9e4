package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/sample"
	"github.com/signpost-dns/signpost/test/apiserver"
	servers "github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/e2e/wait"
	"github.com/signpost-dns/signpost/test/faults/link"
	"github.com/signpost-dns/signpost/test/mutants"
)

// TestNoAnswerIsWrongWhileEverythingFails: built-in publishers write names whose addresses change, to CoreDNS and BIND. Workers, etcd
// members and DNS servers fail meanwhile. Each answer is one address that the load balancer has had, and never an older one
// than an earlier answer. No answer is empty.
func TestNoAnswerIsWrongWhileEverythingFails(t *testing.T) {
	during, seed := settings(t)
	w := newAnswers(t)
	w.follow()
	w.rage(seed, during, w.lanes()...)
	w.end()
	least := sample.Cases(500, 500, 100_000)
	for _, n := range w.names {
		n.settles(t)
		t.Logf("%s: %d addresses, %d answers, %d questions without one", n.host, n.changes(), n.answers, n.silent)
		require.Empty(t, n.wrong)
		require.GreaterOrEqual(t, n.answers, least)
	}
}

// TestAnAnswerBetweenDeleteAndPutIsFound plants the fault, so that the check of answers can fail.
func TestAnAnswerBetweenDeleteAndPutIsFound(t *testing.T) {
	for _, mutant := range mutants.All() {
		if mutant.Name == "delete before put" {
			overlay, err := mutant.Overlay("../..", t.TempDir())
			require.NoError(t, err)
			t.Setenv("GOFLAGS", "-overlay="+overlay)
			t.Setenv(fixture.ProgramsVariable, "")
		}
	}
	w := newAnswers(t)
	w.follow()
	wait.For(t, patience, "a wrong answer of CoreDNS", func() error {
		if n := w.names[0]; len(n.found()) == 0 {
			return fmt.Errorf("none after %d changes", n.changes())
		}
		return nil
	})
	w.end()
	require.Empty(t, w.names[1].wrong, "BIND is not concerned")
}

// answers is a site whose names are written by built-in publishers.
type answers struct {
	*site
	edge    *apiserver.Server
	names   []*name
	keys    *link.Link        // between the workers and the etcd of CoreDNS
	servers []*servers.Server // CoreDNS and BIND
	stop    context.CancelFunc
	running sync.WaitGroup
}

// name follows a Service, in a zone of one DNS server.
type name struct {
	edge    *apiserver.Server
	service string
	host    string
	server  string

	mu      sync.Mutex
	had     []netip.Addr // the addresses of the Service until now, in order
	newest  int          // index of the newest that was answered
	answers int
	silent  int // questions without an answer
	wrong   []string
}

func newAnswers(t *testing.T) *answers {
	t.Helper()
	w := &answers{site: &site{T: t, dir: t.TempDir(), ports: &process.Ports{}, args: []string{"--publisher-servers=127.0.0.1"}}, edge: apiserver.Start(t, "paris", 0)}
	w.startMembers()
	keys, err := etcd.NewServer(t.Context(), filepath.Join(w.dir, "keys"), w.ports)
	require.NoError(t, err)
	start := func(p *process.Process) {
		p.EndWith(t)
		require.NoError(t, p.Start(t.Context()))
	}
	start(keys.Process)
	coreDNS, err := servers.NewCoreDNS(t.Context(), filepath.Join(w.dir, "coredns"), keys.URL, w.ports)
	require.NoError(t, err)
	start(coreDNS.Process)
	bind, err := servers.NewBIND(t.Context(), filepath.Join(w.dir, "bind"), w.ports)
	require.NoError(t, err)
	start(bind.Process)
	w.servers = []*servers.Server{coreDNS, bind.Server}
	var linked string
	w.keys, linked = w.link(keys.URL)
	w.startReplicas("api", "worker", "worker")
	for n, zone := range []string{servers.CoreDNSZone, servers.BINDZone} {
		w.names = append(w.names, &name{edge: w.edge, service: fmt.Sprintf("web-%d", n), host: "www." + zone, server: w.servers[n].Address})
	}
	w.publish(linked, bind)
	return w
}

// publish has Signpost publish the names, and waits for their first answers.
func (w *answers) publish(keys string, bind *servers.BIND) {
	w.Helper()
	post := func(path, name, spec string) {
		answer, err := w.with("api")[0].Do(w.Context(), http.MethodPost, "/v2/"+path, document(name, spec))
		require.NoError(w, err)
		require.Less(w, answer.Status, http.StatusMultipleChoices, "%s: %s", answer.Call, answer.Body)
	}
	kubeconfig, err := w.edge.Kubeconfig()
	require.NoError(w, err)
	const group = "projects/shop/composite-apps/store/v1/deployment-intent-groups"
	post("cluster-providers", "edge", `{}`)
	post("cluster-providers/edge/clusters", "paris", encoded(w.T, map[string]any{"kubeconfig": kubeconfig}))
	post("projects", "shop", `{"namespace": "shop-dns"}`)
	post("projects/shop/logical-clouds", "eu", `{"namespace": "shop", "clusters": ["edge/paris"]}`)
	builtIn := map[string]any{"deployOn": map[string]any{"publisher": "built-in"}, "logicalClouds": []string{"eu"}}
	post("projects/shop/dns-update-records", "web-0", encoded(w.T, builtIn, map[string]any{
		"provider": "coredns", "environment": map[string]any{"ETCD_URLS": keys},
		"external-dns-parameters": map[string]any{"domain-filter": servers.CoreDNSZone, "coredns-prefix": servers.CoreDNSPath + "/"},
	}))
	post("projects/shop/dns-update-records", "web-1", encoded(w.T, builtIn, map[string]any{
		"provider": "rfc2136", "external-dns-parameters": map[string]any{
			"domain-filter": servers.BINDZone, "rfc2136-host": bind.Host, "rfc2136-port": strconv.Itoa(bind.Port), "rfc2136-zone": servers.BINDZone,
			"rfc2136-tsig-keyname": bind.KeyName, "rfc2136-tsig-secret": bind.Secret, "rfc2136-tsig-secret-alg": bind.Algorithm, "rfc2136-tsig-axfr": true,
		},
	}))
	post("projects/shop/composite-apps", "store", `{"compositeAppVersion": "v1"}`)
	post(group, "prod", `{"logicalCloud": "eu", "apps": [{"name": "web"}]}`)
	post(group+"/prod/traffic-group-intents", "front", `{}`)
	for _, n := range w.names {
		n.change()
		post(group+"/prod/traffic-group-intents/front/dns-intents", n.service, encoded(w.T, map[string]any{
			"app": "web", "serviceName": n.service, "hostnames": []string{n.host}, "ttl": 1, "records": []string{n.service},
		}))
	}
	answer, err := w.with("api")[0].Do(w.Context(), http.MethodPost, "/v2/"+group+"/prod/instantiate", "")
	require.NoError(w, err)
	require.Equal(w, http.StatusAccepted, answer.Status, "%s", answer.Body)
	for _, n := range w.names {
		n.settles(w.T)
	}
}

// lanes are what fails while names are asked for.
func (w *answers) lanes() []lane {
	restart := func(p *process.Process) trouble {
		begin := func(ctx context.Context) error { p.Kill(); return p.Start(ctx) }
		return trouble{"kill -9 and restart of " + p.Name, begin, nothing(func() {})}
	}
	return append(w.site.lanes()[:2],
		lane{"CoreDNS", func(*rand.Rand) trouble { return restart(w.servers[0].Process) }},
		lane{"BIND", func(*rand.Rand) trouble { return restart(w.servers[1].Process) }},
		lane{"keys", func(r *rand.Rand) trouble { return wrong(r, "link to the etcd of CoreDNS", w.keys) }})
}

// follow changes the addresses and asks for the names, until end.
func (w *answers) follow() {
	ctx, stop := context.WithCancel(w.Context())
	w.stop = stop
	w.Cleanup(stop)
	for _, n := range w.names {
		w.running.Go(func() {
			for ctx.Err() == nil {
				n.change()
				pause(ctx, time.Duration(50+rand.IntN(500))*time.Millisecond)
			}
		})
		w.running.Go(func() {
			for ctx.Err() == nil {
				n.ask()
				pause(ctx, time.Millisecond)
			}
		})
	}
}

// end ends the changes and the questions.
func (w *answers) end() {
	w.stop()
	w.running.Wait()
}

// change gives the Service the next address. Until the Service has it, the address counts as given already.
func (n *name) change() {
	next := netip.MustParseAddr("198.18.0.1")
	n.mu.Lock()
	if len(n.had) > 0 {
		next = n.had[len(n.had)-1].Next()
	}
	n.had = append(n.had, next)
	n.mu.Unlock()
	n.edge.SetService("shop", n.service, next.String())
}

func (n *name) changes() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.had)
}

func (n *name) found() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.wrong
}

// ask asks once, and judges the answer. A server that is down, or whose store is, gives none.
func (n *name) ask() {
	n.mu.Lock()
	floor := n.newest
	n.mu.Unlock()
	client := &dns.Client{Timeout: time.Second}
	reply, _, err := client.Exchange(new(dns.Msg).SetQuestion(dns.Fqdn(n.host), dns.TypeA), n.server)
	n.mu.Lock()
	defer n.mu.Unlock()
	if err != nil || reply.Rcode == dns.RcodeServerFailure {
		n.silent++
		return
	}
	n.answers++
	if len(reply.Answer) == 1 {
		if a, ok := reply.Answer[0].(*dns.A); ok {
			at := n.index(a.A.String())
			if at >= floor {
				n.newest = max(n.newest, at)
				return
			}
		}
	}
	n.wrong = append(n.wrong, fmt.Sprintf("%s: %s %v after %s; the Service has %s",
		time.Now().Format("15:04:05.000"), dns.RcodeToString[reply.Rcode], reply.Answer, n.had[floor], n.had[len(n.had)-1]))
}

// index is the place of an address among those that the Service has had; -1: it had it never.
func (n *name) index(address string) int {
	for at := len(n.had) - 1; at >= 0; at-- {
		if n.had[at].String() == address {
			return at
		}
	}
	return -1
}

// settles waits until the server answers the address that the Service has.
func (n *name) settles(t *testing.T) {
	t.Helper()
	n.mu.Lock()
	want := n.had[len(n.had)-1].String()
	n.mu.Unlock()
	wait.For(t, patience, n.host+" to be "+want, func() error {
		got, err := servers.Query(t.Context(), n.server, n.host, "A")
		if err == nil && (len(got) != 1 || got[0] != want) {
			err = fmt.Errorf("it is %v", got)
		}
		return err
	})
}

// encoded is a spec of several parts.
func encoded(t *testing.T, parts ...map[string]any) string {
	t.Helper()
	all := map[string]any{}
	for _, part := range parts {
		maps.Copy(all, part)
	}
	text, err := json.Marshal(all)
	require.NoError(t, err)
	return string(text)
}
