package kube

import (
	"context"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Namespace makes a namespace if it is not there.
func (s *Server) Namespace(ctx context.Context, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := s.Client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// LoadBalancer makes a Service of type LoadBalancer, in a namespace that is
// made if need be, and gives it these addresses as a cloud does: IP addresses,
// or host names.
func (s *Server) LoadBalancer(ctx context.Context, namespace, name string, addresses ...string) error {
	if err := s.Namespace(ctx, namespace); err != nil {
		return err
	}
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceTypeLoadBalancer,
			Selector: map[string]string{"app": name},
			Ports:    []corev1.ServicePort{{Name: "https", Port: 443}},
		},
	}
	_, err := s.Client.CoreV1().Services(namespace).Create(ctx, service, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return s.SetLoadBalancer(ctx, namespace, name, addresses...)
}

// SetLoadBalancer replaces the addresses of a Service, as a cloud does.
func (s *Server) SetLoadBalancer(ctx context.Context, namespace, name string, addresses ...string) error {
	services := s.Client.CoreV1().Services(namespace)
	service, err := services.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("load balancer in %s: %w", s.Name, err)
	}
	service.Status.LoadBalancer.Ingress = nil
	for _, address := range addresses {
		ingress := corev1.LoadBalancerIngress{Hostname: address}
		if _, err := netip.ParseAddr(address); err == nil {
			ingress = corev1.LoadBalancerIngress{IP: address}
		}
		service.Status.LoadBalancer.Ingress = append(service.Status.LoadBalancer.Ingress, ingress)
	}
	_, err = services.UpdateStatus(ctx, service, metav1.UpdateOptions{})
	return err
}

// SetNode has a node be there with exactly these labels and taints. One that
// is made gets a taint from the API server, as it is not ready yet.
func (s *Server) SetNode(ctx context.Context, name string, labels map[string]string, taints ...corev1.Taint) error {
	nodes := s.Client.CoreV1().Nodes()
	node, err := nodes.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		node, err = nodes.Get(ctx, name, metav1.GetOptions{})
	}
	if err != nil {
		return err
	}
	node.Labels, node.Spec.Taints = labels, taints
	_, err = nodes.Update(ctx, node, metav1.UpdateOptions{})
	return err
}
