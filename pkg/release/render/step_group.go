package render

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/removal"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// Desired is a context as it is to be.
type Desired struct {
	appcontext.Context

	Ground    *Inputs         // nil where nothing is to be in the clusters
	Undecided bool            // something waits until its nodes are known
	Losses    *removal.Result // of names that nothing offers an address any more

	contents Contents // that the objects follow from
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
	return Desired{Ground: on, Undecided: undecided, Losses: lost, contents: contents, Context: appcontext.Context{
		ID: l.ContextID, Meta: meta(on.Group), Objects: contents.Objects,
		Services: contents.services, Placements: contents.placements, Plain: intent.IsName(on.Group.Path),
	}}, err
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
