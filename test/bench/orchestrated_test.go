package bench

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/test/bench/compare"
)

// Size of an app context of EMCO's.
const (
	contextSites     = 100
	contextResources = 20
	contextText      = 1000 // bytes of a resource, about
	contextNames     = 10
)

// BenchmarkUpdateAppContext extends an app context of 100 clusters with 20
// resources each, beside reading the same keys and doing nothing with them.
// "names" is the call of an instantiation that gives names to a Service on all
// clusters: it freezes a release. "pods" brings a pod DNS intent into a workload
// on each of them, too. "again" is that call once more, which has nothing to
// write.
func BenchmarkUpdateAppContext(b *testing.B) {
	b.Run("embedded", func(b *testing.B) { compareUpdates(b, &counted{KV: embeddedEtcd(b)}) })
	b.Run("external", func(b *testing.B) { compareUpdates(b, &counted{KV: externalEtcd(b)}) })
}

func compareUpdates(b *testing.B, store *counted) {
	releases := orchestratedShop(b, store)
	id := 1000
	next := func(b *testing.B) {
		forgetContext(b, store, id)
		id++
		layContext(b, store, id, contextSites)
	}
	update := func(traffic string) func(b *testing.B) {
		return func(b *testing.B) {
			_, err := releases.UpdateContext(b.Context(), strconv.Itoa(id), traffic, "")
			require.NoError(b, err)
		}
	}
	read := func(b *testing.B) {
		items, _, err := store.Range(b.Context(), kv.Range{Prefix: contextRoot(id)})
		require.NoError(b, err)
		require.Greater(b, len(items), contextSites*contextResources)
	}
	twice := func(b *testing.B) { next(b); update("pods")(b) }
	next(b)
	times := compare.Run(b, time.Millisecond,
		compare.Contender{Name: "names", Before: next, Turn: stopwatch(update("names"))},
		compare.Contender{Name: "pods", Before: next, Turn: stopwatch(update("pods"))},
		compare.Contender{Name: "again", Before: twice, Turn: stopwatch(update("pods"))},
		compare.Contender{Name: "read", Turn: stopwatch(read)})
	for n, name := range []string{"names", "pods", "again"} {
		b.ReportMetric(times[n].Ratio(times[3]), name+"/read")
	}
	twice(b)
	b.ReportMetric(store.requestsOf(b, update("pods")), "again-requests")
}

// orchestratedShop is a service with the documents of a group whose app EMCO
// deploys.
func orchestratedShop(t testing.TB, store kv.KV) *release.Service {
	t.Helper()
	documents := etcd.New(store)
	resources := shop()
	for n := range contextSites {
		resources[intent.Join("cluster-providers/edge/clusters", site(n))] = intent.Cluster{}
	}
	for _, traffic := range []intent.Path{group.Child("traffic-group-intents", "names"), group.Child("traffic-group-intents", "pods")} {
		resources[traffic] = intent.TrafficGroup{}
		for n := range contextNames {
			resources[traffic.Child("dns-intents", service(n))] = intent.DNSIntent{App: "web", ServiceName: "web", Hostnames: []string{hostname(n)}}
		}
	}
	resources[group.Child("traffic-group-intents", "pods").Child("pod-dns-intents", "web")] = intent.PodDNSIntent{
		App: "web", DNSPolicy: intent.DNSNone, DNSConfig: &intent.PodDNSConfig{Nameservers: []string{"192.0.2.1"}},
	}
	write(t, documents, resources)
	return release.New(release.Options{
		Documents: documents, KV: store, Contexts: appcontext.NewStore(store, time.Now), Ledger: ledger.New(store), Observed: observed.New(store),
		Installation: "0123456789abcdef", Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	})
}

func site(n int) string { return fmt.Sprintf("site-%03d", n) }

func contextRoot(id int) string { return fmt.Sprintf("/context/%d/", id) }

// layContext writes an app context as EMCO's orchestrator does, but for its
// haste.
func layContext(t testing.TB, store kv.KV, id, sites int) {
	t.Helper()
	root := contextRoot(id)
	ops := []kv.Op{
		put(t, root, strconv.Itoa(id)),
		put(t, root+"meta/", json.RawMessage(`{"Project":"shop","CompositeApp":"store","Version":"v1","Release":"r1","DeploymentIntentGroup":"prod","Namespace":"shop","Level":"0","ChildContextIDs":null,"LogicalCloud":"eu"}`)),
		put(t, root+"app/web/", "web"),
		put(t, root+"app/instruction/order/", `{"apporder":["web"]}`),
		put(t, root+"app/instruction/dependency/", `{"web":"go"}`),
	}
	var order []string
	for n := range contextResources {
		order = append(order, key(n))
	}
	listed, err := json.Marshal(map[string]any{"resorder": order})
	require.NoError(t, err)
	for n := range sites {
		at := root + "app/web/cluster/edge+" + site(n) + "/"
		ops = append(ops, put(t, at, "edge+"+site(n)), put(t, at+"!@#metaGrp/", "1"), put(t, at+"resource/instruction/order/", string(listed)))
		for r, key := range order {
			ops = append(ops, put(t, at+"resource/"+key+"/", manifest(r)))
		}
		_, _, err := store.Txn(t.Context(), nil, ops...)
		require.NoError(t, err)
		ops = nil
	}
}

func forgetContext(t testing.TB, store kv.KV, id int) {
	t.Helper()
	_, _, err := store.Txn(t.Context(), nil, kv.DeletePrefix(contextRoot(id)))
	require.NoError(t, err)
}

func put(t testing.TB, key string, value any) kv.Op {
	t.Helper()
	raw, err := json.Marshal(value)
	require.NoError(t, err)
	return kv.Put(key, raw)
}

// key is how a context calls its n-th resource: a Service, a workload, or a
// configuration.
func key(n int) string {
	kinds := []string{"Service", "Deployment"}
	if n < len(kinds) {
		return "web+" + kinds[n]
	}
	return fmt.Sprintf("web-%d+ConfigMap", n)
}

// manifest is the n-th resource, as a chart renders it.
func manifest(n int) string {
	name, kind, _ := strings.Cut(key(n), "+")
	head := fmt.Sprintf("# Source: web/templates/%s.yaml\napiVersion: %%s\nkind: %s\nmetadata:\n  name: %s\n  annotations:\n    note: %s\n",
		strings.ToLower(kind), kind, name, strings.Repeat("x", contextText))
	switch kind {
	case "Service":
		return fmt.Sprintf(head, "v1") + "spec:\n  type: LoadBalancer\n  ports:\n  - port: 443\n"
	case "Deployment":
		return fmt.Sprintf(head, "apps/v1") + "spec:\n  template:\n    spec:\n      containers:\n      - name: web\n        image: web:1.10\n"
	}
	return fmt.Sprintf(head, "v1") + "data:\n  greeting: hello\n"
}
