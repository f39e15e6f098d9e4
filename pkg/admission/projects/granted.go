package projects

import (
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/grant"
)

// CheckGrantedNamespaces checks the namespaces that are granted to a project, or on a
// cluster.
func CheckGrantedNamespaces(r *review.Review, granted []string) {
	checkGranted(r, review.Spec+"/namespaces", granted, func(text string) string {
		if grant.IsPattern(text) {
			return ""
		}
		return "is not a namespace; give a name such as shop, or a beginning such as team-a-*"
	})
}

// checkGrantedAccounts checks the ServiceAccounts that are granted to a project.
func checkGrantedAccounts(r *review.Review, granted []string) {
	checkGranted(r, review.Spec+"/serviceAccounts", granted, func(text string) string {
		namespace, name, both := strings.Cut(text, "/")
		beginning, open := strings.CutSuffix(name, "*")
		if both && review.IsDNSLabel(namespace) && (review.IsSubdomain(name) || open && (beginning == "" || review.IsSubdomain(beginning+"x"))) {
			return ""
		}
		return "is not a ServiceAccount; give its namespace and name, as in shop/deployer, or shop/*"
	})
}

// CheckGrantedKinds checks the kinds that are granted on a cluster.
func CheckGrantedKinds(r *review.Review, granted []string) {
	checkGranted(r, review.Spec+"/kinds", granted, func(text string) string {
		group, kind, both := strings.Cut(text, "/")
		switch {
		case !both || !review.IsSubdomain(group) || kind != "*" && !review.IsLabelValue(kind):
			return "is not a kind; give its group and kind, as in gateway.networking.k8s.io/HTTPRoute, or a group and *"
		case group == "core", review.IsAccessControl(group) || review.IsClusterScoped(group, kind):
			return "cannot be granted, because it grants rights, or is a cluster-scoped kind of Kubernetes; let the cluster's operator create it"
		}
		return ""
	})
}

// checkGranted checks a list of grants, each of which has to be right and there once.
func checkGranted(r *review.Review, at review.Pointer, granted []string, fault func(text string) string) {
	for n, text := range granted {
		if wrong := fault(text); wrong != "" {
			r.Refusef(at.Index(n), "%s %s", review.Quote(text), wrong)
		} else if slices.Contains(granted[:n], text) {
			r.Refusef(at.Index(n), "%s is given twice; leave one out", review.Quote(text))
		}
	}
}
