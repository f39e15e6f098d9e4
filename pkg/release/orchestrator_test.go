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

// appContext writes a context of prod as EMCO's orchestrator does, with the
// app web on both edges, and has a release frozen for it.
func (w *world) appContext(id string) {
	w.Helper()
	w.writeContext(id)
	require.NoError(w, w.service.Prepare(context.Background(), prod, id))
}

func (w *world) writeContext(id string) {
	w.Helper()
	root := "/context/" + id + "/"
	w.write(root, text(id))
	w.write(root+"meta/", `{"Project":"shop","CompositeApp":"store","Version":"v1","Release":"r1","DeploymentIntentGroup":"prod","Namespace":"shop","Level":"1","ChildContextIDs":null,"LogicalCloud":"eu","Later":{"kept":true}}`)
	w.write(root+"app/web/", text("web"))
	for _, cluster := range []string{berlin, paris} {
		at := root + "app/web/cluster/" + cluster + "/"
		w.write(at, text(cluster))
		w.write(at+"resource/web+Service/", text("kind: Service\nmetadata: {name: web}\n"))
		w.write(at+"resource/instruction/order/", text(`{"resorder":["web+Service"]}`))
	}
	w.write(root+"app/instruction/order/", text(`{"apporder":["web"]}`))
}

func (w *world) write(key, value string) {
	w.Helper()
	_, _, err := w.fake.Txn(context.Background(), nil, kv.Put(key, []byte(value)))
	require.NoError(w, err)
}

// text is a JSON text.
func text(value string) string {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// rsync writes a context's state as EMCO's rsync does: what it is told is in
// the desired state, once for each thing that it is told.
func (w *world) rsync(id, state string) {
	w.Helper()
	root := "/context/" + id + "/"
	told := map[string]string{"Instantiating": "Instantiated", "Updating": "Updated", "Terminating": "Terminated"}
	if desired := told[state]; desired != "" {
		w.write(root+"rsync/state/DesiredState/", fmt.Sprintf(`{"Status":%q}`, desired))
	}
	for _, level := range []string{"rsync/state/CurrentState/", "status/"} {
		w.write(root+level, fmt.Sprintf(`{"Status":%q}`, state))
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
		Later           json.RawMessage
	}
	require.NoError(w, json.Unmarshal([]byte(w.value("/context/"+id+"/meta/")), &meta))
	require.JSONEq(w, `{"kept":true}`, string(meta.Later), "no key of the meta is lost")
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
