package failover

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

const (
	followedFor = 24 * time.Hour  // what was not seen to be answered by then is left to itself
	beginWithin = 5 * time.Minute // a record whose list was not stored by then never began
)

// Follow looks how far the failovers are that have not ended, and notes it in their records.
// It answers whether there are any. Several replicas may do so at once.
func (m *Mover) Follow(ctx context.Context) (open bool, err error) {
	marks, err := m.marks(ctx)
	for _, mark := range marks {
		id := idOf(mark)
		if one := m.follow(ctx, id, mark.CreatedAt); one != nil && intent.CodeOf(one) != intent.PreconditionFailed {
			err = errors.Join(err, fmt.Errorf("failover %s: %w", id, one))
		}
	}
	return len(marks) > 0, err
}

func (m *Mover) follow(ctx context.Context, id string, since time.Time) error {
	r, revision, err := m.read(ctx, id)
	if intent.CodeOf(err) == intent.NotFound {
		if m.Now().Sub(since) < beginWithin {
			return nil // the record is about to be stored
		}
		return m.unmark(ctx, id)
	}
	if err != nil || r.Ended != nil {
		return errors.Join(err, m.unmark(ctx, id))
	}
	list, err := m.DrainedClusters(ctx)
	if err != nil {
		return err
	}
	changes, err := m.progress(ctx, &r)
	if err != nil {
		return err
	}
	m.judgeEnd(&r, list)
	if len(changes) == 0 && r.Ended == nil {
		return nil
	}
	if r.Ended != nil && r.State != intent.FailoverFailed {
		if err := m.noteRevert(ctx, r); err != nil { // the replica that began it may have been killed before it did
			return err
		}
	}
	if _, err := state.SwapDocument(ctx, m.Documents, r, intent.Write{Path: recordPath(id)}, revision); err != nil {
		return err
	}
	m.tellProgress(ctx, r, changes)
	if r.Ended == nil {
		return nil
	}
	return m.unmark(ctx, id)
}

func (m *Mover) unmark(ctx context.Context, id string) error {
	err := m.Documents.Delete(ctx, markPath(id), intent.Always())
	if intent.CodeOf(err) == intent.NotFound {
		return nil
	}
	return err
}

// judgeEnd tells whether a failover has ended, and how.
func (m *Mover) judgeEnd(r *intent.FailoverRecord, list state.DrainedList) {
	now := m.Now().UTC()
	drained, undrained, gone := remaining(*r, list)
	end := func(as intent.FailoverState, message string) {
		r.State, r.Message, r.Ended = as, message, &now
	}
	age, total := now.Sub(r.Time), moving(*r)
	switch heard := began(*r, list); {
	case !heard && len(gone) > 0 && age <= beginWithin: // the list is about to be stored
	case !heard && len(gone) > 0 && len(drained)+len(undrained) == 0 && !overtaken(*r, list):
		end(intent.FailoverFailed, "it was never begun: the list of drained clusters was not changed; ask again")
	case len(gone) > 0:
		end(intent.FailoverSuperseded, strings.Join(gone, "; "))
	case r.Answered == total:
		end(intent.FailoverDone, unfollowed(*r))
	case age > followedFor:
		waits := fmt.Sprintf("%d of %d records were not seen to be answered within %s", total-r.Answered, total, followedFor)
		end(intent.FailoverUnconfirmed, strings.TrimSuffix(waits+"; "+unfollowed(*r), "; "))
	}
}

// unfollowed says how many records a failover changes beside those that it lists; empty for none.
func unfollowed(r intent.FailoverRecord) string {
	if r.NamesLeftOut == 0 {
		return ""
	}
	return fmt.Sprintf("%d further records were not followed one by one", r.NamesLeftOut)
}

// moving is how many DNS records of a failover are followed until they are answered.
func moving(r intent.FailoverRecord) int {
	total := 0
	for _, name := range r.Names {
		if name.Stays == "" {
			total++
		}
	}
	return total
}

// overtaken tells whether others have changed clusters of a failover after it.
func overtaken(r intent.FailoverRecord, list state.DrainedList) bool {
	return slices.ContainsFunc(slices.Concat(r.Drained, r.Undrained), func(name string) bool {
		by := list.Undrained[name].Undrained
		return list.Clusters[name].Since.After(r.Time) || by != nil && by.Since.After(r.Time)
	})
}

// began tells whether the list of drained clusters has heard of a failover.
func began(r intent.FailoverRecord, list state.DrainedList) bool {
	heard := func(name string) bool {
		if list.Clusters[name].Failover == r.ID || list.Undrained[name].Failover == r.ID {
			return true
		}
		by := list.Undrained[name].Undrained
		return by != nil && by.Failover == r.ID
	}
	return slices.ContainsFunc(slices.Concat(r.Drained, r.Undrained), heard)
}

// progress notes how far each name is, and returns the names that have come further.
func (m *Mover) progress(ctx context.Context, r *intent.FailoverRecord) ([]intent.FailoverName, error) {
	var changes []intent.FailoverName
	f, err := m.followerOf(ctx, *r)
	if err != nil {
		return nil, err
	}
	now := m.Now().UTC()
	r.Answered = 0
	for n := range r.Names {
		name := &r.Names[n]
		if name.Stays != "" {
			continue
		}
		if name.Answered == nil {
			further, err := f.advance(ctx, name, now)
			if err != nil {
				return nil, err
			}
			if further {
				changes = append(changes, *name)
			}
		}
		if name.Answered != nil {
			r.Answered++
			if r.CachesUntil == nil || name.CachesUntil.After(*r.CachesUntil) {
				r.CachesUntil = name.CachesUntil
			}
		}
	}
	seen := hostsOf(r.Names)
	r.Hosts.Answered, r.Hosts.Gone = seen.Answered, seen.Gone
	return changes, nil
}

// follower looks at the names of one record. It reads once what several names need.
type follower struct {
	*Mover
	publishers map[render.NameAt][]intent.Path
	owners     map[intent.Path]bundle.Bundle
	answers    map[[2]string]map[string]observed.Answers // by cluster and namespace, then by DNSEndpoint
	entries    map[bundle.ID]ledger.Entry                // of these DNSEndpoints
	homes      map[string]map[string]observed.Answers    // by cluster, then by DNSEndpoint as "namespace/name"
}

// followerOf knows who gives the names of a record that are not answered yet.
func (m *Mover) followerOf(ctx context.Context, r intent.FailoverRecord) (follower, error) {
	hosts := map[render.NameAt]bool{}
	for _, name := range r.Names {
		if name.Stays == "" && name.Answered == nil {
			hosts[hostOf(name.MovedName)] = true
		}
	}
	publishers, err := m.publishers(ctx, hosts)
	return follower{
		Mover: m, publishers: publishers, owners: map[intent.Path]bundle.Bundle{},
		answers: map[[2]string]map[string]observed.Answers{}, entries: map[bundle.ID]ledger.Entry{}, homes: map[string]map[string]observed.Answers{},
	}, err
}

// advance brings a name on as far as it has come, and tells whether something of it has changed.
func (f *follower) advance(ctx context.Context, name *intent.FailoverName, now time.Time) (bool, error) {
	objects, err := f.endpoints(ctx, name.MovedName)
	if err != nil {
		return false, err
	}
	if err := f.heard(ctx, objects); err != nil {
		return false, err
	}
	is := targetsOf(name.MovedName, objects)
	still, err := f.stillAnswered(ctx, name.MovedName, is)
	if err != nil {
		return false, err
	}
	was := name.Message
	return f.step(name, is, objects, still, now) || was != name.Message, nil
}

// endpoints are the DNSEndpoints of all owners that give a name.
func (f *follower) endpoints(ctx context.Context, name intent.MovedName) (bundle.Bundle, error) {
	owners := append([]intent.Path{name.Owner}, f.publishers[hostOf(name)]...)
	slices.Sort(owners)
	var all bundle.Bundle
	for _, owner := range slices.Compact(owners) {
		objects, known := f.owners[owner]
		if !known {
			var err error
			if objects, err = f.CurrentEndpoints(ctx, owner); err != nil {
				return nil, err
			}
			f.owners[owner] = objects
		}
		all = append(all, objects...)
	}
	return all, nil
}

// targetsOf are the targets that DNSEndpoints together give to a name, ordered.
func targetsOf(name intent.MovedName, objects bundle.Bundle) []string {
	is := map[state.NameKey][]string{}
	for _, o := range objects {
		if o.Published.Record == name.Record && o.Published.Scope == string(intent.Public) {
			state.CollectNames(o.Published, is)
		}
	}
	return is[state.NameKey{Name: name.Name, Kind: name.Type, Record: name.Record}]
}

// heard reads what authoritative servers answer of the names of DNSEndpoints, and how far these are in their homes.
func (f *follower) heard(ctx context.Context, objects bundle.Bundle) error {
	asked, ids := map[[2]string][]string{}, map[[2]string][]bundle.ID{}
	for _, o := range objects {
		at := [2]string{o.ID.Cluster, o.ID.Namespace}
		if _, known := f.answers[at][o.ID.Name]; !known {
			asked[at], ids[at] = append(asked[at], o.ID.Name), append(ids[at], o.ID)
		}
	}
	byPlace := func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }
	for _, at := range slices.SortedFunc(maps.Keys(asked), byPlace) {
		entries, err := f.Ledger.Entries(ctx, at[0], ids[at])
		if err != nil {
			return err
		}
		for _, e := range entries {
			f.entries[e.ID] = e
		}
		found, err := f.Observed.Answers(ctx, at[0], at[1], asked[at]...)
		if err != nil {
			return err
		}
		if f.answers[at] == nil {
			f.answers[at] = map[string]observed.Answers{}
		}
		maps.Copy(f.answers[at], found)
	}
	return nil
}

// stillAnswered tells whether servers still answer targets that a name has lost, as far as is
// known.
func (f *follower) stillAnswered(ctx context.Context, name intent.MovedName, is []string) (bool, error) {
	lost := func(target string) bool {
		same := func(other string) bool { return sameTarget(target, other) }
		return len(is) == 0 || slices.ContainsFunc(name.Before, same) && !slices.ContainsFunc(is, same)
	}
	for _, home := range name.Homes {
		all, known := f.homes[home]
		if !known {
			var err error
			if all, err = f.Observed.AllAnswers(ctx, home); err != nil {
				return false, err
			}
			f.homes[home] = all
		}
		for _, given := range all {
			if given.Project != name.Project || given.Record != name.Record || given.Scope != string(intent.Public) || !given.Gone.IsZero() {
				continue
			}
			if slices.ContainsFunc(given.Names, func(a observed.NameAnswer) bool {
				return a.Name == name.Name && a.Type == name.Type && a.Seen && slices.ContainsFunc(a.Targets, lost)
			}) {
				return true, nil
			}
		}
	}
	return false, nil
}

// step brings a name on as far as it has come, and tells whether it has come further. Its
// DNSEndpoints give it the targets is.
func (f *follower) step(name *intent.FailoverName, is []string, objects bundle.Bundle, still bool, now time.Time) bool {
	verified, why := !still, ""
	if still {
		why = "the authoritative servers were seen to answer it, and not yet to have stopped"
		if len(is) > 0 {
			why = "the authoritative servers were seen to answer old targets, and not yet to have stopped"
		}
	}
	for _, o := range objects {
		if o.Published.Record != name.Record || o.Published.Scope != string(intent.Public) {
			continue
		}
		if ok, message := f.answered(o, name.MovedName); !ok {
			verified, why = false, message
		}
	}
	if !moved(name.MovedName, is) {
		name.Message = "its old targets are still published"
		return false
	}
	further := name.Published == nil
	if further {
		name.Published = &now
	}
	name.Message = why
	if !verified {
		return further
	}
	until := now.Add(time.Duration(ttlOf(name.MovedName)) * time.Second)
	name.Answered, name.CachesUntil, name.Message = &now, &until, ""
	return true
}

// moved tells whether a name has left its old targets: for those that were forecast, or for
// others that came meanwhile.
func moved(name intent.MovedName, is []string) bool {
	if slices.Equal(is, name.After) {
		return true
	}
	lost := slices.DeleteFunc(slices.Clone(name.Before), func(target string) bool { return slices.Contains(name.After, target) })
	return !slices.Equal(is, name.Before) && !slices.ContainsFunc(is, func(target string) bool { return slices.Contains(lost, target) })
}

// answered tells whether all authoritative servers answer a name as a DNSEndpoint has it, and
// if not, what is waited for. The answers are about the targets of all of its sets together.
func (f *follower) answered(o bundle.Object, name intent.MovedName) (bool, string) {
	targets := targetsOf(name, bundle.Bundle{o})
	if len(targets) == 0 {
		return true, "" // others give the name
	}
	given := f.answers[[2]string{o.ID.Cluster, o.ID.Namespace}][o.ID.Name]
	at := slices.IndexFunc(given.Names, func(a observed.NameAnswer) bool {
		return a.Name == name.Name && a.Type == name.Type && slices.EqualFunc(a.Targets, targets, sameTarget)
	})
	if at < 0 {
		return false, "the authoritative servers were not asked for the new targets yet"
	}
	written := f.entries[o.ID].Written(o.Digest())
	if written.IsZero() {
		return false, "the DNSEndpoint is not in its home yet" // until then, its targets may have gone and come back since any answer
	}
	answer := given.Names[at]
	asked := verify.Asked(answer.Answers)
	switch verdict := verify.Verdict(answer.Verdict); {
	case verdict.OfBefore(time.Time{}, nil), !asked.IsZero() && asked.Before(written):
		return false, verify.AskedAgain
	case verdict.Status() != "True":
		return false, answer.Message
	}
	return true, ""
}

func sameTarget(a, b string) bool { return strings.TrimSuffix(a, ".") == strings.TrimSuffix(b, ".") }

// tellProgress records an event for the owner of each name that is answered, and for the
// clusters of a failover that has ended.
func (m *Mover) tellProgress(ctx context.Context, r intent.FailoverRecord, names []intent.FailoverName) {
	action := intent.Drain
	if len(r.Drained) == 0 {
		action = intent.Undrain
	}
	event := intent.Event{Time: m.Now().UTC(), Actor: r.Actor, RequestID: r.RequestID, Action: action, Outcome: "completed"}
	for _, name := range names {
		if name.Answered != nil {
			event.Message = fmt.Sprintf("failover %s: every authoritative server answers the new targets of %s %s; caches may hold the old ones until %s", r.ID, name.Name, name.Type, name.CachesUntil.Format(time.RFC3339))
			if len(name.After) == 0 {
				event.Message = fmt.Sprintf("failover %s: no authoritative server answers the old targets of %s %s any more, and there are no new ones; caches may hold them until %s", r.ID, name.Name, name.Type, name.CachesUntil.Format(time.RFC3339))
			}
			m.Tell(ctx, name.Owner, event)
		}
	}
	if r.Ended == nil {
		return
	}
	if r.State != intent.FailoverDone {
		event.Outcome = "failed"
	}
	event.Message = fmt.Sprintf("failover %s: %s, %s", r.ID, r.State, outcome(r))
	if r.Message != "" {
		event.Message += "; " + r.Message
	}
	for n, cluster := range slices.Concat(r.Drained, r.Undrained) {
		event.Action = intent.Drain
		if n >= len(r.Drained) {
			event.Action = intent.Undrain
		}
		ref, _ := intent.ParseCluster(cluster)
		m.Tell(ctx, ref.Path(), event)
	}
}

// outcome says how many host names of a failover are answered, and how many have lost their last address.
func outcome(r intent.FailoverRecord) string {
	var parts []string
	h := r.Hosts
	if h.Moved > 0 || h.None == 0 {
		parts = append(parts, fmt.Sprintf("%d of %d names are answered", h.Answered, h.Moved))
	}
	if h.None > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d without an address", h.Gone, h.None))
	}
	return strings.Join(parts, ", ")
}
