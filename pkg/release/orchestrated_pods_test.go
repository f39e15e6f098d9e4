package release_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestPodDNSIsBroughtIntoTheWorkloads: of all the keys of the context, only
// those of the workloads change, and in those only what the intent asks for.
func TestPodDNSIsBroughtIntoTheWorkloads(t *testing.T) {
	t.Parallel()
	w := newOrchestrated(t)
	w.podsAsk(podsNone)
	require.Equal(t, map[string]string{
		resourceKey(early, berlin, "web+Deployment"): quoted(t, withDNS),
		resourceKey(early, paris, "web+Deployment"):  quoted(t, withDNS),
	}, w.changedBy("/context/", func() { w.called(early) }))
	before := w.keys()
	w.called(early)
	require.Equal(t, before, w.keys(), "a second call writes nothing")
}

// TestAWorkloadThatHasTheSettingsStays: byte for byte.
func TestAWorkloadThatHasTheSettingsStays(t *testing.T) {
	t.Parallel()
	w := newOrchestrated(t)
	w.podsAsk(`{"app":"web","dnsPolicy":"Default"}`)
	own := strings.Replace(webPodYAML, "      containers:", "      dnsPolicy:   'Default'\n      containers:", 1)
	w.putKey(resourceKey(early, berlin, "web+Deployment"), quoted(t, own))
	changed := w.changedBy("/context/", func() { w.called(early) })
	require.Len(t, changed, 1)
	require.Contains(t, changed, resourceKey(early, paris, "web+Deployment"))
}

// TestWorkloadsThatCannotHaveTheSettingsAreRefused: with the resource, and
// before anything is written.
func TestWorkloadsThatCannotHaveTheSettingsAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, says string }{
		"no YAML":           {"kind: [Deployment", "resource web+Deployment of app web on edge+berlin cannot be read"},
		"empty":             {"# nothing\n", "resource web+Deployment of app web on edge+berlin cannot be read"},
		"two objects":       {webPodYAML + "---\n" + webPodYAML, "resource web+Deployment of app web on edge+berlin cannot be read"},
		"its own dnsConfig": {strings.Replace(webPodYAML, "      containers:", "      dnsConfig: 7\n      containers:", 1), `Deployment "web" has no valid dnsConfig`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newOrchestrated(t)
			w.podsAsk(podsNone)
			w.putKey(resourceKey(early, berlin, "web+Deployment"), quoted(t, c.text))
			w.refusesCall(early, intent.Conflict, c.says, string(front)+"/pod-dns-intents/web#/spec/app")
		})
	}
}

// TestKindsThatKubernetesDoesNotKnowStay: those with pods are told of.
func TestKindsThatKubernetesDoesNotKnowStay(t *testing.T) {
	t.Parallel()
	w := newOrchestrated(t)
	w.podsAsk(podsNone)
	w.putKey(resourceKey(early, berlin, "odd+Thing"), quoted(t, strings.NewReplacer("apps/v1", "example.org/v1", "Deployment", "Thing").Replace(webPodYAML)))
	var warnings []string
	changed := w.changedBy("/context/", func() {
		var err error
		warnings, err = w.call(early)
		require.NoError(t, err)
	})
	require.Len(t, changed, 2)
	require.NotContains(t, changed, resourceKey(early, berlin, "odd+Thing"))
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], `Thing "web" has pods whose DNS stays as it is`)
}

// TestAnAppWithoutWorkloads: there is nobody to get the settings; without any
// resource, its pods are somebody else's.
func TestAnAppWithoutWorkloads(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	require.NoError(t, w.delete(www(prod)))
	w.podsAsk(podsNone)
	o := orchestratedWeb(early)
	for _, resources := range o.apps["web"] {
		delete(resources, "web+Deployment")
	}
	w.lay(o)
	warnings, err := w.call(early)
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(warnings), `app "web" has no workload in app context `+early)
	for _, resources := range o.apps["web"] {
		clear(resources)
	}
	w.forget(early)
	w.lay(o)
	w.refusesCall(early, intent.Conflict, `app "web" has no resources, so Signpost cannot set the DNS of its pods`, "give the app its resources")
}

// TestAutopathIsForPodsOfTheContextsNamespace: what the logical cloud's DNS
// offers is what its pods there get.
func TestAutopathIsForPodsOfTheContextsNamespace(t *testing.T) {
	t.Parallel()
	w := newOffer(t)
	w.do(intent.Instantiate, eu)
	w.settle(eu)
	w.lay(orchestratedWeb(early))
	changed := w.changedBy("/context/"+early+"/", func() { w.called(early) })
	require.Len(t, changed, 2)
	require.Contains(t, changed[resourceKey(early, berlin, "web+Deployment")], "search.shop.")
	before := w.keys()
	w.called(early)
	require.Equal(t, before, w.keys())

	o := orchestratedWeb(late)
	o.apps["web"][paris]["web+Deployment"] = strings.Replace(webPodYAML, "  name: web\n", "  name: web\n  namespace: elsewhere\n", 1)
	w.lay(o)
	w.refusesCall(late, intent.Conflict, `Deployment "web" of app "web" is in namespace "elsewhere"`)
	o.meta["Namespace"] = "elsewhere"
	w.lay(o)
	w.refusesCall(late, intent.Conflict, "is not offered on cluster "+berlin)
}

// TestWhatIsNoWorkloadNeedNotBeReadable: Kubernetes takes more than Signpost
// reads, and no settings are looked for there. Where there may be pods all the
// same, the caller is told.
func TestWhatIsNoWorkloadNeedNotBeReadable(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(front.Child("pod-dns-intents", "web"), `{"app":"web","dnsPolicy":"Default"}`)
	o := orchestratedWeb(early)
	for _, on := range o.apps["web"] {
		on["twice+ConfigMap"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: twice}\ndata: {containers: a, containers: b}\n"
		on["all+List"] = "apiVersion: v1\nkind: List\nmetadata: {name: all}\nitems: [{kind: Pod, spec: {containers: []}}]\n"
	}
	w.lay(o)
	before := w.value("/context/" + early + "/app/web/cluster/" + paris + "/resource/all+List/")
	warnings, err := w.call(early)
	require.NoError(t, err)
	require.Len(t, warnings, 2)
	require.Contains(t, warnings[0], "resource all+List of app \"web\" is a list")
	require.Contains(t, warnings[1], "resource twice+ConfigMap of app \"web\" cannot be read: it stays as it is")
	require.Equal(t, before, w.value("/context/"+early+"/app/web/cluster/"+paris+"/resource/all+List/"))
	require.Contains(t, w.value("/context/"+early+"/app/web/cluster/"+paris+"/resource/web+Deployment/"), "dnsPolicy: Default")
}
