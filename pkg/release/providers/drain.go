package providers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// NoteDrains writes down, with each record, which DNSEndpoints are about to
// go, so that their external-dns outlives the names that they published.
func (s *Updater) NoteDrains(ctx context.Context, group intent.Path, before, after bundle.Bundle) error {
	going := map[state.Use]state.Drain{}
	for _, c := range bundle.Diff(before, after) {
		if c.Action == bundle.Delete && c.Before != nil {
			use := state.UseOf(group, c.ID.Cluster, c.Before)
			drain := going[use]
			going[use] = state.Drain{Endpoints: append(drain.Endpoints, c.ID.Name), Targets: max(drain.Targets, mostTargets(c.Before))}
		}
	}
	for _, use := range slices.SortedFunc(maps.Keys(going), state.CompareUses) {
		err := s.noteDrain(ctx, use, going[use])
		for n := 1; n < noteAttempts && intent.CodeOf(err) == intent.PreconditionFailed; n++ {
			err = s.noteDrain(snapshot.Now(ctx), use, going[use])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// noteAttempts is how often a drain is noted again because the record was written meanwhile: many names may go at once.
const noteAttempts = 8

// mostTargets is how many targets one name of a DNSEndpoint has at most.
func mostTargets(p *bundle.Published) int {
	names, counts := map[state.NameKey][]string{}, map[string]int{}
	state.CollectNames(p, names)
	most := 0
	for key, targets := range names {
		counts[key.Name] += len(targets)
		most = max(most, counts[key.Name])
	}
	return most
}

func (s *Updater) noteDrain(ctx context.Context, use state.Use, going state.Drain) error {
	l, err := s.RecordLifecycle(ctx, use.Record)
	if err != nil {
		return err
	}
	if l.MovedFrom(use) {
		if !l.Moving {
			return nil // its names were taken over
		}
		use.Cluster = l.Record.Home.String()
	}
	key := state.DrainKey(use.Scope, use.Cluster)
	drain, known := l.Draining[key]
	merged := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(drain.Endpoints), going.Endpoints...))))
	if known && drain.Since.IsZero() && slices.Equal(merged, drain.Endpoints) {
		return nil
	}
	revision, err := s.Observed.Revision(snapshot.Now(ctx)) // an answer that was written since the step began is an old one
	if err != nil {
		return err
	}
	noted := map[string]int64{}
	maps.Copy(noted, drain.Noted)
	l.Answered = maps.Clone(l.Answered)
	for _, endpoint := range going.Endpoints {
		noted[endpoint] = revision
		delete(l.Answered, endpoint)
	}
	l.Draining = maps.Clone(l.Draining)
	if l.Draining == nil {
		l.Draining = map[string]state.Drain{}
	}
	l.Draining[key] = state.Drain{Endpoints: merged, Targets: max(drain.Targets, going.Targets), Noted: noted}
	_, err = s.SwapRecord(ctx, use.Record, l)
	return err
}

// drain notes since when the DNSEndpoints of an external-dns are gone, and that it
// has outlived their names. It has when no authoritative server answers these any more,
// or when releaseTimeout is over. On an abandoned cluster, there is nothing to outlive.
func (s *Updater) drain(ctx context.Context, on *providerStep) (state.Outcome, error) {
	l, use, key := &on.lifecycle, on.use, state.DrainKey(on.use.Scope, on.use.Cluster)
	drain, draining := l.Draining[key]
	if !draining {
		return state.Onward, nil
	}
	var going []bundle.ID
	for _, name := range drain.Endpoints {
		going = append(going, bundle.EndpointID(use.Cluster, l.Record.Project.Namespace, name))
	}
	there, err := s.Ledger.Entries(ctx, use.Cluster, going)
	if err != nil {
		return state.Onward, err
	}
	abandoned, err := s.IsAbandoned(ctx, use.Cluster)
	if err != nil {
		return state.Onward, err
	}
	gone, answered, err := s.heard(ctx, *l, use, drain)
	if err != nil {
		return state.Onward, err
	}
	now := s.Now().UTC()
	switch {
	case len(there) > 0:
	case drain.Since.IsZero() || drain.Since.After(now): // by another clock, for whose difference nobody waits
		l.Draining = maps.Clone(l.Draining)
		drain.Since = now
		l.Draining[key] = drain
	case !gone && !abandoned && !l.Record.Spec.Suspend && now.Sub(drain.Since) < state.ReleaseTimeout(l.Record, drain.Targets):
	default:
		l.Draining = maps.Clone(l.Draining)
		delete(l.Draining, key)
		l.Answered = maps.Clone(l.Answered)
		if l.Answered == nil || len(l.Answered) > keptAnswered {
			l.Answered = map[string][]intent.Leftover{}
		}
		maps.Copy(l.Answered, answered)
	}
	return state.Onward, nil
}

// keptAnswered is of how many DNSEndpoints a record remembers that they left names
// behind, at most. The groups whose they were read it within seconds.
const keptAnswered = 100

// heard says whether the names of removed DNSEndpoints are gone from every authoritative
// server, and lists those that are still there, by DNSEndpoint. Names that no server
// could be asked about are neither (I6).
func (s *Updater) heard(ctx context.Context, l state.RecordLifecycle, use state.Use, drain state.Drain) (gone bool, answered map[string][]intent.Leftover, err error) {
	all, err := s.Observed.Answers(ctx, use.Cluster, l.Record.Project.Namespace, drain.Endpoints...)
	if err != nil {
		return false, nil, err
	}
	gone, answered = len(drain.Endpoints) > 0, map[string][]intent.Leftover{}
	for _, endpoint := range drain.Endpoints {
		a, known := all[endpoint]
		known = known && a.Revision > drain.Noted[endpoint]
		gone = gone && known && !a.Gone.IsZero()
		if !known {
			continue
		}
		for _, n := range a.Names {
			if n.Verdict == string(verify.StillThere) {
				answered[endpoint] = append(answered[endpoint], intent.Leftover{
					Name: n.Name, Type: n.Type, Record: l.Record.Name, Reason: n.Message + " though nobody publishes the name any more",
				})
			}
		}
	}
	return gone, answered, nil
}

// leftovers are the names of a group's objects that their external-dns does
// not delete.
func (s *Updater) leftovers(ctx context.Context, group intent.Path, objects bundle.Bundle) ([]intent.Leftover, error) {
	var out []intent.Leftover
	for _, o := range objects {
		if o.Published == nil {
			continue
		}
		record, err := s.RecordLifecycle(ctx, state.UseOf(group, o.Cluster, o.Published).Record)
		if err != nil {
			return nil, err
		}
		abandoned, err := s.IsAbandoned(ctx, o.Cluster)
		if err != nil {
			return nil, err
		}
		reason := resolve.WhyNamesStay(record.Record.Spec)
		if abandoned {
			reason = fmt.Sprintf("the home of its external-dns, %s, is abandoned", o.Cluster)
		}
		if reason == "" {
			out = append(out, record.Answered[o.Name]...)
			continue
		}
		heard, err := s.Observed.Answers(ctx, o.Cluster, o.Namespace, o.Name)
		if err != nil {
			return nil, err
		}
		out = append(out, slices.DeleteFunc(namesLeft(o, reason), func(l intent.Leftover) bool { return notOurs(heard[o.Name].Names, l) })...)
	}
	return once(out), nil
}

// notOurs tells whether authoritative servers answered that a name is somebody
// else's, or that they do not have it any more.
func notOurs(heard []observed.NameAnswer, l intent.Leftover) bool {
	return slices.ContainsFunc(heard, func(n observed.NameAnswer) bool {
		verdict := verify.Verdict(n.Verdict)
		return n.Name == l.Name && n.Type == l.Type && (verdict == verify.Foreign || verdict == verify.Gone)
	})
}

// once lists a name that several DNSEndpoints gave once, with each reason.
func once(left []intent.Leftover) []intent.Leftover {
	var out []intent.Leftover
	at := map[state.NameKey]int{}
	for _, l := range left {
		key := state.NameKey{Record: l.Record, Name: l.Name, Kind: l.Type}
		n, listed := at[key]
		switch {
		case !listed:
			at[key] = len(out)
			out = append(out, l)
		case !strings.Contains(out[n].Reason, l.Reason):
			out[n].Reason += "; " + l.Reason
		}
	}
	return out
}

// Leftovers are the names that terminate leaves behind, of the objects that were
// withdrawn by a group's pointer. Their external-dns never deletes them, by its
// policy, because it is suspended, or because its cluster is abandoned.
func (s *Updater) Leftovers(ctx context.Context, group intent.Path, pointer appcontext.Pointer) ([]intent.Leftover, error) {
	var going bundle.Bundle
	for _, cluster := range slices.Sorted(maps.Keys(pointer.Withdrawn)) {
		part, err := s.Contexts.WithdrawnFrom(ctx, pointer, cluster)
		if err != nil {
			return nil, err
		}
		going = append(going, part...)
	}
	return s.leftovers(ctx, group, going)
}

func namesLeft(o bundle.Object, reason string) []intent.Leftover {
	names := map[state.NameKey][]string{}
	state.CollectNames(o.Published, names)
	var out []intent.Leftover
	for _, key := range slices.SortedFunc(maps.Keys(names), state.CompareNames) {
		out = append(out, intent.Leftover{Name: key.Name, Type: key.Kind, Record: key.Record, Reason: reason})
	}
	return out
}
