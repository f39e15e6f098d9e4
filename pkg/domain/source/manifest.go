package source

import (
	"cmp"
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/domain/address"
)

// FromManifests reads a Service, and the objects that lead to it, out of an app's
// manifests. A cluster that is a directory has nothing else to observe. A Service or
// Gateway without a status has the addresses that it asks for, and an HTTPRoute without a
// status the Gateways that it asks for. A manifest without namespace is taken to be in the
// given one. The answer is never nil: a Service that is in no manifest was seen to be
// absent. A manifest that does not parse offers nothing.
func FromManifests(manifests []json.RawMessage, namespace, service string) *address.Observation {
	var all []manifest
	for _, raw := range manifests {
		all = append(all, flatten(raw, namespace)...)
	}
	n := slices.IndexFunc(all, func(m manifest) bool { return m.is("v1", "Service") && m.name() == namespace+"/"+service })
	if n < 0 {
		return &address.Observation{}
	}
	own := all[n].service()
	o := &address.Observation{Found: true, Candidates: own.Offers, Ports: own.Ports}
	var gateways []string
	for _, m := range all {
		switch to := namespace + "/" + service; {
		case m.is("networking.k8s.io/v1", "Ingress"):
			o.Candidates = append(o.Candidates, m.ingress(to)...)
		case m.is(gatewayGroup+"/v1", "HTTPRoute"):
			gateways = append(gateways, m.route(to)...)
		}
	}
	for _, m := range all {
		if m.is(gatewayGroup+"/v1", "Gateway") && slices.Contains(gateways, m.name()) {
			o.Candidates = append(o.Candidates, m.gateway()...)
		}
	}
	return o
}

// ServicesOf are the names of the Services that manifests have in a namespace, which is
// that of manifests without one.
func ServicesOf(manifests []json.RawMessage, namespace string) []string {
	var names []string
	for _, raw := range manifests {
		for _, m := range flatten(raw, namespace) {
			if m.is("v1", "Service") && m.Metadata.Namespace == namespace {
				names = append(names, m.Metadata.Name)
			}
		}
	}
	return names
}

// manifest is what matters of an object, or of a List of such.
type manifest struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Items []json.RawMessage `json:"items"`
	raw   json.RawMessage
}

// flatten answers the objects of a manifest.
func flatten(raw json.RawMessage, namespace string) []manifest {
	var m manifest
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	if m.is("v1", "List") {
		var all []manifest
		for _, item := range m.Items {
			all = append(all, flatten(item, namespace)...)
		}
		return all
	}
	m.Metadata.Namespace, m.raw = cmp.Or(m.Metadata.Namespace, namespace), raw
	return []manifest{m}
}

func (m manifest) is(apiVersion, kind string) bool {
	return m.APIVersion == apiVersion && m.Kind == kind
}

func (m manifest) name() string { return m.Metadata.Namespace + "/" + m.Metadata.Name }

// part is a field of the object. A field of a wrong type counts as absent; the API server
// would refuse it.
func part[P any](m manifest, field string) P {
	var fields map[string]json.RawMessage
	var value, none P
	if json.Unmarshal(m.raw, &fields) != nil || json.Unmarshal(fields[field], &value) != nil {
		return none
	}
	return value
}

// service is what a Service offers; without a status, the address that it asks for.
func (m manifest) service() *Service {
	object := &corev1.Service{Spec: part[corev1.ServiceSpec](m, "spec"), Status: part[corev1.ServiceStatus](m, "status")}
	s := ServiceOf(object)
	if wish := object.Spec.LoadBalancerIP; wish != "" && len(object.Status.LoadBalancer.Ingress) == 0 {
		s.Offers = slices.Insert(s.Offers, 0, address.Candidate{Kind: address.LoadBalancer, Target: wish, Field: "spec.loadBalancerIP"})
	}
	for n := range s.Ports {
		s.Ports[n].Protocol = cmp.Or(s.Ports[n].Protocol, "TCP")
	}
	return s
}

// ingress is what an Ingress offers, if it leads to the Service.
func (m manifest) ingress(service string) []address.Candidate {
	i := IngressOf(&networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: m.Metadata.Namespace, Name: m.Metadata.Name},
		Spec:       part[networkingv1.IngressSpec](m, "spec"), Status: part[networkingv1.IngressStatus](m, "status"),
	})
	if !slices.Contains(i.Services, service) {
		return nil
	}
	return i.Offers
}

// route are the Gateways by which an HTTPRoute leads to the Service.
func (m manifest) route(service string) []string {
	var r HTTPRoute
	if json.Unmarshal(m.raw, &r) != nil || !slices.Contains(r.Services(m.Metadata.Namespace), service) {
		return nil
	}
	if len(r.Status.Parents) > 0 {
		return r.Gateways(m.Metadata.Namespace)
	}
	return r.wished(m.Metadata.Namespace)
}

func (m manifest) gateway() []address.Candidate {
	var g GatewayObject
	if json.Unmarshal(m.raw, &g) != nil {
		return nil
	}
	if offers := g.Offers(m.name()); len(offers) > 0 {
		return offers
	}
	return g.wishes(m.name())
}
