package release_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Ids of app contexts of EMCO's.
const (
	early = "4242"
	late  = "9223372036854775807"
)

const (
	front      = prod + "/traffic-group-intents/front"
	back       = prod + "/traffic-group-intents/back"
	webService = "# Source: web/templates/service.yaml\napiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec: {type: LoadBalancer}\n"
	webPodYAML = "# Source: web/templates/deployment.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  template:\n    spec:\n      containers: [{name: web, image: \"web:1.10\"}] # one\n"
)

// layout is an app context of EMCO's, as the orchestrator is about to
// write it.
type layout struct {
	id   string
	meta map[string]any
	apps map[string]map[string]map[string]string // app to cluster to resource to its text
}

// orchestratedWeb is the app web of prod, on two edges.
func orchestratedWeb(id string) layout {
	on := func() map[string]string {
		return map[string]string{"web+Service": webService, "web+Deployment": webPodYAML, "odd+Thing": "kind: Thing\n"}
	}
	return layout{
		id: id,
		meta: map[string]any{
			"Project": "shop", "CompositeApp": "store", "Version": "v1", "Release": "r1", "DeploymentIntentGroup": "prod", "Namespace": "shop", "Level": "0",
			"ChildContextIDs": nil, "LogicalCloud": "eu", "ServiceMesh": map[string]any{"kind": "istio"},
		},
		apps: map[string]map[string]map[string]string{"web": {berlin: on(), paris: on()}},
	}
}

// keys is the context in EMCO's layout.
func (o layout) keys(t testing.TB) map[string]string {
	t.Helper()
	root := "/context/" + o.id + "/"
	k := map[string]string{root: quoted(t, o.id)}
	if o.meta != nil {
		k[root+"meta/"] = jsonOf(t, o.meta)
	}
	for app, clusters := range o.apps {
		k[root+"app/"+app+"/"] = quoted(t, app)
		for cluster, resources := range clusters {
			at := root + "app/" + app + "/cluster/" + cluster + "/"
			k[at] = quoted(t, cluster)
			k[at+"!@#metaGrp/"] = `"1"`
			for key, text := range resources {
				k[at+"resource/"+key+"/"] = quoted(t, text)
			}
			k[at+"resource/instruction/order/"] = quoted(t, jsonOf(t, map[string]any{"resorder": slices.Sorted(maps.Keys(resources))}))
		}
	}
	k[root+"app/instruction/order/"] = quoted(t, jsonOf(t, map[string]any{"apporder": slices.Sorted(maps.Keys(o.apps))}))
	k[root+"app/instruction/dependency/"] = quoted(t, `{"web":"go"}`)
	return k
}

func jsonOf(t testing.TB, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	require.NoError(t, err)
	return string(raw)
}

// quoted is a JSON text.
func quoted(t testing.TB, text string) string { return jsonOf(t, text) }

// lay plays EMCO's orchestrator, which puts one key after the other.
func (w *world) lay(o layout) {
	w.Helper()
	for key, value := range o.keys(w) {
		w.putKey(key, value)
	}
}

func (w *world) putKey(key, value string) {
	w.Helper()
	_, _, err := w.fake.Txn(context.Background(), nil, kv.Put(key, []byte(value)))
	require.NoError(w, err)
}

// newOrchestrated is the shop whose group prod EMCO deploys: one app context
// waits to be extended.
func newOrchestrated(t testing.TB) *world {
	w := newShop(t)
	w.lay(orchestratedWeb(early))
	return w
}

// call is UpdateAppContext for the traffic group front.
func (w *world) call(id string) ([]string, error) {
	return w.service.UpdateContext(context.Background(), id, "front", "")
}

// called is a call that must succeed, without warnings.
func (w *world) called(id string) {
	w.Helper()
	warnings, err := w.call(id)
	require.NoError(w, err)
	require.Empty(w, warnings)
}

// below are the values of the keys that begin so.
func (w *world) below(prefix string) map[string]string {
	w.Helper()
	items, _, err := w.fake.Range(context.Background(), kv.Range{Prefix: prefix})
	require.NoError(w, err)
	out := map[string]string{}
	for _, item := range items {
		out[item.Key] = string(item.Value)
	}
	return out
}

// changedBy are the keys below a prefix that something writes, removes or adds,
// with their new values.
func (w *world) changedBy(prefix string, do func()) map[string]string {
	w.Helper()
	before := w.below(prefix)
	do()
	after := w.below(prefix)
	for key := range before {
		require.Contains(w, after, key)
	}
	maps.DeleteFunc(after, func(key, value string) bool { return before[key] == value })
	return after
}

// prepared is what was frozen for an app context.
func (w *world) prepared(id string) (state.Prepared, state.Release) {
	w.Helper()
	for _, p := range w.stored(prod).Prepared {
		if p.AppContext == id {
			return p, w.frozen(p.ContextID)
		}
	}
	require.Failf(w, "nothing is prepared", "for app context %s", id)
	return state.Prepared{}, state.Release{}
}

func (w *world) stored(owner intent.Path) state.Lifecycle {
	w.Helper()
	doc, err := w.documents.Get(context.Background(), intent.Join(intent.LifecycleCollection, string(owner)))
	require.NoError(w, err)
	l, err := state.ReadLifecycle(doc)
	require.NoError(w, err)
	return l
}

// refusesCall checks that a call answers the code and says each of texts, and
// that the store is as it was, but for events.
func (w *world) refusesCall(id string, code intent.Code, texts ...string) {
	w.Helper()
	before := w.keysBesideEvents()
	_, err := w.call(id)
	require.Equal(w, code, intent.CodeOf(err), "%v", err)
	for _, text := range texts {
		require.ErrorContains(w, err, text)
	}
	require.Equal(w, before, w.keysBesideEvents(), "a refusal leaves no other trace")
}

// keysBesideEvents is the store, without the documents that hold the events of groups.
func (w *world) keysBesideEvents() map[string]int64 {
	w.Helper()
	keys := w.keys()
	maps.DeleteFunc(keys, func(key string, _ int64) bool { return strings.HasPrefix(key, "/signpost/doc/lifecycle//") })
	return keys
}

func resourceKey(id, cluster, resource string) string {
	return fmt.Sprintf("/context/%s/app/web/cluster/%s/resource/%s/", id, cluster, resource)
}

// podsAsk puts a pod DNS intent for the app web.
func (w *world) podsAsk(spec string) {
	w.Helper()
	w.put(front.Child("pod-dns-intents", "web"), spec)
}

const podsNone = `{"app":"web","dnsPolicy":"None","dnsConfig":{"nameservers":["192.0.2.1"]}}`

// withDNS is the Deployment as podsNone has it.
var withDNS = strings.Replace(webPodYAML, "      containers:",
	"      dnsConfig:\n        nameservers:\n        - 192.0.2.1\n      dnsPolicy: None\n      containers:", 1)

// frozen is a stored release.
func (w *world) frozen(contextID string) state.Release {
	w.Helper()
	var text strings.Builder
	parts := w.below("/signpost/release/" + contextID + "/")
	for _, key := range slices.Sorted(maps.Keys(parts)) {
		text.WriteString(parts[key])
	}
	r, err := state.Unpack(nil, strings.NewReader(text.String()))
	require.NoError(w, err)
	return r
}
