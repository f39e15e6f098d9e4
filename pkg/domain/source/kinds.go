package source

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/signpost-dns/signpost/pkg/domain/address"
)

// Kind is a kind of objects that lead to Services. Its row is all that Signpost needs to watch
// such objects, to read manifests of them, and to ask for the right to see them.
type Kind struct {
	Group, Version, Name string
	Plural               string       // as in HTTPRoutes; the resource is the same in lower case
	Address              address.Kind // of what the objects offer
	Why                  string       // the reason for the right
	Via                  *Kind        // the kind whose objects offer the addresses; nil: their own do
	Read                 func(Object) Lead
}

// Kinds are all kinds that lead to Services, in the order of candidates. The table is made at
// first use and never changed.
//
//nolint:gochecknoglobals // a table, never changed
var Kinds = sync.OnceValue(func() []*Kind {
	gateway := &Kind{
		Group: gatewayGroup, Version: "v1", Name: "Gateway", Plural: "Gateways", Address: address.Gateway,
		Why: "Gateways lead to Services.", Read: readGateway,
	}
	return []*Kind{
		{
			Group: "networking.k8s.io", Version: "v1", Name: "Ingress", Plural: "Ingresses", Address: address.Ingress,
			Why: "Ingresses lead to Services.", Read: readIngress,
		},
		{
			Group: gatewayGroup, Version: "v1", Name: "HTTPRoute", Plural: "HTTPRoutes", Address: address.Gateway,
			Why: "Routes tell which Gateway leads to which Service.", Read: readRoute, Via: gateway,
		},
	}
})

// Resource is the name of the kind in paths of the API server, and in roles.
func (k *Kind) Resource() string { return strings.ToLower(k.Plural) }

// Object is an object that may lead to Services.
type Object struct {
	Namespace, Name string
	Content         map[string]any
	Manifest        bool // nothing runs it: without a status, the object has what it asks for
}

// Lead is what is kept of an object that leads to Services.
type Lead struct {
	Services []string            // to which it leads, as "namespace/name"
	Offers   []address.Candidate // of the object itself
	Via      []string            // the objects of the other kind by which it leads, as "namespace/name"
}

// part is a field of an object. A field of a wrong type counts as absent; the API server
// would refuse it.
func part[P any](content map[string]any, field string) P {
	var value, none P
	inner, _ := content[field].(map[string]any)
	if inner == nil || runtime.DefaultUnstructuredConverter.FromUnstructured(inner, &value) != nil {
		return none
	}
	return value
}

func readIngress(o Object) Lead {
	return leadOf(&networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name},
		Spec:       part[networkingv1.IngressSpec](o.Content, "spec"), Status: part[networkingv1.IngressStatus](o.Content, "status"),
	})
}

func leadOf(i *networkingv1.Ingress) Lead {
	var kept Lead
	lead := func(to *networkingv1.IngressServiceBackend) {
		if to != nil {
			kept.Services = append(kept.Services, Key(i.Namespace, to.Name))
		}
	}
	if i.Spec.DefaultBackend != nil {
		lead(i.Spec.DefaultBackend.Service)
	}
	for _, rule := range i.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for _, path := range rule.HTTP.Paths {
			lead(path.Backend.Service)
		}
	}
	object := "Ingress " + Key(i.Namespace, i.Name)
	for n, at := range i.Status.LoadBalancer.Ingress {
		kept.Offers = append(kept.Offers, balanced(address.Ingress, object, n, at.IP, at.Hostname)...)
	}
	return kept
}

// readRoute reads an HTTPRoute. It leads by the Gateways that have accepted it.
func readRoute(o Object) Lead {
	spec, status := part[routeSpec](o.Content, "spec"), part[routeStatus](o.Content, "status")
	lead := Lead{Services: spec.services(o.Namespace), Via: status.gateways(o.Namespace)}
	if o.Manifest && len(status.Parents) == 0 {
		lead.Via = spec.gateways(o.Namespace)
	}
	return lead
}

func readGateway(o Object) Lead {
	offers := func(field string) (out []address.Candidate) {
		for i, a := range part[gatewayAddresses](o.Content, field).Addresses {
			if known := a.Type == nil || slices.Contains([]string{"IPAddress", "Hostname"}, *a.Type); known && a.Value != "" {
				out = append(out, address.Candidate{
					Kind: address.Gateway, Object: "Gateway " + Key(o.Namespace, o.Name), Target: a.Value,
					Field: fmt.Sprintf("%s.addresses[%d].value", field, i),
				})
			}
		}
		return out
	}
	lead := Lead{Offers: offers("status")}
	if o.Manifest && len(lead.Offers) == 0 {
		lead.Offers = offers("spec")
	}
	return lead
}
