// Package clusters judges clusters, and logical clouds with their references to
// clusters.
package clusters

import (
	"context"
	"encoding/base64"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/projects"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// CheckClusterProvider admits a cluster provider, which has nothing to judge.
func CheckClusterProvider(_ context.Context, a *review.Checker, _ *review.Review, _, _ *intent.ClusterProvider) error {
	return nil
}

// CheckCluster admits a cluster.
func CheckCluster(ctx context.Context, a *review.Checker, r *review.Review, in, old *intent.Cluster) error {
	checkKubeconfig(a, r, in, old)
	review.CheckLabels(r, review.Spec+"/labels", in.Labels)
	checkUses(r, in.Uses)
	checkClusterDNS(r, in.DNS)
	checkClusterProjects(r, in.Projects)
	projects.CheckGrantedNamespaces(r, in.Namespaces)
	projects.CheckGrantedKinds(r, in.Kinds)
	if err := checkDirectory(ctx, a, r, in.Directory); err != nil {
		return err
	}
	if err := projectsExist(ctx, a, r, in.Projects); err != nil || old == nil {
		return err
	}
	if err := usesStillGiven(ctx, a, r, in, old); err != nil {
		return err
	}
	return projectsStillAllowed(ctx, a, r, in)
}

// kubeconfigField is where a cluster's kubeconfig is given.
const kubeconfigField review.Pointer = review.Spec + "/kubeconfig"

// checkKubeconfig takes the kubeconfig out, or keeps the stored one where the body
// has none and no directory takes its place.
func checkKubeconfig(a *review.Checker, r *review.Review, in, old *intent.Cluster) {
	const at = kubeconfigField
	given := in.Kubeconfig
	in.Kubeconfig, in.KubeconfigRef, in.Expires = "", "", nil
	if given == "" {
		if old != nil && old.KubeconfigRef != "" && in.Directory == "" {
			in.KubeconfigRef, in.Expires = old.KubeconfigRef, old.Expires
			r.Keep(in.KubeconfigRef)
		}
		return
	}
	if in.Directory != "" {
		r.Refusef(at, "cannot stand beside directory; remove one of them")
	}
	yaml, err := base64.StdEncoding.DecodeString(given)
	if err != nil {
		r.Refusef(at, "is not in base64; give the whole file in base64, as of `base64 -w0 kubeconfig`")
		return
	}
	if a.Rules.Kubeconfig != nil {
		expires, err := a.Rules.Kubeconfig(yaml)
		if err != nil {
			r.Refusef(at, "is not usable: %s", err)
			return
		}
		if !expires.IsZero() {
			in.Expires = &expires
		}
	}
	r.Take(at, yaml, func(id string) { in.KubeconfigRef = id })
}

// ClaimCluster has a cluster's document stand for what its new kubeconfig leads
// to.
func ClaimCluster(ctx context.Context, a *review.Checker, w *review.Write) error {
	if a.Rules.Claim == nil || intent.KindOf(w.Path).One != "Cluster" {
		return nil
	}
	for _, secret := range w.Secrets {
		err := a.Rules.Claim(ctx, w.Path, secret.Value)
		if intent.CodeOf(err) == intent.Conflict {
			return &intent.Error{
				Code: intent.Conflict, Detail: string(w.Path) + " must not be used for the cluster that answers",
				Fields: []intent.Field{{Pointer: string(kubeconfigField), Detail: err.Error()}},
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkUses checks what a cluster is for.
func checkUses(r *review.Review, uses []intent.ClusterUse) {
	const at = review.Spec + "/uses"
	for i, use := range uses {
		switch {
		case !slices.Contains(intent.ClusterUses(), use):
			r.Refusef(at.Index(i), "%s is not a use of a cluster; give addresses, home, apps or dns", review.Quote(string(use)))
		case slices.Contains(uses[:i], use):
			r.Refusef(at.Index(i), "%s is given twice; leave one out", review.Quote(string(use)))
		}
	}
}

// checkClusterDNS checks the description of the DNS service and brings it into
// canonical form.
func checkClusterDNS(r *review.Review, in *intent.ClusterDNS) {
	const at = review.Spec + "/dns"
	if in == nil {
		return
	}
	if in.Domain != "" {
		in.Domain = strings.ToLower(strings.TrimSuffix(in.Domain, "."))
		if review.HasLongLabel(in.Domain) {
			r.Refusef(at.Key("domain"), "%s has a label longer than 63 characters, which DNS does not allow; shorten what is between two dots", review.Quote(in.Domain))
		} else if !review.IsSubdomain(in.Domain) {
			r.Refusef(at.Key("domain"), "%s is not a DNS domain; give one such as cluster.local", review.Quote(in.Domain))
		}
	}
	if in.Address != "" {
		address, err := netip.ParseAddr(in.Address)
		if err != nil || address.Zone() != "" {
			r.Refusef(at.Key("address"), "%s is not an IP address; give one such as 10.96.0.10", review.Quote(in.Address))
			return
		}
		in.Address = address.Unmap().String()
	}
}

// checkClusterProjects checks the names of the projects allowed on a cluster.
func checkClusterProjects(r *review.Review, projects []string) {
	const at = review.Spec + "/projects"
	for i, project := range projects {
		if !review.IsLabelValue(project) {
			r.Refusef(at.Index(i), "%s is not a name of a project; %s", review.Quote(project), review.ValueAdvice)
			continue
		}
		if slices.Contains(projects[:i], project) {
			r.Refusef(at.Index(i), "%s is given twice; leave one out", review.Quote(project))
		}
		r.Refer(intent.Join("projects", project))
	}
}

func projectsExist(ctx context.Context, a *review.Checker, r *review.Review, projects []string) error {
	for i, project := range projects {
		if !review.IsLabelValue(project) {
			continue
		}
		to := intent.Join("projects", project)
		found, err := review.Find[intent.Project](ctx, a.Store, to)
		if err != nil {
			return err
		}
		if found == nil {
			a.Missing(r, (review.Spec + "/projects").Index(i), to)
		}
	}
	return nil
}

// projectsStillAllowed refuses to shut out a project that uses the cluster.
func projectsStillAllowed(ctx context.Context, a *review.Checker, r *review.Review, in *intent.Cluster) error {
	if len(in.Projects) == 0 {
		return nil
	}
	users, err := a.Store.Referrers(ctx, r.Path)
	if err != nil {
		return err
	}
	for _, user := range users {
		if project := user.Segment("projects"); project != "" && !slices.Contains(in.Projects, project) {
			r.Conflictf(review.Spec+"/projects", "leaves out project %s, whose %s uses %s", project, user, r.Path)
		}
	}
	return nil
}

// checkDirectory checks the directory of a cluster: a relative path that no other
// cluster's directory contains or lies in, for it has one writer.
func checkDirectory(ctx context.Context, a *review.Checker, r *review.Review, directory string) error {
	const at = review.Spec + "/directory"
	if directory == "" {
		return nil
	}
	if wrong := directoryFault(directory); wrong != "" {
		r.Refusef(at, "%s %s; give a relative path such as clusters/berlin", review.Quote(directory), wrong)
		return nil
	}
	return a.Each(ctx, "cluster-providers", func(provider intent.Document) error {
		return a.Each(ctx, string(provider.Path)+"/clusters", func(doc intent.Document) error {
			other, err := intent.Of[intent.Cluster](doc)
			if err != nil || doc.Path == r.Path || other.Spec.Directory == "" {
				return err
			}
			if Within(directory, other.Spec.Directory) || Within(other.Spec.Directory, directory) {
				r.Conflictf(at, "%s overlaps with %s, the directory of %s; a directory has one writer", review.Quote(directory), review.Quote(other.Spec.Directory), doc.Path)
			}
			return nil
		})
	})
}

// usesStillGiven refuses to take a use away that something released relies on.
func usesStillGiven(ctx context.Context, a *review.Checker, r *review.Review, in, old *intent.Cluster) error {
	lost := slices.DeleteFunc(slices.Clone(old.AllUses()), in.For)
	if len(lost) == 0 || a.Rules.UsesOf == nil {
		return nil
	}
	by, err := a.Rules.UsesOf(ctx, r.Path)
	if err != nil {
		return err
	}
	for _, use := range lost {
		if owner, used := by[use]; used {
			r.Conflictf(review.Spec+"/uses", "leaves out %s, which %s needs; update %s without the cluster first, or terminate it", use, owner, owner)
		}
	}
	return nil
}

// directoryFault says what is wrong with a directory, empty when nothing is.
func directoryFault(directory string) string {
	const longest = 255
	switch {
	case strings.HasPrefix(directory, "/"):
		return "is absolute"
	case len(directory) > longest:
		return "is longer than 255 characters"
	case path.Clean(directory) != directory || directory == ".":
		return "is not a clean path"
	}
	for part := range strings.SplitSeq(directory, "/") {
		if part == ".." {
			return "leaves its root"
		}
		if !isDirectoryName(part) {
			return "has a part that is not a name: letters, digits, '-', '_' and '.', not beginning with '.' or '-'"
		}
	}
	return ""
}

func isDirectoryName(name string) bool {
	for i, c := range name {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
		if !letter && (i == 0 || c != '-' && c != '.') {
			return false
		}
	}
	return name != ""
}

// Within tells whether one clean path is another or lies below it, taking
// upper and lower case for the same, as some file systems do.
func Within(inner, outer string) bool {
	inner, outer = strings.ToLower(inner), strings.ToLower(outer)
	return inner == outer || strings.HasPrefix(inner, outer+"/")
}

// AllowedCluster checks that a cluster exists and may be used by the review's
// project, and notes the reference to it.
func AllowedCluster(ctx context.Context, a *review.Checker, r *review.Review, at review.Pointer, ref intent.ClusterRef) error {
	if !review.CheckClusterName(r, at, ref) {
		return nil
	}
	cluster, err := review.Find[intent.Cluster](ctx, a.Store, ref.Path())
	switch {
	case err != nil:
		return err
	case cluster == nil:
		a.Missing(r, at, ref.Path())
	case len(cluster.Projects) > 0 && !slices.Contains(cluster.Projects, r.Project()):
		r.Conflictf(at, "%s does not allow project %s, the owner of %s; an admin can add it to the cluster's projects", ref.Path(), r.Project(), r.Path)
	}
	r.Refer(ref.Path())
	return nil
}

// AllowedClusters checks a list of clusters, each "provider/cluster", and notes the
// references to them.
func AllowedClusters(ctx context.Context, a *review.Checker, r *review.Review, at review.Pointer, names []string) error {
	for n, name := range names {
		ref, right := review.ParseCluster(r, at.Index(n), name)
		if !right {
			continue
		}
		if slices.Contains(names[:n], name) {
			r.Refusef(at.Index(n), "%s is given twice; leave one out", name)
		} else if err := AllowedCluster(ctx, a, r, at.Index(n), ref); err != nil {
			return err
		}
	}
	return nil
}

// ShowCluster hides where the kubeconfig is kept, and shows when its credentials end.
func ShowCluster(in *intent.Cluster) *review.Status {
	expires := in.Expires
	in.KubeconfigRef, in.Expires = "", nil
	if expires == nil {
		return nil
	}
	return &review.Status{Warnings: []intent.Warning{}, Expires: expires}
}
