package providers

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/provider"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// StepProvider brings the app context of one external-dns to what its users
// need: there while a current release relies on it, or while names that it
// published are still to be removed; gone otherwise.
func (s *Updater) StepProvider(ctx context.Context, use state.Use) error {
	was, err := s.Contexts.Current(ctx, use.Owner()) // first: what is read after it is at least as new
	if err != nil {
		return err
	}
	l, err := s.RecordLifecycle(ctx, use.Record)
	if err != nil || l.Seq == 0 {
		return err
	}
	if l.MovedFrom(use) {
		return s.leaveHome(ctx, l, use, was)
	}
	users, leavers, err := s.UsersAndLeavers(ctx, use)
	if err != nil {
		return err
	}
	if l.MovingIn(use.Scope) {
		return s.stepMoving(ctx, l, use, was, users, leavers)
	}
	if l.Adopts(use.Scope) != "" && was.ContextID != "" {
		over, err := s.adopted(ctx, l, use)
		if err != nil {
			return err
		}
		if over {
			return s.endAdoption(ctx, l, use, was, users)
		}
	}
	l, drained, err := s.drain(ctx, l, use)
	switch {
	case err != nil:
		return err
	case len(users) > 0:
		return s.provide(ctx, l, use, was, users)
	case leavers > 0 || !drained:
		return nil
	case was.ContextID != "":
		return s.withdraw(ctx, use, was)
	}
	return s.undeploy(ctx, l)
}

// provide commits the external-dns, unless it is current as it is.
func (s *Updater) provide(ctx context.Context, l state.RecordLifecycle, use state.Use, was appcontext.Pointer, users []string) error {
	if !l.Deployed {
		l.Deployed = true
		if _, err := s.SwapRecord(ctx, use.Record, l); err != nil {
			return err
		}
	}
	objects, findings, err := provider.Render(plan.Provider{
		Record: l.Record, Scope: use.Scope, Cluster: use.Cluster, Users: users, Waiting: l.MovingIn(use.Scope), Adopts: l.Adopts(use.Scope),
	})
	if err != nil {
		return err
	}
	if len(findings) > 0 {
		return &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf("external-dns of record %q cannot work", l.Record.Name), Fields: findings}
	}
	wanted, err := bundle.Collect(objects)
	if err != nil {
		return err
	}
	how := verification(l.Record, use)
	if was.ContextID != "" {
		current, err := s.Contexts.Objects(ctx, was)
		if err != nil || sameBundle(current, wanted) && reflect.DeepEqual(was.Verify, how) {
			return err
		}
	}
	_, err = s.Commit(l.Trail(ctx, was), was, appcontext.Context{
		ID: appcontext.NewID(), Objects: wanted, Verify: how,
		Meta: appcontext.Meta{Project: l.Record.Project.Name, Namespace: l.Record.Project.Namespace, Level: "0", ChildContextIDs: []string{}},
	})
	return err
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
		how.Private = "the name is for those inside the cluster"
	}
	return how
}

func sameBundle(a, b bundle.Bundle) bool {
	return slices.EqualFunc(a, b, func(x, y bundle.Object) bool { return x.ID == y.ID && bytes.Equal(x.JSON, y.JSON) })
}

// withdraw takes the external-dns away. A user that came meanwhile has written
// its lifecycle before it looked at the context, so looking at the users again
// afterwards finds it.
func (s *Updater) withdraw(ctx context.Context, use state.Use, was appcontext.Pointer) error {
	if _, err := s.Commit(ctx, was, appcontext.Context{}); err != nil {
		return err
	}
	users, err := s.UsersOf(ctx, use)
	if err != nil || len(users) == 0 {
		return err
	}
	return s.StepProvider(ctx, use)
}

// undeploy lets go of a record of which nothing is deployed any more: it may
// be deleted, and is pinned anew when it is used again. A request that has
// just pinned it and is not accepted yet loses nothing: provide takes it up
// again.
func (s *Updater) undeploy(ctx context.Context, l state.RecordLifecycle) error {
	if !l.Deployed {
		return nil
	}
	owners, err := s.Contexts.Below(ctx, appcontext.ProviderOwners(string(l.Record.Path)))
	if err != nil {
		return err
	}
	for _, p := range owners {
		left, err := s.Left(ctx, p)
		if err != nil || left || p.ContextID != "" {
			return err
		}
	}
	if users, err := s.Users(ctx, l.Record.Path); err != nil || len(users) > 0 {
		return err
	}
	l.Deployed, l.Moving, l.Adopting = false, false, nil
	_, err = s.SwapRecord(ctx, l.Record.Path, l)
	return err
}
