package release

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/externaldns"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/placement"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/plan/poddns"
	"github.com/signpost-dns/signpost/pkg/plan/workloads"
)

// contents are what an owner's app context holds, with the reasons.
type contents struct {
	objects  bundle.Bundle
	podDNS   []poddns.Finding    // about the pod DNS intents of the group's apps
	bindings []plan.Binding      // those that were chosen for
	choices  [][]address.Choice  // of these, and of the hosts of each, in their order
	lost     map[string]nameSet  // names, by record, that are published now, and that nothing offers an address any more
	kept     map[string]nameSet  // of these, those that stay published
	due      time.Time           // when other addresses may be chosen though nothing else is
	dns      []DNSReport         // of the logical cloud's clusters, in their order
	unread   []string            // what EMCO's monitor says and cannot be read
	services map[string][]string // cluster to the Services to watch

	placements map[string][]placement.Placement // cluster to those that its nodes are to be held against
}

// fill renders an owner: a group's workloads, and a DNSEndpoint for each
// binding with the addresses that its clusters offer, or a logical cloud's DNS.
// It is a function of the group, the records, which clusters are drained, the
// objects of before, and what look answers.
func fill(ctx context.Context, g plan.Group, records map[string]plan.Record, drained drainedClusters, before bundle.Bundle, look look) (contents, error) {
	c := contents{services: map[string][]string{}, placements: map[string][]placement.Placement{}}
	var err error
	if c.objects, c.podDNS, err = workloads.Render(g); err != nil {
		return c, &intent.Error{Code: intent.Conflict, Detail: err.Error()}
	}
	for _, b := range g.Bindings {
		if err := c.choose(ctx, g, b, records[b.Record], drained, before, look); err != nil {
			return c, err
		}
	}
	if err := c.publish(ctx, g, before, look); err != nil {
		return c, err
	}
	if err := c.fillDNS(ctx, g, before, look); err != nil {
		return c, err
	}
	for _, names := range c.services {
		slices.Sort(names)
	}
	if c.objects, err = bundle.Collect(c.objects); err != nil {
		err = &intent.Error{Code: intent.Conflict, Detail: err.Error()}
	}
	return c, err
}

// choose chooses the addresses of a binding's hosts.
func (c *contents) choose(ctx context.Context, g plan.Group, b plan.Binding, record plan.Record, drained drainedClusters, before bundle.Bundle, look look) error {
	held := addresses(publishedBefore(before, g, b))
	offers, err := c.offers(ctx, g, b, held, look)
	if err != nil {
		return err
	}
	drained.mark(b, offers)
	published, managed := publishingOf(record), externaldns.Managed(record.Spec.Parameters)
	choices, rule := make([]address.Choice, len(b.Hosts)), rule(b, record)
	for n, host := range b.Hosts {
		in := address.Input{
			Rule: rule, Types: typesOf(host, managed), Routing: host.Routing, Health: host.Health,
			Offers: offersTo(host, offers), Previous: held[host.Name], Now: look.now,
			SetIDs: published.abilities.SetIdentifiers, NoAlias: published.noAlias(host),
		}
		var due time.Time
		choices[n], due = address.Fold(in)
		choices[n].Sets = append(choices[n].Sets, published.services(host, choices[n])...)
		c.due = sooner(c.due, due)
		c.watchLoss(b, host, in, choices[n])
	}
	c.bindings, c.choices = append(c.bindings, b), append(c.choices, choices)
	return nil
}

// publish renders the DNSEndpoints of what was chosen, and of what is kept although
// nothing offers it any more.
func (c *contents) publish(ctx context.Context, g plan.Group, before bundle.Bundle, look look) error {
	if len(c.lost) > 0 && look.keep != nil {
		var err error
		if c.kept, err = look.keep(ctx, c.lost); err != nil {
			return err
		}
	}
	for n, b := range c.bindings {
		c.keepPublished(g, b, c.choices[n], before)
		object, some, err := endpoints.Render(g, b, c.choices[n])
		if err != nil {
			return err
		}
		if some {
			c.objects = append(c.objects, object)
		}
	}
	return nil
}

// publishedBefore is what a binding publishes now: what it did in its former home
// until it does in this one, so that a name which is kept is kept on the move.
func publishedBefore(objects bundle.Bundle, g plan.Group, b plan.Binding) map[string][]address.Set {
	held := previous(objects, g, b)
	if len(held) == 0 && b.Former != "" {
		b.Cluster = b.Former
		held = previous(objects, g, b)
	}
	return held
}

// addresses leaves the sets of host names themselves, without those of ports.
func addresses(held map[string][]address.Set) map[string][]address.Set {
	for host, sets := range held {
		held[host] = slices.DeleteFunc(sets, func(set address.Set) bool { return set.Name != "" })
	}
	return held
}

// offersTo are those of a host's own clusters.
func offersTo(host plan.Host, offers []address.Offer) []address.Offer {
	if len(host.Sources) == 0 {
		return offers
	}
	return slices.DeleteFunc(slices.Clone(offers), func(o address.Offer) bool {
		return !slices.Contains(host.Sources, o.Service.Cluster)
	})
}

// sooner is the earlier of two times, of which zero means never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func (c *contents) watchService(cluster, name string) {
	if !slices.Contains(c.services[cluster], name) {
		c.services[cluster] = append(c.services[cluster], name)
	}
}

// offers collects what the clusters of a binding offer, and notes the live
// Services among them.
func (c *contents) offers(ctx context.Context, g plan.Group, b plan.Binding, held map[string][]address.Set, look look) ([]address.Offer, error) {
	var out []address.Offer
	unread := map[string]bool{}
	standings, err := look.standing(ctx)
	if err != nil {
		return nil, err
	}
	for _, cluster := range b.Sources {
		offer := address.Offer{Service: address.Service{Cluster: cluster, Namespace: b.Namespace, Name: b.Service}}
		if directory(g, cluster) {
			offer.Observation = address.FromManifests(manifests(g, b.App), b.Namespace, b.Service)
			out = append(out, offer)
			continue
		}
		if !inventory(g, cluster) {
			c.watchService(cluster, b.Namespace+"/"+b.Service)
		}
		observation, err := look.service(ctx, b.App, offer.Service)
		switch {
		case intent.CodeOf(err) == intent.Conflict:
			unread[cluster] = true
			c.note(err.Error())
		case err != nil:
			return nil, err
		}
		offer.Observation, offer.Standing = observation, standings.of(cluster)
		out = append(out, offer)
	}
	if len(unread) > 0 {
		keepOffers(out, unread, held)
	}
	return out, nil
}

// keepOffers has the clusters of which nothing can be read go on to offer what
// was published before and no other cluster is known to offer: published
// addresses do not shrink by ignorance (I11).
func keepOffers(offers []address.Offer, unread map[string]bool, held map[string][]address.Set) {
	known := map[string]bool{}
	for _, offer := range offers {
		if offer.Observation != nil {
			for _, candidate := range offer.Observation.Candidates {
				known[candidate.Target] = true
			}
		}
	}
	var kept []address.Candidate
	for _, name := range slices.Sorted(maps.Keys(held)) {
		for _, set := range held[name] {
			for _, target := range set.Targets {
				if !known[target] {
					known[target] = true
					kept = append(kept, address.Candidate{Target: target, Field: "as published before: what EMCO's monitor says cannot be read"})
				}
			}
		}
	}
	for n := range offers {
		if unread[offers[n].Service.Cluster] && len(kept) > 0 {
			offers[n].Observation = &address.Observation{Found: true, Candidates: kept}
		}
	}
}

func (c *contents) note(unread string) {
	if !slices.Contains(c.unread, unread) {
		c.unread = append(c.unread, unread)
	}
}

// typesOf are the types of record that a host may have: of those that external-dns
// publishes.
func typesOf(host plan.Host, managed []string) []string {
	if len(host.Types) == 0 {
		return managed
	}
	types := []string{}
	for _, kind := range host.Types {
		if slices.Contains(managed, kind) {
			types = append(types, kind)
		}
	}
	return types
}

func rule(b plan.Binding, r plan.Record) address.Rule {
	rule := address.Rule{Scope: b.Scope, AllowPrivate: r.Spec.AllowPrivate}
	for _, host := range b.Hosts {
		rule.Names = append(rule.Names, host.Name)
	}
	if filter := r.Spec.TargetFilter; filter != nil {
		rule.Allow, rule.Deny = filter.Allow, filter.Deny
	}
	rule.Passed = externaldns.Values(r.Spec.Parameters, "target-net-filter")
	rule.Deny = slices.Concat(rule.Deny, externaldns.Values(r.Spec.Parameters, "exclude-target-net"))
	return rule
}

func directory(g plan.Group, cluster string) bool {
	return slices.ContainsFunc(g.Clusters, func(c plan.Cluster) bool { return c.Name == cluster && c.Directory != "" })
}

func inventory(g plan.Group, cluster string) bool {
	return slices.ContainsFunc(g.Clusters, func(c plan.Cluster) bool { return c.Name == cluster && c.Inventory })
}

func manifests(g plan.Group, app string) []json.RawMessage {
	for _, a := range g.Apps {
		if a.Name == app {
			return a.Manifests
		}
	}
	return nil
}
