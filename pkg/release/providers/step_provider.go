package providers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/provider"
	"github.com/signpost-dns/signpost/pkg/release/cleanup"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// providerStep is one look at an external-dns. Its reconcilers change the copy of the
// record's lifecycle.
type providerStep struct {
	use       state.Use
	was       appcontext.Pointer
	users     []string       // the first groups and names that rely on it
	leaving   bool           // without users: others may have names of it still
	cleaning  cleanup.Result // of names that it published
	lifecycle state.RecordLifecycle
}

// reconcilers are the parts of a step, in their order.
func (s *Updater) reconcilers() []state.Reconciler[providerStep] {
	return []state.Reconciler[providerStep]{
		{Name: "former home", Reconcile: s.leaveHome},
		{Name: "move", Reconcile: s.move},
		{Name: "adoption", Reconcile: s.adoptions},
		{Name: "cleanups", Reconcile: s.cleanups},
		{Name: "context", Reconcile: s.context},
		{Name: "unused", Reconcile: s.unused},
	}
}

// StepProvider brings the app context of one external-dns to what its users
// need. It is there while a current release relies on it, or while names that it
// published are still to be removed.
func (s *Updater) StepProvider(ctx context.Context, use state.Use) error {
	ctx = snapshot.Now(ctx) // users may have come since the step of a name began
	for {
		on, err := s.look(ctx, use)
		if err != nil || on.lifecycle.Seq == 0 {
			return err
		}
		read := on.lifecycle
		outcome, _, failure := state.Reconcile(ctx, &on, s.reconcilers())
		err = errors.Join(s.SaveRecord(ctx, read, on.lifecycle), failure)
		if err != nil || outcome != state.Again {
			return err
		}
		use = on.use
	}
}

// look reads the pointer first: what is read after it is at least as new. The lifecycle is read after the users, and the cleanups after
// it. A group that is no user and no leaver any more has noted its cleanups before that. Nobody is looked for who uses a home that the
// record has left.
func (s *Updater) look(ctx context.Context, use state.Use) (on providerStep, err error) {
	on.use = use
	if on.was, err = s.Contexts.Current(ctx, use.Owner()); err != nil {
		return on, err
	}
	if on.lifecycle, err = s.RecordLifecycle(ctx, use.Record); err != nil || on.lifecycle.MovedFrom(use) {
		return on, err
	}
	if on.users, on.leaving, err = s.FirstUsers(ctx, use); err != nil {
		return on, err
	}
	on.lifecycle, err = s.RecordLifecycle(ctx, use.Record)
	return on, err
}

// cleanups ends cleanups of names that the external-dns has published. While it has users, later looks are for those that are left.
func (s *Updater) cleanups(ctx context.Context, on *providerStep) (_ state.Outcome, err error) {
	used := len(on.users) > 0
	on.cleaning, err = s.Cleanups.Settle(ctx, on.use, on.lifecycle.Record, used)
	if used && on.cleaning.Left {
		s.WakeAt(on.use.Record, on.cleaning.Next)
	}
	return state.Onward, err
}

// context commits the external-dns for its users, and takes it away when nobody has
// names of it any more.
func (s *Updater) context(ctx context.Context, on *providerStep) (state.Outcome, error) {
	switch {
	case len(on.users) > 0:
		return s.provide(ctx, on)
	case on.leaving || on.cleaning.Left:
		return state.AtRest, nil
	case on.was.ContextID != "": // a user that came meanwhile has written its lifecycle before it looked at the context: it is found now
		_, err := s.Commit(ctx, on.was, appcontext.Context{}, on.cleaning.When) // none has come and gone
		return state.Again, err
	}
	return state.Onward, nil
}

// provide commits the external-dns, unless it is current as it is. Its record is
// pinned before that, so that nothing that it needs can be deleted.
func (s *Updater) provide(ctx context.Context, on *providerStep) (state.Outcome, error) {
	if !on.lifecycle.Deployed {
		on.lifecycle.Deployed = true
		return state.Again, nil
	}
	l, use := on.lifecycle, on.use
	objects, findings, err := provider.Render(plan.Provider{
		Record: l.Record, Scope: use.Scope, Cluster: use.Cluster, Users: on.users, Waiting: l.MovingIn(use.Scope), Adopts: l.Adopts(use.Scope), AdoptsSince: l.AdoptsSince(use.Scope),
	})
	if err != nil {
		return state.AtRest, err
	}
	if len(findings) > 0 {
		return state.AtRest, &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("external-dns of provider %q cannot work", l.Record.Name), Fields: findings}
	}
	wanted, err := bundle.Collect(objects)
	if err != nil {
		return state.AtRest, err
	}
	how := verification(l.Record, use)
	if on.was.ContextID != "" {
		current, err := s.Contexts.Objects(ctx, on.was)
		if err != nil || sameBundle(current, wanted) && reflect.DeepEqual(on.was.Verify, how) {
			return state.AtRest, err
		}
	}
	_, err = s.Commit(l.Trail(ctx, on.was), on.was, appcontext.Context{
		ID: appcontext.NewID(), Objects: wanted, Verify: how,
		Meta: appcontext.Meta{Project: l.Record.Project.Name, Namespace: l.Record.Project.Namespace, Level: "0", ChildContextIDs: []string{}},
	})
	return state.AtRest, err
}

// verification is how the names of an external-dns are verified, as its record
// says.
func verification(r plan.Record, use state.Use) *appcontext.Verify {
	how := &appcontext.Verify{InDNS: externaldns.Shown(
		externaldns.Record{Provider: r.Spec.Provider, Parameters: r.Spec.Parameters},
		provider.OwnerID(plan.Provider{Record: r, Scope: use.Scope, Cluster: use.Cluster}))}
	if r.Spec.Verify != nil {
		how.Servers = r.Spec.Verify.Servers
	}
	if use.Scope == intent.ClusterScope {
		how.Private = "the name is only for clients inside the cluster"
	}
	return how
}

func sameBundle(a, b bundle.Bundle) bool {
	return slices.EqualFunc(a, b, func(x, y bundle.Object) bool { return x.ID == y.ID && bytes.Equal(x.JSON, y.JSON) })
}

// unused releases a record of which nothing is deployed any more. The record may be
// deleted then, and is pinned anew when it is used again. A request that has just
// pinned it and is not accepted yet loses nothing: provide pins it again.
func (s *Updater) unused(ctx context.Context, on *providerStep) (state.Outcome, error) {
	l := &on.lifecycle
	if !l.Deployed {
		return state.AtRest, nil
	}
	owners, err := s.Contexts.Below(ctx, appcontext.ProviderOwners(string(l.Record.Path)))
	if err != nil {
		return state.AtRest, err
	}
	for _, p := range owners {
		left, err := s.Left(ctx, p)
		if err != nil || left || p.ContextID != "" {
			return state.AtRest, err
		}
	}
	used, err := state.Used(ctx, s.Store, l.Record.Path)
	if err == nil && !used {
		l.Deployed, l.Moving, l.Adopting = false, false, nil
	}
	return state.AtRest, err
}
