package render

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/removal"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// Desired is a context as it is to be.
type Desired struct {
	appcontext.Context

	Ground    *Inputs         // nil where nothing is to be in the clusters
	Undecided bool            // something waits until its nodes are known
	Losses    *removal.Result // of names that nothing offers an address any more

	contents Contents                              // that the objects follow from
	observed map[address.Service]*observed.Service // what was read of Services
}

// Foreign are the clusters, in order, where the namespace of a Service that names follow is another project's.
func (d Desired) Foreign() []string {
	var clusters []string
	for _, choices := range d.contents.Choices {
		for _, choice := range choices {
			clusters = append(clusters, choice.Foreign...)
		}
	}
	slices.Sort(clusters)
	return slices.Compact(clusters)
}

// Wanted is the context that the lifecycle asks for, one without an ID if nothing is to
// be in the clusters. The context that they have now is before.
func (s *Renderer) Wanted(ctx context.Context, l state.Lifecycle, before bundle.Bundle) (Desired, error) {
	lost := &removal.Result{Of: map[intent.Path]state.RetainedNames{}, Seen: map[intent.Path]bool{}}
	if !l.Deployed() {
		return Desired{Losses: lost}, nil
	}
	on, err := s.RenderInputs(ctx, l)
	if err != nil {
		return Desired{}, err
	}
	lost.Records = on.Records
	look := s.ObservedSources(on.Group)
	look.Keep = func(ctx context.Context, names map[string]state.NameSet) (map[string]state.NameSet, error) {
		return s.keep(ctx, l, on, names, lost)
	}
	contents, err := Render(ctx, on.Group, on.Records, on.Drained.Clusters, before, look)
	if err != nil {
		return Desired{}, err
	}
	for _, why := range contents.Unread {
		s.Logger.WarnContext(ctx, "published addresses stay as they are", "group", on.Group.Path, "error", why)
	}
	if !contents.due.IsZero() {
		s.WakeAt(on.Group.Path, contents.due)
	}
	undecided, err := s.undecided(ctx, contents.DNS)
	return Desired{Ground: on, Undecided: undecided, Losses: lost, contents: contents, observed: look.observed, Context: appcontext.Context{
		ID: l.ContextID, Meta: meta(on.Group), Objects: contents.Objects,
		Services: contents.services, Placements: contents.placements, Plain: intent.IsName(on.Group.Path),
	}}, err
}

// mostRelied is of how many Services a commit compares that their observations are still there:
// a transaction takes few compares. An address of another one comes back with the worker's next
// look, should it be forgotten just then.
const mostRelied = 64

// Relies compares that what was observed of the first Services that the context asks for, and the
// one of before does not, is still there. A worker may forget it until a context asks for it, and
// the next step would find nothing (I11).
func (d Desired) Relies(before appcontext.Pointer) []kv.Compare {
	var when []kv.Compare
	for _, cluster := range slices.Sorted(maps.Keys(d.Services)) {
		for _, name := range d.Services[cluster] {
			service := address.Service{Cluster: cluster}
			service.Namespace, service.Name, _ = strings.Cut(name, "/")
			if d.observed[service] != nil && !slices.Contains(before.Services[cluster], name) && len(when) < mostRelied {
				when = append(when, kv.Exists(observed.ServiceKey(service)))
			}
		}
	}
	return when
}

// meta describes a group's context. With that of an orchestrator's app context it
// shares the fields by which the deployer finds the credentials of clusters.
func meta(g plan.Group) appcontext.Meta {
	m := appcontext.Meta{
		Project: g.Project.Name, CompositeApp: g.CompositeApp, Version: g.Version, Release: g.Name,
		DeploymentIntentGroup: g.Name, Namespace: g.LogicalCloudNamespace, Level: "0", LogicalCloud: g.LogicalCloud,
		ChildContextIDs: []string{},
	}
	if intent.IsName(g.Path) {
		m.DeploymentIntentGroup = ""
	}
	if o := g.Orchestrated; o != nil {
		m.Namespace, m.Level = o.Namespace, o.Level
	}
	return m
}
