package cluster

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/signpost-dns/signpost/pkg/address"
)

func gatewayKind() Kind { return Kind{groupGateway, "Gateway"} }

func routeKind() Kind { return Kind{groupGateway, "HTTPRoute"} }

// route is what is kept of an HTTPRoute.
type route struct {
	services []string // to which it leads, as "namespace/name"
	gateways []string // that have accepted it, as "namespace/name"
}

// reference names an object as the Gateway API does; what it leaves out is the
// field's default.
type reference struct {
	Group     *string `json:"group"`
	Kind      *string `json:"kind"`
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
}

// to answers which object is named, as "namespace/name", if it is of a kind.
func (r reference) to(kind, byDefault Kind, namespace string) (string, bool) {
	if r.Group != nil {
		byDefault.Group = *r.Group
	}
	if r.Kind != nil {
		byDefault.Kind = *r.Kind
	}
	return feedKey(cmp.Or(r.Namespace, namespace), r.Name), byDefault == kind
}

// routeOf reads an HTTPRoute. What does not have the types that its definition
// prescribes leads nowhere.
func routeOf(object *unstructured.Unstructured) *route {
	var content struct {
		Spec struct {
			Rules []struct {
				BackendRefs []reference `json:"backendRefs"`
			} `json:"rules"`
		} `json:"spec"`
		Status struct {
			Parents []struct {
				ParentRef  reference `json:"parentRef"`
				Conditions []struct {
					Type   string `json:"type"`
					Status string `json:"status"`
				} `json:"conditions"`
			} `json:"parents"`
		} `json:"status"`
	}
	kept, namespace := &route{}, object.GetNamespace()
	if runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &content) != nil {
		return kept
	}
	service := Kind{Kind: "Service"}
	for _, rule := range content.Spec.Rules {
		for _, backend := range rule.BackendRefs {
			if to, ok := backend.to(service, service, namespace); ok {
				kept.services = append(kept.services, to)
			}
		}
	}
	for _, parent := range content.Status.Parents {
		to, ok := parent.ParentRef.to(gatewayKind(), gatewayKind(), namespace)
		for _, condition := range parent.Conditions {
			if ok && condition.Type == "Accepted" && condition.Status == "True" && !slices.Contains(kept.gateways, to) {
				kept.gateways = append(kept.gateways, to)
			}
		}
	}
	return kept
}

// gateway is what is kept of a Gateway.
type gateway struct{ offers []address.Candidate }

func gatewayOf(object *unstructured.Unstructured) *gateway {
	var content struct {
		Status struct {
			Addresses []struct {
				Type  *string `json:"type"`
				Value string  `json:"value"`
			} `json:"addresses"`
		} `json:"status"`
	}
	kept := &gateway{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &content) != nil {
		return kept
	}
	for i, a := range content.Status.Addresses {
		if known := a.Type == nil || *a.Type == "IPAddress" || *a.Type == "Hostname"; !known || a.Value == "" {
			continue
		}
		kept.offers = append(kept.offers, address.Candidate{
			Kind: address.Gateway, Object: "Gateway " + feedKey(object.GetNamespace(), object.GetName()),
			Target: a.Value, Field: fmt.Sprintf("status.addresses[%d].value", i),
		})
	}
	return kept
}
