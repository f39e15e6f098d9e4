package tenancy

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/grant"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// grantedKey is there once what the releases of an earlier Signpost use was
// granted.
const grantedKey = "/signpost/current-granted"

// inUse is what current releases use and would need a grant for.
type inUse struct {
	projects map[intent.Path]*usedBy
	kinds    map[intent.Path]map[string]bool // by cluster
}

// usedBy is what the releases of a project use.
type usedBy struct {
	namespaces  map[string]bool // that Signpost did not make, as far as is known
	directories map[string]bool // namespaces of directories
	accounts    map[string]bool
}

// GrantCurrent grants, once, what current releases use: an earlier Signpost
// accepted them without asking for grants. Platform namespaces are excepted.
func (s *Keeper) GrantCurrent(ctx context.Context) error {
	noted, _, err := s.KV.Get(ctx, grantedKey)
	if err != nil || noted != nil {
		return err
	}
	all := inUse{projects: map[intent.Path]*usedBy{}, kinds: map[intent.Path]map[string]bool{}}
	err = s.EachLifecycle(ctx, "", func(owner intent.Path, l state.Lifecycle) error {
		if !l.Deployed() || state.IsRecord(owner) {
			return nil
		}
		release, err := s.LoadRelease(ctx, l.ContextID)
		if intent.CodeOf(err) == intent.NotFound {
			return nil // many have followed it meanwhile
		}
		if err != nil {
			return err
		}
		return s.collect(ctx, &all, release.Group)
	})
	if err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(all.projects)) {
		if err := s.grantProject(ctx, path, *all.projects[path]); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(all.kinds)) {
		if err := s.grantCluster(ctx, path, all.kinds[path]); err != nil {
			return err
		}
	}
	_, _, err = s.KV.Txn(ctx, nil, kv.Put(grantedKey, []byte(`{}`)))
	return err
}

// collect adds what a release uses.
func (s *Keeper) collect(ctx context.Context, all *inUse, g plan.Group) error {
	path := intent.Join("projects", g.Project.Name)
	by := all.projects[path]
	if by == nil {
		by = &usedBy{namespaces: map[string]bool{}, directories: map[string]bool{}, accounts: map[string]bool{}}
		all.projects[path] = by
	}
	for _, b := range placements(g) {
		cluster, _ := resolve.NamespaceOn(b.Key)
		switch namespace := b.Key.Name; {
		case namespace == intent.DefaultDNSNamespace, b.Purpose == resolve.OfProject && !grant.Platform(namespace):
		case grant.Platform(namespace):
			s.Logger.WarnContext(ctx, "a release uses a platform namespace: it continues, but its next release needs a grant",
				"owner", g.Path, "cluster", cluster, "namespace", namespace)
		case resolve.Directory(g, cluster):
			by.directories[namespace] = true
		default:
			entry, found, err := s.Ledger.Get(ctx, bundle.ID{Cluster: cluster, Kind: "Namespace", Name: namespace})
			if err != nil {
				return err
			}
			if !found || !entry.CreatedByUs {
				by.namespaces[namespace] = true
			}
		}
	}
	needs, err := needsOf(g)
	if err != nil {
		return err
	}
	for _, need := range needs.accounts {
		if !grant.Platform(g.LogicalCloudNamespace) {
			by.accounts[g.LogicalCloudNamespace+"/"+need.account] = true
		}
	}
	for _, need := range needs.kinds {
		all.collectKind(g, need)
	}
	return nil
}

func (all *inUse) collectKind(g plan.Group, need kindNeed) {
	for _, cluster := range clustersOf(g, need.app) {
		ref, _ := intent.ParseCluster(cluster)
		if all.kinds[ref.Path()] == nil {
			all.kinds[ref.Path()] = map[string]bool{}
		}
		if need.group != "" {
			all.kinds[ref.Path()][need.group+"/"+need.kind] = true
		}
	}
}

// grantProject grants a project what its releases use. With a grant, the
// namespaces that it uses in directories need one, too.
func (s *Keeper) grantProject(ctx context.Context, path intent.Path, by usedBy) error {
	return grantIn(ctx, s, path, func(project *intent.Project) {
		if len(by.namespaces) > 0 {
			project.Namespaces = withGranted(project.Namespaces, by.namespaces)
			project.Namespaces = withGranted(project.Namespaces, by.directories)
		}
		project.ServiceAccounts = withGranted(project.ServiceAccounts, by.accounts)
	})
}

func (s *Keeper) grantCluster(ctx context.Context, path intent.Path, kinds map[string]bool) error {
	return grantIn(ctx, s, path, func(cluster *intent.Cluster) { cluster.Kinds = withGranted(cluster.Kinds, kinds) })
}

// withGranted adds grants to those that are there.
func withGranted(granted []string, used map[string]bool) []string {
	for _, one := range slices.Sorted(maps.Keys(used)) {
		if !slices.Contains(granted, one) {
			granted = append(granted, one)
		}
	}
	return granted
}

// grantIn changes a document that grants, and logs what it says then. A document
// that is gone, or kept elsewhere, grants nothing.
func grantIn[Spec any](ctx context.Context, s *Keeper, path intent.Path, add func(*Spec)) error {
	doc, err := s.Documents.Get(ctx, path)
	if intent.CodeOf(err) == intent.NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	resource, err := intent.Of[Spec](doc)
	if err != nil {
		return err
	}
	before, err := json.Marshal(resource)
	if err != nil {
		return err
	}
	add(&resource.Spec)
	after, err := json.Marshal(resource)
	if err != nil || bytes.Equal(before, after) {
		return err
	}
	if s.isElsewhere(path) {
		s.Logger.WarnContext(ctx, "what current releases use cannot be granted: an orchestrator keeps the document", "path", path, "would", string(after))
		return nil
	}
	if _, err := s.Documents.Put(ctx, intent.Write{Path: path, Refs: doc.Refs, Body: after, Condition: intent.IfRevision(doc.Revision)}); err != nil {
		return err
	}
	s.logGranted(ctx, path, resource.Spec)
	return nil
}

// isElsewhere reports whether an orchestrator keeps a document.
func (s *Keeper) isElsewhere(path intent.Path) bool {
	return s.Inputs.ExternallyManaged != nil && s.Inputs.ExternallyManaged(path) != nil
}

func (s *Keeper) logGranted(ctx context.Context, path intent.Path, spec any) {
	const message = "namespaces and kinds in use are granted, once"
	switch spec := spec.(type) {
	case intent.Project:
		s.Logger.InfoContext(ctx, message, "path", path, "namespaces", spec.Namespaces, "serviceAccounts", spec.ServiceAccounts)
	case intent.Cluster:
		s.Logger.InfoContext(ctx, message, "path", path, "kinds", spec.Kinds)
	}
}
