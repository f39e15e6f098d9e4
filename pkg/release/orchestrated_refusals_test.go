package release_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// TestBadContextsAreRefused: each with what is wrong, and nothing half-done.
func TestBadContextsAreRefused(t *testing.T) {
	t.Parallel()
	order := "/context/" + early + "/app/web/cluster/" + berlin + "/resource/instruction/order/"
	for name, c := range map[string]struct {
		spoil func(w *world)
		code  intent.Code
		texts []string
	}{
		"unknown": {func(w *world) { w.forget(early) }, intent.NotFound, []string{"app context " + early + " does not exist"}},
		"without meta": {
			func(w *world) { w.erase("/context/" + early + "/meta/") }, intent.Conflict, []string{"has no meta"},
		},
		"of a logical cloud": {func(w *world) { w.meta(early, map[string]any{"Project": "shop", "LogicalCloud": "eu"}) }, intent.Conflict, []string{"app context 4242 does not belong to a deployment intent group"}},
		"of a group with an odd name": {
			func(w *world) { w.metaWith(early, "DeploymentIntentGroup", "prod/x") }, intent.Conflict, []string{"app context 4242 does not belong to a deployment intent group"},
		},
		"of an unknown project": {func(w *world) { w.metaWith(early, "Project", "lab") }, intent.NotFound, []string{"projects/lab/composite-apps/store/v1/deployment-intent-groups/prod does not exist; app context ", "--emco-orchestrator"}},
		"of an unknown group":   {func(w *world) { w.metaWith(early, "DeploymentIntentGroup", "none") }, intent.NotFound, []string{"deployment-intent-groups/none does not exist; app context "}},
		"in an unknown logical cloud": {
			func(w *world) { w.metaWith(early, "LogicalCloud", "us") }, intent.NotFound, []string{"projects/shop/logical-clouds/us does not exist; app context ", "--emco-dcm"},
		},
		"without a traffic group": {func(w *world) {
			require.NoError(w, w.delete(www(prod)))
			require.NoError(w, w.delete(front))
		}, intent.NotFound, []string{string(front), "post it to /v2/" + string(prod) + "/traffic-group-intents"}},
		"on an unknown cluster": {func(w *world) {
			o := orchestratedWeb(early)
			o.apps["web"]["edge+rome"] = o.apps["web"][berlin]
			w.lay(o)
		}, intent.Conflict, []string{"cluster-providers/edge/clusters/rome", "cluster edge+rome does not exist"}},
		"on what is not a cluster": {func(w *world) {
			o := orchestratedWeb(early)
			o.apps["web"]["rome"] = o.apps["web"][berlin]
			w.lay(o)
		}, intent.Conflict, []string{`"rome"`, "provider+cluster"}},
		"an app without a cluster": {func(w *world) {
			o := orchestratedWeb(early)
			o.apps["api"] = nil
			w.lay(o)
		}, intent.Conflict, []string{`no cluster for app "api"`}},
		"two resources with one key": {func(w *world) {
			w.putKey(order, quoted(w, `{"resorder":["web+Service","web+Deployment","web+Service"]}`))
		}, intent.Conflict, []string{"two resources web+Service of app \"web\" on " + berlin}},
		"with a list that is none": {func(w *world) { w.putKey(order, `{"resorder":[]}`) }, intent.Conflict, []string{order}},
		"too many resources":       {func(w *world) { w.flood(21_000) }, intent.TooLarge, []string{"more than 20000 resources"}},
		"with a cluster of another project": {func(w *world) {
			w.put("cluster-providers/edge/clusters/berlin", `{"kubeconfigRef":"sealed","projects":["lab"]}`)
		}, intent.Conflict, []string{`cluster edge+berlin does not allow project "shop"`}},
		"Signpost's own deployment": {func(w *world) {
			w.do(intent.Instantiate, prod)
			w.settle(prod)
		}, intent.Conflict, []string{"deployed by Signpost itself (Instantiated)", "terminate it"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newOrchestrated(t)
			c.spoil(w)
			w.refusesCall(early, c.code, c.texts...)
		})
	}
}

// TestIdsThatAreNoneAreRefused: before anything is read.
func TestIdsThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	w := newOrchestrated(t)
	for _, id := range []string{"", "x", "-1", "007", "4242/", "9223372036854775808", strings.Repeat("9", 1000)} {
		w.refusesCall(id, intent.Invalid, "is not an id of an app context")
	}
}

// TestSignpostsOwnContextsAreRefused: they are in the same place, in the same
// layout.
func TestSignpostsOwnContextsAreRefused(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.refusesCall(w.snapshot(prod).Lifecycle.ContextID, intent.Conflict, "Signpost, for projects/shop/composite-apps/store/v1/deployment-intent-groups/prod; name one of EMCO's orchestrator")
}

// TestHalfWrittenContextsAreRefused: EMCO writes key after key; a call at any
// time before the last but one finds that out.
func TestHalfWrittenContextsAreRefused(t *testing.T) {
	t.Parallel()
	whole := orchestratedWeb(early).keys(t)
	root := "/context/" + early + "/"
	last := []string{root + "app/instruction/order/", root + "app/instruction/dependency/"}
	w := newShop(t)
	var written []string
	for _, key := range slices.Sorted(maps.Keys(whole)) {
		if !slices.Contains(last, key) {
			written = append(written, key)
		}
	}
	for _, key := range append(written, last[0]) {
		_, err := w.call(early)
		require.Contains(t, []intent.Code{intent.NotFound, intent.Conflict}, intent.CodeOf(err), "%v", err)
		w.putKey(key, whole[key])
	}
	require.Empty(t, w.below("/signpost/release/"))
	w.called(early)
	for _, key := range []string{root, root + "meta/", root + "app/web/", last[0], resourceKey(early, paris, "web+Service")} {
		w.erase(key)
		_, err := w.call(early)
		require.Equal(t, intent.Conflict, intent.CodeOf(err), "without %s: %v", key, err)
		w.putKey(key, whole[key])
	}
}

// TestIntentsOfAnotherProjectDoNotCount: a traffic group is one of the group
// that the context's meta names, and of no other.
func TestIntentsOfAnotherProjectDoNotCount(t *testing.T) {
	t.Parallel()
	w := newOrchestrated(t)
	const other intent.Path = "projects/other/composite-apps/store/v1/deployment-intent-groups/prod"
	w.put("projects/other", `{"namespace":"other-dns"}`)
	w.put("projects/other/logical-clouds/eu", `{"namespace":"other"}`)
	w.put("projects/other/composite-apps/store/v1", `{"compositeAppVersion":"v1"}`)
	w.put(other, `{"logicalCloud":"eu","apps":[{"name":"web"}]}`, "projects/other/logical-clouds/eu")
	w.metaWith(early, "Project", "other")
	w.refusesCall(early, intent.NotFound, string(other)+"/traffic-group-intents/front does not exist")
}

// TestAllReasonsAreToldAtOnce: the caller shows no more than one text.
func TestAllReasonsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	w := newOrchestrated(t)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.other.example"]}`)
	w.put(front.Child("dns-intents", "api"), `{"app":"api","serviceName":"api","hostnames":["api.lab.example"]}`)
	before := w.keysBesideEvents()
	_, err := w.call(early)
	var refusal *intent.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, intent.Conflict, refusal.Code)
	require.Equal(t, "app context "+early+" stays as it is, and nothing was released", refusal.Detail)
	require.Len(t, refusal.Fields, 2)
	require.Contains(t, fmt.Sprint(refusal.Fields), `has no app "api"`)
	require.Contains(t, fmt.Sprint(refusal.Fields), `serves "www.other.example"`)
	require.Equal(t, before, w.keysBesideEvents())
}

// TestWhatExternalDNSWouldRefuseIsToldInTime: not when the event comes, whose
// error nobody is told.
func TestWhatExternalDNSWouldRefuseIsToldInTime(t *testing.T) {
	t.Parallel()
	w := newOrchestrated(t)
	w.put(lab, strings.Replace(record("lab.example", ``), `"sync"`, `"sync","registry":"noop"`, 1))
	w.refusesCall(early, intent.Conflict, "allowUnownedDeletion")
}

// erase deletes a key.
func (w *world) erase(key string) {
	w.Helper()
	_, _, err := w.fake.Txn(w.Context(), nil, kv.Delete(key))
	require.NoError(w, err)
}

// forget deletes a context, as EMCO's orchestrator does.
func (w *world) forget(id string) {
	w.Helper()
	_, _, err := w.fake.Txn(w.Context(), nil, kv.DeletePrefix("/context/"+id+"/"))
	require.NoError(w, err)
}

func (w *world) meta(id string, meta map[string]any) {
	w.Helper()
	w.putKey("/context/"+id+"/meta/", jsonOf(w, meta))
}

func (w *world) metaWith(id, field string, value any) {
	w.Helper()
	meta := orchestratedWeb(id).meta
	meta[field] = value
	w.meta(id, meta)
}

// flood gives a context very many resources.
func (w *world) flood(resources int) {
	w.Helper()
	var ops []kv.Op
	for n := range resources {
		ops = append(ops, kv.Put(resourceKey(early, berlin, fmt.Sprintf("c%d+ConfigMap", n)), []byte(`"kind: ConfigMap"`)))
		if len(ops) == 1000 {
			_, _, err := w.fake.Txn(w.Context(), nil, ops...)
			require.NoError(w, err)
			ops = nil
		}
	}
}

// TestAServiceInANamespaceOfKubernetesIsNotPublished, wherever a chart puts it.
func TestAServiceInANamespaceOfKubernetesIsNotPublished(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	o := orchestratedWeb(early)
	for _, on := range o.apps["web"] {
		on["web+Service"] = strings.Replace(webService, "  name: web\n", "  name: web\n  namespace: kube-system\n", 1)
	}
	w.lay(o)
	_, err := w.call(early)
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, `in namespace kube-system on edge+paris, which is not allowed`)
}

// TestWhatIsKeptNamesNoOtherProject, though it is who may see all that is
// refused: viewers of the group's project read its events.
func TestWhatIsKeptNamesNoOtherProject(t *testing.T) {
	t.Parallel()
	w := newOrchestrated(t)
	root := intent.As(t.Context(), intent.Actor{Subject: "root", Reads: func(string) bool { return true }})
	grant := func(domains string) { w.put("projects/bank", `{"namespace":"bank-dns","domains":`+domains+`}`) }
	grant(`["lab.example"]`)
	_, err := w.service.UpdateContext(root, early, "front", "")
	require.ErrorContains(t, err, `"www.lab.example" lies in lab.example, which is granted to another project`)
	grant(`[]`)
	w.called(early)
	grant(`["lab.example"]`)
	err = w.service.PostEvent(root, early, intent.Instantiate)
	require.ErrorContains(t, err, "granted to another project")
	for _, outcome := range []string{"refused", "failed"} {
		kept := w.outcomes(outcome)
		require.Len(t, kept, 1)
		require.Contains(t, kept[0], "granted to another project")
	}
	events, err := w.service.Events(root, prod)
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprint(events), "bank")
	for key, value := range w.below("/signpost/doc/lifecycle") {
		require.NotContains(t, value, "bank", key)
	}
}
