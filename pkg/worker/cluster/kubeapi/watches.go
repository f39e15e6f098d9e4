package kubeapi

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/domain/source"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// Watch implements Target. It has one metadata-only watch per kind, selected by the
// installation's label. For each namespace of interest, it watches Services and what
// leads to them, and keeps only what they offer.
func (k *Kubernetes) Watch(ctx context.Context, notify cluster.Notify) cluster.Watches {
	ctx, stop := context.WithCancel(ctx)
	w := k.watches(notify, func(f *feed) context.CancelFunc {
		within, end := context.WithCancel(ctx)
		go f.run(within)
		return end
	})
	w.stop = stop
	return w
}

func (k *Kubernetes) watches(notify cluster.Notify, begin func(*feed) context.CancelFunc) *watches {
	return &watches{
		target: k, begin: begin, notify: notify,
		kinds: map[cluster.Kind]*running{}, pods: map[string]*running{}, nodes: map[cluster.Kind]*running{},
		namespaces: map[string]*running{}, slices: map[string]*running{},
		leads: map[leads]*running{}, ways: map[leads]*running{}, routed: map[leads]bool{},
	}
}

type watches struct {
	target *Kubernetes
	begin  func(*feed) context.CancelFunc // runs a feed until the watches stop, or it is ended
	stop   context.CancelFunc
	notify cluster.Notify
	alone  string // the Service that alone is of interest; empty: all of the namespaces

	mu         sync.Mutex
	kinds      map[cluster.Kind]*running
	namespaces map[string]*running // Services by namespace, and so on
	slices     map[string]*running
	leads      map[leads]*running
	ways       map[leads]*running        // the objects of all namespaces by which others lead
	nodes      map[cluster.Kind]*running // of the one kind, if at all
	pods       map[string]*running
	placing    bool           // the nodes are of interest for themselves
	routed     map[leads]bool // a Service has needed these ways
	exposed    bool           // a Service has needed nodes
}

type running struct {
	feed *feed
	stop context.CancelFunc
}

func endpointKind() cluster.Kind {
	return cluster.Kind{Group: "externaldns.k8s.io", Kind: "DNSEndpoint"}
}

// Follow implements Watches. Nodes, and objects by which others lead (such as Gateways),
// are followed once a Service needs them. That ends with the last Service of interest.
func (w *watches) Follow(interest cluster.Interest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	follow(w, w.kinds, interest.Kinds, w.target.kindFeed)
	follow(w, w.namespaces, interest.Namespaces, w.serviceFeed)
	follow(w, w.slices, interest.Namespaces, w.sliceFeed)
	var led []leads
	for _, kind := range source.Kinds() {
		for _, namespace := range interest.Namespaces {
			led = append(led, leads{kind, namespace})
		}
	}
	follow(w, w.leads, led, w.target.leadFeed)
	follow(w, w.pods, interest.Pods, w.target.podFeed)
	w.placing = interest.Nodes
	if len(interest.Namespaces) == 0 {
		clear(w.routed)
		w.exposed = false
	}
	w.followWide()
}

// followWide follows what stands outside the namespaces of interest. The watches
// are locked.
func (w *watches) followWide() {
	var nodes []cluster.Kind
	if w.placing || w.exposed {
		nodes = append(nodes, nodeKind())
	}
	follow(w, w.nodes, nodes, w.target.nodeFeed)
	follow(w, w.ways, slices.Collect(maps.Keys(w.routed)), w.target.leadFeed)
}

func follow[K comparable](w *watches, have map[K]*running, want []K, open func(K, cluster.Notify) *feed) {
	for key, r := range have {
		if !slices.Contains(want, key) {
			r.stop()
			delete(have, key)
		}
	}
	for _, key := range want {
		if have[key] == nil {
			f := open(key, w.notify)
			f.budget = w.target.budget
			have[key] = &running{feed: f, stop: w.begin(f)}
		}
	}
}

func (w *watches) kind(kind cluster.Kind) *feed {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.kinds[kind]; r != nil {
		return r.feed
	}
	return nil
}

func (w *watches) Object(id bundle.ID, atLeast string) cluster.Sight {
	f := w.kind(cluster.KindOf(id))
	if f == nil {
		return cluster.Sight{}
	}
	found, known := f.look(id.Namespace, id.Name, atLeast)
	if found == nil {
		return cluster.Sight{Known: known}
	}
	return cluster.Sight{Known: known, Live: &found.live}
}

// Trouble implements Watches. A kind that is not served yet is none, and neither
// is one that Services can do without, unless the cluster answers too much.
func (w *watches) Trouble() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.kinds {
		if err := r.feed.problem(); err != nil && fault.Of(err) != cluster.NotServed {
			return err
		}
	}
	for _, r := range w.spares() {
		if err := r.feed.problem(); cluster.Beyond(err) {
			return err
		}
	}
	needed := slices.Collect(maps.Values(w.namespaces))
	if w.placing {
		needed = slices.AppendSeq(needed, maps.Values(w.nodes))
	}
	for _, r := range needed {
		if err := r.feed.problem(); err != nil {
			return err
		}
	}
	return nil
}

// spares are what the feeds follow that Services can do without. The watches are
// locked.
func (w *watches) spares() []*running {
	return slices.Concat(slices.Collect(maps.Values(w.slices)), slices.Collect(maps.Values(w.leads)),
		slices.Collect(maps.Values(w.ways)), slices.Collect(maps.Values(w.pods)))
}

func (f *feed) problem() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.trouble
}

func (w *watches) Stop() { w.stop() }

func (k *Kubernetes) selector() string {
	return bundle.LabelInstallation + "=" + k.options.Installation
}

func (k *Kubernetes) kindFeed(kind cluster.Kind, notify cluster.Notify) *feed {
	switch kind {
	case cluster.DeploymentKind():
		return workloadFeed(kind, k.apps.Deployments(metav1.NamespaceAll), k.selector(), notify)
	case cluster.DaemonSetKind():
		return workloadFeed(kind, k.apps.DaemonSets(metav1.NamespaceAll), k.selector(), notify)
	case endpointKind():
		return k.endpointFeed(notify)
	}
	at := func(r cluster.Resource) metadata.ResourceInterface {
		return k.metadata.Resource(schema.GroupVersionResource{Group: kind.Group, Version: r.Version, Resource: r.Plural})
	}
	return &feed{
		notify: ofObjects(kind, notify.Objects),
		list: func(ctx context.Context, options metav1.ListOptions) (list runtime.Object, err error) {
			options.LabelSelector = k.selector()
			err = k.served(ctx, kind, time.Now().Add(-catalogueAge), func(r cluster.Resource) error {
				list, err = at(r).List(ctx, options)
				return err
			})
			return list, err
		},
		watch: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = k.selector()
			r, err := k.kinds.find(ctx, kind)
			if err != nil {
				return nil, err
			}
			return at(r).Watch(ctx, options)
		},
		keep: keepLive,
	}
}

// ofObjects tells of objects of a kind, by their keys.
func ofObjects(kind cluster.Kind, tell ...func(...bundle.ID)) func(change) {
	return func(c change) {
		var changed []bundle.ID
		if c.key != "" {
			namespace, name, _ := strings.Cut(c.key, "/")
			changed = append(changed, bundle.ID{Group: kind.Group, Kind: kind.Kind, Namespace: namespace, Name: name})
		}
		for _, each := range tell {
			each(changed...)
		}
	}
}

// ofServices tells of the Services, as "namespace/name", that a change is about; of a namespace.
func ofServices(namespace string, notify cluster.Notify, about func(change) []string) func(change) {
	return func(c change) {
		if c.key == "" {
			notify.Addresses(namespace, "")
			return
		}
		for _, service := range about(c) {
			within, name, _ := strings.Cut(service, "/")
			notify.Addresses(within, name)
		}
	}
}

func keepLive(object runtime.Object) (entry, error) {
	head, ok := object.(metav1.Object)
	if !ok {
		return entry{}, &fault.Error{Fault: fault.Unreachable, Message: "a list holds what is not an object"}
	}
	return entry{live: liveOf(head)}, nil
}

// endpointFeed watches DNSEndpoints whole, for what external-dns notes in
// their status. Nothing of their content is kept.
func (k *Kubernetes) endpointFeed(notify cluster.Notify) *feed {
	r, _ := cluster.Lookup(endpointKind())
	api := k.dynamic.Resource(schema.GroupVersionResource{Group: endpointKind().Group, Version: r.Version, Resource: r.Plural})
	return feedOf(api, k.selector(), ofObjects(endpointKind(), notify.Objects, notify.Published), func(object runtime.Object) (entry, error) {
		kept, err := keepLive(object)
		if endpoint, ok := object.(*unstructured.Unstructured); ok {
			kept.live.Observed, _, _ = unstructured.NestedInt64(endpoint.Object, "status", "observedGeneration")
		}
		return kept, err
	})
}
