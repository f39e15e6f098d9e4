package scale

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

// metrics are the series of the server, by name and labels.
type metrics map[string]float64

func (w *world) metrics() metrics {
	w.Helper()
	m := metrics{}
	for line := range strings.Lines(string(w.ask(http.MethodGet, "/metrics", ""))) {
		if at := strings.LastIndexByte(line, ' '); at > 0 && line[0] != '#' {
			value, err := strconv.ParseFloat(strings.TrimSpace(line[at:]), 64)
			require.NoError(w, err)
			m[line[:at]] = value
		}
	}
	return m
}

// sum adds the series of a metric that have all of these labels, written as op="get".
func (m metrics) sum(name string, labels ...string) (sum float64) {
	for series, value := range m {
		rest, is := strings.CutPrefix(series, name)
		without := func(label string) bool { return !strings.Contains(rest, label) }
		if is && (rest == "" || rest[0] == '{') && !slices.ContainsFunc(labels, without) {
			sum += value
		}
	}
	return sum
}

const storeRequests = "signpost_store_request_duration_seconds_count"

// writes is how many requests to the store write something.
func (m metrics) writes() float64 { return m.sum(storeRequests, `op="txn"`) }

func (m metrics) reads() float64 { return m.sum(storeRequests) - m.writes() }

// result is what was measured at one size, by what it is and its unit.
type result struct {
	names  int
	values map[string]float64
}

func (r *result) note(what string, value float64) { r.values[what] = value }

// rest measures a server that has nothing to do. Before, it profiles the server for half as long, because a profile costs it
// something. Meanwhile the server gives back the memory that the last changes took.
func (w *world) rest(r *result, lasts time.Duration) {
	w.Helper()
	parts := w.profile(lasts / 2)
	before := w.metrics()
	used, err := w.server.ProcessorTime()
	require.NoError(w, err)
	time.Sleep(lasts)
	still, err := w.server.ProcessorTime()
	require.NoError(w, err)
	after := w.metrics()
	minutes := lasts.Minutes()
	r.note("idle-%core", 100*(still-used).Seconds()/lasts.Seconds())
	for part, share := range parts {
		r.note("idle: "+part+"-%core", 100*share)
	}
	r.note("idle: owners resynced-/minute", (after.sum("signpost_step_duration_seconds_count")-before.sum("signpost_step_duration_seconds_count"))/minutes)
	r.note("idle: store reads-/minute", (after.reads()-before.reads())/minutes)
	r.note("idle: store writes-/minute", (after.writes()-before.writes())/minutes)
	r.note("found by resync-changes", after.sum("signpost_resync_found_total"))
}

// parts of the server, by what the stack of a sample holds; the first that fits counts.
var parts = []struct{ name, holds string }{
	{"collecting garbage", "runtime.gcBgMarkWorker"},
	{"verification", "signpost/pkg/worker/verify"},
	{"looking through the directory", "signpost/pkg/worker/cluster/directory"},
	{"resync", "signpost/pkg/release/controller.(*Controller).work"},
	{"index of names", "signpost/pkg/release/nameindex"},
	{"worker", "signpost/pkg/worker/"},
}

// profile divides the processor that the server uses meanwhile among its parts, in cores.
func (w *world) profile(lasts time.Duration) map[string]float64 {
	w.Helper()
	sampled, err := profile.Parse(w.debug(fmt.Sprintf("profile?seconds=%d", int(lasts.Seconds()))))
	require.NoError(w, err)
	shares := map[string]float64{"the rest": 0}
	for _, part := range parts {
		shares[part.name] = 0
	}
	for _, sample := range sampled.Sample {
		share := time.Duration(sample.Value[1]).Seconds() / lasts.Seconds()
		part := slices.IndexFunc(parts, func(p struct{ name, holds string }) bool { return within(sample, p.holds) })
		if part < 0 {
			shares["the rest"] += share
			continue
		}
		shares[parts[part].name] += share
	}
	if dir := os.Getenv("SIGNPOST_PROFILES"); dir != "" {
		file, err := os.Create(fmt.Sprintf("%s/%s-%d.pprof", dir, w.shape.name, w.names))
		require.NoError(w, err)
		require.NoError(w, sampled.Write(file))
		require.NoError(w, file.Close())
	}
	return shares
}

func within(sample *profile.Sample, holds string) bool {
	return slices.ContainsFunc(sample.Location, func(at *profile.Location) bool {
		return slices.ContainsFunc(at.Line, func(line profile.Line) bool { return strings.Contains(line.Function.Name, holds) })
	})
}

// debug reads a profile of the server.
func (w *world) debug(what string) io.Reader {
	w.Helper()
	text, err := os.ReadFile(w.dir + "/ready.json")
	require.NoError(w, err)
	var ready struct{ Pprof string }
	require.NoError(w, json.Unmarshal(text, &ready))
	request, err := http.NewRequestWithContext(w.Context(), http.MethodGet, "http://"+ready.Pprof+"/debug/pprof/"+what, http.NoBody)
	require.NoError(w, err)
	answer, err := http.DefaultClient.Do(request)
	require.NoError(w, err)
	w.Cleanup(func() { _ = answer.Body.Close() })
	require.Equal(w, http.StatusOK, answer.StatusCode)
	return answer.Body
}

// memory measures what the server keeps, after a collection of garbage, too.
func (w *world) memory(r *result) {
	w.Helper()
	resident, err := w.server.Anonymous()
	require.NoError(w, err)
	r.note("resident-MiB", float64(resident)/(1<<20))
	_, err = io.Copy(io.Discard, w.debug("heap?gc=1"))
	require.NoError(w, err)
	r.note("live heap-MiB", w.metrics().sum("go_memstats_heap_alloc_bytes")/(1<<20))
}

// stored adds up the keys and values in the store, those of histories apart: these are bounded.
func (w *world) stored(r *result) {
	w.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{w.store.URL}})
	require.NoError(w, err)
	defer func() { _ = client.Close() }()
	bytes, histories, by := 0, 0, map[string]int{}
	err = kv.Each(w.Context(), etcd.New(client), "", func(item kv.Item) {
		size := len(item.Key) + len(item.Value)
		if strings.Contains(item.Key, "history//") {
			histories += size
		} else {
			bytes += size
		}
		by[strings.Join(append(strings.SplitN(item.Key, "/", 5), "", "", "")[:4], "/")] += size
	})
	require.NoError(w, err)
	for prefix, size := range by {
		if each := size / w.names; each >= 64 {
			w.Logf("%s: %d names: %d bytes each below %s", w.shape.name, w.names, each, prefix)
		}
	}
	r.note("stored-MiB", float64(bytes)/(1<<20))
	r.note("stored as histories-MiB", float64(histories)/(1<<20))
}

// median repeats something, and answers its median time and the fewest requests to
// the store that came with it: others may be at work.
func (w *world) median(turns int, prepare, do func(turn int)) (p50 time.Duration, requests float64) {
	w.Helper()
	var took []time.Duration
	requests = -1
	for turn := range turns {
		prepare(turn)
		before := w.metrics().sum(storeRequests)
		began := time.Now()
		do(turn)
		took = append(took, time.Since(began))
		w.quiet() // the steps of an acceptance count
		if sent := w.metrics().sum(storeRequests) - before; requests < 0 || sent < requests {
			requests = sent
		}
	}
	slices.Sort(took)
	return took[len(took)/2], requests
}

// calls measures the requests about one owner, and the search over all names.
func (w *world) calls(r *result) {
	w.Helper()
	const turns = 11
	nothing := func(int) {}
	get := func(path string) func(int) { return func(int) { w.ask(http.MethodGet, path, "") } }
	note := func(what string, p50 time.Duration, requests float64) {
		r.note(what+"-p50-ms", float64(p50)/float64(time.Millisecond))
		r.note(what+"-requests", requests)
	}
	for _, of := range []struct {
		which string
		owner int
	}{{"10th", min(9, w.names/w.shape.each-1)}, {"last", w.names/w.shape.each - 1}} {
		measure := func(what string, prepare, do func(int)) {
			p50, requests := w.median(turns, prepare, do)
			note(what+" of the "+of.which, p50, requests)
		}
		ttl := func(turn int) int { return 60 + turn%2 }
		measure("accept", func(turn int) { w.shape.edit(w, of.owner, ttl(turn)) }, func(turn int) { w.shape.accept(w, of.owner, ttl(turn)) })
		measure("plan", nothing, func(int) { w.shape.plan(w, of.owner) })
		measure("status", nothing, get(w.shape.status(of.owner)))
		measure("history", nothing, get("/v2/names/"+w.shape.host(of.owner)+"/history"))
	}
	p50, requests := w.median(turns, nothing, get("/v2/projects/shop/dns-update-records/lab/users"))
	note("users", p50, requests)
	p50, requests = w.median(turns, nothing, get("/v2/projects/shop/dns-update-records/lab/users?limit=10")) // all that there are beside 1,000 names in groups
	note("ten users", p50, requests)
	p50, requests = w.median(turns, nothing, get("/v2/names?name=*"+strings.TrimSuffix(w.shape.host(w.names/w.shape.each-1), ".lab.example")+"*"))
	note("search", p50, requests)
}

// quiet waits until the server has followed what was asked of it.
func (w *world) quiet() {
	w.Helper()
	wait.For(w.TB, time.Minute, "the server to have nothing to do", func() error {
		m := w.metrics()
		if due := m.sum("signpost_controller_queue_depth") + m.sum("signpost_sync_queue_depth"); due > 0 {
			return fmt.Errorf("%.0f are due", due)
		}
		return nil
	})
}

// mover changes the address of a Service, and looks into the file of a DNSEndpoint for it.
type mover struct {
	*world
	service, file string
	changed       []time.Time // of the n-th address
}

func (w *world) mover() *mover {
	owner := w.names/w.shape.each - 1
	return &mover{world: w, service: w.shape.service(owner), file: w.fileOf(w.shape.host(owner))}
}

// change gives the Service the next address.
func (m *mover) change() {
	n := len(m.changed)
	m.changed = append(m.changed, time.Now())
	m.edge.SetService("shop", m.service, fmt.Sprintf("198.19.%d.%d", n/256, n%256))
}

// at is the number of the address that the DNSEndpoint has; -1 for none of them.
func (m *mover) at() int {
	m.Helper()
	text, err := os.ReadFile(m.file)
	require.NoError(m, err)
	_, rest, _ := strings.Cut(string(text), "198.19.")
	var high, low int
	if _, err := fmt.Sscanf(rest, "%d.%d", &high, &low); err != nil {
		return -1
	}
	return high*256 + low
}

// burst makes changes one behind the other, and answers how long each took to be written, or
// to be overtaken by a later one.
func (m *mover) burst(changes int, apart time.Duration) (took []time.Duration) {
	m.Helper()
	const every, patience = 500 * time.Microsecond, 5 * time.Minute
	next := len(m.changed)
	first, last := next, next+changes-1
	for began := time.Now(); next <= last; time.Sleep(every) {
		require.Less(m, time.Since(began), patience, "%s gets no address", m.file)
		if sent := len(m.changed); sent <= last && time.Since(began) >= time.Duration(sent-first)*apart {
			m.change()
		}
		for at := m.at(); next <= at; next++ {
			took = append(took, time.Since(m.changed[next]))
		}
	}
	return took
}

// follow changes an address alone, and in bursts.
func (w *world) follow(r *result) {
	w.Helper()
	const alone, bursts, inBurst = 21, 10, 20
	const apart, together = 700 * time.Millisecond, 25 * time.Millisecond
	m := w.mover()
	for what, of := range map[string]struct{ turns, changes int }{"alone": {alone, 1}, "in bursts": {bursts, inBurst}} {
		var took []time.Duration
		for range of.turns {
			time.Sleep(apart)
			took = append(took, m.burst(of.changes, together)...)
		}
		slices.Sort(took)
		for percent, at := range map[string]int{"p50": len(took) / 2, "p99": (len(took) - 1) * 99 / 100} {
			r.note("address to DNSEndpoint "+what+"-"+percent+"-ms", float64(took[at])/float64(time.Millisecond))
		}
	}
	w.edge.SetService("shop", m.service, unmoved)
}

// restart kills the server and starts it again.
func (w *world) restart(r *result) {
	w.Helper()
	before := w.files()
	w.server.Kill()
	began := time.Now()
	require.NoError(w, w.server.Start(w.Context()))
	r.note("restart: ready-s", time.Since(began).Seconds())
	w.settle()
	r.note("restart: reconciled-s", time.Since(began).Seconds())
	writes := 0.
	for path, inode := range w.files() {
		if before[path] != inode {
			writes++
		}
	}
	r.note("restart: redundant writes-files", writes)
	m := w.mover()
	m.burst(1, 0) // the clusters are the killed one's until its lease has ended
	r.note("restart: a change followed-s", time.Since(began).Seconds())
	w.edge.SetService("shop", m.service, unmoved)
}
