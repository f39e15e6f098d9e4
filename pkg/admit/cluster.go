package admit

import (
	"context"
	"encoding/base64"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// clusterProvider admits a cluster provider, which has nothing to judge.
func (a *Admitter) clusterProvider(context.Context, *review, *intent.ClusterProvider, *intent.ClusterProvider) error {
	return nil
}

// cluster admits a cluster.
func (a *Admitter) cluster(ctx context.Context, r *review, in, old *intent.Cluster) error {
	a.kubeconfig(r, in, old)
	r.labels(spec+"/labels", in.Labels)
	r.clusterDNS(in.DNS)
	r.clusterProjects(in.Projects)
	r.grantedNamespaces(in.Namespaces)
	r.grantedKinds(in.Kinds)
	if err := a.directory(ctx, r, in.Directory); err != nil {
		return err
	}
	if err := a.projectsExist(ctx, r, in.Projects); err != nil || old == nil {
		return err
	}
	return a.projectsStillAllowed(ctx, r, in)
}

// kubeconfigField is where a cluster's kubeconfig is given.
const kubeconfigField pointer = spec + "/kubeconfig"

// kubeconfig takes the kubeconfig out, or keeps the stored one where the body
// has none and no directory takes its place.
func (a *Admitter) kubeconfig(r *review, in, old *intent.Cluster) {
	const at = kubeconfigField
	given := in.Kubeconfig
	in.Kubeconfig, in.KubeconfigRef = "", ""
	if given == "" {
		if old != nil && old.KubeconfigRef != "" && in.Directory == "" {
			in.KubeconfigRef = old.KubeconfigRef
			r.keep(in.KubeconfigRef)
		}
		return
	}
	if in.Directory != "" {
		r.refusef(at, "excludes directory; give one of them")
	}
	yaml, err := base64.StdEncoding.DecodeString(given)
	if err != nil {
		r.refusef(at, "is not in base64; give the whole file in base64, as of `base64 -w0 kubeconfig`")
		return
	}
	if a.rules.Kubeconfig != nil {
		if err := a.rules.Kubeconfig(yaml); err != nil {
			r.refusef(at, "is not usable: %s", err)
			return
		}
	}
	r.take(at, yaml, func(id string) { in.KubeconfigRef = id })
}

// claimCluster has a cluster's document stand for what its new kubeconfig leads
// to.
func (a *Admitter) claimCluster(ctx context.Context, w *Write) error {
	if a.rules.Claim == nil || shape(w.Path) != "cluster-providers/clusters" {
		return nil
	}
	for _, secret := range w.Secrets {
		err := a.rules.Claim(ctx, w.Path, secret.Value)
		if intent.CodeOf(err) == intent.Conflict {
			return &intent.Error{
				Code: intent.Conflict, Detail: string(w.Path) + " cannot stand for the cluster that answers",
				Fields: []intent.Field{{Pointer: string(kubeconfigField), Detail: err.Error()}},
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// clusterDNS checks the description of the DNS service and brings it into
// canonical form.
func (r *review) clusterDNS(in *intent.ClusterDNS) {
	const at = spec + "/dns"
	if in == nil {
		return
	}
	if in.Domain != "" {
		in.Domain = strings.ToLower(strings.TrimSuffix(in.Domain, "."))
		if hasLongLabel(in.Domain) {
			r.refusef(at.key("domain"), "%s has a label longer than 63 characters, which DNS does not allow; shorten what is between two dots", quote(in.Domain))
		} else if !isSubdomain(in.Domain) {
			r.refusef(at.key("domain"), "%s is no DNS domain; give one such as cluster.local", quote(in.Domain))
		}
	}
	if in.Address != "" {
		address, err := netip.ParseAddr(in.Address)
		if err != nil || address.Zone() != "" {
			r.refusef(at.key("address"), "%s is no IP address; give one such as 10.96.0.10", quote(in.Address))
			return
		}
		in.Address = address.Unmap().String()
	}
}

// clusterProjects checks the names of the projects allowed on a cluster.
func (r *review) clusterProjects(projects []string) {
	const at = spec + "/projects"
	for i, project := range projects {
		if !isLabelValue(project) {
			r.refusef(at.index(i), "%s is no name of a project; %s", quote(project), valueAdvice)
			continue
		}
		if slices.Contains(projects[:i], project) {
			r.refusef(at.index(i), "%s is given twice; leave one out", quote(project))
		}
		r.refer(intent.Join("projects", project))
	}
}

func (a *Admitter) projectsExist(ctx context.Context, r *review, projects []string) error {
	for i, project := range projects {
		if !isLabelValue(project) {
			continue
		}
		to := intent.Join("projects", project)
		found, err := find[intent.Project](ctx, a.store, to)
		if err != nil {
			return err
		}
		if found == nil {
			a.missing(r, (spec + "/projects").index(i), to)
		}
	}
	return nil
}

// projectsStillAllowed refuses to shut out a project that uses the cluster.
func (a *Admitter) projectsStillAllowed(ctx context.Context, r *review, in *intent.Cluster) error {
	if len(in.Projects) == 0 {
		return nil
	}
	users, err := a.store.Referrers(ctx, r.path)
	if err != nil {
		return err
	}
	for _, user := range users {
		if project := user.Segment("projects"); project != "" && !slices.Contains(in.Projects, project) {
			r.conflictf(spec+"/projects", "leaves out project %s, whose %s uses %s", project, user, r.path)
		}
	}
	return nil
}

// directory checks the directory of a cluster: a relative path that no other
// cluster's directory contains or lies in, for it has one writer.
func (a *Admitter) directory(ctx context.Context, r *review, directory string) error {
	const at = spec + "/directory"
	if directory == "" {
		return nil
	}
	if wrong := directoryFault(directory); wrong != "" {
		r.refusef(at, "%s %s; give a relative path such as clusters/berlin", quote(directory), wrong)
		return nil
	}
	return a.each(ctx, "cluster-providers", func(provider intent.Document) error {
		return a.each(ctx, string(provider.Path)+"/clusters", func(doc intent.Document) error {
			other, err := intent.Of[intent.Cluster](doc)
			if err != nil || doc.Path == r.path || other.Spec.Directory == "" {
				return err
			}
			if within(directory, other.Spec.Directory) || within(other.Spec.Directory, directory) {
				r.conflictf(at, "%s overlaps with %s, the directory of %s; a directory has one writer", quote(directory), quote(other.Spec.Directory), doc.Path)
			}
			return nil
		})
	})
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
			return "has a part that is no name: letters, digits, '-', '_' and '.', not beginning with '.' or '-'"
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

// within tells whether one clean path is another or lies below it, taking
// upper and lower case for the same, as some file systems do.
func within(inner, outer string) bool {
	inner, outer = strings.ToLower(inner), strings.ToLower(outer)
	return inner == outer || strings.HasPrefix(inner, outer+"/")
}

// allowedCluster checks that a cluster exists and may be used by the review's
// project, and notes the reference to it.
func (a *Admitter) allowedCluster(ctx context.Context, r *review, at pointer, ref intent.ClusterRef) error {
	if !r.clusterName(at, ref) {
		return nil
	}
	cluster, err := find[intent.Cluster](ctx, a.store, ref.Path())
	switch {
	case err != nil:
		return err
	case cluster == nil:
		a.missing(r, at, ref.Path())
	case len(cluster.Projects) > 0 && !slices.Contains(cluster.Projects, r.project()):
		r.conflictf(at, "%s does not admit project %s, to which %s belongs; an admin can add it to the cluster's projects", ref.Path(), r.project(), r.path)
	}
	r.refer(ref.Path())
	return nil
}

// clusterName checks both names of a cluster.
func (r *review) clusterName(at pointer, ref intent.ClusterRef) bool {
	right := true
	for _, part := range []struct{ field, name string }{{"clusterProvider", ref.ClusterProvider}, {"cluster", ref.Cluster}} {
		if !isLabelValue(part.name) {
			r.refusef(at.key(part.field), "%s is no name; %s", quote(part.name), valueAdvice)
			right = false
		}
	}
	return right
}

// showCluster hides where the kubeconfig is kept.
func showCluster(in *intent.Cluster) *Status {
	in.KubeconfigRef = ""
	return nil
}
