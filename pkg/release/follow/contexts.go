// Package follow tells what EMCO has made of its app contexts, and has them name
// Signpost's contexts as their children.
package follow

import (
	"cmp"
	"context"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// GroupOf is the path of the deployment intent group that an app context belongs to, by
// its meta; ok is false if that names none.
func GroupOf(m emco.Meta) (group intent.Path, ok bool) {
	for _, name := range []string{m.Project, m.CompositeApp, m.Version, m.DeploymentIntentGroup} {
		if name == "" || strings.Contains(name, "/") {
			return "", false
		}
	}
	return intent.Join("projects", m.Project, "composite-apps", m.CompositeApp, m.Version, "deployment-intent-groups", m.DeploymentIntentGroup), true
}

// Orchestration is an app context with the traffic groups whose intents count.
func Orchestration(c *emco.Context, traffic []string) *inputs.Orchestration {
	o := &inputs.Orchestration{ID: c.ID, LogicalCloud: c.Meta.LogicalCloud, Namespace: c.Meta.Namespace, Level: c.Meta.Level, Traffic: traffic}
	for _, app := range c.Apps {
		to := inputs.OrchestratedApp{Name: app.Name}
		for _, on := range app.Clusters {
			cluster := inputs.OrchestratedCluster{Name: on.Name}
			for _, r := range on.Resources {
				cluster.Resources = append(cluster.Resources, inputs.OrchestratedResource{Key: r.Key, Kind: r.Kind, Rendered: r})
			}
			to.Clusters = append(to.Clusters, cluster)
		}
		o.Apps = append(o.Apps, to)
	}
	return o
}

// Follower reads the states of EMCO's app contexts and writes their metas.
type Follower struct {
	*state.Store
	EMCO   *emco.Store
	Inputs *inputs.Reader

	prepared prepared
}

// Current reads the app context that a group is for.
func (s *Follower) Current(ctx context.Context, l *state.Lifecycle) (*inputs.Orchestration, error) {
	app, err := s.EMCO.Read(ctx, l.AppContext)
	if intent.CodeOf(err) == intent.NotFound {
		err = &intent.Error{Code: intent.Conflict, Detail: "the effect of EMCO's app context is unknown", Err: err}
	}
	if err != nil {
		return nil, err
	}
	var traffic []string
	if at := l.PreparedAt(l.AppContext); at >= 0 {
		traffic = l.Prepared[at].Traffic
	}
	return Orchestration(app, traffic), nil
}

// Told is the state of a group's app context in EMCO's words, empty before EMCO's first
// report. It also tells the reason if the state is unknown, or is not that of the
// clusters.
func (s *Follower) Told(ctx context.Context, l *state.Lifecycle) (is, why string, err error) {
	known, err := s.EMCO.State(ctx, l.AppContext)
	switch intent.CodeOf(err) {
	case intent.NotFound, intent.Conflict:
		return "", err.Error(), nil
	}
	if l.Orchestrated() && roleOf(known) == Superseded && !l.IsPrepared(known.Other) {
		why = "EMCO has replaced the app context by one that Signpost does not know: names stay as they are"
	}
	return cmp.Or(known.Current, known.Status), why, err
}

// NoGroup is the error for an app context that belongs to no group.
func NoGroup(id string) error {
	return &intent.Error{Code: intent.Conflict, Detail: "app context " + id + " does not belong to a deployment intent group: its meta names none, as for logical clouds and networks"}
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

// roleOf follows the last request to rsync, which shows EMCO's last decision about the
// context. If that is not stored, it follows the last action of rsync.
func roleOf(state emco.State) Role {
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
	return ContextState{ID: id, As: roleOf(state), Other: state.Other}, err
}

// Stands answers how the app context of a group stands. A context that is not in the
// clusters has ended.
func (s *Follower) Stands(ctx context.Context, l *state.Lifecycle) (ContextState, error) {
	if !l.Orchestrated() {
		return ContextState{ID: l.AppContext, As: Ended}, nil
	}
	return s.StateOf(ctx, l.AppContext)
}

// Watch reports groups until ctx ends: when rsync changes the state of a group's app
// context, the monitor its addresses, or anybody its meta. If changes were missed, lost
// is called.
func (s *Follower) Watch(ctx context.Context, changed func(group intent.Path), lost func()) {
	for change := range s.EMCO.Watch(ctx, 0) {
		if change.Lost {
			lost()
		}
		for _, c := range change.Contexts {
			if group, ok := s.orchestratedBy(ctx, c.ID); ok {
				changed(group)
			}
		}
	}
}

// orchestratedBy is the group of an app context, if EMCO deploys it.
func (s *Follower) orchestratedBy(ctx context.Context, id string) (group intent.Path, ok bool) {
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

// Reports answers what EMCO's monitor has written of the apps of a group, as far as the
// group has names there.
func (s *Follower) Reports(ctx context.Context, g plan.Group) ([]render.Report, error) {
	c := &emco.Context{ID: g.Orchestrated.AppContext, Meta: emco.Meta{Namespace: g.Orchestrated.Namespace}}
	for _, app := range g.Apps {
		watched := emco.App{Name: app.Name}
		for _, cluster := range app.Clusters {
			watched.Clusters = append(watched.Clusters, emco.Cluster{Name: cluster})
		}
		c.Apps = append(c.Apps, watched)
	}
	seen, err := s.EMCO.Observed(ctx, c)
	reports := make([]render.Report, len(seen))
	for n, o := range seen {
		reports[n] = render.Report{App: o.App, Cluster: o.Cluster, Revision: o.Revision, Err: o.Err, Service: o.Service}
	}
	return reports, err
}
