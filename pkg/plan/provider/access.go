package provider

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/plan"
)

// rbacVersion is the API version of Roles and their bindings.
const rbacVersion = "rbac.authorization.k8s.io/v1"

// namespace is the project's. It carries nothing of the record, for every
// record and every group of the project has the same.
func (r renderer) namespace() *corev1.Namespace {
	return &corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: r.Record.Project.Namespace, Labels: plan.Marks(r.Record.Installation)},
	}
}

// serviceAccount gives its token to nobody but to pods that ask for it.
func (r renderer) serviceAccount() *corev1.ServiceAccount {
	account := &corev1.ServiceAccount{
		TypeMeta:                     metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta:                   r.meta(),
		AutomountServiceAccountToken: new(false),
	}
	account.Annotations = r.Record.Spec.ServiceAccountAnnotations
	return account
}

// role grants the permissions of the crd source in the project's namespace, and nothing
// else. It watches DNSEndpoints, and notes in their status that it saw them.
func (r renderer) role() *rbacv1.Role {
	role := &rbacv1.Role{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacVersion, Kind: "Role"},
		ObjectMeta: r.meta(),
		Rules: []rbacv1.PolicyRule{
			rule("externaldns.k8s.io", "dnsendpoints", "get", "list", "watch"),
			rule("externaldns.k8s.io", "dnsendpoints/status", "update", "patch"),
		},
	}
	if r.arguments.keepsDNSRecords() {
		role.Rules = append(role.Rules,
			rule("externaldns.k8s.io", "dnsrecords", "get", "list", "watch", "create", "update", "delete"),
			rule("externaldns.k8s.io", "dnsrecords/status", "update", "patch"))
	}
	if r.arguments.emitsEvents() {
		role.Rules = append(role.Rules, rule("events.k8s.io", "events", "create", "patch"))
	}
	return role
}

func rule(group, resource string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}
}

func (r renderer) roleBinding() *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacVersion, Kind: "RoleBinding"},
		ObjectMeta: r.meta(),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: r.name},
		Subjects: []rbacv1.Subject{
			{Kind: rbacv1.ServiceAccountKind, Name: r.name, Namespace: r.Record.Project.Namespace},
		},
	}
}
