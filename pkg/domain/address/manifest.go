package address

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// FromManifests reads what a Service offers out of an app's manifests, which is
// all there is to observe of a cluster that is a directory: the ingress of its
// status, or its loadBalancerIP where it has none, its external IPs, and the
// addresses of Ingresses and Gateways that lead to it. A Gateway without a status
// has the addresses that it asks for, and an HTTPRoute without one the Gateways
// that it asks for. A manifest without namespace is taken to be in the given one.
// The answer is never nil: a Service that is in no manifest was seen to be absent.
// What does not parse offers nothing.
func FromManifests(manifests []json.RawMessage, namespace, service string) *Observation {
	var all []manifest
	for _, raw := range manifests {
		all = append(all, flatten(raw, namespace)...)
	}
	n := slices.IndexFunc(all, func(m manifest) bool { return m.is("v1", "Service") && m.name() == namespace+"/"+service })
	if n < 0 {
		return &Observation{}
	}
	o := &Observation{Found: true, Candidates: all[n].service(), Ports: all[n].ports()}
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

// balancers is the status of what has load balancers.
type balancers struct {
	LoadBalancer struct {
		Ingress []struct {
			IP       string `json:"ip"`
			Hostname string `json:"hostname"`
		} `json:"ingress"`
	} `json:"loadBalancer"`
}

func (b balancers) offers(kind Kind, object string) []Candidate {
	var out []Candidate
	add := func(target, field string, n int) {
		if target != "" {
			out = append(out, Candidate{Kind: kind, Object: object, Target: target, Field: fmt.Sprintf("status.loadBalancer.ingress[%d].%s", n, field)})
		}
	}
	for n, ingress := range b.LoadBalancer.Ingress {
		add(ingress.IP, "ip", n)
		add(ingress.Hostname, "hostname", n)
	}
	return out
}

// serviceSpec is what matters of the spec of a Service.
type serviceSpec struct {
	ExternalIPs    []string `json:"externalIPs"`
	LoadBalancerIP string   `json:"loadBalancerIP"`
}

func (m manifest) service() []Candidate {
	spec := part[serviceSpec](m, "spec")
	out := part[balancers](m, "status").offers(LoadBalancer, "")
	if len(out) == 0 && spec.LoadBalancerIP != "" {
		out = append(out, Candidate{Kind: LoadBalancer, Target: spec.LoadBalancerIP, Field: "spec.loadBalancerIP"})
	}
	for n, ip := range spec.ExternalIPs {
		if ip != "" {
			out = append(out, Candidate{Kind: External, Target: ip, Field: fmt.Sprintf("spec.externalIPs[%d]", n)})
		}
	}
	return out
}

// ports are those of a Service that have a name.
func (m manifest) ports() []Port {
	type spec struct {
		Ports []struct {
			Name     string `json:"name"`
			Protocol string `json:"protocol"`
			Port     int32  `json:"port"`
		} `json:"ports"`
	}
	var out []Port
	for _, port := range part[spec](m, "spec").Ports {
		if port.Name != "" {
			out = append(out, Port{Name: port.Name, Protocol: cmp.Or(port.Protocol, "TCP"), Number: port.Port})
		}
	}
	return out
}

// backend is what an Ingress leads to.
type backend struct {
	Service struct {
		Name string `json:"name"`
	} `json:"service"`
}

// ingress is what an Ingress offers, if it leads to the Service.
func (m manifest) ingress(service string) []Candidate {
	type spec struct {
		DefaultBackend backend `json:"defaultBackend"`
		Rules          []struct {
			HTTP struct {
				Paths []struct {
					Backend backend `json:"backend"`
				} `json:"paths"`
			} `json:"http"`
		} `json:"rules"`
	}
	content := part[spec](m, "spec")
	backends := []backend{content.DefaultBackend}
	for _, rule := range content.Rules {
		for _, path := range rule.HTTP.Paths {
			backends = append(backends, path.Backend)
		}
	}
	if !slices.ContainsFunc(backends, func(b backend) bool { return m.Metadata.Namespace+"/"+b.Service.Name == service }) {
		return nil
	}
	return part[balancers](m, "status").offers(Ingress, "Ingress "+m.name())
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

func (m manifest) gateway() []Candidate {
	var g GatewayObject
	if json.Unmarshal(m.raw, &g) != nil {
		return nil
	}
	if offers := g.Offers(m.name()); len(offers) > 0 {
		return offers
	}
	return g.wishes(m.name())
}
