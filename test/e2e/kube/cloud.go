package kube

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
		if isIP(address) {
			ingress = corev1.LoadBalancerIngress{IP: address}
		}
		service.Status.LoadBalancer.Ingress = append(service.Status.LoadBalancer.Ingress, ingress)
	}
	_, err = services.UpdateStatus(ctx, service, metav1.UpdateOptions{})
	return err
}

// isIP tells an IP address from a host name.
func isIP(address string) bool {
	_, err := netip.ParseAddr(address)
	return err == nil
}

// Ingress makes an Ingress that leads to a Service of its namespace, and gives
// it these addresses as an ingress controller does: IP addresses, or host names.
func (s *Server) Ingress(ctx context.Context, namespace, name, service string, addresses ...string) error {
	backend := &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
		Name: service, Port: networkingv1.ServiceBackendPort{Number: 443},
	}}
	ingresses := s.Client.NetworkingV1().Ingresses(namespace)
	ingress, err := ingresses.Create(ctx, &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: networkingv1.IngressSpec{DefaultBackend: backend},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("ingress in %s: %w", s.Name, err)
	}
	for _, address := range addresses {
		point := networkingv1.IngressLoadBalancerIngress{Hostname: address}
		if isIP(address) {
			point = networkingv1.IngressLoadBalancerIngress{IP: address}
		}
		ingress.Status.LoadBalancer.Ingress = append(ingress.Status.LoadBalancer.Ingress, point)
	}
	_, err = ingresses.UpdateStatus(ctx, ingress, metav1.UpdateOptions{})
	return err
}

// SetPods has a Service's pods be these, all ready or none, as the controller of
// EndpointSlices writes it down. The addresses are of one family, one at least.
func (s *Server) SetPods(ctx context.Context, namespace, service string, ready bool, addresses ...string) error {
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: service + "-pods", Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: new("https"), Port: new(int32(443)), Protocol: new(corev1.ProtocolTCP)}},
	}
	for _, address := range addresses {
		if strings.Contains(address, ":") {
			slice.AddressType = discoveryv1.AddressTypeIPv6
		}
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{address}, Conditions: discoveryv1.EndpointConditions{Ready: &ready},
		})
	}
	slices := s.Client.DiscoveryV1().EndpointSlices(namespace)
	_, err := slices.Create(ctx, slice, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = slices.Update(ctx, slice, metav1.UpdateOptions{})
	}
	return err
}

// SetNodeAddresses replaces the addresses of a node, as a cloud does.
func (s *Server) SetNodeAddresses(ctx context.Context, name string, addresses ...corev1.NodeAddress) error {
	nodes := s.Client.CoreV1().Nodes()
	node, err := nodes.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	node.Status.Addresses = addresses
	_, err = nodes.UpdateStatus(ctx, node, metav1.UpdateOptions{})
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

// SetStatus replaces the status of an object of a custom kind, as its
// controller does.
func (s *Server) SetStatus(ctx context.Context, kind schema.GroupVersionKind, namespace, name string, status map[string]any) error {
	object, err := s.Get(ctx, kind, namespace, name)
	if err != nil {
		return err
	}
	object.Object["status"] = status
	_, err = s.resource(kind, namespace).UpdateStatus(ctx, object, metav1.UpdateOptions{})
	return err
}
