package state

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
)

// Suspended says whether the group's document suspends what is deployed.
func (s *Store) Suspended(ctx context.Context, group intent.Path, l Lifecycle) (bool, error) {
	if !l.Deployed() || intent.IsName(group) { // a name is never suspended
		return false, nil
	}
	doc, err := s.Documents.Get(ctx, group)
	if intent.CodeOf(err) == intent.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return l.SuspendedBy(doc)
}

// SuspendedBy says whether the group's document suspends what is deployed.
func (l *Lifecycle) SuspendedBy(doc intent.Document) (bool, error) {
	if IsCloud(doc.Path) {
		return false, nil
	}
	resource, err := intent.Of[intent.DeploymentIntentGroup](doc)
	return l.Deployed() && resource.Spec.Suspend, err
}

// Previous are the sets that the DNSEndpoint of a binding, which is among the
// objects, publishes, by host name.
func Previous(objects bundle.Bundle, g plan.Group, b plan.Binding) map[string][]address.Set {
	o, _ := objects.Find(endpoints.ID(g, b))
	if o.Published == nil {
		return map[string][]address.Set{}
	}
	return PublishedSets(o.Published)
}

// PublishedSets are the sets that a DNSEndpoint publishes, by host name.
func PublishedSets(p *bundle.Published) map[string][]address.Set {
	sets := map[string][]address.Set{}
	for _, n := range p.Names {
		set := address.Set{Type: n.Type, Targets: n.Targets, ID: n.ID, Weight: n.Weight, Region: n.Region, Location: n.Location}
		if n.Name != n.Host {
			set.Name = n.Name
		}
		sets[n.Host] = append(sets[n.Host], set)
	}
	return sets
}
