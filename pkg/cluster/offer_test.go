package cluster_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/cluster"
)

func TestServiceOffersItsLoadBalancerAndExternalIPs(t *testing.T) {
	ingress := func(in ...corev1.LoadBalancerIngress) corev1.ServiceStatus {
		return corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: in}}
	}
	for _, test := range []struct {
		reason  string
		service corev1.Service
		want    []address.Candidate
	}{
		{"a Service without either offers nothing, which is not absence", corev1.Service{}, nil},
		{"the cluster's own address is no offer to the world", corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: "10.0.0.1"}}, nil},
		{"the load balancer's address", corev1.Service{Status: ingress(corev1.LoadBalancerIngress{IP: "203.0.113.10"})},
			[]address.Candidate{{Target: "203.0.113.10", Field: "status.loadBalancer.ingress[0].ip"}}},
		{"the load balancer's host name", corev1.Service{Status: ingress(corev1.LoadBalancerIngress{Hostname: "lb.example"})},
			[]address.Candidate{{Target: "lb.example", Field: "status.loadBalancer.ingress[0].hostname"}}},
		{"both families, by their index", corev1.Service{Status: ingress(corev1.LoadBalancerIngress{IP: "203.0.113.10"}, corev1.LoadBalancerIngress{IP: "2001:db8::1"})},
			[]address.Candidate{{Target: "203.0.113.10", Field: "status.loadBalancer.ingress[0].ip"}, {Target: "2001:db8::1", Field: "status.loadBalancer.ingress[1].ip"}}},
		{"external IPs come after, empty ones not at all", corev1.Service{
			Spec: corev1.ServiceSpec{ExternalIPs: []string{"", "198.51.100.7"}}, Status: ingress(corev1.LoadBalancerIngress{IP: "203.0.113.10", Hostname: "lb.example"})},
			[]address.Candidate{{Target: "203.0.113.10", Field: "status.loadBalancer.ingress[0].ip"}, {Target: "lb.example", Field: "status.loadBalancer.ingress[0].hostname"},
				{Target: "198.51.100.7", Field: "spec.externalIPs[1]"}}},
		{"spec.loadBalancerIP is a wish", corev1.Service{Spec: corev1.ServiceSpec{LoadBalancerIP: "203.0.113.99"}}, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			assert.Equal(t, address.Observation{Found: true, Candidates: test.want}, cluster.Offer(&test.service))
		})
	}
}

func TestAServiceTellsWhereItIsInsideItsCluster(t *testing.T) {
	both := corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: "10.0.0.1", ClusterIPs: []string{"10.0.0.1", "fd00::1"}}}
	assert.Equal(t, address.Observation{Found: true, ClusterIPs: []string{"10.0.0.1", "fd00::1"}}, cluster.Offer(&both))
	headless := corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, ClusterIPs: []string{corev1.ClusterIPNone}}}
	assert.Equal(t, address.Observation{Found: true}, cluster.Offer(&headless))
}
