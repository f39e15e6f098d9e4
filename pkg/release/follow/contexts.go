package follow

import (
	"cmp"
	"context"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// GroupOf is the path of the deployment intent group that an app context is
// of, as its meta says; ok is false where that names none.
func GroupOf(m emco.Meta) (group intent.Path, ok bool) {
	for _, name := range []string{m.Project, m.CompositeApp, m.Version, m.DeploymentIntentGroup} {
		if name == "" || strings.Contains(name, "/") {
			return "", false
		}
	}
	return intent.Join("projects", m.Project, "composite-apps", m.CompositeApp, m.Version, "deployment-intent-groups", m.DeploymentIntentGroup), true
}

// NoGroup is the error for an app context that belongs to no group.
func NoGroup(id string) error {
	return &intent.Error{Code: intent.Conflict, Detail: "app context " + id + " is none of a deployment intent group: its meta names none, as those of logical clouds and networks do"}
}

// ContextState is what EMCO has made of an app context.
type ContextState struct {
	ID    string
	As    Role
	Other string // id of the context that has taken its place, or whose place it takes, where rsync was told so
}

// Role is what EMCO means to do with an app context.
type Role int

// The roles of an app context.
const (
	Unsaid     Role = iota // rsync was told nothing yet, or nothing that is known here
	Active                 // it is in the clusters, or on its way there
	Superseded             // another context has taken its place
	Ended                  // it is terminated or deleted, or about to be
)

// RoleOf goes by what rsync was told last, which is what EMCO made of the
// context last. Where that is not written down, it goes by what rsync has done.
func RoleOf(state emco.State) Role {
	switch cmp.Or(state.Told, state.Current, state.Status) {
	case "Instantiate", "Update", "Instantiating", "Instantiated", "InstantiateFailed":
		return Active
	case "UpdateDelete", "Updating", "Updated", "UpdatedFailed":
		return Superseded
	case "Terminate", "Terminating", "Terminated", "TerminateFailed":
		return Ended
	}
	return Unsaid
}

// StateOf answers how an app context stands. A state that cannot be read says
// nothing.
func (s *Follower) StateOf(ctx context.Context, id string) (ContextState, error) {
	state, err := s.EMCO.State(ctx, id)
	switch intent.CodeOf(err) {
	case intent.NotFound:
		return ContextState{ID: id, As: Ended}, nil
	case intent.Conflict:
		return ContextState{ID: id}, nil
	}
	return ContextState{ID: id, As: RoleOf(state), Other: state.Other}, err
}

// Stands answers how the app context of a group stands. One that is not in the
// clusters has ended.
func (s *Follower) Stands(ctx context.Context, l *state.Lifecycle) (ContextState, error) {
	if !l.Orchestrated() {
		return ContextState{ID: l.AppContext, As: Ended}, nil
	}
	return s.StateOf(ctx, l.AppContext)
}

// OrchestratedBy is the group of an app context, if EMCO deploys it.
func (s *Follower) OrchestratedBy(ctx context.Context, id string) (group intent.Path, ok bool) {
	meta, err := s.EMCO.Meta(ctx, id)
	if err != nil {
		return "", false
	}
	if group, ok = GroupOf(meta); !ok {
		return "", false
	}
	l, err := s.StoredLifecycle(ctx, group)
	return group, err == nil && l.ToSync()
}
