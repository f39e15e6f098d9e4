package clustertest

import (
	"cmp"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// Fixture is one cluster to test, empty but for the namespace.
type Fixture struct {
	Target       cluster.Target
	Installation string
	Namespace    string // exists, for the suite alone

	// Other clients work behind the target's back: they make an object or overwrite it,
	// without our labels unless it has them, and remove it.
	Plant  func(t *testing.T, o bundle.Object)
	Remove func(t *testing.T, id bundle.ID)

	// Data reads a ConfigMap's data as another client does; nil in a directory.
	Data func(t *testing.T, id bundle.ID) map[string]string

	// Offer has a Service of the namespace offer a load balancer's address;
	// nil where there are no live Services.
	Offer func(t *testing.T, name, ip string)

	// Run has a pod of the namespace run as it says, or change to it; nil
	// where there are no pods. It needs the Secret "credentials".
	Run func(t *testing.T, pod RunPod)

	// Note does as external-dns does when it has read a DNSEndpoint; nil where
	// there is none. The definition is there then.
	Note func(t *testing.T, id bundle.ID)

	// Join has a node be there with the labels and taints, or change to them;
	// Beat is its heartbeat, and Leave takes it away. Nil where there are no
	// nodes.
	Join  func(t *testing.T, node placement.Node)
	Beat  func(t *testing.T, node string)
	Leave func(t *testing.T, node string)

	// Sealed is the id of a value that the target can open; empty where
	// Secrets with such values are refused.
	Sealed string

	// Directory: every kind is served and seen.
	Directory bool
}

// patience is how long the suite waits for what a watch must see.
const patience = 20 * time.Second

// Run has a target pass all that is promised of one. open is called for each
// test.
func Run(t *testing.T, open func(t *testing.T) Fixture) {
	run(t, open, map[string]func(*testing.T, Fixture){
		"identity stays":                                testIdentity,
		"what is not there is nil":                      testAbsent,
		"create makes it with our labels":               testCreate,
		"create never adopts somebody else's":           testCreateForeign,
		"create never replaces ours":                    testCreateTwice,
		"apply changes what was seen":                   testApply,
		"apply of the same changes nothing":             testApplySame,
		"apply puts back what somebody else edited":     testApplyDrift,
		"apply takes away marks that are not wanted":    testApplyFewerMarks,
		"apply refuses another version":                 testApplyStale,
		"apply never creates":                           testApplyGone,
		"delete removes what was seen":                  testDelete,
		"keys are shared with somebody else's object":   testShare,
		"delete refuses another version":                testDeleteStale,
		"watch sees what others do to ours":             testWatch,
		"watch never shows somebody else's":             testWatchForeign,
		"watch goes as far as was asked, or is unknown": testWatchAtLeast,
		"services are seen with fields":                 testServices,
		"occupants are named":                           testOccupant,
		"kinds that nobody knows are not served":        testNotServed,
		"secret values arrive, and nowhere else":        testSecret,
		"a call that was given up fails as unreachable": testCancelled,
		"cluster-wide objects are created and deleted":  testClusterWide,
		"delete of what is gone and back needs a look":  testDeleteReplaced,
		"pods are seen with what ails them":             testPods,
		"metrics are read from a pod":                   testMetrics,
		"nodes are seen, their heartbeats are not":      testNodes,
	})
}

// RunServer has a target pass what is promised of one with an API server alone. Others
// write there, too, and not all of it is followed.
func RunServer(t *testing.T, open func(t *testing.T) Fixture) {
	run(t, open, map[string]func(*testing.T, Fixture){
		"sharing makes what is missing":      testShareAbsent,
		"what is not followed is unknown":    testWatchUnknown,
		"labels of others outlive an apply":  testForeignLabel,
		"what external-dns has read is seen": testObserved,
	})
}

func run(t *testing.T, open func(t *testing.T) Fixture, tests map[string]func(*testing.T, Fixture)) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

func (f Fixture) id(name string) bundle.ID {
	return bundle.ID{Cluster: "edge+test", Kind: "ConfigMap", Namespace: f.Namespace, Name: name}
}

// object makes a ConfigMap, with the installation's labels when ours.
func (f Fixture) object(t *testing.T, name, value string, ours bool) bundle.Object {
	t.Helper()
	metadata := map[string]any{"name": name, "namespace": f.Namespace}
	if ours {
		metadata["labels"] = map[string]string{bundle.LabelManagedBy: bundle.ManagedBy, bundle.LabelInstallation: f.Installation}
	}
	return Object(t, map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": map[string]string{"key": value},
	})
}

// Object makes an object of the cluster edge+test.
func Object(t *testing.T, content map[string]any) bundle.Object {
	t.Helper()
	o, err := bundle.New("edge+test", "app", content)
	require.NoError(t, err)
	return o
}

// Keyed makes a ConfigMap of somebody else's in which one key is ours.
func Keyed(t *testing.T, key, value string) bundle.Object {
	return Object(t, map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]string{key: value},
		"metadata": map[string]any{
			"name": "coredns-custom", "namespace": "dns", "annotations": map[string]string{bundle.AnnotationKeys: bundle.OwnKeys},
		},
	})
}

func (f Fixture) create(t *testing.T, o bundle.Object) cluster.Live {
	t.Helper()
	live, err := f.Target.Create(t.Context(), o)
	require.NoError(t, err)
	return live
}

func (f Fixture) get(t *testing.T, id bundle.ID) *cluster.Live {
	t.Helper()
	live, err := f.Target.Get(t.Context(), id)
	require.NoError(t, err)
	return live
}

func wantFault(t *testing.T, want fault.Kind, err error) {
	t.Helper()
	require.Error(t, err)
	assert.Equal(t, want, fault.Of(err), "%v", err)
}

func testIdentity(t *testing.T, f Fixture) {
	first, err := f.Target.Identity(t.Context())
	require.NoError(t, err)
	second, err := f.Target.Identity(t.Context())
	require.NoError(t, err)
	assert.NotEmpty(t, first)
	assert.Equal(t, first, second)
}

func testAbsent(t *testing.T, f Fixture) { assert.Nil(t, f.get(t, f.id("absent"))) }

func testCreate(t *testing.T, f Fixture) {
	made := f.create(t, f.object(t, "a", "1", false))
	assert.True(t, made.Ours(f.Installation), "the labels are put on, even if the object has others")
	assert.NotEmpty(t, made.UID)
	seen := f.get(t, f.id("a"))
	require.NotNil(t, seen)
	assert.Equal(t, made, *seen)
}

func testCreateForeign(t *testing.T, f Fixture) {
	f.Plant(t, f.object(t, "a", "theirs", false))
	before := f.get(t, f.id("a"))
	require.NotNil(t, before)
	_, err := f.Target.Create(t.Context(), f.object(t, "a", "ours", true))
	wantFault(t, cluster.Exists, err)
	after := f.get(t, f.id("a"))
	assert.Equal(t, before, after, "somebody else's object is as it was (I4)")
	assert.False(t, after.Ours(f.Installation))
}

func testCreateTwice(t *testing.T, f Fixture) {
	made := f.create(t, f.object(t, "a", "1", true))
	_, err := f.Target.Create(t.Context(), f.object(t, "a", "2", true))
	wantFault(t, cluster.Exists, err)
	assert.Equal(t, made.Version, f.get(t, f.id("a")).Version)
}

func testApply(t *testing.T, f Fixture) {
	made := f.create(t, f.object(t, "a", "1", true))
	changed, err := f.Target.Apply(t.Context(), f.object(t, "a", "2", true), made.Version)
	require.NoError(t, err)
	assert.Equal(t, made.UID, changed.UID)
	assert.NotEqual(t, made.ResourceVersion, changed.ResourceVersion)
	assert.Equal(t, changed.Version, f.get(t, f.id("a")).Version)
}

func testApplySame(t *testing.T, f Fixture) {
	made := f.create(t, f.object(t, "a", "1", true))
	again, err := f.Target.Apply(t.Context(), f.object(t, "a", "1", true), made.Version)
	require.NoError(t, err)
	assert.Equal(t, made.Version, again.Version)
}

func testApplyDrift(t *testing.T, f Fixture) {
	made := f.create(t, f.object(t, "a", "1", true))
	f.Plant(t, f.object(t, "a", "edited", true))
	edited := f.get(t, f.id("a"))
	require.NotEqual(t, made.ResourceVersion, edited.ResourceVersion)
	back, err := f.Target.Apply(t.Context(), f.object(t, "a", "1", true), edited.Version)
	require.NoError(t, err)
	assert.NotEqual(t, edited.ResourceVersion, back.ResourceVersion)
}

func testApplyFewerMarks(t *testing.T, f Fixture) {
	marked := func(annotations map[string]string) bundle.Object {
		return Object(t, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
			"name": "a", "namespace": f.Namespace, "annotations": annotations,
			"labels": map[string]string{bundle.LabelManagedBy: bundle.ManagedBy, bundle.LabelInstallation: f.Installation},
		}})
	}
	made := f.create(t, marked(map[string]string{"example.com/kept": "yes", "example.com/dropped": "yes"}))
	fewer, err := f.Target.Apply(t.Context(), marked(map[string]string{"example.com/kept": "yes"}), made.Version)
	require.NoError(t, err)
	_, err = f.Target.Apply(t.Context(), marked(nil), fewer.Version)
	require.NoError(t, err)
	for _, key := range []string{"example.com/kept", "example.com/dropped"} {
		assert.NotContains(t, f.get(t, f.id("a")).Annotations, key)
	}
}

func testApplyStale(t *testing.T, f Fixture) {
	made := f.create(t, f.object(t, "a", "1", true))
	f.Plant(t, f.object(t, "a", "edited", true))
	edited := f.get(t, f.id("a"))
	_, err := f.Target.Apply(t.Context(), f.object(t, "a", "2", true), made.Version)
	wantFault(t, fault.Stale, err)
	_, err = f.Target.Apply(t.Context(), f.object(t, "a", "2", true), cluster.Version{})
	wantFault(t, fault.Stale, err)
	assert.Equal(t, edited.Version, f.get(t, f.id("a")).Version)
}

func testApplyGone(t *testing.T, f Fixture) {
	made := f.create(t, f.object(t, "a", "1", true))
	f.Remove(t, f.id("a"))
	_, err := f.Target.Apply(t.Context(), f.object(t, "a", "1", true), made.Version)
	wantFault(t, fault.Stale, err)
	assert.Nil(t, f.get(t, f.id("a")))
}

func testDelete(t *testing.T, f Fixture) {
	made := f.create(t, f.object(t, "a", "1", true))
	require.NoError(t, f.Target.Delete(t.Context(), f.id("a"), made.Version))
	require.Eventually(t, func() bool { return f.get(t, f.id("a")) == nil }, patience, 10*time.Millisecond)
	require.NoError(t, f.Target.Delete(t.Context(), f.id("a"), made.Version), "gone is gone")
}

func testDeleteStale(t *testing.T, f Fixture) {
	made := f.create(t, f.object(t, "a", "1", true))
	f.Plant(t, f.object(t, "a", "edited", true))
	wantFault(t, fault.Stale, f.Target.Delete(t.Context(), f.id("a"), made.Version))
	assert.NotNil(t, f.get(t, f.id("a")))
}

func testDeleteReplaced(t *testing.T, f Fixture) {
	made := f.create(t, f.object(t, "a", "1", true))
	f.Remove(t, f.id("a"))
	f.Plant(t, f.object(t, "a", "theirs", false))
	wantFault(t, fault.Stale, f.Target.Delete(t.Context(), f.id("a"), made.Version))
	assert.NotNil(t, f.get(t, f.id("a")), "an object that somebody else made in our object's place stays (I4)")
}

func testForeignLabel(t *testing.T, f Fixture) {
	made := f.create(t, f.object(t, "a", "1", true))
	labelled := Object(t, map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "a", "namespace": f.Namespace, "labels": map[string]string{
			bundle.LabelManagedBy: bundle.ManagedBy, bundle.LabelInstallation: f.Installation, "stranger": "yes"}},
		"data": map[string]string{"key": "1"},
	})
	f.Plant(t, labelled)
	edited := f.get(t, f.id("a"))
	require.NotEqual(t, made.ResourceVersion, edited.ResourceVersion)
	back, err := f.Target.Apply(t.Context(), f.object(t, "a", "2", true), edited.Version)
	require.NoError(t, err)
	assert.Equal(t, "yes", back.Labels["stranger"])
}

func (f Fixture) watch(t *testing.T) cluster.Watches {
	t.Helper()
	w := f.Target.Watch(t.Context(), cluster.Quiet())
	t.Cleanup(w.Stop)
	w.Follow(cluster.Interest{Kinds: []cluster.Kind{{Kind: "ConfigMap"}}, Namespaces: []string{f.Namespace}})
	return w
}

func eventually(t *testing.T, why string, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, patience, 10*time.Millisecond, why)
}

func testWatch(t *testing.T, f Fixture) {
	w := f.watch(t)
	made := f.create(t, f.object(t, "a", "1", true))
	eventually(t, "ours is seen", func() bool {
		s := w.Object(f.id("a"), made.ResourceVersion)
		return s.Known && s.Live != nil && s.Live.Version == made.Version
	})
	f.Plant(t, f.object(t, "a", "edited", true))
	eventually(t, "an edit is seen", func() bool {
		s := w.Object(f.id("a"), "")
		return s.Known && s.Live != nil && s.Live.Version != made.Version
	})
	f.Remove(t, f.id("a"))
	eventually(t, "a removal is seen", func() bool {
		s := w.Object(f.id("a"), made.ResourceVersion)
		return s.Known && s.Live == nil
	})
	require.NoError(t, w.Trouble())
}

func testWatchForeign(t *testing.T, f Fixture) {
	f.Plant(t, f.object(t, "theirs", "1", false))
	w := f.watch(t)
	made := f.create(t, f.object(t, "ours", "1", true))
	eventually(t, "ours is seen", func() bool { return w.Object(f.id("ours"), made.ResourceVersion).Live != nil })
	s := w.Object(f.id("theirs"), "")
	assert.True(t, s.Known)
	assert.Nil(t, s.Live)
}

func testWatchAtLeast(t *testing.T, f Fixture) {
	w := f.watch(t)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		made := f.create(t, f.object(t, name, "1", true))
		s := w.Object(f.id(name), made.ResourceVersion)
		assert.False(t, s.Known && s.Live == nil, "what was just made is never seen to be absent")
	}
}

func testWatchUnknown(t *testing.T, f Fixture) {
	w := f.watch(t)
	assert.False(t, w.Object(bundle.ID{Kind: "Service", Namespace: f.Namespace, Name: "a"}, "").Known)
	_, known := w.Service("elsewhere", "a")
	assert.False(t, known)
	_, known = w.Deployment("elsewhere", "a")
	assert.False(t, known)
}

func testServices(t *testing.T, f Fixture) {
	if f.Offer == nil {
		_, known := f.watch(t).Service(f.Namespace, "web")
		assert.False(t, known, "where there are no live Services, none is known to be absent")
		return
	}
	w := f.watch(t)
	eventually(t, "absence is positive knowledge", func() bool {
		o, known := w.Service(f.Namespace, "web")
		return known && !o.Found
	})
	for _, ip := range []string{"203.0.113.10", "2001:db8::10"} {
		f.Offer(t, "web", ip)
		want := address.Candidate{Kind: address.LoadBalancer, Target: ip, Field: "status.loadBalancer.ingress[0].ip"}
		eventually(t, "the address is seen", func() bool {
			o, known := w.Service(f.Namespace, "web")
			return known && o.Found && len(o.Candidates) > 0 && assert.ObjectsAreEqual(want, o.Candidates[0])
		})
	}
}

func testOccupant(t *testing.T, f Fixture) {
	by, err := f.Target.Occupant(t.Context(), f.Namespace)
	require.NoError(t, err)
	assert.Empty(t, by)
	f.Plant(t, f.object(t, "theirs", "1", false))
	by, err = f.Target.Occupant(t.Context(), f.Namespace)
	require.NoError(t, err)
	assert.Contains(t, by, "theirs")
}

func testNotServed(t *testing.T, f Fixture) {
	kind := cluster.Kind{Group: "nobody.example", Kind: "Nothing"}
	ok, err := f.Target.Established(t.Context(), kind)
	require.NoError(t, err)
	assert.Equal(t, f.Directory, ok)
	if f.Directory {
		return
	}
	o := Object(t, map[string]any{"apiVersion": "nobody.example/v1", "kind": "Nothing",
		"metadata": map[string]any{"name": "a", "namespace": f.Namespace}})
	_, err = f.Target.Create(t.Context(), o)
	wantFault(t, cluster.NotServed, err)
	assert.Nil(t, f.get(t, o.ID))
}

func testSecret(t *testing.T, f Fixture) {
	id := f.Sealed
	id = cmp.Or(id, "some-sealed-value")
	references, err := json.Marshal(map[string]string{"password": id})
	require.NoError(t, err)
	o := Object(t, map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{
		"name": "a", "namespace": f.Namespace, "annotations": map[string]string{bundle.AnnotationValuesFrom: string(references)}}})
	_, err = f.Target.Create(t.Context(), o)
	if f.Sealed == "" {
		wantFault(t, fault.Refused, err)
		assert.Nil(t, f.get(t, o.ID))
		return
	}
	require.NoError(t, err)
	assert.NotNil(t, f.get(t, o.ID))
}

func testCancelled(t *testing.T, f Fixture) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := f.Target.Get(ctx, f.id("a"))
	wantFault(t, fault.Unreachable, err)
	_, err = f.Target.Create(ctx, f.object(t, "a", "1", true))
	wantFault(t, fault.Unreachable, err)
	assert.Nil(t, f.get(t, f.id("a")))
}

func testClusterWide(t *testing.T, f Fixture) {
	o := Object(t, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": f.Namespace + "-more"}})
	made := f.create(t, o)
	assert.True(t, made.Ours(f.Installation))
	live := f.get(t, o.ID)
	require.NotNil(t, live)
	require.NoError(t, f.Target.Delete(t.Context(), o.ID, live.Version))
	eventually(t, "it goes, or is going", func() bool {
		live := f.get(t, o.ID)
		return live == nil || live.Deleting
	})
}
