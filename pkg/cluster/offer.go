package cluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/signpost-dns/signpost/pkg/address"
)

// service is what is kept of a Service.
type service struct {
	offers     []address.Candidate // of its load balancer, then its external IPs
	clusterIPs []string
	ports      []address.Port
	selects    bool // it has a selector: EndpointSlices tell whether it is ready
	headless   bool // its endpoints are its addresses
	nodePorts  bool // nodes lead to it, and nothing in front of them
	local      bool // of the nodes, only those on which it has an endpoint
}

func serviceOf(s *corev1.Service) *service {
	kept := &service{
		selects:   len(s.Spec.Selector) > 0,
		headless:  s.Spec.ClusterIP == corev1.ClusterIPNone,
		nodePorts: s.Spec.Type == corev1.ServiceTypeNodePort,
		local:     s.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal,
	}
	for i, at := range s.Status.LoadBalancer.Ingress {
		kept.offers = append(kept.offers, balanced(address.LoadBalancer, "", i, at.IP, at.Hostname)...)
	}
	for i, ip := range s.Spec.ExternalIPs {
		if ip != "" {
			kept.offers = append(kept.offers, address.Candidate{Kind: address.External, Target: ip, Field: fmt.Sprintf("spec.externalIPs[%d]", i)})
		}
	}
	for _, ip := range s.Spec.ClusterIPs {
		if ip != corev1.ClusterIPNone {
			kept.clusterIPs = append(kept.clusterIPs, ip)
		}
	}
	for _, port := range s.Spec.Ports {
		if port.Name != "" {
			kept.ports = append(kept.ports, address.Port{Name: port.Name, Protocol: string(port.Protocol), Number: port.Port})
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

// ingress is what is kept of an Ingress.
type ingress struct {
	services []string // to which it leads, as "namespace/name"
	offers   []address.Candidate
}

func ingressOf(i *networkingv1.Ingress) *ingress {
	kept := &ingress{}
	lead := func(to *networkingv1.IngressServiceBackend) {
		if to != nil {
			kept.services = append(kept.services, feedKey(i.Namespace, to.Name))
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
	object := "Ingress " + feedKey(i.Namespace, i.Name)
	for n, at := range i.Status.LoadBalancer.Ingress {
		kept.offers = append(kept.offers, balanced(address.Ingress, object, n, at.IP, at.Hostname)...)
	}
	return kept
}

// slice is what is kept of an EndpointSlice.
type slice struct {
	object    string
	service   string // whose endpoints they are, as "namespace/name"
	family    string // IPv4, IPv6 or FQDN
	endpoints []endpoint
}

type endpoint struct {
	addresses []string
	node      string
	ready     bool
}

func sliceOf(s *discoveryv1.EndpointSlice) *slice {
	kept := &slice{
		object:  "EndpointSlice " + feedKey(s.Namespace, s.Name),
		service: feedKey(s.Namespace, s.Labels[discoveryv1.LabelServiceName]),
		family:  string(s.AddressType),
	}
	for _, e := range s.Endpoints {
		one := endpoint{addresses: e.Addresses, ready: e.Conditions.Ready == nil || *e.Conditions.Ready}
		if e.NodeName != nil {
			one.node = *e.NodeName
		}
		kept.endpoints = append(kept.endpoints, one)
	}
	return kept
}
