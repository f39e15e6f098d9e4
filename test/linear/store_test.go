package linear

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/signpost-dns/signpost/internal/sample"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	kvetcd "github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	server "github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/process"
)

// ofStore calls a store.
type ofStore struct{ store intent.Store }

func (o ofStore) call(ctx context.Context, c call) answer {
	path := intent.Path("projects/" + c.key)
	switch c.verb {
	case read:
		doc, err := o.store.Get(ctx, path)
		return told(doc, err)
	case write:
		body, err := json.Marshal(c.body)
		if err != nil {
			return answer{outcome: unsent}
		}
		return told(o.store.Put(ctx, intent.Write{Path: path, Body: body, Condition: c.when.ofStore()}))
	}
	return told(intent.Document{}, o.store.Delete(ctx, path, c.when.ofStore()))
}

func (c condition) ofStore() intent.Condition {
	switch {
	case c.any:
		return intent.Always()
	case c.revision == 0:
		return intent.IfAbsent()
	}
	return intent.IfRevision(c.revision)
}

func told(doc intent.Document, err error) answer {
	switch {
	case err == nil && doc.Body == nil:
		return answer{outcome: done}
	case err == nil:
		var body string
		if json.Unmarshal(doc.Body, &body) != nil {
			body = string(doc.Body)
		}
		return answer{done, doc.Revision, body}
	case intent.CodeOf(err) == intent.NotFound:
		return answer{outcome: missing}
	case intent.CodeOf(err) == intent.Conflict, intent.CodeOf(err) == intent.PreconditionFailed:
		return answer{outcome: refused}
	}
	return answer{outcome: unknown}
}

// judge has porcupine search for an order, and keeps a picture if there is none.
func judge(t *testing.T, of promise, history []porcupine.Operation) porcupine.CheckResult {
	t.Helper()
	counts := map[outcome]int{}
	for _, operation := range history {
		was, _ := operation.Output.(answer)
		counts[was.outcome]++
	}
	result, info := porcupine.CheckOperationsVerbose(of.model(), history, 2*time.Minute)
	t.Logf("%d calls, of them %d done, %d refused, %d of missing documents, %d unknown: %s",
		len(history), counts[done], counts[refused], counts[missing], counts[unknown], result)
	if result != porcupine.Ok && os.Getenv("SIGNPOST_E2E_KEEP") != "" {
		file := filepath.Join(os.TempDir(), "linear.html") //nolint:usetesting // the picture outlives the test
		require.NoError(t, porcupine.VisualizePath(of.model(), info, file))
		t.Log("the history is drawn in " + file)
	}
	return result
}

// several gives each client the same caller.
func several(n int, c caller) []caller {
	callers := make([]caller, n)
	for i := range callers {
		callers[i] = c
	}
	return callers
}

func TestTheStoreIsLinearizable(t *testing.T) {
	t.Parallel()
	for n := range sample.Cases(3, 10, 100) {
		store := etcd.New(kvtest.NewFake())
		history := load{callers: several(6, ofStore{store}), calls: 100, keys: 3, seed: sample.Seed(t) + uint64(n)}.run(t.Context()) //nolint:gosec // a count
		require.Equal(t, porcupine.Ok, judge(t, promise{}, history))
	}
}

// TestTheStoreIsLinearizableWhileEtcdIsKilled: two stores over one etcd, which kill -9
// ends and starts again.
func TestTheStoreIsLinearizableWhileEtcdIsKilled(t *testing.T) {
	t.Parallel()
	etcdServer, err := server.NewServer(t.Context(), t.TempDir(), new(process.Ports))
	require.NoError(t, err)
	require.NoError(t, etcdServer.Start(t.Context()))
	t.Cleanup(etcdServer.Kill)
	var callers []caller
	for range 2 {
		client, err := clientv3.New(clientv3.Config{Endpoints: []string{etcdServer.URL}, Logger: zap.NewNop()})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, client.Close()) })
		callers = append(callers, several(3, ofStore{etcd.New(kvetcd.New(client))})...)
	}
	calls := sample.Cases(60, 150, 2000)
	faults := make(chan error, 1)
	kill := everyOnce(len(callers)*calls/4, func() {
		etcdServer.Kill()
		faults <- etcdServer.Start(context.WithoutCancel(t.Context()))
	})
	history := load{callers: callers, calls: calls, keys: 4, seed: sample.Seed(t), after: kill}.run(t.Context())
	for range 3 {
		require.NoError(t, <-faults)
	}
	require.Equal(t, porcupine.Ok, judge(t, promise{restarts: true}, history))
}

// everyOnce causes a fault beside the calls each time that so many have ended, three times.
func everyOnce(calls int, fault func()) func(int) {
	return func(ended int) {
		if ended%calls == 0 && ended/calls <= 3 {
			go fault()
		}
	}
}

// TestALostUpdateIsFound: the store here checks a condition some time before it writes, as a
// program does that forgets the compare-and-swap.
func TestALostUpdateIsFound(t *testing.T) {
	t.Parallel()
	history := load{callers: several(6, ofStore{forgetful{etcd.New(kvtest.NewFake())}}), calls: 200, keys: 1, seed: sample.Seed(t)}.run(t.Context())
	require.Equal(t, porcupine.Illegal, judge(t, promise{}, history))
}

// TestAStaleReadIsFound: the store here reads from a copy that is late.
func TestAStaleReadIsFound(t *testing.T) {
	t.Parallel()
	store := &late{Store: etcd.New(kvtest.NewFake())}
	history := load{callers: several(2, ofStore{store}), calls: 100, keys: 1, seed: sample.Seed(t)}.run(t.Context())
	require.Equal(t, porcupine.Illegal, judge(t, promise{}, history))
}

// forgetful lets other clients write between its check and its own write.
type forgetful struct{ intent.Store }

func (f forgetful) Put(ctx context.Context, w intent.Write) (intent.Document, error) {
	doc, err := f.Get(ctx, w.Path)
	if err != nil && intent.CodeOf(err) != intent.NotFound {
		return doc, err
	}
	if err := w.Condition.Check(w.Path, doc.Revision); err != nil {
		return intent.Document{}, err
	}
	time.Sleep(time.Millisecond)
	w.Condition = intent.Always()
	return f.Store.Put(ctx, w)
}

// late answers each document as it was at the read before.
type late struct {
	intent.Store

	mu     sync.Mutex
	before intent.Document
	err    error
}

func (l *late) Get(ctx context.Context, path intent.Path) (intent.Document, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	doc, err := l.before, l.err
	l.before, l.err = l.Store.Get(ctx, path)
	if doc.Revision == 0 && err == nil {
		return l.before, l.err
	}
	return doc, err
}
