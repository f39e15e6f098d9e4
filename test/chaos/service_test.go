package chaos

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

// workers is below what the keys are that say who serves which cluster.
const workers = "/signpost/workers/"

// services is who served the clusters when, as the keys in etcd tell.
type services struct {
	*site
	etcd *clientv3.Client // of all members

	mu    sync.Mutex
	known map[string]tenures // by cluster
}

// tenure is the time from which a worker has a cluster. It ends with the next one.
type tenure struct {
	worker   string // empty: nobody has it
	since    time.Time
	revision int64 // of etcd
}

// tenures are those of one cluster, in order.
type tenures []tenure

// serve notes who serves what as long as the test goes on. It hears of it no sooner
// than it is so, and soon after: each member is listened to, for one may be stopped,
// or tell what was long ago.
func (s *site) serve() *services {
	s.Helper()
	v := &services{site: s, known: map[string]tenures{}}
	var all []string
	for _, m := range s.members {
		all = append(all, m.URL)
		one := s.dial(m.URL)
		ended := make(chan struct{})
		go func() { defer close(ended); v.listen(one) }()
		s.Cleanup(func() { _ = one.Close(); <-ended })
	}
	v.etcd = s.dial(all...)
	s.Cleanup(func() { _ = v.etcd.Close() })
	return v
}

func (s *site) dial(endpoints ...string) *clientv3.Client {
	s.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints, Logger: zap.NewNop()})
	require.NoError(s, err)
	return client
}

// listen notes what one member tells.
func (v *services) listen(member *clientv3.Client) {
	ctx := v.Context()
	for next := int64(1); ctx.Err() == nil; pause(ctx, 100*time.Millisecond) {
		for answer := range member.Watch(clientv3.WithRequireLeader(ctx), workers, clientv3.WithPrefix(), clientv3.WithRev(next)) {
			for _, e := range answer.Events {
				v.note(e)
				next = e.Kv.ModRevision + 1
			}
		}
	}
}

// note takes what no other member has told yet.
func (v *services) note(e *clientv3.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	cluster := clusterOf(e.Kv.Key)
	if v.known[cluster].last().revision < e.Kv.ModRevision {
		v.known[cluster] = append(v.known[cluster], tenure{string(e.Kv.Value), time.Now(), e.Kv.ModRevision})
	}
}

// clusterOf is the cluster that a key is about.
func clusterOf(key []byte) string { return strings.TrimPrefix(string(key), workers+"edge+") }

// heard tells whether all that etcd says has been heard of.
func (v *services) heard() error {
	answer, err := v.etcd.Get(v.Context(), workers, clientv3.WithPrefix())
	if err != nil {
		return err
	}
	now := map[string]tenure{}
	for _, pair := range answer.Kvs {
		now[clusterOf(pair.Key)] = tenure{worker: string(pair.Value), revision: pair.ModRevision}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range v.clusters {
		last, want := v.known[c.Name].last(), now[c.Name]
		if last.worker != want.worker || want.worker != "" && last.revision != want.revision {
			return fmt.Errorf("%s is served by %q since revision %d, last heard of is %q since %d", c.Name, want.worker, want.revision, last.worker, last.revision)
		}
	}
	return nil
}

// alone requires that no worker writes to a cluster that another one has taken
// over, but for what was under way: eight requests at the most.
func (v *services) alone() {
	v.Helper()
	wait.For(v.T, patience, "who serves what", v.heard)
	v.mu.Lock()
	defer v.mu.Unlock()
	const underWay = 8
	for _, c := range v.clusters {
		writes, err := c.Writes(kube.Signpost)
		require.NoError(v, err)
		known := v.known[c.Name]
		late := map[tenure]int{} // by the tenure that others write in
		for _, w := range writes {
			require.NotEmpty(v, writer(w), "%+v", w)
			if now, by := known.at(w.At), known.late(w); by != "" {
				late[now]++
				v.Logf("%s: %s %s %s/%s by %s came %s after %s had taken over", c.Name, w.Verb, w.Resource, w.Namespace, w.Name, by, w.At.Sub(now.since), now.worker)
			}
		}
		for tenure, n := range late {
			require.LessOrEqual(v, n, underWay, "%s is served by two when %s has it", c.Name, tenure.worker)
		}
		v.Logf("%s: %d writes, changed hands %d times, %d writes were late", c.Name, len(writes), known.taken(), total(late))
	}
}

// last is the one that was heard of last.
func (all tenures) last() tenure {
	if len(all) == 0 {
		return tenure{}
	}
	return all[len(all)-1]
}

// at is whose a cluster was at a time.
func (all tenures) at(when time.Time) tenure {
	var now tenure
	for _, t := range all {
		if t.since.After(when) {
			break
		}
		now = t
	}
	return now
}

// late is the worker of a write to a cluster that was another's then, empty where
// it was not.
func (all tenures) late(w kube.Write) string {
	by, now := writer(w), all.at(w.At)
	if now.worker == "" || now.worker == by || w.Resource == "selfsubjectaccessreviews" || all.soon(by, w.At) {
		return ""
	}
	return by
}

// soon tells whether the next that was heard of after a time is that the worker has
// the cluster: what it did in between may be done by right.
func (all tenures) soon(worker string, when time.Time) bool {
	const heardWithin = 5 * time.Second
	for _, t := range all {
		if t.since.After(when) && t.worker != "" {
			return t.worker == worker && t.since.Sub(when) < heardWithin
		}
	}
	return false
}

// taken is how often a worker took the cluster.
func (all tenures) taken() int {
	n := 0
	for _, t := range all {
		if t.worker != "" {
			n++
		}
	}
	return n
}

// writer is the replica that a write came from.
func writer(w kube.Write) string {
	said := regexp.MustCompile(`\(replica ([^)]+)\)`).FindStringSubmatch(w.Agent)
	if said == nil {
		return ""
	}
	return said[1]
}

func total(late map[tenure]int) int {
	sum := 0
	for _, n := range late {
		sum += n
	}
	return sum
}

// TestWritesOfTwoWorkersAreToldApart, so that the proof can fail.
func TestWritesOfTwoWorkersAreToldApart(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	after := func(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }
	known := tenures{{"A", after(0), 1}, {"B", after(20), 2}, {"", after(40), 3}, {"C", after(60), 4}}
	for what, c := range map[string]struct {
		by       string
		at       int
		resource string
		want     string
	}{
		"before anybody was heard of":       {by: "B", at: -1},
		"by whom it is":                     {by: "A", at: 10},
		"by whom it was":                    {by: "A", at: 21, want: "A"},
		"by who is heard of soon":           {by: "B", at: 17},
		"by who is heard of much later":     {by: "B", at: 10, want: "B"},
		"by who comes after the next":       {by: "C", at: 17, want: "C"},
		"while it is nobody's":              {by: "A", at: 50},
		"by whom it was long ago":           {by: "A", at: 70, want: "A"},
		"a question, which changes nothing": {by: "A", at: 21, resource: "selfsubjectaccessreviews"},
	} {
		got := known.late(kube.Write{Agent: "signpost/v1 (replica " + c.by + ")", At: after(c.at), Resource: c.resource})
		require.Equal(t, c.want, got, what)
	}
	require.Equal(t, 3, known.taken())
}
