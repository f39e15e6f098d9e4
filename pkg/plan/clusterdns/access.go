package clusterdns

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// rbacVersion is the API version of ClusterRoles and their bindings.
const rbacVersion = "rbac.authorization.k8s.io/v1"

// serviceAccount gives its token to nobody but to pods that ask for it.
func (r renderer) serviceAccount() *corev1.ServiceAccount {
	return &corev1.ServiceAccount{
		TypeMeta:                     metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta:                   r.meta(ServiceName),
		AutomountServiceAccountToken: new(false),
	}
}

// clusterRole grants what CoreDNS' kubernetes plugin watches, and nothing else:
// with "pods insecure" it looks at no pod.
func (r renderer) clusterRole() *rbacv1.ClusterRole {
	watched := func(group string, resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: []string{"list", "watch"}}
	}
	return &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacVersion, Kind: "ClusterRole"},
		ObjectMeta: r.clusterMeta(),
		Rules:      []rbacv1.PolicyRule{watched("", "namespaces", "services"), watched("discovery.k8s.io", "endpointslices")},
	}
}

func (r renderer) clusterRoleBinding() *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacVersion, Kind: "ClusterRoleBinding"},
		ObjectMeta: r.clusterMeta(),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: r.clusterMeta().Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: ServiceName, Namespace: r.Spec.Namespace}},
	}
}

// clusterMeta names and marks what stands outside namespaces.
func (r renderer) clusterMeta() metav1.ObjectMeta {
	meta := r.meta(ServiceName)
	meta.Name, meta.Namespace = "signpost-dns-"+r.unique(r.Spec.Namespace), ""
	return meta
}
