package source

import (
	"cmp"
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"

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
	for _, kind := range Kinds() {
		var via []string
		for _, m := range all {
			if lead := m.lead(kind); slices.Contains(lead.Services, Key(namespace, service)) {
				o.Candidates, via = append(o.Candidates, lead.Offers...), append(via, lead.Via...)
			}
		}
		for _, m := range all {
			if kind.Via != nil && slices.Contains(via, m.name()) {
				o.Candidates = append(o.Candidates, m.lead(kind.Via).Offers...)
			}
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

	content map[string]any
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
	if json.Unmarshal(raw, &m.content) != nil {
		return nil
	}
	m.Metadata.Namespace = cmp.Or(m.Metadata.Namespace, namespace)
	return []manifest{m}
}

func (m manifest) is(apiVersion, kind string) bool {
	return m.APIVersion == apiVersion && m.Kind == kind
}

func (m manifest) name() string { return m.Metadata.Namespace + "/" + m.Metadata.Name }

// lead is what the object leads to, if it is of a kind.
func (m manifest) lead(kind *Kind) Lead {
	if !m.is(kind.Group+"/"+kind.Version, kind.Name) {
		return Lead{}
	}
	return kind.Read(Object{Namespace: m.Metadata.Namespace, Name: m.Metadata.Name, Content: m.content, Manifest: true})
}

// service is what a Service offers; without a status, the address that it asks for.
func (m manifest) service() *Service {
	object := &corev1.Service{Spec: part[corev1.ServiceSpec](m.content, "spec"), Status: part[corev1.ServiceStatus](m.content, "status")}
	s := ServiceOf(object)
	if wish := object.Spec.LoadBalancerIP; wish != "" && len(object.Status.LoadBalancer.Ingress) == 0 {
		s.Offers = slices.Insert(s.Offers, 0, address.Candidate{Kind: address.LoadBalancer, Target: wish, Field: "spec.loadBalancerIP"})
	}
	for n := range s.Ports {
		s.Ports[n].Protocol = cmp.Or(s.Ports[n].Protocol, "TCP")
	}
	return s
}
