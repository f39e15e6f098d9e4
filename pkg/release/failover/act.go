package failover

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// FailOver drains and undrains clusters in one step, and returns the record of it. Errors:
// those of PreviewFailover, Conflict with all that refuses it, and PreconditionFailed if
// the token is of another preview.
func (m *Mover) FailOver(ctx context.Context, spec intent.FailoverSpec, o intent.FailoverOptions) (intent.FailoverRecord, error) {
	return m.failOver(ctx, o, "", func(context.Context) (intent.FailoverSpec, error) { return spec, nil })
}

// failOver is FailOver for a request that is read anew with each try.
func (m *Mover) failOver(ctx context.Context, o intent.FailoverOptions, revertOf string, read func(context.Context) (intent.FailoverSpec, error)) (intent.FailoverRecord, error) {
	done, err := state.RetryOnConflict(ctx, state.DrainedPath, func(ctx context.Context) (intent.FailoverRecord, error) {
		spec, err := read(ctx)
		if err != nil {
			return intent.FailoverRecord{}, err
		}
		p, err := m.propose(ctx, spec, o)
		if err != nil {
			return intent.FailoverRecord{}, err
		}
		if err := p.allowed(o); err != nil {
			return intent.FailoverRecord{}, err
		}
		return m.begin(ctx, spec, o, revertOf, p)
	})
	if err != nil {
		return done, err
	}
	return done, m.tell(ctx, done)
}

// allowed refuses what must not be done, and another preview than the confirmed one.
func (p *proposal) allowed(o intent.FailoverOptions) error {
	if o.Confirm != "" && o.Confirm != p.preview.Token {
		return state.PlanChanged()
	}
	refused := slices.DeleteFunc(slices.Clone(p.refusals), func(r intent.FailoverRefusal) bool { return o.Force && r.Force })
	if err := refusal(refused, "undo what is named, or have it allowed"); err != nil {
		return err
	}
	if len(p.drain)+len(p.undrain) == 0 {
		return &intent.Error{Code: intent.Conflict, Detail: "nothing would change: " + strings.Join(p.unchanged, ", ") + " (as asked for already)"}
	}
	return nil
}

// begin stores the record, and then the list of drained clusters. A record whose list was not
// stored is one that never began.
func (m *Mover) begin(ctx context.Context, spec intent.FailoverSpec, o intent.FailoverOptions, revertOf string, p proposal) (intent.FailoverRecord, error) {
	now := m.Now().UTC()
	r := intent.FailoverRecord{
		ID: newID(now), Time: now, Actor: o.Actor, RequestID: intent.By(ctx).RequestID,
		FailoverSpec: spec, Drained: namesOf(p.drain), Undrained: namesOf(p.undrain), Overridden: o.Override, Forced: o.Force, RevertOf: revertOf,
		State: intent.FailoverMoving, Counts: p.preview.Counts, Hosts: p.preview.Hosts, Names: followed(p.preview.Names), NamesLeftOut: p.preview.NamesLeftOut,
	}
	by := byOf(r)
	if _, err := state.SwapDocument(ctx, m.Documents, struct{}{}, intent.Write{Path: markPath(r.ID)}, 0); err != nil {
		return r, err
	}
	if _, err := state.SwapDocument(ctx, m.Documents, r, intent.Write{Path: recordPath(r.ID)}, 0); err != nil {
		return r, err
	}
	_, err := state.SwapDocument(ctx, m.Documents, p.list.Change(p.move.after(by), by), intent.Write{Path: state.DrainedPath}, p.list.Revision)
	if intent.CodeOf(err) == intent.PreconditionFailed {
		for _, path := range []intent.Path{recordPath(r.ID), markPath(r.ID)} {
			if gone := m.Documents.Delete(ctx, path, intent.Always()); gone != nil && intent.CodeOf(gone) != intent.NotFound {
				return r, gone
			}
		}
	}
	return r, err
}

// newID is an id that nobody else has: when, to the second, and a few letters.
func newID(now time.Time) string {
	const letters = 5
	return now.Format("20060102t150405") + "-" + strings.ToLower(rand.Text()[:letters])
}

// tell records events, and has the owners of names choose their addresses anew.
func (m *Mover) tell(ctx context.Context, r intent.FailoverRecord) error {
	m.Logger.InfoContext(ctx, "failover", "id", r.ID, "drained", r.Drained, "undrained", r.Undrained, "names", r.Counts.Names, "actor", r.Actor, "overridden", r.Overridden, "forced", r.Forced)
	owners := map[intent.Path]bool{}
	for n, name := range slices.Concat(r.Drained, r.Undrained) {
		action := intent.Drain
		if n >= len(r.Drained) {
			action = intent.Undrain
		}
		ref, _ := intent.ParseCluster(name)
		m.Tell(ctx, ref.Path(), byOf(r).Event(ctx, action))
		if err := m.EachGroup(ctx, ref.Path(), func(owner intent.Path, _ state.Lifecycle) { owners[owner] = true }); err != nil {
			return err
		}
	}
	for _, owner := range slices.Sorted(maps.Keys(owners)) {
		m.Wake(owner)
	}
	return nil
}

// byOf is what the list of drained clusters keeps of a failover.
func byOf(r intent.FailoverRecord) intent.Drained {
	return intent.Drained{Since: r.Time, Actor: r.Actor, Failover: r.ID, Reason: r.Reason}
}

// PreviewRevert and Revert are PreviewFailover and FailOver for what undoes a failover.
// NotFound if there is no such failover, Conflict if nothing of it is left to undo.
func (m *Mover) PreviewRevert(ctx context.Context, id string, o intent.FailoverOptions) (intent.FailoverPreview, error) {
	spec, err := m.inverse(ctx, id)
	if err != nil {
		return intent.FailoverPreview{}, err
	}
	return m.PreviewFailover(ctx, spec, o)
}

// Revert undoes a failover, but for clusters that others have drained or undrained since.
func (m *Mover) Revert(ctx context.Context, id string, o intent.FailoverOptions) (intent.FailoverRecord, error) {
	r, err := m.failOver(ctx, o, id, func(ctx context.Context) (intent.FailoverSpec, error) { return m.inverse(ctx, id) })
	if err != nil {
		return r, err
	}
	return r, m.noteRevert(ctx, r)
}

// noteRevert notes in the record of the failover that r reverts, if it reverts one, that it does.
func (m *Mover) noteRevert(ctx context.Context, r intent.FailoverRecord) error {
	if r.RevertOf == "" {
		return nil
	}
	err := m.change(ctx, r.RevertOf, func(of *intent.FailoverRecord) { of.RevertedBy = r.ID })
	if intent.CodeOf(err) == intent.NotFound {
		return nil
	}
	return err
}

// inverse is what undoes a failover as far as its clusters still are as it left them.
func (m *Mover) inverse(ctx context.Context, id string) (intent.FailoverSpec, error) {
	r, err := m.Failover(ctx, id)
	if err != nil {
		return intent.FailoverSpec{}, err
	}
	if r.RevertedBy != "" {
		return intent.FailoverSpec{}, &intent.Error{Code: intent.Conflict, Detail: id + " was reverted by " + r.RevertedBy + " already"}
	}
	list, err := m.DrainedClusters(ctx)
	if err != nil {
		return intent.FailoverSpec{}, err
	}
	spec := intent.FailoverSpec{Reason: "reverts " + id}
	drained, undrained, gone := remaining(r, list)
	for _, name := range drained {
		spec.Undrain.Clusters = append(spec.Undrain.Clusters, intent.ClusterWord(name))
	}
	for _, name := range undrained {
		spec.Drain.Clusters = append(spec.Drain.Clusters, intent.ClusterWord(name))
	}
	if spec.Drain.IsZero() && spec.Undrain.IsZero() {
		return spec, &intent.Error{Code: intent.Conflict, Detail: "nothing of " + id + " is left to revert: " + strings.Join(gone, ", ")}
	}
	return spec, nil
}

// remaining are the clusters that still are as a failover left them, and what has become of
// the others.
func remaining(r intent.FailoverRecord, list state.DrainedList) (drained, undrained, gone []string) {
	for _, name := range r.Drained {
		by, is := list.Clusters[name]
		switch undone := list.Undrained[name].Undrained; {
		case is && by.Failover == r.ID:
			drained = append(drained, name)
		case is:
			gone = append(gone, name+" was drained anew by "+by.Actor)
		case undone != nil:
			gone = append(gone, name+" was undrained by "+undone.Actor)
		default:
			gone = append(gone, name+" is not drained any more")
		}
	}
	for _, name := range r.Undrained {
		if by, is := list.Clusters[name]; is {
			gone = append(gone, name+" was drained by "+by.Actor)
		} else {
			undrained = append(undrained, name)
		}
	}
	return drained, undrained, gone
}
