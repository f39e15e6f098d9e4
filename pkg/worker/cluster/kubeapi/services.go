package kubeapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/source"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

func (k *Kubernetes) serviceFeed(namespace string, notify cluster.Notify) *feed {
	return feedOf(k.core.Services(namespace), "", ofServices(namespace, notify, change.named), keeping(func(s *corev1.Service) entry {
		return entry{service: source.ServiceOf(s)}
	}))
}

func (k *Kubernetes) sliceFeed(namespace, selector string, notify cluster.Notify) *feed {
	return spare(feedOf(k.discovery.EndpointSlices(namespace), selector, ofServices(namespace, notify, change.led), keeping(func(s *discoveryv1.EndpointSlice) entry {
		return entry{slice: source.SliceOf(s)}
	})))
}

// leads are the objects of a kind that lead to Services, in one namespace or in all.
type leads struct {
	kind      *source.Kind
	namespace string
}

func (k *Kubernetes) leadFeed(of leads, notify cluster.Notify) *feed {
	api := k.dynamic.Resource(schema.GroupVersionResource{Group: of.kind.Group, Version: of.kind.Version, Resource: of.kind.Resource()})
	tell := ofServices(of.namespace, notify, change.led)
	if of.namespace == "" { // others lead by them
		tell = func(change) { notify.Addresses("", "") }
	}
	return spare(feedOf(api.Namespace(of.namespace), "", tell, keeping(func(o *unstructured.Unstructured) entry {
		lead := of.kind.Read(source.Object{Namespace: o.GetNamespace(), Name: o.GetName(), Content: o.Object})
		return entry{lead: &lead}
	})))
}

func spare(f *feed) *feed {
	f.spare = true
	return f
}

// keeping takes what matters out of objects of one type.
func keeping[O any](read func(O) entry) func(runtime.Object) (entry, error) {
	return func(object runtime.Object) (entry, error) {
		typed, ok := object.(O)
		if !ok {
			return entry{}, &fault.Error{Fault: fault.Unreachable, Message: "a list holds something else than was asked for"}
		}
		return read(typed), nil
	}
}

func (w *watches) Service(namespace, name string) (address.Observation, bool) {
	o, err := w.observe(namespace, name)
	return o, err == nil
}

// serviceFeed is that of the Services of a namespace, or of the one that alone is of interest.
func (w *watches) serviceFeed(namespace string, notify cluster.Notify) *feed {
	f := w.target.serviceFeed(namespace, notify)
	if w.alone != "" {
		f.fields = fields.OneTermEqualSelector(metav1.ObjectNameField, w.alone).String()
	}
	return f
}

// sliceFeed is that of the EndpointSlices of these Services.
func (w *watches) sliceFeed(namespace string, notify cluster.Notify) *feed {
	selector := discoveryv1.LabelServiceName
	if w.alone != "" {
		selector += "=" + w.alone
	}
	return w.target.sliceFeed(namespace, selector, notify)
}

// Offer looks at a live Service and what leads to it, once. It reads no other Service.
func (k *Kubernetes) Offer(ctx context.Context, namespace, name string) (address.Observation, error) {
	w := k.watches(cluster.Quiet(), func(f *feed) context.CancelFunc {
		if err := f.relist(ctx); err != nil {
			f.fail(err)
		}
		return f.forget
	})
	w.alone = name
	w.Follow(cluster.Interest{Namespaces: []string{namespace}})
	defer w.Follow(cluster.Interest{})
	return w.observe(namespace, name)
}

// ServiceNames looks at the Services of a namespace, once, and answers their names in order.
func (k *Kubernetes) ServiceNames(ctx context.Context, namespace string) ([]string, error) {
	f := k.serviceFeed(namespace, cluster.Quiet())
	f.budget = k.budget
	defer f.forget()
	if err := f.relist(ctx); err != nil {
		return nil, err
	}
	keys, err := f.keys()
	for n := range keys {
		keys[n] = strings.TrimPrefix(keys[n], source.Key(namespace, ""))
	}
	return keys, err
}

// Services returns a page of the cluster's Services, as the API server has them now. An
// After of more than some minutes ago is Gone to the API server.
func Services(ctx context.Context, k *Kubernetes, q intent.ServiceQuery) (intent.ServicePage, error) {
	list, err := k.core.Services(q.Namespace).List(ctx, metav1.ListOptions{Limit: int64(q.Limit), Continue: q.After})
	if err != nil {
		return intent.ServicePage{}, cluster.Classify(err, cluster.Reading)
	}
	page := intent.ServicePage{Items: []intent.ClusterService{}, Continue: list.Continue}
	for n := range list.Items {
		s := &list.Items[n]
		one := intent.ClusterService{Namespace: s.Namespace, Name: s.Name, Type: string(s.Spec.Type), Targets: []string{}}
		for _, offer := range source.ServiceOf(s).Offers {
			one.Targets = append(one.Targets, offer.Target)
		}
		page.Items = append(page.Items, one)
	}
	return page, nil
}

// observe answers what a Service offers, or why that is not known.
func (w *watches) observe(namespace, name string) (address.Observation, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	services := w.namespaces[namespace]
	if services == nil {
		return address.Observation{}, errNotListed()
	}
	found, known := services.feed.look(namespace, name, "")
	switch {
	case !known:
		return address.Observation{}, services.feed.missing()
	case found == nil:
		return address.Observation{}, nil
	}
	s := sources{service: found.service}
	if err := w.gather(&s, namespace, name); err != nil {
		return address.Observation{}, err
	}
	return s.observation(), nil
}

// gather adds what leads to a Service, or answers why that is not known yet.
// The watches are locked.
func (w *watches) gather(s *sources, namespace, name string) error {
	to := source.Key(namespace, name)
	found, err := w.slices[namespace].feed.leadingTo(to)
	for _, e := range found {
		s.slices = append(s.slices, e.slice)
	}
	missing := []error{s.miss("EndpointSlices", err, address.Endpoint)}
	for _, kind := range source.Kinds() {
		missing = append(missing, w.gatherLeads(s, leads{kind, namespace}, to))
	}
	return errors.Join(append(missing, w.gatherNodes(s))...)
}

// gatherLeads adds what objects of a kind offer, or those by which they lead to the
// Service.
func (w *watches) gatherLeads(s *sources, of leads, to string) error {
	found, err := w.leads[of].feed.leadingTo(to)
	var via []string
	for _, e := range found {
		s.offers, via = append(s.offers, e.lead.Offers...), append(via, e.lead.Via...)
	}
	if err != nil || len(via) == 0 {
		return s.miss(of.kind.Plural, err, of.kind.Address)
	}
	w.routed[leads{kind: of.kind.Via}] = true
	w.followWide()
	feed := w.ways[leads{kind: of.kind.Via}].feed
	slices.Sort(via)
	for _, name := range slices.Compact(via) {
		namespace, name, _ := strings.Cut(name, "/")
		if e, _ := feed.look(namespace, name, ""); e != nil {
			s.offers = append(s.offers, e.lead.Offers...)
		}
	}
	return s.miss(of.kind.Via.Plural, feed.missing(), of.kind.Via.Address)
}

// gatherNodes adds the nodes, if they lead to the Service.
func (w *watches) gatherNodes(s *sources) error {
	if !s.service.NodePorts {
		return nil
	}
	w.exposed = true
	w.followWide()
	found, err := w.nodes[nodeKind()].feed.all()
	for _, e := range found {
		s.nodes = append(s.nodes, e.node)
	}
	slices.SortFunc(s.nodes, func(a, b *node) int { return strings.Compare(a.Name, b.Name) })
	return s.miss("Nodes", err, address.Node, address.NodeInternal)
}

// miss notes why kinds of candidates cannot be seen, or answers it where that is
// expected to end soon. A kind that does not work, while its API server does, is
// none to wait for.
func (s *sources) miss(what string, err error, kinds ...address.Kind) error {
	var reason string
	switch kind := fault.Of(err); {
	case err == nil:
		return nil
	case kind == cluster.NotServed:
		reason = address.NotServed + what
	case kind == fault.Refused:
		reason = what + " may not be listed and watched"
	case cluster.CodeOf(err) >= http.StatusInternalServerError:
		reason = what + " cannot be listed and watched: " + err.Error()
	default:
		return err
	}
	if s.unseen == nil {
		s.unseen = map[address.Kind]string{}
	}
	for _, kind := range kinds {
		s.unseen[kind] = reason
	}
	return nil
}
