package release_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

const resolvers = eu + "/dns-cr-intents/resolvers"

// linux is a node that the default placement takes.
func linux(name string, taints ...placement.Taint) placement.Node {
	return placement.Node{Name: name, Labels: map[string]string{"kubernetes.io/os": "linux"}, Taints: taints}
}

// dnsOnly keeps pods away that do not tolerate it.
var dnsOnly = placement.Taint{Key: "dns-only", Effect: "NoSchedule"}

// newCloud is a shop whose logical cloud eu has a DNS CR intent, with two
// nodes in each cluster.
func newCloud(t testing.TB) *world {
	w := newShop(t)
	w.resolve(`[{"domain":"foo.com","nameservers":["1.2.3.4","5.6.7.8:5353"],"policy":"RoundRobin"}]`, ``)
	w.nodes = map[string][]placement.Node{berlin: {linux("b1"), linux("b2")}, paris: {linux("p1"), linux("p2")}}
	return w
}

// resolve puts the DNS CR intent; more is further JSON fields.
func (w *world) resolve(plugins, more string) {
	w.Helper()
	w.put(resolvers, fmt.Sprintf(`{"pluginConfig":{"forwardPlugins":%s}%s}`, plugins, more))
}

// resolving is eu of newCloud, instantiated.
func resolving(t testing.TB) *world {
	w := newCloud(t)
	w.do(intent.Instantiate, eu)
	w.settle(eu)
	return w
}

// judge plays the worker: it holds every cluster's nodes against the
// placements that are asked for there.
func (w *world) judge(pointers []appcontext.Pointer) {
	w.Helper()
	ctx := context.Background()
	for _, p := range pointers {
		for _, cluster := range slices.Sorted(maps.Keys(p.Placements)) {
			nodes, known := w.nodes[cluster]
			if !known || w.down[cluster] {
				continue
			}
			writer, err := w.observed.Writer(ctx, cluster, fence)
			require.NoError(w, err)
			for _, asked := range p.Placements[cluster] {
				require.NoError(w, writer.SetPlacement(ctx, asked.Key(), placement.Judge(nodes, asked)))
			}
		}
	}
}

// selector is the nodeSelector of the DaemonSet in a cluster, nil when there
// is none.
func (w *world) selector(cluster string) map[string]string {
	w.Helper()
	for _, o := range w.bundle(appcontext.Owner(eu)) {
		if o.Cluster == cluster && o.Kind == "DaemonSet" && o.Name == "dns-default" {
			var content struct {
				Spec struct {
					Template struct {
						Spec struct{ NodeSelector map[string]string }
					}
				}
			}
			require.NoError(w, json.Unmarshal(o.JSON, &content))
			return content.Spec.Template.Spec.NodeSelector
		}
	}
	return nil
}

// corefile is the Corefile in a cluster, empty when there is none.
func (w *world) corefile(cluster string) string {
	w.Helper()
	for _, o := range w.bundle(appcontext.Owner(eu)) {
		if o.Cluster == cluster && o.Kind == "ConfigMap" {
			var content struct{ Data map[string]string }
			require.NoError(w, json.Unmarshal(o.JSON, &content))
			return content.Data["Corefile"]
		}
	}
	return ""
}

func (w *world) dns(cluster string) render.DNSReport {
	w.Helper()
	snap := w.snapshot(eu)
	at := slices.IndexFunc(snap.DNS, func(r render.DNSReport) bool { return r.Cluster == cluster })
	require.GreaterOrEqual(w, at, 0, "no DNS on %s", cluster)
	return snap.DNS[at]
}

func TestALogicalCloudGetsTheDNSOfItsIntents(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	plan := w.plan(eu, "")
	assert.Empty(t, plan.Errors)
	assert.Equal(t, intent.Created, w.state(eu))

	first := w.do(intent.Instantiate, eu)
	assert.Equal(t, intent.Instantiating, w.state(eu))
	w.settle(eu)
	assert.Equal(t, intent.Instantiated, w.state(eu))
	for _, cluster := range []string{berlin, paris} {
		assert.Contains(t, w.objects(appcontext.Owner(eu)), cluster+" DaemonSet dns-default")
		assert.Contains(t, w.corefile(cluster), "foo.com:5353")
		assert.Contains(t, w.corefile(cluster), "round_robin")
	}
	assert.Equal(t, first, w.do(intent.Instantiate, eu), "repeated with nothing changed it answers the same again")

	w.do(intent.Terminate, eu)
	w.settle(eu)
	assert.Equal(t, intent.Terminated, w.state(eu))
	assert.Empty(t, w.inClusters())
}

// TestADomainThatTakesInAClustersOwnIsAnErrorOfPlan: the cluster may have come,
// or got its domain, after the intent was admitted.
func TestADomainThatTakesInAClustersOwnIsAnErrorOfPlan(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	w.put("cluster-providers/edge/clusters/paris", `{"kubeconfigRef":"sealed","dns":{"domain":"k8s.foo.com"}}`)
	plan := w.plan(eu, "")
	require.Len(t, plan.Errors, 1)
	assert.Equal(t, string(resolvers)+"#/spec/pluginConfig/forwardPlugins/0/domain", plan.Errors[0].Pointer)
	assert.Contains(t, plan.Errors[0].Detail, "on "+paris+": foo.com holds the cluster's own domain k8s.foo.com")
	_, err := w.try(intent.Instantiate, eu, "")
	assert.Equal(t, intent.Conflict, intent.CodeOf(err))
	assert.Empty(t, w.inClusters())
}

func TestADNSCRIntentChangesNothingBeforeUpdate(t *testing.T) {
	t.Parallel()
	w := resolving(t)
	before := w.corefile(berlin)
	w.resolve(`[{"domain":"bar.com","nameservers":["9.9.9.9"]}]`, ``)
	w.settle(eu)
	assert.Equal(t, before, w.corefile(berlin))
	assert.Equal(t, intent.Conflict, intent.CodeOf(second(w.try(intent.Instantiate, eu, ""))))

	w.do(intent.Update, eu)
	w.settle(eu)
	assert.Contains(t, w.corefile(berlin), "bar.com:5353")
	assert.NotContains(t, w.corefile(berlin), "foo.com:5353")

	_, err := w.service.Rollback(context.Background(), eu, 1, "", "ann")
	require.NoError(t, err)
	w.settle(eu)
	assert.Equal(t, before, w.corefile(berlin), "rollback makes the earlier release current")
}

func second[A any](_ A, err error) error { return err }

func TestAnIntentIsNarrowedByClustersOrLabels(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]string{
		"clusters": `,"clusters":[{"clusterProvider":"edge","cluster":"paris"}]`,
		"labels":   `,"clusterLabels":{"region":"west"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCloud(t)
			w.put("cluster-providers/edge/clusters/paris", `{"kubeconfigRef":"sealed","labels":{"region":"west"}}`)
			w.resolve(`[]`, more)
			w.do(intent.Instantiate, eu)
			w.settle(eu)
			assert.Empty(t, w.corefile(berlin))
			assert.NotEmpty(t, w.corefile(paris))
		})
	}
}

func TestTwoIntentsOnOneClusterAreRefusedNamingBoth(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	w.put(eu+"/dns-cr-intents/others", `{"clusters":[{"clusterProvider":"edge","cluster":"paris"}]}`)
	w.refuses(intent.Instantiate, eu, `"others" and "resolvers"`, paris)
}

func TestALogicalCloudWithoutIntentsHasNothingToInstantiate(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.refuses(intent.Instantiate, eu, "no DNS CR intent")
}

func TestAnInstantiatedLogicalCloudCannotBeDeleted(t *testing.T) {
	t.Parallel()
	w := resolving(t)
	err := w.delete(eu)
	assert.Equal(t, intent.Conflict, intent.CodeOf(err), "%v", err)
}

// TestAFirstPlacementThatLeavesNoNodeCreatesNothing is seed 001's rule, per
// cluster: the other one is not held up.
func TestAFirstPlacementThatLeavesNoNodeCreatesNothing(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	w.nodes[berlin] = []placement.Node{linux("b1", dnsOnly), linux("b2", dnsOnly)}
	w.do(intent.Instantiate, eu)
	w.settle(eu)
	for _, object := range w.inClusters() {
		assert.NotContains(t, object, berlin)
	}
	assert.NotEmpty(t, w.corefile(paris))
	assert.Equal(t, intent.Instantiated, w.state(eu), "what can be applied has been")
	assert.Equal(t, "the placement leaves no node, so no DNS is deployed: 0 of 2 nodes are suitable: taint dns-only:NoSchedule is not tolerated on 2", w.dns(berlin).Message())

	w.nodes[berlin] = []placement.Node{linux("b1"), linux("b2", dnsOnly)}
	w.settle(eu)
	assert.NotEmpty(t, w.corefile(berlin), "the check goes on as nodes change")
	assert.Empty(t, w.dns(berlin).Message())
}

func TestAPlacementThatLeavesNoNodeLeavesTheOneBefore(t *testing.T) {
	t.Parallel()
	w := resolving(t)
	before := w.selector(berlin)
	w.nodes[paris] = []placement.Node{{Name: "p1", Labels: map[string]string{"kubernetes.io/os": "linux", "disktype": "ssd"}}}
	w.resolve(`[{"domain":"bar.com","nameservers":["9.9.9.9"]}]`, `,"nodePlacement":{"nodeSelector":{"disktype":"ssd"}}`)
	assert.Contains(t, fmt.Sprint(w.plan(eu, intent.Update).Warnings), "the nodes are not known yet", "nobody has looked yet, and none can be asked")
	w.do(intent.Update, eu)
	w.settle(eu)
	assert.Equal(t, before, w.selector(berlin))
	assert.Contains(t, w.corefile(berlin), "bar.com:5353", "the placement alone is held back")
	assert.Equal(t, "the placement leaves no node, so the previous one stays: 0 of 2 nodes are suitable: label disktype=ssd is missing on 2", w.dns(berlin).Message())
	assert.False(t, w.dns(berlin).Current())
	assert.Equal(t, map[string]string{"disktype": "ssd"}, w.selector(paris))

	w.nodes[berlin] = []placement.Node{linux("b1", dnsOnly)}
	w.settle(eu)
	assert.Contains(t, w.dns(berlin).Message(), "which leaves none either now")
}

func TestTheLastSuitableNodeThatGoesIsTold(t *testing.T) {
	t.Parallel()
	w := resolving(t)
	before := w.corefile(berlin)
	w.nodes[berlin] = []placement.Node{linux("b1", dnsOnly), linux("b2", dnsOnly)}
	w.settle(eu)
	assert.True(t, w.dns(berlin).Refused())
	assert.Contains(t, w.dns(berlin).Message(), "the last suitable node is gone: 0 of 2 nodes are suitable")
	assert.Equal(t, before, w.corefile(berlin), "nothing is taken away")

	w.nodes[berlin] = []placement.Node{linux("b1")}
	w.settle(eu)
	assert.False(t, w.dns(berlin).Refused())
}

// TestUnknownNodesAreNotNone is I11 for nodes: nothing is settled, and nothing
// is made, before they are known.
func TestUnknownNodesAreNotNone(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	w.down[berlin] = true
	w.do(intent.Instantiate, eu)
	require.NoError(t, w.rest())
	assert.Equal(t, intent.Instantiating, w.state(eu))
	assert.Nil(t, w.dns(berlin).Verdict)
	assert.False(t, w.dns(berlin).Refused())
	assert.NotEmpty(t, w.corefile(paris), "a cluster that is down delays no other")

	w.down[berlin] = false
	w.settle(eu)
	assert.Equal(t, intent.Instantiated, w.state(eu))
	assert.NotEmpty(t, w.corefile(berlin))

	w.down[berlin] = true
	before := w.keys()
	require.NoError(t, w.rest())
	assert.Equal(t, before, w.keys(), "what was last seen still counts")
}

func TestNobodyWaitsForTheNodesOfAnAbandonedCluster(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	w.down[berlin] = true
	w.do(intent.Instantiate, eu)
	require.NoError(t, w.rest())
	require.Equal(t, intent.Instantiating, w.state(eu))
	_, err := w.abandon(berlin, false)
	require.NoError(t, err)
	require.NoError(t, w.rest())
	assert.Equal(t, intent.Instantiated, w.state(eu))
}

func TestAPlanLooksAtTheLiveNodes(t *testing.T) {
	t.Parallel()
	w := newCloud(t)
	w.options.Live = liveState{nodes: func(cluster string) []placement.Node { return []placement.Node{linux(cluster, dnsOnly)} }}
	w.service = release.New(w.options)
	warnings := fmt.Sprint(w.plan(eu, intent.Instantiate).Warnings)
	assert.Contains(t, warnings, "DNS on edge+berlin: the placement leaves no node, so no DNS is deployed")
}

func TestAPlacementIsAppliedToADirectoryWithAWarning(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put("cluster-providers/edge/clusters/gitops", `{"directory":"gitops"}`)
	w.member(eu, "gitops")
	w.put(resolvers, `{"clusters":[{"clusterProvider":"edge","cluster":"gitops"}],"nodePlacement":{"nodeSelector":{"disktype":"ssd"}}}`)
	assert.Contains(t, fmt.Sprint(w.plan(eu, intent.Instantiate).Warnings), "cannot be checked in a directory")
	w.do(intent.Instantiate, eu)
	w.settle(eu)
	assert.Equal(t, map[string]string{"disktype": "ssd"}, w.selector("edge+gitops"))
}

func TestACloudsImagesStayAsTheyWereFrozen(t *testing.T) {
	t.Parallel()
	w := resolving(t)
	w.options.ImageRegistry = "registry.example"
	w.restartOn(w.fake)
	w.resolve(`[{"domain":"bar.com","nameservers":["9.9.9.9"]}]`, ``)
	w.do(intent.Update, eu)
	w.settle(eu)
	assert.Equal(t, "docker.io/coredns/coredns:1.15.0", w.dns(berlin).Image, "another version of Signpost brings no other image")

	w.do(intent.Terminate, eu)
	w.settle(eu)
	w.do(intent.Instantiate, eu)
	w.settle(eu)
	assert.Equal(t, "registry.example/coredns/coredns:1.15.0", w.dns(berlin).Image)
}
