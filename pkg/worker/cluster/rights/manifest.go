package rights

import (
	"bytes"
	"fmt"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/safeyaml"
)

// Account is the name of Signpost's ServiceAccount in a cluster, and of its namespace.
const Account = "signpost"

// User is the account as API servers call it.
const User = "system:serviceaccount:" + Account + ":" + Account

// markOptional is the annotation of a ClusterRole that may be left out.
const markOptional = "signpost.dev/optional"

// object is an object of a manifest, with the comment in front of it.
type object struct {
	comment string
	content any
}

// header begins a manifest. Its value says what the cluster is for.
const header = `# Rights of Signpost in a cluster that is for %s, and no more. Apply them there.
# Then give Signpost a kubeconfig with a token of the account.
#
#   kubectl -n signpost create token signpost --duration=720h
#
# A ClusterRole with the annotation signpost.dev/optional may be left out. The annotation
# says what cannot be done then. The file is made from pkg/worker/cluster/rights.
`

// Manifest is a YAML text with the rights of the uses, and the account that has them.
func Manifest(uses ...intent.ClusterUse) ([]byte, error) {
	all := account()
	for _, use := range uses {
		for _, role := range Roles(use) {
			all = append(all, role.objects()...)
		}
	}
	var words []string
	for _, use := range uses {
		words = append(words, string(use))
	}
	text := bytes.NewBufferString(fmt.Sprintf(header, strings.Join(words, ", ")))
	for n, o := range all {
		if n > 0 {
			text.WriteString("---\n")
		}
		content, err := safeyaml.Marshal(o.content)
		if err != nil {
			return nil, err
		}
		text.WriteString(o.comment)
		text.Write(content)
	}
	return text.Bytes(), nil
}

func account() []object {
	return []object{
		{content: &metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
			ObjectMeta: metav1.ObjectMeta{Name: Account},
		}},
		{content: &metav1.PartialObjectMetadata{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
			ObjectMeta: metav1.ObjectMeta{Name: Account, Namespace: Account},
		}},
		{comment: "# serviceaccounts/token: Signpost renews its own token before it ends.\n", content: &rbacv1.Role{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role"},
			ObjectMeta: metav1.ObjectMeta{Name: Account, Namespace: Account},
			Rules: []rbacv1.PolicyRule{{
				APIGroups: []string{""}, Resources: []string{"serviceaccounts/token"}, ResourceNames: []string{Account}, Verbs: []string{"create"},
			}},
		}},
		{content: &rbacv1.RoleBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"},
			ObjectMeta: metav1.ObjectMeta{Name: Account, Namespace: Account},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: Account},
			Subjects:   subjects(),
		}},
	}
}

// subjects are the account alone.
func subjects() []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: Account, Namespace: Account}}
}

// objects are the ClusterRole and its binding.
func (r Role) objects() []object {
	role := &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: r.Name},
	}
	if r.Lost != "" {
		role.Annotations = map[string]string{markOptional: r.Lost}
	}
	var reasons bytes.Buffer
	for _, rule := range r.Rules {
		role.Rules = append(role.Rules, rule.PolicyRule)
		fmt.Fprintf(&reasons, "# %s: %s\n", rule.Resources[0], rule.Why)
	}
	return []object{
		{comment: reasons.String(), content: role},
		{content: &rbacv1.ClusterRoleBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"},
			ObjectMeta: metav1.ObjectMeta{Name: r.Name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: r.Name},
			Subjects:   subjects(),
		}},
	}
}
