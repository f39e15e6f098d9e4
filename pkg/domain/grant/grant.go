// Package grant says what tenants may have in clusters of what Signpost did not
// make: namespaces, kinds and ServiceAccounts. Administrators grant these by
// lists in the documents of projects and clusters. It is pure.
package grant

import (
	"slices"
	"strings"
)

// Namespaces are granted namespaces: exact names, or a beginning with a
// trailing '*'.
type Namespaces []string

// Hold reports whether a namespace is granted. A platform namespace is only
// granted by its exact name.
func (n Namespaces) Hold(namespace string) bool {
	if slices.Contains(n, namespace) {
		return true
	}
	return !Platform(namespace) && slices.ContainsFunc(n, func(granted string) bool { return begins(namespace, granted) })
}

// IsPattern reports whether a text is a namespace, or a beginning of one with a
// trailing '*'.
func IsPattern(text string) bool {
	const longest = 63
	beginning, open := strings.CutSuffix(text, "*")
	odd := func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' }
	switch {
	case len(text) > longest, strings.HasPrefix(beginning, "-"), strings.ContainsFunc(beginning, odd):
		return false
	case open:
		return true
	}
	return text != "" && !strings.HasSuffix(text, "-")
}

// Both reports whether the grants of a project and of a cluster allow a
// namespace: if both say something, both have to.
func Both(project, cluster Namespaces, namespace string) bool {
	if len(project) == 0 && len(cluster) == 0 {
		return false
	}
	return (len(project) == 0 || project.Hold(namespace)) && (len(cluster) == 0 || cluster.Hold(namespace))
}

// ServiceAccounts are granted ServiceAccounts, written "namespace/name": exact
// ones, or a namespace and the beginning of a name with a trailing '*'.
type ServiceAccounts []string

// Hold reports whether a ServiceAccount is granted.
func (s ServiceAccounts) Hold(namespace, name string) bool {
	return slices.ContainsFunc(s, func(granted string) bool {
		of, account, _ := strings.Cut(granted, "/")
		return of == namespace && (account == name || begins(name, account))
	})
}

// begins reports whether a text begins as a pattern with a trailing '*' does.
func begins(text, pattern string) bool {
	beginning, open := strings.CutSuffix(pattern, "*")
	return open && strings.HasPrefix(text, beginning)
}

// Platform reports whether a namespace belongs to the programs that run a cluster. Pods
// there often have the rights of the cluster's administrator.
func Platform(namespace string) bool {
	begin := func(prefix string) bool { return strings.HasPrefix(namespace, prefix) }
	return slices.Contains(platforms(), namespace) || slices.ContainsFunc([]string{"kube-", "openshift-"}, begin)
}

// platforms are namespaces in which well-known controllers are installed.
func platforms() []string {
	return []string{
		"argo", "argo-events", "argo-rollouts", "argo-workflows", "argocd", "azure-system", "calico-apiserver", "calico-system",
		"capi-system", "cattle-fleet-system", "cattle-system", "cdi", "cert-manager", "config-management-system", "crossplane-system", "default", "external-dns", "external-secrets",
		"fleet-system", "flux", "flux-system", "gatekeeper-system", "gke-system", "gmp-system", "ingress-nginx",
		"istio-operator", "istio-system", "keda", "knative-eventing", "knative-serving", "kubernetes-dashboard", "kubevirt", "kyverno",
		"linkerd", "longhorn-system", "metallb-system", "olm", "openshift", "operators", "projectcontour", "rook-ceph", "sealed-secrets",
		"tekton-pipelines", "tigera-operator", "traefik", "vault", "velero",
	}
}

// MadeBy says who has made a namespace of a cluster.
type MadeBy string

// The possible makers of a namespace.
const (
	NotKnown MadeBy = ""       // the cluster does not tell
	Nobody   MadeBy = "nobody" // it is not there
	Us       MadeBy = "us"     // this installation of Signpost
	Others   MadeBy = "others"
)
