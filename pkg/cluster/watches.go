package cluster

import (
	"context"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/bundle"
)

// Watch implements Target: one metadata-only watch per kind, selected by the
// installation's label, and one per namespace of interest for its Services, of
// which nothing is kept but what they offer.
func (k *Kubernetes) Watch(ctx context.Context, notify Notify) Watches {
	ctx, stop := context.WithCancel(ctx)
	begin := func(f *feed) context.CancelFunc {
		within, end := context.WithCancel(ctx)
		go f.run(within)
		return end
	}
	return &watches{
		target: k, begin: begin, stop: stop, notify: notify,
		kinds: map[Kind]*running{}, namespaces: map[string]*running{}, pods: map[string]*running{}, nodes: map[Kind]*running{},
	}
}

type watches struct {
	target *Kubernetes
	begin  func(*feed) context.CancelFunc // runs a feed until the watches stop, or it is ended
	stop   context.CancelFunc
	notify Notify

	mu         sync.Mutex
	kinds      map[Kind]*running
	namespaces map[string]*running
	pods       map[string]*running
	nodes      map[Kind]*running // of the one kind, if at all
}

type running struct {
	feed *feed
	stop context.CancelFunc
}

func endpointKind() Kind { return Kind{"externaldns.k8s.io", "DNSEndpoint"} }

// Follow implements Watches.
func (w *watches) Follow(interest Interest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	follow(w, w.kinds, interest.Kinds, w.target.kindFeed)
	follow(w, w.namespaces, interest.Namespaces, w.target.serviceFeed)
	follow(w, w.pods, interest.Pods, w.target.podFeed)
	var nodes []Kind
	if interest.Nodes {
		nodes = append(nodes, nodeKind())
	}
	follow(w, w.nodes, nodes, w.target.nodeFeed)
}

func follow[K comparable](w *watches, have map[K]*running, want []K, open func(K, Notify) *feed) {
	for key, r := range have {
		if !slices.Contains(want, key) {
			r.stop()
			delete(have, key)
		}
	}
	for _, key := range want {
		if have[key] == nil {
			f := open(key, w.notify)
			have[key] = &running{feed: f, stop: w.begin(f)}
		}
	}
}

func (w *watches) kind(kind Kind) *feed {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.kinds[kind]; r != nil {
		return r.feed
	}
	return nil
}

// Object implements Watches.
func (w *watches) Object(id bundle.ID, atLeast string) Sight {
	f := w.kind(KindOf(id))
	if f == nil {
		return Sight{}
	}
	found, known := f.look(id.Namespace, id.Name, atLeast)
	if found == nil {
		return Sight{Known: known}
	}
	return Sight{Known: known, Live: &found.live}
}

// Service implements Watches.
func (w *watches) Service(namespace, name string) (address.Observation, bool) {
	w.mu.Lock()
	r := w.namespaces[namespace]
	w.mu.Unlock()
	if r == nil {
		return address.Observation{}, false
	}
	found, known := r.feed.look(namespace, name, "")
	if found == nil {
		return address.Observation{}, known
	}
	return *found.offer, known
}

// Trouble implements Watches. A kind that is not served yet is none.
func (w *watches) Trouble() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.kinds {
		if err := r.feed.problem(); err != nil && FaultOf(err) != NotServed {
			return err
		}
	}
	for _, r := range slices.Concat(slices.Collect(maps.Values(w.namespaces)), slices.Collect(maps.Values(w.nodes))) {
		if err := r.feed.problem(); err != nil {
			return err
		}
	}
	return nil
}

func (f *feed) problem() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.trouble
}

// Stop implements Watches.
func (w *watches) Stop() { w.stop() }

func (k *Kubernetes) selector() string {
	return bundle.LabelInstallation + "=" + k.options.Installation
}

func (k *Kubernetes) kindFeed(kind Kind, notify Notify) *feed {
	switch kind {
	case deploymentKind():
		return workloadFeed(k.apps.Deployments(metav1.NamespaceAll), k.selector(), notify)
	case daemonSetKind():
		return workloadFeed(k.apps.DaemonSets(metav1.NamespaceAll), k.selector(), notify)
	case endpointKind():
		return k.endpointFeed(notify)
	}
	at := func(ctx context.Context) (schema.GroupVersionResource, error) {
		r, err := k.kinds.find(ctx, kind)
		return schema.GroupVersionResource{Group: kind.Group, Version: r.version, Resource: r.plural}, err
	}
	return &feed{
		notify: notify.Objects,
		list: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.LabelSelector = k.selector()
			gvr, err := at(ctx)
			if err != nil {
				return nil, err
			}
			return k.metadata.Resource(gvr).List(ctx, options)
		},
		watch: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector = k.selector()
			gvr, err := at(ctx)
			if err != nil {
				return nil, err
			}
			return k.metadata.Resource(gvr).Watch(ctx, options)
		},
		keep: keepLive,
	}
}

func keepLive(object runtime.Object) (entry, error) {
	head, ok := object.(metav1.Object)
	if !ok {
		return entry{}, &Error{Fault: Unreachable, Message: "a list holds what is no object"}
	}
	return entry{live: liveOf(head)}, nil
}

// endpointFeed watches DNSEndpoints whole, for what external-dns notes in
// their status. Nothing of their content is kept.
func (k *Kubernetes) endpointFeed(notify Notify) *feed {
	r, _ := lookup(endpointKind())
	api := k.dynamic.Resource(schema.GroupVersionResource{Group: endpointKind().Group, Version: r.version, Resource: r.plural})
	return feedOf(api, k.selector(), func() { notify.Objects(); notify.Pods() }, func(object runtime.Object) (entry, error) {
		kept, err := keepLive(object)
		if endpoint, ok := object.(*unstructured.Unstructured); ok {
			kept.live.Observed, _, _ = unstructured.NestedInt64(endpoint.Object, "status", "observedGeneration")
		}
		return kept, err
	})
}

func (k *Kubernetes) serviceFeed(namespace string, notify Notify) *feed {
	return feedOf(k.core.Services(namespace), "", notify.Addresses, func(object runtime.Object) (entry, error) {
		service, ok := object.(*corev1.Service)
		if !ok {
			return entry{}, &Error{Fault: Unreachable, Message: "a list of Services holds something else"}
		}
		offer := Offer(service)
		return entry{offer: &offer}, nil
	})
}
