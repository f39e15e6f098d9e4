package kubeapi

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	targetcluster "github.com/signpost-dns/signpost/deploy/target-cluster"
	"github.com/signpost-dns/signpost/pkg/domain/safeyaml"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// right is one thing that Signpost has to be allowed to do in a cluster.
type right struct {
	verb, group, resource string // resource is the plural, with "/status" and the like; "*" for all
	lost                  string // what cannot be done without it; empty: nothing can
}

// markOptional is the annotation of a ClusterRole that may be left out.
const markOptional = "signpost.dev/optional"

// rights lists what the ClusterRoles of a manifest grant, in its order.
func rights(manifest string) ([]right, error) {
	var all []right
	for text := range strings.SplitSeq(manifest, "\n---\n") {
		var role rbacv1.ClusterRole
		if err := safeyaml.Unmarshal([]byte(text), &role); err != nil {
			return nil, err
		}
		if role.Kind != "ClusterRole" {
			continue
		}
		for _, rule := range role.Rules {
			all = append(all, grants(rule, role.Annotations[markOptional])...)
		}
	}
	return all, nil
}

// ownRights are those of the manifest that people apply in a cluster.
func ownRights() ([]right, error) { return rights(targetcluster.Manifest()) }

func grants(rule rbacv1.PolicyRule, lost string) []right {
	var all []right
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				all = append(all, right{verb, group, resource, lost})
			}
		}
	}
	return all
}

// wide tells whether the right is needed in the whole cluster at once: for
// what stands outside namespaces, and for the watches, each of which sees all
// namespaces.
func (r right) wide() bool {
	return r.outside() || r.resource == "*" || slices.Contains([]string{"list", "watch"}, r.verb)
}

// outside tells whether the right is about what stands outside namespaces.
func (r right) outside() bool {
	for kind, known := range cluster.Kinds() {
		if kind.Group == r.group && known.Plural == r.resource {
			return known.ClusterScoped
		}
	}
	return false
}

// name is the right in words.
func (r right) name(namespace string) string {
	what := r.resource
	if what == "*" {
		what = "all kinds"
	}
	words := "can " + r.verb + " " + what
	if namespace != "" {
		words += " in " + namespace
	}
	return words
}
