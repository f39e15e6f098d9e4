package release

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/plan/workloads"
)

// contents are what a group's app context holds, with the reasons.
type contents struct {
	objects  bundle.Bundle
	choices  []address.Choice    // of the group's bindings, in their order
	services map[string][]string // cluster to the Services to watch
}

// look answers what a Service offers, nil when that is not known.
type look func(ctx context.Context, service address.Service) (*address.Observation, error)

// fill renders a group: its workloads, and a DNSEndpoint for each binding with
// the addresses that its clusters offer. It is a function of the group, the
// records, which clusters are drained, and what look answers.
func fill(ctx context.Context, g plan.Group, records map[string]plan.Record, drained drainedClusters, look look) (contents, error) {
	c := contents{services: map[string][]string{}}
	objects, err := workloads.Render(g)
	if err != nil {
		return c, &intent.Error{Code: intent.Conflict, Detail: err.Error()}
	}
	for _, b := range g.Bindings {
		offers, err := offers(ctx, g, b, look, c.services)
		if err != nil {
			return c, err
		}
		drained.withhold(b, offers)
		choice := address.Choose(rule(b, records[b.Record]), offers)
		c.choices = append(c.choices, choice)
		object, some, err := endpoints.Render(g, b, choice)
		if err != nil {
			return c, err
		}
		if some {
			objects = append(objects, object)
		}
	}
	for _, names := range c.services {
		slices.Sort(names)
	}
	if c.objects, err = bundle.Collect(objects); err != nil {
		err = &intent.Error{Code: intent.Conflict, Detail: err.Error()}
	}
	return c, err
}

// offers collects what the clusters of a binding offer, and notes the live
// Services among them in watch.
func offers(ctx context.Context, g plan.Group, b plan.Binding, look look, watch map[string][]string) ([]address.Offer, error) {
	var out []address.Offer
	for _, cluster := range b.Sources {
		offer := address.Offer{Service: address.Service{Cluster: cluster, Namespace: b.Namespace, Name: b.Service}}
		if directory(g, cluster) {
			offer.Observation = address.FromManifests(manifests(g, b.App), b.Namespace, b.Service)
			out = append(out, offer)
			continue
		}
		name := b.Namespace + "/" + b.Service
		if !slices.Contains(watch[cluster], name) {
			watch[cluster] = append(watch[cluster], name)
		}
		observation, err := look(ctx, offer.Service)
		if err != nil {
			return nil, err
		}
		offer.Observation = observation
		out = append(out, offer)
	}
	return out, nil
}

func rule(b plan.Binding, r plan.Record) address.Rule {
	rule := address.Rule{Scope: b.Scope, AllowPrivate: r.Spec.AllowPrivate}
	for _, host := range b.Hosts {
		rule.Names = append(rule.Names, host.Name)
	}
	if filter := r.Spec.TargetFilter; filter != nil {
		rule.Allow, rule.Deny = filter.Allow, filter.Deny
	}
	return rule
}

func directory(g plan.Group, cluster string) bool {
	return slices.ContainsFunc(g.Clusters, func(c plan.Cluster) bool { return c.Name == cluster && c.Directory != "" })
}

func manifests(g plan.Group, app string) []json.RawMessage {
	for _, a := range g.Apps {
		if a.Name == app {
			return a.Manifests
		}
	}
	return nil
}
