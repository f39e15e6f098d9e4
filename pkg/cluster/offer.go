package cluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/address"
)

// Offer reads out of a Service what addresses and host names it offers to the
// world: those of its load balancer, then its external IPs, and beside them
// where it is inside its cluster. It is pure, and all that is kept of a Service.
func Offer(service *corev1.Service) address.Observation {
	o := address.Observation{Found: true}
	for i, ingress := range service.Status.LoadBalancer.Ingress {
		if ingress.IP != "" {
			o.Candidates = append(o.Candidates, address.Candidate{
				Target: ingress.IP, Field: fmt.Sprintf("status.loadBalancer.ingress[%d].ip", i)})
		}
		if ingress.Hostname != "" {
			o.Candidates = append(o.Candidates, address.Candidate{
				Target: ingress.Hostname, Field: fmt.Sprintf("status.loadBalancer.ingress[%d].hostname", i)})
		}
	}
	for i, ip := range service.Spec.ExternalIPs {
		if ip != "" {
			o.Candidates = append(o.Candidates, address.Candidate{
				Target: ip, Field: fmt.Sprintf("spec.externalIPs[%d]", i)})
		}
	}
	for _, ip := range service.Spec.ClusterIPs {
		if ip != corev1.ClusterIPNone {
			o.ClusterIPs = append(o.ClusterIPs, ip)
		}
	}
	return o
}

// Offer looks at a live Service, once.
func (k *Kubernetes) Offer(ctx context.Context, namespace, name string) (address.Observation, error) {
	service, err := k.core.Services(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return address.Observation{}, nil
	}
	if err != nil {
		return address.Observation{}, classify(err, reading)
	}
	return Offer(service), nil
}
