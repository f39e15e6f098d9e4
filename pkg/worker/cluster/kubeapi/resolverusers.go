package kubeapi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// mostUsers bounds how many users of nameservers are told.
const mostUsers = 1000

// ResolverUsers looks, once, for what asks one of these nameservers: pods that name it in
// their dnsConfig, and ConfigMaps of kube-system. There, kubelets, the cluster's own
// CoreDNS and caches of nodes have their settings. With an error it answers what it found
// before.
func (k *Kubernetes) ResolverUsers(ctx context.Context, addresses []string) ([]string, error) {
	settings, err := k.core.ConfigMaps(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{Limit: feedPage})
	if err != nil {
		return nil, cluster.Classify(err, cluster.Reading)
	}
	var users []string
	for _, m := range settings.Items {
		if mentions(m, addresses) {
			users = append(users, fmt.Sprintf("ConfigMap %s/%s", m.Namespace, m.Name))
		}
	}
	options := metav1.ListOptions{Limit: feedPage}
	for {
		pods, err := k.core.Pods(metav1.NamespaceAll).List(ctx, options)
		if err != nil {
			return users, cluster.Classify(err, cluster.Reading)
		}
		for _, p := range pods.Items {
			if asks(p.Spec, addresses) {
				users = append(users, fmt.Sprintf("pod %s/%s", p.Namespace, p.Name))
			}
		}
		if options.Continue = pods.Continue; options.Continue == "" || len(users) >= mostUsers {
			return users, nil
		}
	}
}

// asks tells whether a pod is told to ask one of the nameservers.
func asks(spec corev1.PodSpec, addresses []string) bool {
	return spec.DNSConfig != nil && slices.ContainsFunc(spec.DNSConfig.Nameservers, func(asked string) bool { return slices.Contains(addresses, asked) })
}

// mentions tells whether one of the addresses stands in a ConfigMap as a word.
func mentions(m corev1.ConfigMap, addresses []string) bool {
	for _, text := range m.Data {
		words := strings.FieldsFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF.:", r) })
		for _, word := range words {
			host, _, _ := strings.Cut(word, ":")
			if slices.Contains(addresses, word) || slices.Contains(addresses, strings.Trim(host, ".")) || slices.Contains(addresses, strings.Trim(word, ".:")) {
				return true
			}
		}
	}
	return false
}
