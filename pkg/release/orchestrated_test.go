package release_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// TestACallFreezesARelease: what a group's intents ask for is frozen for the
// app context, by the rules of instantiate, and nothing is deployed yet.
func TestACallFreezesARelease(t *testing.T) {
	t.Parallel()
	w := newOrchestrated(t)
	require.Empty(t, w.changedBy("/context/", func() { w.called(early) }), "nothing in the context is to be changed")
	_, frozen := w.prepared(early)
	g := frozen.Group
	require.Equal(t, &plan.Orchestrated{AppContext: early, Namespace: "shop", Level: "0"}, g.Orchestrated)
	require.Equal(t, []plan.App{{Name: "web", Namespace: "shop", Clusters: []string{berlin, paris}}}, g.Apps)
	require.Len(t, g.Bindings, 1)
	require.Equal(t, hub, g.Bindings[0].Cluster)
	require.Equal(t, []string{berlin, paris}, g.Bindings[0].Sources)
	l := w.stored(prod)
	require.Zero(t, l.Seq)
	require.Equal(t, []state.Prepared{{AppContext: early, ContextID: l.Prepared[0].ContextID, Traffic: []string{"front"}}}, l.Prepared)
	w.settle(prod)
	require.Empty(t, w.inClusters())
}

// TestACallOnceMoreWritesNothing: nor does it when the server was restarted, or
// after other groups have changed.
func TestACallOnceMoreWritesNothing(t *testing.T) {
	t.Parallel()
	w := newOrchestrated(t)
	w.called(early)
	w.group(test, "api", "api.lab.example")
	w.do(intent.Instantiate, test)
	w.settle(test)
	before := w.keys()
	w.called(early)
	w.restartOn(w.fake)
	w.called(early)
	require.Equal(t, before, w.keys())
}

// TestTheContextSaysWhereAppsRun: not the group's document, nor the logical
// cloud's references alone; its namespace is that of the apps.
func TestTheContextSaysWhereAppsRun(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(prod, `{"logicalCloud":"gone","apps":[{"name":"web","clusters":[{"clusterProvider":"edge","cluster":"berlin"}]},{"name":"old"}]}`)
	o := orchestratedWeb(early)
	o.meta["Namespace"], o.meta["Level"] = "tenant", "1"
	o.apps["web"] = map[string]map[string]string{hub: o.apps["web"][berlin]}
	w.lay(o)
	w.called(early)
	_, frozen := w.prepared(early)
	require.Equal(t, []plan.App{{Name: "web", Namespace: "tenant", Clusters: []string{hub}}}, frozen.Group.Apps)
	require.Equal(t, "eu", frozen.Group.LogicalCloud)
	require.Equal(t, "tenant", frozen.Group.Bindings[0].Namespace)
	require.Equal(t, &plan.Orchestrated{AppContext: early, Namespace: "tenant", Level: "1"}, frozen.Group.Orchestrated)
}

// TestTheLogicalCloudMayBeMissingInTheMeta: EMCO's service discovery rewrites
// it without. Then the group's document says.
func TestTheLogicalCloudMayBeMissingInTheMeta(t *testing.T) {
	t.Parallel()
	w := newOrchestrated(t)
	w.metaWith(early, "LogicalCloud", "")
	w.called(early)
	_, frozen := w.prepared(early)
	require.Equal(t, "eu", frozen.Group.LogicalCloud)
}

// TestTheServiceIsFoundAmongTheResources: its namespace is the object's own,
// else that of the context; the intent's own counts before both.
func TestTheServiceIsFoundAmongTheResources(t *testing.T) {
	t.Parallel()
	const elsewhere = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: elsewhere}\n"
	spec := `{"app":"web","serviceName":"web","hostnames":["www.lab.example"]%s}`
	for name, c := range map[string]struct {
		berlin, paris, more string
		namespace           string
		warning             string
	}{
		"as the app":                  {webService, webService, ``, "shop", ""},
		"elsewhere":                   {elsewhere, elsewhere, ``, "elsewhere", ""},
		"as JSON":                     {`{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"elsewhere"}}`, elsewhere, ``, "elsewhere", ""},
		"as the intent says":          {elsewhere, elsewhere, `,"namespace":"mine"`, "mine", ""},
		"on one of the clusters only": {elsewhere, "", ``, "elsewhere", `no Service "web" of app "web" for edge+paris`},
		"on none":                     {"", "", ``, "shop", `no Service "web" of app "web" for edge+berlin, edge+paris`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newShop(t)
			o := orchestratedWeb(early)
			for cluster, text := range map[string]string{berlin: c.berlin, paris: c.paris} {
				o.apps["web"][cluster]["web+Service"] = text
				if text == "" {
					delete(o.apps["web"][cluster], "web+Service")
				}
			}
			w.lay(o)
			w.put(www(prod), fmt.Sprintf(spec, c.more))
			warnings, err := w.call(early)
			require.NoError(t, err)
			_, frozen := w.prepared(early)
			require.Equal(t, c.namespace, frozen.Group.Bindings[0].Namespace)
			if c.warning == "" {
				require.Empty(t, warnings)
			} else {
				require.Len(t, warnings, 1)
				require.Contains(t, warnings[0], c.warning)
			}
		})
	}
}

// TestAServiceInTwoNamespacesIsRefused: a binding has one.
func TestAServiceInTwoNamespacesIsRefused(t *testing.T) {
	t.Parallel()
	w := newOrchestrated(t)
	w.putKey(resourceKey(early, paris, "web+Service"), quoted(t, "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: b}\n"))
	w.refusesCall(early, intent.Conflict, string(www(prod))+"#/spec/namespace", "in namespace b on edge+paris and in shop on edge+berlin")
	w.putKey(resourceKey(early, paris, "web+Service"), quoted(t, "kind: [Service"))
	w.refusesCall(early, intent.Conflict, "resource web+Service of app web on edge+paris cannot be read")
}

// TestClustersMayBeInventoryOnly: EMCO's rsync pushes to them. Where external-dns
// is to live must be in Signpost's reach.
func TestClustersMayBeInventoryOnly(t *testing.T) {
	t.Parallel()
	w := newOrchestrated(t)
	for _, name := range []string{"berlin", "paris"} {
		w.put(intent.Join("cluster-providers/edge/clusters", name), `{}`)
	}
	w.called(early)
	_, frozen := w.prepared(early)
	require.Equal(t, []plan.Cluster{{Name: berlin, Inventory: true}, {Name: hub}, {Name: paris, Inventory: true}}, frozen.Group.Clusters)
	w.put("cluster-providers/edge/clusters/hub", `{}`)
	w.refusesCall(early, intent.Conflict, "cluster edge+hub is inventory only")
}

// TestTrafficGroupsAddUp: a controller may be called with several; each adds
// its intents to the release, and those that nobody named do not count.
func TestTrafficGroupsAddUp(t *testing.T) {
	t.Parallel()
	w := newOrchestrated(t)
	w.put(back, `{}`)
	w.put(back.Child("dns-intents", "api"), `{"app":"web","serviceName":"api","namespace":"shop","hostnames":["api.lab.example"]}`)
	w.put(prod.Child("traffic-group-intents", "unnamed"), `{}`)
	w.put(prod.Child("traffic-group-intents", "unnamed").Child("dns-intents", "bad"), `{"app":"none","serviceName":"x","hostnames":["x.lab.example"]}`)
	hosts := func() []string {
		_, frozen := w.prepared(early)
		var out []string
		for _, b := range frozen.Group.Bindings {
			out = append(out, b.Hosts[0].Name)
		}
		return out
	}
	w.called(early)
	require.Equal(t, []string{"www.lab.example"}, hosts())
	_, err := w.service.UpdateContext(context.Background(), early, "back", "")
	require.NoError(t, err)
	require.Equal(t, []string{"api.lab.example", "www.lab.example"}, hosts())
	before := w.keys()
	w.called(early)
	require.Equal(t, before, w.keys())
	prepared, _ := w.prepared(early)
	require.Equal(t, []string{"back", "front"}, prepared.Traffic)
}

// TestAnUpdateNamesTheChildThatHolds: so that EMCO uninstalls it with the new
// context, whether the event comes or not. A context of another group, as
// after a migration, has none.
func TestAnUpdateNamesTheChildThatHolds(t *testing.T) {
	t.Parallel()
	w := newOrchestrated(t)
	w.called(early)
	w.event(early, intent.Instantiate)
	w.settle(prod)
	child := w.snapshot(prod).Lifecycle.ContextID
	for _, c := range []struct {
		id, from string
		children any
	}{
		{"1001", early, []string{child}},
		{"1002", "1001", []string{child}},
		{"1003", "77", nil},
		{"1004", "", nil},
	} {
		o := orchestratedWeb(c.id)
		w.lay(o)
		before := o.keys(t)
		_, err := w.service.UpdateContext(context.Background(), c.id, "front", c.from)
		require.NoError(t, err)
		o.meta["ChildContextIDs"] = c.children
		want := o.keys(t)
		root := "/context/" + c.id + "/meta/"
		require.JSONEq(t, want[root], w.below(root)[root])
		if c.children == nil {
			require.Equal(t, before[root], w.below(root)[root])
		}
		keys := w.keys()
		_, err = w.service.UpdateContext(context.Background(), c.id, "front", c.from)
		require.NoError(t, err)
		require.Equal(t, keys, w.keys(), "once more")
	}
}

// TestAHundredContextsAreKept: the oldest go, but never the current one.
func TestAHundredContextsAreKept(t *testing.T) {
	t.Parallel()
	w := newOrchestrated(t)
	w.called(early)
	w.event(early, intent.Instantiate)
	for n := range 101 {
		id := fmt.Sprint(1000 + n)
		w.lay(orchestratedWeb(id))
		w.called(id)
		w.forget(id)
	}
	kept := w.stored(prod).Prepared
	require.Len(t, kept, 100)
	require.Equal(t, early, kept[0].AppContext)
	require.Equal(t, "1002", kept[1].AppContext)
}

// TestASuspendedGroupIsToldOf: what is frozen waits.
func TestASuspendedGroupIsToldOf(t *testing.T) {
	t.Parallel()
	w := newOrchestrated(t)
	w.put(prod, `{"logicalCloud":"eu","suspend":true,"apps":[{"name":"web"}]}`)
	warnings, err := w.call(early)
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(warnings), "suspended")
}
