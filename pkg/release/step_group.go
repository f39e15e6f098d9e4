package release

import (
	"context"
	"slices"

	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// StepGroup brings a group's app context to what its release and the clusters'
// observations say, then its providers, and notes when all of it has been
// applied. It reports whether anything is left to wait for. It may be called
// at any time, by several replicas at once; the error of a lost race has the
// code appcontext.ErrStale, and the caller calls again.
func (s *Service) StepGroup(ctx context.Context, group intent.Path) (settled bool, err error) {
	was, err := s.Contexts.Current(ctx, groupOwner(group)) // first: what is read after it is at least as new
	if err != nil {
		return false, err
	}
	l, err := s.storedLifecycle(ctx, group)
	if err != nil {
		return true, err
	}
	if err := intent.CheckSchema("the release of "+string(group), l.schema); err != nil {
		return true, err
	}
	if acted, err := s.syncFromEMCO(ctx, group, l); acted || err != nil {
		return false, err
	}
	if l.Seq == 0 {
		return true, nil
	}
	ctx = l.trail(ctx)
	if l, err = s.mendOffers(ctx, group, l); err != nil {
		return false, err
	}
	if l, err = s.claimNames(ctx, group, l); err != nil {
		return false, err
	}
	was, rests, err := s.hold(ctx, group, l, was)
	if err != nil || rests {
		return rests, err
	}
	if err := s.stepProviders(ctx, l.Former); err != nil {
		return false, err
	}
	if l, err = s.follow(ctx, group, l); err != nil {
		return false, err
	}
	if err := s.stepProviders(ctx, l.Uses); err != nil {
		return false, s.noteFailure(ctx, group, l, err)
	}
	l, made, err := s.makeCurrent(ctx, group, l, was)
	if err != nil {
		return false, s.noteFailure(ctx, group, l, err)
	}
	if err := s.stepProviders(ctx, l.Draining); err != nil {
		return false, err
	}
	settled, err = s.settle(ctx, group, l, made.whole)
	return settled && !made.wrote, err
}

// made is what has come of a group's context.
type made struct {
	whole bool // it holds all that the release asks for
	wrote bool // it was changed, by what was observed before: something newer may have come meanwhile
}

func (s *Service) stepProviders(ctx context.Context, uses []Use) error {
	for _, use := range uses {
		if err := s.StepProvider(ctx, use); err != nil {
			return err
		}
	}
	return nil
}

// makeCurrent commits the group's context, or rewrites what has changed in it,
// and lets go of the providers that the context no longer relies on. Before
// DNSEndpoints go, their external-dns is told to outlive them.
func (s *Service) makeCurrent(ctx context.Context, group intent.Path, l Lifecycle, was appcontext.Pointer) (Lifecycle, made, error) {
	before, err := s.Contexts.Objects(ctx, was)
	if err != nil {
		return l, made{}, err
	}
	next, err := s.wanted(ctx, l, before)
	if err != nil {
		return l, made{}, err
	}
	if next.ID != "" && next.ID != was.ContextID {
		if err := s.confirmNames(ctx, l, next.ground.group); err != nil {
			return l, made{}, err
		}
	}
	if err := s.noteDrains(ctx, group, before, next.Objects); err != nil {
		return l, made{}, err
	}
	if l, err = s.noteLeftovers(ctx, group, l, before); err != nil {
		return l, made{}, err
	}
	if l, err = s.noteHeld(ctx, group, l, next.losses); err != nil {
		return l, made{}, err
	}
	is := was
	if was.ContextID == next.ID {
		is, err = s.rewrite(ctx, was, before, next)
	} else if err = s.disown(ctx, group, l); err == nil {
		is, err = s.commit(ctx, was, next.Context, next.losses.when...)
	}
	if err != nil {
		return l, made{}, err
	}
	s.grounds.keep(group, next.ground, is)
	if err := s.adopt(ctx, group, l, l.AppContext, next.ID); err != nil {
		return l, made{}, err
	}
	l, err = s.leave(ctx, group, l)
	return l, made{whole: !next.undecided, wrote: is.Revision() != was.Revision()}, err
}

// goal is a context as it is to be.
type goal struct {
	appcontext.Context

	ground    *ground     // nil where nothing is to be in the clusters
	undecided bool        // something waits until its nodes are known
	losses    *settlement // of names that nothing offers an address any more
}

// wanted is the context that the lifecycle asks for, one without an ID when
// nothing is to be in the clusters. before is what they have now.
func (s *Service) wanted(ctx context.Context, l Lifecycle, before bundle.Bundle) (goal, error) {
	lost := &settlement{of: map[intent.Path]Held{}, seen: map[intent.Path]bool{}}
	if !l.deployed() {
		return goal{losses: lost}, nil
	}
	on, err := s.ground(ctx, l)
	if err != nil {
		return goal{}, err
	}
	lost.records = on.records
	look := s.seen(on.group)
	look.keep = func(ctx context.Context, names map[string]nameSet) (map[string]nameSet, error) {
		return s.keep(ctx, l, on, names, lost)
	}
	contents, err := fill(ctx, on.group, on.records, on.drained, before, look)
	if err != nil {
		return goal{}, err
	}
	for _, why := range contents.unread {
		s.Logger.WarnContext(ctx, "published addresses stay as they are", "group", on.group.Path, "error", why)
	}
	if !contents.due.IsZero() {
		s.wakeAt(on.group.Path, contents.due)
	}
	undecided, err := s.undecided(ctx, contents.dns)
	return goal{ground: on, undecided: undecided, losses: lost, Context: appcontext.Context{
		ID: l.ContextID, Meta: meta(on.group), Objects: contents.objects,
		Services: contents.services, Placements: contents.placements,
	}}, err
}

// leave moves the providers that the context has stopped to rely on from
// Leaving to Draining, and drops releases that are too old to keep, but for those
// of which names are still to be freed.
func (s *Service) leave(ctx context.Context, group intent.Path, l Lifecycle) (Lifecycle, error) {
	if len(l.Leaving) == 0 && l.Failure == "" && len(l.History) <= keptReleases {
		return l, nil
	}
	l.Draining = without(append(slices.Clone(l.Draining), l.Leaving...), l.Uses)
	l.Refs = slices.DeleteFunc(slices.Clone(l.Refs), l.leaves)
	l.Leaving, l.Failure = nil, ""
	var old []Past
	if extra := len(l.History) - keptReleases; extra > 0 {
		old, l.History = l.History[:extra], l.History[extra:]
	}
	l, err := s.swap(ctx, group, l)
	if err != nil {
		return l, err
	}
	for _, past := range old {
		if slices.Contains(l.Shed, past.ContextID) {
			continue // freeNames reads it
		}
		if err := s.dropRelease(ctx, past.ContextID); err != nil {
			return l, err
		}
	}
	return l, nil
}

// leaves says whether the group relied on a record that it no longer uses. The
// record's own lifecycle keeps it as long as it is deployed.
func (l *Lifecycle) leaves(record intent.Path) bool {
	of := func(u Use) bool { return u.Record == record }
	return slices.ContainsFunc(l.Leaving, of) && !slices.ContainsFunc(l.Uses, of)
}

// pinned reads the records of a group's bindings as they are deployed.
func (s *Service) pinned(ctx context.Context, g plan.Group) (map[string]plan.Record, error) {
	records := map[string]plan.Record{}
	for _, b := range g.Bindings {
		if _, known := records[b.Record]; known {
			continue
		}
		l, err := s.recordLifecycle(ctx, recordPath(g, b))
		if err != nil {
			return nil, err
		}
		records[b.Record] = l.Record
	}
	return records, nil
}

// meta describes a group's context. With that of an app context of EMCO's it
// shares what rsync finds the credentials of clusters by.
func meta(g plan.Group) appcontext.Meta {
	m := appcontext.Meta{
		Project: g.Project.Name, CompositeApp: g.CompositeApp, Version: g.Version, Release: g.Name,
		DeploymentIntentGroup: g.Name, Namespace: g.LogicalCloudNamespace, Level: "0", LogicalCloud: g.LogicalCloud,
		ChildContextIDs: []string{},
	}
	if o := g.Orchestrated; o != nil {
		m.Namespace, m.Level = o.Namespace, o.Level
	}
	return m
}

// rewrite changes single objects of the current context, and answers its
// pointer.
func (s *Service) rewrite(ctx context.Context, pointer appcontext.Pointer, current bundle.Bundle, wanted goal) (appcontext.Pointer, error) {
	type place struct{ app, cluster string }
	changes := map[place][]bundle.Change{}
	var places []place
	for _, c := range bundle.Diff(current, wanted.Objects) {
		if c.Action == bundle.Unchanged {
			continue
		}
		at := place{appOf(c, current, wanted.Objects), c.ID.Cluster}
		if changes[at] == nil {
			places = append(places, at)
		}
		changes[at] = append(changes[at], c)
	}
	var err error
	for _, at := range places {
		for some := range slices.Chunk(changes[at], appcontext.MostRewritten) {
			within, end := s.Tracer.Start(ctx, "rewrite app context", "owner", string(pointer.Owner), "contextID", pointer.ContextID, "cluster", at.cluster)
			pointer, err = s.Contexts.Rewrite(within, pointer, at.app, at.cluster, some, wanted.losses.when...)
			end(err)
			if err != nil {
				return pointer, err
			}
		}
	}
	return pointer, nil
}

func appOf(c bundle.Change, bundles ...bundle.Bundle) string {
	for _, b := range bundles {
		if at, found := slices.BinarySearchFunc(b, c.ID, func(o bundle.Object, id bundle.ID) int { return bundle.Compare(o.ID, id) }); found {
			return b[at].App
		}
	}
	return ""
}

// noteFailure writes down why an accepted release could not be committed, and
// answers the error. Races and outages are no failures of the release.
func (s *Service) noteFailure(ctx context.Context, group intent.Path, l Lifecycle, cause error) error {
	switch intent.CodeOf(cause) {
	case appcontext.ErrStale, intent.Unavailable:
		return cause
	}
	if ctx.Err() != nil || l.Failure == cause.Error() {
		return cause
	}
	l.Failure = cause.Error()
	l.record(intent.Event{Time: s.Now().UTC(), Actor: intent.Itself, Action: l.Wanted, Revision: l.Seq, Outcome: "failed", Message: l.Failure})
	if _, err := s.swap(ctx, group, l); err != nil {
		return err
	}
	return cause
}
