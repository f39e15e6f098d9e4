package release_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/kv"
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

// rsync writes a context's state as EMCO's rsync does: what it is told is in
// the desired state, once for each thing that it is told.
func (w *world) rsync(id, state string) {
	w.Helper()
	root := "/context/" + id + "/"
	told := map[string]string{"Instantiating": "Instantiated", "Updating": "Updated", "Terminating": "Terminated"}
	if desired := told[state]; desired != "" {
		w.putKey(root+"rsync/state/DesiredState/", fmt.Sprintf(`{"Status":%q}`, desired))
	}
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
	w.rsync(to, "Instantiating")
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
