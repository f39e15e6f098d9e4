// Package rights is the table of what Signpost may do in a cluster, by what the cluster
// is for, and the manifests that grant it.
package rights

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// Role is a ClusterRole of a use.
type Role struct {
	Name  string
	Lost  string // what cannot be done without it; empty: the use cannot do without it
	Rules []Rule
}

// Rule is what a Role allows, with the reason.
type Rule struct {
	rbacv1.PolicyRule
	Why string
}

// Right is one thing that Signpost has to be allowed to do in a cluster.
type Right struct {
	Verb, Group, Resource string // Resource is the plural, with "/status" and the like; "*" for all
	Name                  string // of the one object that it is about; empty: any
	Namespace             string // in which alone it is needed; empty: in those of the objects
	Lost                  string // what cannot be done without it; empty: the use cannot do without it
	Use                   intent.ClusterUse
}

// Of lists what each of the uses allows, each right once: that of a use that cannot do
// without it before that of others.
func Of(uses []intent.ClusterUse) []Right {
	var all []Right
	for _, use := range uses {
		for _, role := range Roles(use) {
			for _, rule := range role.Rules {
				all = add(all, rule.PolicyRule, Right{Lost: role.Lost, Use: use})
			}
		}
	}
	return all
}

// add adds the rights of a rule, each like the given one.
func add(all []Right, rule rbacv1.PolicyRule, like Right) []Right {
	if len(rule.ResourceNames) > 0 {
		like.Name = rule.ResourceNames[0] // no rule of the table has more
	}
	for _, like.Group = range rule.APIGroups {
		for _, like.Resource = range rule.Resources {
			for _, like.Verb = range rule.Verbs {
				at := slices.IndexFunc(all, like.same)
				switch {
				case at < 0:
					all = append(all, like)
				case like.Lost == "" && all[at].Lost != "":
					all[at] = like
				}
			}
		}
	}
	return all
}

// same tells whether two rights allow the same.
func (r Right) same(as Right) bool {
	return r.Verb == as.Verb && r.Group == as.Group && r.Resource == as.Resource && r.Name == as.Name
}

// OwnToken is the right of a ServiceAccount to renew its own token.
func OwnToken(namespace, name string) Right {
	return Right{
		Verb: "create", Resource: "serviceaccounts/token", Name: name, Namespace: namespace, Use: intent.UseAddresses,
		Lost: "without it Signpost cannot renew the token of the kubeconfig, and loses the cluster when the token ends",
	}
}

// Wide tells whether the right is needed in the whole cluster at once. Objects outside
// namespaces need that, and watches, each of which sees all namespaces.
func (r Right) Wide() bool {
	return r.outside() || r.Resource == "*" || slices.Contains([]string{"list", "watch"}, r.Verb)
}

// outside tells whether the right is about objects outside namespaces.
func (r Right) outside() bool {
	for kind, known := range cluster.Kinds() {
		if kind.Group == r.Group && known.Plural == r.Resource {
			return known.ClusterScoped
		}
	}
	return false
}

// In is the right in words, in a namespace; empty: in all.
func (r Right) In(namespace string) string {
	words := []string{"can", r.Verb, r.Resource}
	if r.Resource == "*" {
		words[2] = "all kinds"
	}
	if r.Name != "" {
		words = append(words, r.Name)
	}
	if namespace != "" {
		words = append(words, "in", namespace)
	}
	return strings.Join(words, " ")
}

// Missing says what to do if the right is missing.
func (r Right) Missing() string {
	advice := "apply " + r.Use.Manifest() + ", or grant it to the kubeconfig's user"
	if r.Lost == "" {
		return advice
	}
	return r.Lost + "; to have it, " + advice
}
