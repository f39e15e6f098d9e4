package release_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// App contexts of EMCO's.
const (
	firstContext  = "1111"
	secondContext = "2222"
	thirdContext  = "3333"
)

// appContext plays EMCO's orchestrator, which writes a context of prod and has
// it extended, in place of the current one.
func (w *world) appContext(id string) {
	w.Helper()
	w.writeContext(id)
	from := ""
	if l := w.snapshot(prod).Lifecycle; l.State() == intent.Instantiated {
		from = l.AppContext
	}
	_, err := w.service.UpdateContext(context.Background(), id, "front", from)
	require.NoError(w, err)
}

func (w *world) writeContext(id string) {
	w.Helper()
	o := orchestratedWeb(id)
	o.meta["Level"] = "1"
	w.lay(o)
}

// tell notes what EMCO's rsync is told of a context, as it does before it
// answers: at the end of the context's queue. other is the context that it
// replaces, or is replaced by.
func (w *world) tell(id, event, other string) {
	w.Helper()
	key := "/context/" + id + "/rsync/AppContextEventQueue/"
	var queue struct{ AcQueue []map[string]string }
	if stored := w.below(key)[key]; stored != "" {
		require.NoError(w, json.Unmarshal([]byte(stored), &queue))
	}
	queue.AcQueue = append(queue.AcQueue, map[string]string{"event": event, "uCID": other, "status": "Pending"})
	w.putKey(key, jsonOf(w, queue))
}

// rsync writes a context's state as EMCO's rsync does, when it comes to it.
func (w *world) rsync(id, state string) {
	w.Helper()
	root := "/context/" + id + "/"
	for _, level := range []string{"rsync/state/CurrentState/", "status/"} {
		w.putKey(root+level, fmt.Sprintf(`{"Status":%q}`, state))
	}
}

// vanish deletes a context, as EMCO does.
func (w *world) vanish(id string) {
	w.Helper()
	_, _, err := w.fake.Txn(context.Background(), nil, kv.DeletePrefix("/context/"+id+"/"))
	require.NoError(w, err)
}

func (w *world) event(id string, event intent.Action) {
	w.Helper()
	require.NoError(w, w.service.PostEvent(context.Background(), id, event))
}

// serve names what prod's names are to be, for the next release.
func (w *world) serve(hostname string) {
	w.Helper()
	w.put(www(prod), fmt.Sprintf(`{"app":"web","serviceName":"web","hostnames":[%q]}`, hostname))
}

// children are what the meta of an app context names, in its order.
func (w *world) children(id string) []string {
	w.Helper()
	var meta struct {
		ChildContextIDs []string
		ServiceMesh     json.RawMessage
	}
	require.NoError(w, json.Unmarshal([]byte(w.value("/context/"+id+"/meta/")), &meta))
	require.JSONEq(w, `{"kind":"istio"}`, string(meta.ServiceMesh), "no key of the meta is lost")
	return meta.ChildContextIDs
}

// orchestrated is prod, instantiated by EMCO's orchestrator in its first context.
func orchestrated(t testing.TB) *world {
	w := newShop(t)
	w.appContext(firstContext)
	w.tell(firstContext, "Instantiate", "")
	w.event(firstContext, intent.Instantiate)
	w.rsync(firstContext, "Instantiating")
	w.rsync(firstContext, "Instantiated")
	w.settle(prod)
	return w
}

// updated is prod, after an update to its second context.
func updated(t testing.TB) *world {
	w := orchestrated(t)
	w.serve("two.lab.example")
	w.appContext(secondContext)
	w.event(secondContext, intent.Update)
	w.replace(firstContext, secondContext)
	w.settle(prod)
	return w
}

// replace has rsync take the place of one context to another.
func (w *world) replace(from, to string) {
	w.Helper()
	w.tell(to, "Update", from)
	w.rsync(to, "Instantiating")
	w.tell(from, "UpdateDelete", to)
	w.rsync(from, "Updating")
	w.rsync(from, "Updated")
	w.rsync(to, "Instantiated")
}

// current is the app context that prod is for, with what it publishes.
func (w *world) current() string {
	w.Helper()
	l := w.snapshot(prod).Lifecycle
	return fmt.Sprint(l.State(), " ", l.AppContext, " ", w.published(prod))
}

const (
	wwwOf = "[edge+hub lab/public: www.lab.example A 203.0.113.10,203.0.113.20]"
	twoOf = "[edge+hub lab/public: two.lab.example A 203.0.113.10,203.0.113.20]"
)

func (w *world) remove(key string) {
	w.Helper()
	_, _, err := w.fake.Txn(context.Background(), nil, kv.Delete(key))
	require.NoError(w, err)
}

func (w *world) value(key string) string {
	w.Helper()
	item, _, err := w.fake.Get(context.Background(), key)
	require.NoError(w, err)
	require.NotNil(w, item)
	return string(item.Value)
}
