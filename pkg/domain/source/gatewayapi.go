package source

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/address"
)

// HTTPRoute is what matters of an HTTPRoute of the Gateway API.
type HTTPRoute struct {
	Spec struct {
		ParentRefs []reference `json:"parentRefs"`
		Rules      []struct {
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

// reference names an object as the Gateway API does; what it leaves out is the
// field's default.
type reference struct {
	Group     *string `json:"group"`
	Kind      *string `json:"kind"`
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
}

// to answers which object is named, as "namespace/name", if it is of the kind
// that is the field's default.
func (r reference) to(group, kind, namespace string) (string, bool) {
	is := (r.Group == nil || *r.Group == group) && (r.Kind == nil || *r.Kind == kind)
	return cmp.Or(r.Namespace, namespace) + "/" + r.Name, is
}

func (r reference) gateway(namespace string) (string, bool) {
	return r.to(gatewayGroup, "Gateway", namespace)
}

const gatewayGroup = "gateway.networking.k8s.io"

// Services are those that a route of a namespace leads to, as "namespace/name".
func (r HTTPRoute) Services(namespace string) []string {
	var out []string
	for _, rule := range r.Spec.Rules {
		for _, backend := range rule.BackendRefs {
			if to, ok := backend.to("", "Service", namespace); ok && !slices.Contains(out, to) {
				out = append(out, to)
			}
		}
	}
	return out
}

// Gateways are those that have accepted a route of a namespace, as
// "namespace/name".
func (r HTTPRoute) Gateways(namespace string) []string {
	var out []string
	for _, parent := range r.Status.Parents {
		to, ok := parent.ParentRef.gateway(namespace)
		for _, condition := range parent.Conditions {
			if ok && condition.Type == "Accepted" && condition.Status == "True" && !slices.Contains(out, to) {
				out = append(out, to)
			}
		}
	}
	return out
}

// wished are the Gateways that a route of a namespace asks for.
func (r HTTPRoute) wished(namespace string) []string {
	var out []string
	for _, parent := range r.Spec.ParentRefs {
		if to, ok := parent.gateway(namespace); ok && !slices.Contains(out, to) {
			out = append(out, to)
		}
	}
	return out
}

// GatewayObject is what matters of a Gateway of the Gateway API.
type GatewayObject struct {
	Spec struct {
		Addresses []gatewayAddress `json:"addresses"`
	} `json:"spec"`
	Status struct {
		Addresses []gatewayAddress `json:"addresses"`
	} `json:"status"`
}

type gatewayAddress struct {
	Type  *string `json:"type"`
	Value string  `json:"value"`
}

// Offers are the addresses that a Gateway ("namespace/name") has.
func (g GatewayObject) Offers(name string) []address.Candidate {
	return offersOf(g.Status.Addresses, "status", name)
}

// wishes are the addresses that a Gateway asks for.
func (g GatewayObject) wishes(name string) []address.Candidate {
	return offersOf(g.Spec.Addresses, "spec", name)
}

func offersOf(addresses []gatewayAddress, field, name string) []address.Candidate {
	var out []address.Candidate
	for i, a := range addresses {
		if known := a.Type == nil || *a.Type == "IPAddress" || *a.Type == "Hostname"; known && a.Value != "" {
			out = append(out, address.Candidate{
				Kind: address.Gateway, Object: "Gateway " + name, Target: a.Value, Field: fmt.Sprintf("%s.addresses[%d].value", field, i),
			})
		}
	}
	return out
}
