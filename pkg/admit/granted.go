package admit

import (
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/grant"
)

// grantedNamespaces checks the namespaces that are granted to a project, or on a
// cluster.
func (r *review) grantedNamespaces(granted []string) {
	r.granted(spec+"/namespaces", granted, func(text string) string {
		if grant.IsPattern(text) {
			return ""
		}
		return "is no namespace; give a name such as shop, or a beginning such as team-a-*"
	})
}

// grantedAccounts checks the ServiceAccounts that are granted to a project.
func (r *review) grantedAccounts(granted []string) {
	r.granted(spec+"/serviceAccounts", granted, func(text string) string {
		namespace, name, both := strings.Cut(text, "/")
		beginning, open := strings.CutSuffix(name, "*")
		if both && isDNSLabel(namespace) && (isSubdomain(name) || open && (beginning == "" || isSubdomain(beginning+"x"))) {
			return ""
		}
		return "is no ServiceAccount; give its namespace and name, as in shop/deployer, or shop/*"
	})
}

// grantedKinds checks the kinds that are granted on a cluster.
func (r *review) grantedKinds(granted []string) {
	r.granted(spec+"/kinds", granted, func(text string) string {
		group, kind, both := strings.Cut(text, "/")
		switch {
		case !both || !isSubdomain(group) || kind != "*" && !isLabelValue(kind):
			return "is no kind; give its group and kind, as in gateway.networking.k8s.io/HTTPRoute, or a group and *"
		case group == "core", isAccessControl(group) || isClusterScoped(group, kind):
			return "cannot be granted: it grants rights, or is of Kubernetes and belongs to no namespace; let the cluster's operator create it"
		}
		return ""
	})
}

// granted checks a list of grants, each of which has to be right and there once.
func (r *review) granted(at pointer, granted []string, fault func(text string) string) {
	for n, text := range granted {
		if wrong := fault(text); wrong != "" {
			r.refusef(at.index(n), "%s %s", quote(text), wrong)
		} else if slices.Contains(granted[:n], text) {
			r.refusef(at.index(n), "%s is given twice; leave one out", quote(text))
		}
	}
}
