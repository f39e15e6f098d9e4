package reconcile

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// takeover ends a takeover of names when all of them are handed over.
func (s *Reconciler) takeover(ctx context.Context, on *step) (state.Outcome, error) {
	l := &on.lifecycle
	if l.Taking == "" || !l.Settled {
		return state.Onward, nil
	}
	done, err := s.takeNames(ctx, on)
	if done && err == nil {
		l.Taking = ""
	}
	return state.Onward, err
}

// takeNames has the other group of a takeover transfer the names that this group has in
// the clusters. It is done if no name is left to hand over.
func (s *Reconciler) takeNames(ctx context.Context, on *step) (done bool, err error) {
	l := on.lifecycle
	if !l.Deployed() {
		return true, nil
	}
	release, err := s.LoadRelease(ctx, l.ContextID)
	if err != nil {
		return false, err
	}
	ours := l.Placed(release.Group)
	names, _, err := s.Sharing.Common(ctx, ours, l.Taking)
	if err != nil || len(names) == 0 {
		return err == nil, err
	}
	published := publishedNames(on.next.Objects)
	yields, waiting := map[string][]state.Digest{}, state.NameSet{}
	for _, b := range ours.Bindings {
		for _, host := range b.Hosts {
			yields[host.Name] = append(yields[host.Name], state.DigestOf(b, host.Name))
			if !published[placedName{host.Name, b.Record, b.Scope, b.Cluster}] {
				waiting[host.Name] = true // for an address
			}
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return waiting[name] })
	var ready []state.Digest
	for _, name := range names {
		ready = append(ready, yields[name]...)
	}
	if applied, err := s.applied(ctx, on); err != nil || !applied {
		return false, err
	}
	return false, s.transfer(ctx, l.Taking, on.group, names, ready)
}

// placedName is a name in one external-dns' DNSEndpoints.
type placedName struct {
	name, record string
	scope        intent.Scope
	cluster      string
}

// publishedNames are those in the DNSEndpoints of a group.
func publishedNames(objects bundle.Bundle) map[placedName]bool {
	all := map[placedName]bool{}
	for _, o := range objects {
		if o.Published == nil {
			continue
		}
		for _, name := range o.Published.Names {
			if len(name.Targets) > 0 {
				all[placedName{name.Host, o.Published.Record, intent.Scope(o.Published.Scope), o.Cluster}] = true
			}
		}
	}
	return all
}

// transfer has a group give up names to another one, and look at once at what is left
// to it.
func (s *Reconciler) transfer(ctx context.Context, group, to intent.Path, names []string, taken []state.Digest) error {
	l, err := s.StoredLifecycle(ctx, group)
	if err != nil {
		return err
	}
	before := state.Takers(l.Transferred)
	taken = slices.DeleteFunc(taken, func(name state.Digest) bool { return before[name] == to })
	if len(taken) == 0 || !l.Deployed() {
		return nil
	}
	l.Transferred = transferring(l.Transferred, to, taken)
	l.Record(intent.Event{Time: s.Now().UTC(), Actor: intent.Itself, Action: l.Wanted, Revision: l.Seq, Outcome: "yielded",
		Message: fmt.Sprintf("%s, to %s", state.Few(names), to)})
	if intent.IsName(group) { // it has one name, and nothing is left of it without
		l.Wanted, l.Settled, l.Since, l.Done = intent.Terminate, false, s.Now().UTC(), time.Time{}
		if err := s.Ownership.PendingReleases(ctx, &l, l.ContextID); err != nil {
			return err
		}
		l.RelyOn(nil)
	}
	if err := s.Swap(ctx, group, l); err != nil {
		return err
	}
	s.Wake(group)
	return nil
}

func transferring(before []state.Transfer, to intent.Path, taken []state.Digest) []state.Transfer {
	all := slices.Clone(before)
	at := slices.IndexFunc(all, func(y state.Transfer) bool { return y.To == to })
	if at < 0 {
		all, at = append(all, state.Transfer{To: to}), len(all)
	}
	all[at].Names = slices.Clip(all[at].Names)
	for _, name := range taken {
		all[at].Names = append(all[at].Names, name[:]...)
	}
	return all
}
