package render

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/domain/source"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/plan/poddns"
	"github.com/signpost-dns/signpost/pkg/plan/workloads"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Contents are what an owner's app context holds, with the reasons.
type Contents struct {
	Objects  bundle.Bundle
	PodDNS   []poddns.Finding         // about the pod DNS intents of the group's apps
	bindings []plan.Binding           // those that were chosen for
	Choices  [][]address.Choice       // of these, and of the hosts of each, in their order
	lost     map[string]state.NameSet // names, by record, that are published now, and that nothing offers an address any more
	Kept     map[string]state.NameSet // of these, those that stay published
	due      time.Time                // when other addresses may be chosen though nothing else is
	DNS      []DNSReport              // of the logical cloud's clusters, in their order
	Unread   []string                 // reports of an orchestrator that cannot be read
	frozen   string                   // why no cluster is removed for being unreachable; empty: clusters may be
	services map[string][]string      // cluster to the Services to watch

	placements map[string][]placement.Placement // cluster to those that its nodes are to be held against
}

// Render renders an owner: a group's workloads, and a DNSEndpoint for each
// binding with the addresses that its clusters offer, or a logical cloud's DNS.
// It is a function of the group, the records, which clusters are drained, the
// objects of before, and what look answers.
func Render(ctx context.Context, g plan.Group, records map[string]plan.Record, drained state.DrainedClusters, before bundle.Bundle, look Sources) (Contents, error) {
	c := Contents{services: map[string][]string{}, placements: map[string][]placement.Placement{}}
	var err error
	if c.Objects, c.PodDNS, err = workloads.Render(ctx, g); err != nil {
		if ctx.Err() != nil {
			return c, ctx.Err()
		}
		return c, &intent.Error{Code: intent.Conflict, Detail: err.Error()}
	}
	now := &past{objects: before, group: g}
	for _, b := range g.Bindings {
		if err := c.choose(ctx, g, b, records[b.Record], drained, now, look); err != nil {
			return c, err
		}
	}
	if err := c.publish(ctx, g, now, look); err != nil {
		return c, err
	}
	if err := c.fillDNS(ctx, g, before, look); err != nil {
		return c, err
	}
	for _, names := range c.services {
		slices.Sort(names)
	}
	if c.Objects, err = bundle.Collect(c.Objects); err != nil {
		err = &intent.Error{Code: intent.Conflict, Detail: err.Error()}
	}
	return c, err
}

// choose chooses the addresses of a binding's hosts.
func (c *Contents) choose(ctx context.Context, g plan.Group, b plan.Binding, record plan.Record, drained state.DrainedClusters, now *past, look Sources) error {
	held := addresses(now.sets(b))
	var offers []address.Offer
	if b.Service != "" {
		var err error
		if offers, err = c.offers(ctx, g, b, drained, held, look); err != nil {
			return err
		}
	}
	published, choices := resolve.PublishingOf(record), make([]address.Choice, len(b.Hosts))
	rule := published.Rule
	rule.Scope = b.Scope
	for _, host := range b.Hosts {
		rule.Names = append(rule.Names, host.Name)
	}
	probed, err := probed(ctx, g, b, look)
	if err != nil {
		return err
	}
	for n, host := range b.Hosts {
		if err := ctx.Err(); err != nil {
			return err
		}
		in := address.Input{
			Rule: rule, Types: typesOf(host, published.Managed), Routing: host.Routing, Health: host.Health,
			Offers: offersTo(g, b, host, offers), Previous: held[host.Name], Now: look.now, Probed: probed[n],
			SetIDs: published.Abilities.SetIdentifiers, NoAlias: published.NoAlias(host),
		}
		var due time.Time
		choices[n], due = address.Fold(in)
		choices[n].Sets = slices.Concat(choices[n].Sets, published.Services(host, choices[n]), endpoints.Records(host))
		c.due = earliest(c.due, due)
		c.watchLoss(b, host, in, choices[n])
	}
	c.bindings, c.Choices = append(c.bindings, b), append(c.Choices, choices)
	return nil
}

// probed is what probes have found of the addresses of each host of a binding. It is
// read if a probe is asked for.
func probed(ctx context.Context, g plan.Group, b plan.Binding, look Sources) ([]map[string]intent.ProbeStatus, error) {
	out := make([]map[string]intent.ProbeStatus, len(b.Hosts))
	var all map[string]map[string]intent.ProbeStatus
	for n, host := range b.Hosts {
		probe, asked := endpoints.Probe(host)
		if !asked {
			continue
		}
		if all == nil {
			found, err := look.probes(ctx, endpoints.ID(g, b))
			if err != nil {
				return nil, err
			}
			if all = found; all == nil {
				return out, nil
			}
		}
		out[n] = all[probe.Key()]
	}
	return out, nil
}

// publish renders the DNSEndpoints of what was chosen, and of what is kept although
// nothing offers it any more.
func (c *Contents) publish(ctx context.Context, g plan.Group, now *past, look Sources) error {
	if len(c.lost) > 0 && look.Keep != nil {
		var err error
		if c.Kept, err = look.Keep(ctx, c.lost); err != nil {
			return err
		}
	}
	for n, b := range c.bindings {
		c.keepPublished(b, c.Choices[n], now)
		object, some, err := endpoints.Render(g, b, c.Choices[n])
		if err != nil {
			return err
		}
		if some {
			c.Objects = append(c.Objects, object)
		}
	}
	return nil
}

// addresses leaves the sets of addresses and aliases of host names themselves.
func addresses(held map[string][]address.Set) map[string][]address.Set {
	for host, sets := range held {
		held[host] = slices.DeleteFunc(sets, func(set address.Set) bool {
			return set.Name != "" || set.Type != "A" && set.Type != "AAAA" && set.Type != "CNAME"
		})
	}
	return held
}

// offersTo are those of a host's own clusters, or its fixed targets.
func offersTo(g plan.Group, b plan.Binding, host plan.Host, offers []address.Offer) []address.Offer {
	if len(host.Targets) > 0 {
		return []address.Offer{address.FixedOffer(string(g.Path), b.Cluster, host.Targets)}
	}
	if len(host.Sources) == 0 {
		return offers
	}
	return slices.DeleteFunc(slices.Clone(offers), func(o address.Offer) bool {
		return !slices.Contains(host.Sources, o.Service.Cluster)
	})
}

// earliest is the earlier of two times, of which zero means never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func (c *Contents) watchService(cluster, name string) {
	if !slices.Contains(c.services[cluster], name) {
		c.services[cluster] = append(c.services[cluster], name)
	}
}

// offers collects what the clusters of a binding offer, and notes the live
// Services among them.
func (c *Contents) offers(ctx context.Context, g plan.Group, b plan.Binding, drained state.DrainedClusters, held map[string][]address.Set, look Sources) ([]address.Offer, error) {
	var out []address.Offer
	unread := map[string]bool{}
	health, err := look.health(ctx)
	if err != nil {
		return nil, err
	}
	c.frozen = health.frozen
	if look.ahead != nil {
		if err := look.ahead(ctx, b); err != nil {
			return nil, err
		}
	}
	for _, cluster := range b.Sources {
		offer := address.Offer{Service: address.Service{Cluster: cluster, Namespace: b.Namespace, Name: b.Service}}
		if resolve.Directory(g, cluster) {
			offer.Observation = source.FromManifests(manifests(g, b.App), b.Namespace, b.Service)
			out = append(out, offer)
			continue
		}
		if !inventory(g, cluster) {
			c.watchService(cluster, b.Namespace+"/"+b.Service)
		}
		if offer.Foreign, err = look.foreign(ctx, b, cluster); err != nil {
			return nil, err
		}
		observation, err := look.service(ctx, b.App, offer.Service)
		switch {
		case intent.CodeOf(err) == intent.Conflict:
			unread[cluster] = true
			c.note(err.Error())
		case err != nil:
			return nil, err
		}
		offer.Observation, offer.Standing = observation, health.of(cluster)
		out = append(out, offer)
	}
	drained.Mark(b, out)
	if len(unread) == 0 && !look.partly {
		keepOffers(out, unseen(out), held, AsBefore+": nobody has looked for the Service yet")
	}
	keepOffers(out, unread, held, AsBefore+": what "+intent.Monitor+" says cannot be read")
	return out, nil
}

// unseen are the clusters that nobody has asked for the Service yet, if no other is known to
// have it. A name that turns to another Service is not empty until then. A cluster that does
// not answer counts only if nothing is known of any.
func unseen(offers []address.Offer) map[string]bool {
	answering, all := map[string]bool{}, map[string]bool{}
	for _, o := range offers {
		switch {
		case o.Observation != nil && o.Observation.Found:
			return nil
		case o.Observation != nil || o.Foreign || o.Standing.Drained:
			continue
		case o.Standing.UnreachableSince.IsZero() && o.Standing.SilentSince.IsZero():
			answering[o.Service.Cluster] = true
		}
		all[o.Service.Cluster] = true
	}
	if len(all) == len(offers) {
		return all
	}
	return answering
}

// AsBefore stands in place of the field that an address comes from. The address stays,
// because nobody knows whether its cluster offers it.
const AsBefore = "as published before"

// keepOffers has clusters that cannot be read keep the published addresses that no other
// cluster is known to have. Published addresses do not shrink by ignorance (I11).
func keepOffers(offers []address.Offer, unread map[string]bool, held map[string][]address.Set, why string) {
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
					kept = append(kept, address.Candidate{Target: target, Field: why})
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

func (c *Contents) note(unread string) {
	if !slices.Contains(c.Unread, unread) {
		c.Unread = append(c.Unread, unread)
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
