package release_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// withBatch has EMCO deploy another app beside web, for which nothing is asked,
// on a cluster that Signpost does not know.
func withBatch(id string) layout {
	o := orchestratedWeb(id)
	o.apps["batch"] = map[string]map[string]string{"edge+rome": {"batch+Job": "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: batch\n"}}
	return o
}

// TestAppsThatNothingIsAskedForDoNotMatter: their clusters need not be known,
// neither for the call, nor for the event, nor for what follows.
func TestAppsThatNothingIsAskedForDoNotMatter(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.lay(withBatch(firstContext))
	w.called(firstContext)
	_, frozen := w.prepared(firstContext)
	require.Equal(t, []string{berlin, hub, paris}, namesOf(frozen.Group.Clusters))
	w.tell(firstContext, "Instantiate", "")
	w.event(firstContext, intent.Instantiate)
	w.settle(prod)
	require.Equal(t, "Instantiated 1111 "+wwwOf, w.current())
	require.NotContains(t, w.snapshot(prod).Clusters, "edge+rome")
	require.Empty(t, w.plan(prod, intent.Update).Errors)
	require.Equal(t, intent.NotFound, intent.CodeOf(w.drain("edge+rome", false)))
}

// TestClustersOfAppsThatSomethingIsAskedForHaveToBeKnown: a name is, and so are
// DNS settings of pods.
func TestClustersOfAppsThatSomethingIsAskedForHaveToBeKnown(t *testing.T) {
	t.Parallel()
	for name, intents := range map[string]struct {
		path intent.Path
		spec string
	}{
		"a name":          {front.Child("dns-intents", "batch"), `{"app":"batch","serviceName":"batch","hostnames":["batch.lab.example"]}`},
		"the DNS of pods": {front.Child("pod-dns-intents", "batch"), `{"app":"batch","dnsPolicy":"None","dnsConfig":{"nameservers":["10.0.0.10"]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newShop(t)
			w.lay(withBatch(early))
			w.put(intents.path, intents.spec)
			w.refusesCall(early, intent.Conflict, "cluster-providers/edge/clusters/rome", "cluster edge+rome does not exist")
		})
	}
}

// TestWhatEMCOHasMadeCurrentOnAnAbandonedClusterIsFollowed: EMCO has moved, and
// Signpost puts nothing there.
func TestWhatEMCOHasMadeCurrentOnAnAbandonedClusterIsFollowed(t *testing.T) {
	t.Parallel()
	w := orchestrated(t)
	w.serve("two.lab.example")
	w.appContext(secondContext)
	w.dies(paris)
	w.event(secondContext, intent.Update)
	w.replace(firstContext, secondContext)
	w.settle(prod)
	require.Equal(t, "Instantiated 2222 [edge+hub lab/public: two.lab.example A 203.0.113.10]", w.current())
	w.serve("three.lab.example")
	w.appContext(thirdContext)
}

// TestAnAbandonedHomeOfAGroupOfEMCOsIsRefused: names would never get there.
func TestAnAbandonedHomeOfAGroupOfEMCOsIsRefused(t *testing.T) {
	t.Parallel()
	w := newOrchestrated(t)
	w.dies(hub)
	w.refusesCall(early, intent.Conflict, "cluster edge+hub is abandoned")
}

func namesOf(clusters []plan.Cluster) []string {
	var names []string
	for _, c := range clusters {
		names = append(names, c.Name)
	}
	return names
}
