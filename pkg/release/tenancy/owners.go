package tenancy

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// CheckTenancy refuses objects that a release may not share with others, and secrets that
// readers of a directory would see. It refuses records that are not to be disturbed now,
// and abandoned clusters.
func (s *Keeper) CheckTenancy(ctx context.Context, d *resolve.Draft) error {
	for _, use := range d.Uses {
		r := d.Records[use.Record.Name()]
		if r.Live() && r.Lifecycle.Moving {
			d.Fail(use.Record, "/spec/deployOn", "the provider is moving to %s; try again when the move is done", r.Frozen.Home)
		}
		for _, f := range s.Resolver.InPlain(r.Frozen, use.Cluster, d.In.Clusters[use.Cluster].Spec) {
			d.Fail(use.Record, f.Pointer, "%s", f.Detail)
		}
	}
	for _, check := range []func(context.Context, *resolve.Draft) error{s.checkAbandoned, s.checkOwners, s.checkOthersDNS, s.checkNamespaces, s.checkGranted} {
		if err := check(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// checkNamespaces refuses namespaces that have become another project's since
// the documents were stored.
func (s *Keeper) checkNamespaces(ctx context.Context, d *resolve.Draft) error {
	if s.NamespaceHolder == nil {
		return nil
	}
	namespaces := []string{d.Group.LogicalCloudNamespace}
	for _, app := range d.Group.Apps {
		namespaces = append(namespaces, app.Namespace)
	}
	for _, b := range d.Group.Bindings {
		namespaces = append(namespaces, b.Namespace)
	}
	for _, dns := range d.Group.DNS {
		namespaces = append(namespaces, dns.Spec.Namespace)
	}
	slices.Sort(namespaces)
	for _, namespace := range slices.Compact(namespaces) {
		if namespace == "" { // of a name, which has no logical cloud
			continue
		}
		holder, err := s.NamespaceHolder(ctx, namespace)
		if err != nil {
			return err
		}
		if holder != "" && holder != d.Group.Project.Name {
			at := "/spec/apps"
			if intent.IsName(d.Group.Path) {
				at = "/spec/service"
			}
			d.Fail(d.Group.Path, at, "namespace %q belongs to %s; give the logical cloud, the app or the intent another", namespace, intent.By(ctx).Project(holder))
		}
	}
	return nil
}

// checkOwners refuses an owner id of the user's that two deployments would share, of this
// group or of others. Each would treat the other's names as its own.
func (s *Keeper) checkOwners(ctx context.Context, d *resolve.Draft) error {
	taken := map[string]state.Use{}
	for _, use := range d.Uses {
		record := d.Records[use.Record.Name()].Frozen
		id := state.OwnOwnerID(record.Spec)
		if s.looksGenerated(id, record.UID) {
			d.Fail(use.Record, state.AtOwnerID, "the owner id %q %s", id, state.GeneratedForm)
		}
		if first, twice := taken[id]; twice {
			failOwner(ctx, d, id, use, first)
		} else if id != "" {
			taken[id] = use
		}
	}
	if len(taken) == 0 {
		return nil
	}
	others, err := s.otherUses(ctx, d.Group.Path)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(taken)) {
		use := taken[id]
		holder, held, err := s.HeldOwnerID(ctx, id, use)
		if err != nil {
			return err
		}
		if held && !slices.Contains(others, holder) { // else it is told of below
			failOwner(ctx, d, id, use, holder)
		}
	}
	for _, other := range others {
		l, err := s.RecordLifecycle(ctx, other.Record)
		if err != nil {
			return err
		}
		id := state.OwnOwnerID(l.Record.Spec)
		if use, shared := taken[id]; shared && !slices.Contains(d.Uses, other) {
			failOwner(ctx, d, id, use, other)
		}
	}
	return nil
}

// looksGenerated says whether an owner id is of our form, and not the one that we
// would generate for a record with this UID.
func (s *Keeper) looksGenerated(id, uid string) bool {
	return id != plan.OwnerID(s.Installation, uid) && strings.HasPrefix(id, plan.OwnerID(s.Installation, ""))
}

func failOwner(ctx context.Context, d *resolve.Draft, id string, use, other state.Use) {
	d.Fail(use.Record, state.AtOwnerID, "the owner id %q would be used by two deployments, of %s on %s and of %s; remove it, and each gets one of its own", id, use.Record, use.Cluster, other.Seen(ctx))
}

// OwnerWarnings tells that a plan would refuse the owner id that a stored record's
// user has set: it is in use, or may be.
func (s *Keeper) OwnerWarnings(ctx context.Context, record intent.Document) ([]intent.Warning, error) {
	stored, err := intent.Of[intent.Record](record)
	if err != nil {
		return nil, err
	}
	id := state.OwnOwnerID(stored.Spec)
	if id == "" {
		return nil, nil
	}
	warn := func(why string) []intent.Warning {
		return []intent.Warning{{Parameter: state.OwnerIDParameter, Message: why + "; until then plans refuse it"}}
	}
	if s.looksGenerated(id, record.UID) {
		return warn(state.GeneratedForm), nil
	}
	uses, err := s.otherUses(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, other := range uses {
		if other.Record == record.Path {
			continue
		}
		l, err := s.RecordLifecycle(ctx, other.Record)
		if err != nil {
			return nil, err
		}
		if state.OwnOwnerID(l.Record.Spec) == id {
			return warn("is the owner id of " + other.Seen(ctx) + "; remove it, and the provider gets one of its own"), nil
		}
	}
	return nil, nil
}

// otherUses are the external-dns that all groups but one rely on, ordered.
func (s *Keeper) otherUses(ctx context.Context, group intent.Path) ([]state.Use, error) {
	var uses []state.Use
	err := s.EachLifecycle(ctx, "", func(owner intent.Path, l state.Lifecycle) error {
		if owner != group {
			uses = append(uses, l.Uses...)
		}
		return nil
	})
	slices.SortFunc(uses, state.CompareUses)
	return slices.Compact(uses), err
}
