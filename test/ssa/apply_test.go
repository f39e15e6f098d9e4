// Package ssa measures how Signpost brings objects into a cluster, beside a
// bare loop of requests and beside fluxcd/pkg/ssa, whose dependencies are the
// reason for a module of its own.
package ssa

import (
	"context"
	"fmt"
	"log/slog"
	"syscall"
	"testing"
	"time"

	"github.com/fluxcd/pkg/ssa"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
	"github.com/signpost-dns/signpost/pkg/worker/syncer"
	"github.com/signpost-dns/signpost/test/bench/compare"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/kube"
)

const (
	objects  = 500
	atOnce   = 8 // requests under way at a time, of every contender
	hub      = "edge+hub"
	patience = 2 * time.Minute
)

// BenchmarkApply changes 500 DNSEndpoints in a real cluster. "signpost" is the
// sync worker over its store, from the commit of a context until the cluster
// has answered for the last object; "settled" is until the ledger has it all.
// "bare" is a loop of server-side applies that knows its objects and remembers
// nothing; "watching" is that loop beside a watch of its objects, without which
// nobody notices that they were edited; "flux" is fluxcd/pkg/ssa. All send eight
// requests at a time. "cpu" is what this process spends for each object: of what
// the API server spends, only the times tell.
func BenchmarkApply(b *testing.B) {
	server := startCluster(b)
	w, bare, watching, flux := startWorker(b, server), newBare(b, server, "bare"), newBare(b, server, "watching"), newFlux(b, server)
	watching.watch(b)
	version := 0
	next := func(*testing.B) { version++ }
	var settled, requests float64
	w.apply(b, version)
	contenders := []compare.Contender{
		{Name: "signpost", Before: next, Turn: func(b *testing.B) time.Duration {
			before := w.requests.total()
			applied, all := w.apply(b, version)
			requests, settled = requests+float64(w.requests.total()-before), settled+all.Seconds()*1000
			return applied
		}},
		{Name: "bare", Before: next, Turn: stopwatch(func(b *testing.B) { bare.apply(b, version) })},
		{Name: "watching", Before: next, Turn: stopwatch(func(b *testing.B) { watching.apply(b, version) })},
		{Name: "flux", Before: next, Turn: stopwatch(func(b *testing.B) { flux.apply(b, version) })},
	}
	spent := make([]time.Duration, len(contenders))
	for n := range contenders {
		contenders[n].Turn = spending(&spent[n], contenders[n].Turn)
	}
	times := compare.Run(b, time.Millisecond, contenders...)
	for n := range contenders {
		b.ReportMetric(spent[n].Seconds()*1e6/float64(b.N*objects), contenders[n].Name+"-cpu-µs/object")
	}
	b.ReportMetric(times[3].Ratio(times[0]), "flux/signpost")
	b.ReportMetric(times[1].Ratio(times[0]), "bare/signpost")
	b.ReportMetric(times[2].Ratio(times[0]), "watching/signpost")
	b.ReportMetric(settled/float64(b.N), "settled-mean-ms")
	b.ReportMetric(requests/float64(b.N*objects), "requests/object")
	b.ReportMetric(flux.requests.perObject(b, func() { version++; flux.apply(b, version) }), "flux-requests/object")
	b.ReportMetric(flux.requests.perObject(b, func() { flux.apply(b, version) }), "flux-unchanged-requests/object")
}

// A context that holds what the last one held costs no request to a cluster,
// and one object that differs costs one.
func TestUnchangedObjectsCostNoRequest(t *testing.T) {
	w := startWorker(t, startCluster(t))
	w.apply(t, 1)
	before := w.requests.total()
	content := w.content(t, 1)
	content[0] = endpoint(t, "signpost", 0, 2)
	w.commit(t, content)
	require.Eventually(t, func() bool { return w.requests.total() > before && w.Idle() }, patience, time.Millisecond)
	require.Equal(t, 1, w.requests.total()-before)
}

// startCluster answers a cluster that serves DNSEndpoints in a namespace for
// each contender.
func startCluster(t testing.TB) *kube.Server {
	t.Helper()
	world, err := fixture.Start(t.Context(), fixture.Hub)
	t.Cleanup(world.Close)
	require.NoError(t, err)
	server := world.Cluster(fixture.Hub)
	require.NoError(t, fixture.DefineEndpoints(t.Context(), server))
	for _, namespace := range []string{"signpost", "bare", "watching", "flux"} {
		require.NoError(t, server.Namespace(t.Context(), namespace))
	}
	return server
}

// endpoint is the n-th DNSEndpoint in a version.
func endpoint(t testing.TB, namespace string, n, version int) bundle.Object {
	t.Helper()
	name := fmt.Sprintf("web-%03d", n)
	object, err := bundle.New(hub, "web", map[string]any{
		"apiVersion": "externaldns.k8s.io/v1alpha1", "kind": "DNSEndpoint",
		"metadata": map[string]any{"name": name, "namespace": namespace},
		"spec": map[string]any{"endpoints": []any{map[string]any{
			"dnsName": name + ".lab.example", "recordType": "A", "recordTTL": 30,
			"targets": []any{fmt.Sprintf("198.18.%d.%d", version/256%256, version%256)},
		}}},
	})
	require.NoError(t, err)
	return object
}

// worker is a sync worker over a store and a cluster, with its requests.
type worker struct {
	*syncer.Worker
	contexts *appcontext.Store
	requests *requests
	config   *rest.Config
}

func startWorker(t testing.TB, server *kube.Server) *worker {
	t.Helper()
	store, err := etcd.StartEmbedded(t.Context(), etcd.EmbeddedOptions{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	w := &worker{contexts: appcontext.NewStore(store.KV(), time.Now)}
	w.config, w.requests = counted(server)
	w.Worker = syncer.New(syncer.Options{KV: store.KV(), Contexts: w.contexts, Connections: w, Installation: "0123456789abcdef"})
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-done)
		require.NoError(t, store.Close())
	})
	return w
}

// Connect implements syncer.Connections.
func (w *worker) Connect(context.Context, string) (cluster.Target, error) {
	return kubeapi.NewKubernetes(w.config, cluster.Options{Installation: "0123456789abcdef"})
}

// Changed implements syncer.Connections.
func (w *worker) Changed() <-chan string { return nil }

func (w *worker) content(t testing.TB, version int) []bundle.Object {
	t.Helper()
	content := make([]bundle.Object, objects)
	for n := range content {
		content[n] = endpoint(t, "signpost", n, version)
	}
	return content
}

func (w *worker) commit(t testing.TB, content []bundle.Object) {
	t.Helper()
	was, err := w.contexts.Current(t.Context(), "group")
	require.NoError(t, err)
	collected, err := bundle.Collect(content)
	require.NoError(t, err)
	_, err = w.contexts.Commit(t.Context(), was, appcontext.Context{ID: appcontext.NewID(), Objects: collected})
	require.NoError(t, err)
}

// apply commits a version and waits until the cluster has it, and then until
// the worker has nothing left to do.
func (w *worker) apply(t testing.TB, version int) (applied, settled time.Duration) {
	t.Helper()
	content := w.content(t, version)
	arrived := w.requests.await(objects)
	w.commit(t, content)
	began := time.Now()
	select {
	case at := <-arrived:
		applied = at.Sub(began)
	case <-time.After(patience):
		require.FailNow(t, "not all objects were applied in time")
	}
	require.Eventually(t, w.Idle, patience, time.Millisecond)
	return applied, time.Since(began)
}

// bare applies objects that it knows, and does nothing else.
type bare struct {
	namespace string
	endpoints metadata.ResourceInterface
}

func newBare(b *testing.B, server *kube.Server, namespace string) bare {
	b.Helper()
	config := server.Config()
	config.Timeout = 0 // it would end the watch
	client, err := metadata.NewForConfig(config)
	require.NoError(b, err)
	return bare{namespace, client.Resource(schema.GroupVersionResource{
		Group: "externaldns.k8s.io", Version: "v1alpha1", Resource: "dnsendpoints",
	}).Namespace(namespace)}
}

// watch receives what happens to the objects, and does nothing with it.
func (c bare) watch(b *testing.B) {
	b.Helper()
	events, err := c.endpoints.Watch(b.Context(), metav1.ListOptions{})
	require.NoError(b, err)
	b.Cleanup(events.Stop)
	go func() {
		for range events.ResultChan() {
		}
	}()
}

func (c bare) apply(b *testing.B, version int) {
	b.Helper()
	var loop errgroup.Group
	loop.SetLimit(atOnce)
	force := true
	for n := range objects {
		object := endpoint(b, c.namespace, n, version)
		loop.Go(func() error {
			_, err := c.endpoints.Patch(b.Context(), object.Name, types.ApplyPatchType, object.JSON, metav1.PatchOptions{FieldManager: "bare", Force: &force})
			return err
		})
	}
	require.NoError(b, loop.Wait())
}

// flux applies objects as Flux' controllers do.
type flux struct {
	manager  *ssa.ResourceManager
	requests *requests
}

func newFlux(b *testing.B, server *kube.Server) flux {
	b.Helper()
	config, sent := counted(server)
	speaker, err := client.New(config, client.Options{})
	require.NoError(b, err)
	manager := ssa.NewResourceManager(speaker, nil, ssa.Owner{Field: "flux", Group: "bench.example"})
	manager.SetConcurrency(atOnce)
	return flux{manager, sent}
}

func (f flux) apply(b *testing.B, version int) {
	b.Helper()
	content := make([]*unstructured.Unstructured, objects)
	for n := range content {
		content[n] = &unstructured.Unstructured{}
		require.NoError(b, content[n].UnmarshalJSON(endpoint(b, "flux", n, version).JSON))
	}
	_, err := f.manager.ApplyAll(b.Context(), content, ssa.DefaultApplyOptions())
	require.NoError(b, err)
}

// stopwatch takes the time of something.
func stopwatch(do func(b *testing.B)) func(b *testing.B) time.Duration {
	return func(b *testing.B) time.Duration {
		began := time.Now()
		do(b)
		return time.Since(began)
	}
}

// spending adds up the processor time that this process spends on turns.
func spending(spent *time.Duration, turn func(b *testing.B) time.Duration) func(b *testing.B) time.Duration {
	return func(b *testing.B) time.Duration {
		before := processorTime(b)
		took := turn(b)
		*spent += processorTime(b) - before
		return took
	}
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
