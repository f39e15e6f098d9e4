// Package orchestration serves EMCO's orchestrator: it freezes releases for
// EMCO's app contexts, and accepts them when those become current.
package orchestration

import (
	"context"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/release/accept"
	"github.com/signpost-dns/signpost/pkg/release/follow"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/removal"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/sharing"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/release/tenancy"
)

// Sync has groups follow EMCO's app contexts.
type Sync struct {
	*state.Store
	EMCO      *emco.Store
	Inputs    *inputs.Reader
	Tenancy   *tenancy.Keeper
	Resolver  *resolve.Resolver
	Ownership *ownership.Registry
	Sharing   *sharing.Judge
	Removal   *removal.Guard
	Follower  *follow.Follower
	Planner   *accept.Planner

	NoteEMCO func() // called once there are groups that EMCO deploys
}

// migrates answers from where that is an app context of another group of the
// project, in whose place EMCO migrates to this one, else nothing.
func (s *Sync) migrates(ctx context.Context, group intent.Path, from string) (string, error) {
	if from == "" {
		return "", nil
	}
	meta, err := s.EMCO.Meta(ctx, from)
	switch intent.CodeOf(err) {
	case intent.NotFound, intent.Conflict, intent.Invalid:
		return "", nil
	}
	source, ok := follow.GroupOf(meta)
	if !ok || source == group || source.Segment("projects") != group.Segment("projects") {
		return "", err
	}
	return from, err
}

// migrated tells whether another group of the project has replaced a group's app context,
// and its names are there. EMCO does not tell that to the group that it migrated from.
func (s *Sync) migrated(ctx context.Context, group intent.Path, appContext string) (bool, error) {
	found := false
	err := s.EachLifecycle(ctx, "projects/"+group.Segment("projects")+"/", func(other intent.Path, l state.Lifecycle) error {
		if found || other == group || !cameFrom(&l, appContext) {
			return nil
		}
		pointer, err := s.Contexts.Current(ctx, state.GroupOwner(other))
		found = err == nil && pointer.ContextID == l.ContextID
		return err
	})
	return found, err
}

// cameFrom tells whether a group's app context, or one before it, took the
// place of one of another group.
func cameFrom(l *state.Lifecycle, appContext string) bool {
	return l.Orchestrated() && slices.ContainsFunc(l.Prepared, func(p state.Prepared) bool {
		return p.From == appContext && !l.Older(l.AppContext, p.AppContext)
	})
}
