package release

import (
	"context"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/externaldns"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// checkTenancy refuses what a release may not share with others, secrets not
// with the readers of a directory either, records that are not to be disturbed
// now, and clusters that are abandoned.
func (s *Service) checkTenancy(ctx context.Context, d *draft) error {
	for _, use := range d.uses {
		r := d.records[use.Record.Name()]
		if r.live() && r.lifecycle.Moving {
			d.fail(use.Record, "/spec/deployOn", "the record is moving to %s; try again when it is there", r.frozen.Home)
		}
		for _, f := range s.inPlain(r.frozen, use.Cluster, d.in.clusters[use.Cluster].Spec) {
			d.fail(use.Record, f.Pointer, "%s", f.Detail)
		}
	}
	for _, check := range []func(context.Context, *draft) error{s.checkAbandoned, s.checkOwners, s.checkOthersDNS, s.checkNamespaces, s.checkGranted} {
		if err := check(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// checkNamespaces refuses namespaces that have become another project's since
// the documents were stored.
func (s *Service) checkNamespaces(ctx context.Context, d *draft) error {
	if s.NamespaceHolder == nil {
		return nil
	}
	namespaces := []string{d.group.LogicalCloudNamespace}
	for _, app := range d.group.Apps {
		namespaces = append(namespaces, app.Namespace)
	}
	for _, b := range d.group.Bindings {
		namespaces = append(namespaces, b.Namespace)
	}
	for _, dns := range d.group.DNS {
		namespaces = append(namespaces, dns.Spec.Namespace)
	}
	slices.Sort(namespaces)
	for _, namespace := range slices.Compact(namespaces) {
		holder, err := s.NamespaceHolder(ctx, namespace)
		if err != nil {
			return err
		}
		if holder != "" && holder != d.group.Project.Name {
			d.fail(d.group.Path, "/spec/apps", "namespace %q is the one of %s; give the logical cloud, the app or the intent another", namespace, intent.By(ctx).Project(holder))
		}
	}
	return nil
}

// checkOwners refuses an owner id of the user's that two deployments would
// share, of this group or of others: each would take the other's names for its
// own.
func (s *Service) checkOwners(ctx context.Context, d *draft) error {
	taken := map[string]Use{}
	for _, use := range d.uses {
		record := d.records[use.Record.Name()].frozen
		id := ownOwnerID(record.Spec)
		if s.looksGenerated(id, record.UID) {
			d.fail(use.Record, atOwnerID, "the owner id %q %s", id, generatedForm)
		}
		if first, twice := taken[id]; twice {
			d.failOwner(ctx, id, use, first)
		} else if id != "" {
			taken[id] = use
		}
	}
	if len(taken) == 0 {
		return nil
	}
	others, err := s.otherUses(ctx, d.group.Path)
	if err != nil {
		return err
	}
	for _, other := range others {
		l, err := s.recordLifecycle(ctx, other.Record)
		if err != nil {
			return err
		}
		id := ownOwnerID(l.Record.Spec)
		if use, shared := taken[id]; shared && !slices.Contains(d.uses, other) {
			d.failOwner(ctx, id, use, other)
		}
	}
	return nil
}

const (
	ownerIDParameter = "txt-owner-id"
	atOwnerID        = "/spec/external-dns-parameters/" + ownerIDParameter

	generatedForm = "is of the form that Signpost generates, and may be another record's; leave it out"
)

// looksGenerated says whether an owner id is of our form, and not the one that we
// would generate for a record with this UID.
func (s *Service) looksGenerated(id, uid string) bool {
	return id != plan.OwnerID(s.Installation, uid) && strings.HasPrefix(id, plan.OwnerID(s.Installation, ""))
}

func (d *draft) failOwner(ctx context.Context, id string, use, other Use) {
	d.fail(use.Record, atOwnerID, "the owner id %q would be used by two deployments, of %s on %s and of %s; leave it out, and each gets one of its own", id, use.Record, use.Cluster, other.seen(ctx))
}

// seen names a use as far as who asks may know of it.
func (u Use) seen(ctx context.Context) string {
	record := intent.By(ctx).Names(u.Record)
	if record == string(u.Record) {
		return record + " on " + u.Cluster
	}
	return record
}

// ownerWarnings tells that a plan would refuse the owner id that a stored record's
// user has set: it is in use, or may be.
func (s *Service) ownerWarnings(ctx context.Context, record intent.Document) ([]intent.Warning, error) {
	stored, err := intent.Of[intent.Record](record)
	if err != nil {
		return nil, err
	}
	id := ownOwnerID(stored.Spec)
	if id == "" {
		return nil, nil
	}
	warn := func(why string) []intent.Warning {
		return []intent.Warning{{Parameter: ownerIDParameter, Message: why + "; until then plans refuse it"}}
	}
	if s.looksGenerated(id, record.UID) {
		return warn(generatedForm), nil
	}
	uses, err := s.otherUses(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, other := range uses {
		if other.Record == record.Path {
			continue
		}
		l, err := s.recordLifecycle(ctx, other.Record)
		if err != nil {
			return nil, err
		}
		if ownOwnerID(l.Record.Spec) == id {
			return warn("is the owner id of " + other.seen(ctx) + "; leave it out, and the record gets one of its own"), nil
		}
	}
	return nil, nil
}

// ownOwnerID is the owner id that a record's user has set, if any.
func ownOwnerID(r intent.Record) string {
	return externaldns.Value(r.Parameters, ownerIDParameter)
}

// otherUses are the external-dns that all groups but one rely on, ordered.
func (s *Service) otherUses(ctx context.Context, group intent.Path) ([]Use, error) {
	var uses []Use
	err := s.eachLifecycle(ctx, "", func(owner intent.Path, l Lifecycle) error {
		if owner != group {
			uses = append(uses, l.Uses...)
		}
		return nil
	})
	slices.SortFunc(uses, compareUses)
	return slices.Compact(uses), err
}
