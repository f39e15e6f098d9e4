package source

import (
	"cmp"
	"slices"
)

const gatewayGroup = "gateway.networking.k8s.io"

// routeSpec and routeStatus are what matters of an HTTPRoute of the Gateway API.
type routeSpec struct {
	ParentRefs []reference `json:"parentRefs"`
	Rules      []struct {
		BackendRefs []reference `json:"backendRefs"`
	} `json:"rules"`
}

type routeStatus struct {
	Parents []struct {
		ParentRef  reference `json:"parentRef"`
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
	} `json:"parents"`
}

// gatewayAddresses are the addresses in the spec or the status of a Gateway.
type gatewayAddresses struct {
	Addresses []struct {
		Type  *string `json:"type"`
		Value string  `json:"value"`
	} `json:"addresses"`
}

// reference names an object as the Gateway API does; what it leaves out is the
// field's default.
type reference struct {
	Group     *string `json:"group"`
	Kind      *string `json:"kind"`
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
}

// to adds the object that is named, as "namespace/name", if it is of the kind that is
// the field's default, and not there yet.
func (r reference) to(all []string, group, kind, namespace string) []string {
	name := Key(cmp.Or(r.Namespace, namespace), r.Name)
	if r.Group != nil && *r.Group != group || r.Kind != nil && *r.Kind != kind || slices.Contains(all, name) {
		return all
	}
	return append(all, name)
}

// services are those that a route of a namespace leads to.
func (s routeSpec) services(namespace string) (out []string) {
	for _, rule := range s.Rules {
		for _, backend := range rule.BackendRefs {
			out = backend.to(out, "", "Service", namespace)
		}
	}
	return out
}

// gateways are those that a route of a namespace asks for.
func (s routeSpec) gateways(namespace string) (out []string) {
	for _, parent := range s.ParentRefs {
		out = parent.to(out, gatewayGroup, "Gateway", namespace)
	}
	return out
}

// gateways are those that have accepted a route of a namespace.
func (s routeStatus) gateways(namespace string) (out []string) {
	for _, parent := range s.Parents {
		for _, condition := range parent.Conditions {
			if condition.Type == "Accepted" && condition.Status == "True" {
				out = parent.ParentRef.to(out, gatewayGroup, "Gateway", namespace)
			}
		}
	}
	return out
}
