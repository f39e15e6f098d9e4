// Package source reads the sources of addresses: Services, and the objects that lead to
// them. These are objects of an API server, or manifests.
package source

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/signpost-dns/signpost/pkg/domain/address"
)

// Service is what is kept of a Service.
type Service struct {
	Offers     []address.Candidate // of its load balancer, then its external IPs
	ClusterIPs []string
	Ports      []address.Port
	Selects    bool // it has a selector: EndpointSlices tell whether it is ready
	Headless   bool // its endpoints are its addresses
	NodePorts  bool // nodes lead to it, and nothing in front of them
	Local      bool // of the nodes, only those on which it has an endpoint
}

// ServiceOf reads a Service.
func ServiceOf(s *corev1.Service) *Service {
	kept := &Service{
		Selects:   len(s.Spec.Selector) > 0,
		Headless:  s.Spec.ClusterIP == corev1.ClusterIPNone,
		NodePorts: s.Spec.Type == corev1.ServiceTypeNodePort,
		Local:     s.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal,
	}
	for i, at := range s.Status.LoadBalancer.Ingress {
		kept.Offers = append(kept.Offers, balanced(address.LoadBalancer, "", i, at.IP, at.Hostname)...)
	}
	for i, ip := range s.Spec.ExternalIPs {
		if ip != "" {
			kept.Offers = append(kept.Offers, address.Candidate{Kind: address.External, Target: ip, Field: fmt.Sprintf("spec.externalIPs[%d]", i)})
		}
	}
	for _, ip := range s.Spec.ClusterIPs {
		if ip != corev1.ClusterIPNone {
			kept.ClusterIPs = append(kept.ClusterIPs, ip)
		}
	}
	for _, port := range s.Spec.Ports {
		if port.Name != "" {
			kept.Ports = append(kept.Ports, address.Port{Name: port.Name, Protocol: string(port.Protocol), Number: port.Port})
		}
	}
	return kept
}

// balanced is what the i-th ingress of a load balancer's status offers.
func balanced(kind address.Kind, object string, i int, ip, host string) []address.Candidate {
	var out []address.Candidate
	if ip != "" {
		out = append(out, address.Candidate{Kind: kind, Object: object, Target: ip, Field: fmt.Sprintf("status.loadBalancer.ingress[%d].ip", i)})
	}
	if host != "" {
		out = append(out, address.Candidate{Kind: kind, Object: object, Target: host, Field: fmt.Sprintf("status.loadBalancer.ingress[%d].hostname", i)})
	}
	return out
}

// Slice is what is kept of an EndpointSlice.
type Slice struct {
	Object    string
	Service   string // whose endpoints they are, as "namespace/name"
	Family    string // IPv4, IPv6 or FQDN
	Endpoints []Endpoint
}

// Endpoint is one of a Service's pods.
type Endpoint struct {
	Addresses []string
	Node      string
	Ready     bool
}

// SliceOf reads an EndpointSlice.
func SliceOf(s *discoveryv1.EndpointSlice) *Slice {
	kept := &Slice{
		Object:  "EndpointSlice " + Key(s.Namespace, s.Name),
		Service: Key(s.Namespace, s.Labels[discoveryv1.LabelServiceName]),
		Family:  string(s.AddressType),
	}
	for _, e := range s.Endpoints {
		one := Endpoint{Addresses: e.Addresses, Ready: e.Conditions.Ready == nil || *e.Conditions.Ready}
		if e.NodeName != nil {
			one.Node = *e.NodeName
		}
		kept.Endpoints = append(kept.Endpoints, one)
	}
	return kept
}

// Key names an object: "namespace/name".
func Key(namespace, name string) string { return namespace + "/" + name }
