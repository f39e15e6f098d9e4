package chaos

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
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
	etcd *clientv3.Client

	mu    sync.Mutex
	known map[string][]tenure // by cluster, in order
}

// tenure is the time from which a worker has a cluster. It ends with the next one.
type tenure struct {
	worker string // empty: nobody has it
	since  time.Time
}

// serve notes who serves what as long as the test goes on. It hears of it no sooner
// than it is so.
func (s *site) serve() *services {
	s.Helper()
	var endpoints []string
	for _, m := range s.members {
		endpoints = append(endpoints, m.URL)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints, Logger: zap.NewNop(), DialKeepAliveTime: 2 * time.Second, DialKeepAliveTimeout: 2 * time.Second})
	require.NoError(s, err)
	v := &services{site: s, etcd: client, known: map[string][]tenure{}}
	ctx := s.Context()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		next := int64(1)
		for ctx.Err() == nil {
			for answer := range client.Watch(clientv3.WithRequireLeader(ctx), workers, clientv3.WithPrefix(), clientv3.WithRev(next)) {
				v.note(answer.Events)
				next = max(next, answer.Header.Revision+1)
			}
			pause(ctx, 100*time.Millisecond)
		}
	}()
	s.Cleanup(func() { _ = client.Close(); <-ended })
	return v
}

func (v *services) note(events []*clientv3.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, e := range events {
		cluster := clusterOf(e.Kv.Key)
		v.known[cluster] = append(v.known[cluster], tenure{string(e.Kv.Value), time.Now()})
	}
}

// clusterOf is the cluster that a key is about.
func clusterOf(key []byte) string { return strings.TrimPrefix(string(key), workers+"edge+") }

// heard tells whether all that etcd says has been heard of.
func (v *services) heard() error {
	now, err := v.etcd.Get(v.Context(), workers, clientv3.WithPrefix())
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, pair := range now.Kvs {
		cluster := clusterOf(pair.Key)
		if last := v.at(cluster, time.Now()); last.worker != string(pair.Value) {
			return fmt.Errorf("%s is served by %s, last heard of is %q", cluster, pair.Value, last.worker)
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
		late := map[tenure]int{} // by the tenure that others write in
		for _, w := range writes {
			by := writer(w)
			require.NotEmpty(v, by, "%+v", w)
			if now := v.at(c.Name, w.At); now.worker != "" && now.worker != by && w.Resource != "selfsubjectaccessreviews" && !v.soon(c.Name, by, w.At) {
				late[now]++
				v.Logf("%s: %s %s %s/%s by %s came %s after %s had taken over", c.Name, w.Verb, w.Resource, w.Namespace, w.Name, by, w.At.Sub(now.since), now.worker)
			}
		}
		for tenure, n := range late {
			require.LessOrEqual(v, n, underWay, "%s is served by two when %s has it", c.Name, tenure.worker)
		}
		taken := slices.DeleteFunc(slices.Clone(v.known[c.Name]), func(t tenure) bool { return t.worker == "" })
		v.Logf("%s: %d writes, changed hands %d times, %d writes were late", c.Name, len(writes), len(taken), total(late))
	}
}

// at is whose a cluster was at a time.
func (v *services) at(cluster string, when time.Time) tenure {
	var now tenure
	for _, t := range v.known[cluster] {
		if t.since.After(when) {
			break
		}
		now = t
	}
	return now
}

// soon tells whether the next that was heard of a cluster after a time is that
// the worker has it: what it did in between may be done by right.
func (v *services) soon(cluster, worker string, when time.Time) bool {
	const heardWithin = 5 * time.Second
	for _, t := range v.known[cluster] {
		if t.since.After(when) && t.worker != "" {
			return t.worker == worker && t.since.Sub(when) < heardWithin
		}
	}
	return false
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
