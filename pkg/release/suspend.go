package release

import (
	"context"
	"slices"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
)

// hold brings the suspension of a group, as its document says it now, to the
// group's pointer, and answers whether the group rests. What is to be
// terminated never does. While nobody can say, it is as it was.
func (s *Service) hold(ctx context.Context, group intent.Path, l Lifecycle, was appcontext.Pointer) (appcontext.Pointer, bool, error) {
	suspended, err := s.suspended(ctx, group, l)
	if intent.CodeOf(err) == intent.Unavailable { // EMCO keeps the document, and does not answer
		suspended, err = was.Suspended, nil
	}
	if err != nil || was.ContextID == "" || was.Suspended == suspended {
		return was, suspended, err
	}
	was, err = s.Contexts.Suspend(ctx, was, suspended)
	return was, suspended, err
}

func (s *Service) suspended(ctx context.Context, group intent.Path, l Lifecycle) (bool, error) {
	if !l.deployed() {
		return false, nil
	}
	doc, err := s.Documents.Get(ctx, group)
	if intent.CodeOf(err) == intent.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return l.suspendedBy(doc)
}

// suspendedBy says whether the group's document suspends what is deployed.
func (l *Lifecycle) suspendedBy(doc intent.Document) (bool, error) {
	if IsCloud(doc.Path) {
		return false, nil
	}
	resource, err := intent.Of[intent.DeploymentIntentGroup](doc)
	return l.deployed() && resource.Spec.Suspend, err
}

// warnOfSuspension says what will wait, or not be published.
func (d *draft) warnOfSuspension() {
	if d.in.group.Spec.Suspend {
		d.warn("the deployment intent group is suspended: what is accepted waits until its suspend is false")
	}
	for _, use := range d.uses {
		if d.records[use.Record.Name()].frozen.Spec.Suspend {
			d.warn("record %q is suspended: no name of it is published or removed until its suspend is false and it is updated", use.Record.Name())
		}
	}
}

// keepTargets puts the targets that the group's DNSEndpoints hold in place of
// those that would be chosen now: nobody writes the latter.
func (snap *Snapshot) keepTargets() {
	for n, b := range snap.Group.Bindings {
		held := previous(snap.Objects, snap.Group, b)
		for h, host := range b.Hosts {
			snap.Choices[n][h].Sets = held[host.Name]
		}
	}
}

// previous are the sets that the DNSEndpoint of a binding, which is among the
// objects, publishes, by host name.
func previous(objects bundle.Bundle, g plan.Group, b plan.Binding) map[string][]address.Set {
	sets := map[string][]address.Set{}
	at, found := slices.BinarySearchFunc(objects, endpoints.ID(g, b), func(o bundle.Object, id bundle.ID) int { return bundle.Compare(o.ID, id) })
	if found {
		_, named := endpoints.Read(objects[at].JSON)
		for _, n := range named {
			sets[n.Host] = append(sets[n.Host], n.Set)
		}
	}
	return sets
}
