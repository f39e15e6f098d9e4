package simulate

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/removal/guard"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// crowdedOneIn of the seeds has many names of one record, each of a Service of its
// own, and Services that go. The histories of the others do not depend on it.
const (
	crowdedOneIn = 5
	mostCrowded  = 4 // the remainder of those seeds
	stalls       = 8 // Services, and names, of prod
)

func stall(n int) (service, host, target string) {
	return fmt.Sprintf("shop/m%d", n), fmt.Sprintf("m%d.lab.example", n), fmt.Sprintf("203.0.113.20%d", n)
}

// crowd is what is known of the names of record lab.
type crowd struct {
	given map[appcontext.Owner]map[string]bool // names in the current contexts, by group
	gone  map[string]bool                      // that went, and nobody had asked for it

	mu    sync.Mutex
	asked map[string]bool // that somebody has said may go, at any time
}

func newCrowd() crowd {
	return crowd{given: map[appcontext.Owner]map[string]bool{}, gone: map[string]bool{}, asked: map[string]bool{}}
}

// fillStalls puts the stalls up, in a world that is crowded.
func (w *world) fillStalls() {
	if !w.profile.crowded {
		return
	}
	for n := range stalls {
		service, host, target := stall(n)
		intents := www(prod).Collection()
		w.users.put(intent.Join(intents, fmt.Sprintf("m%d", n)), fmt.Sprintf(`{"app":"web","serviceName":"m%d","hostnames":[%q]}`, n, host))
		w.sites[berlin].offer(service, target)
	}
}

// trade is what happens to stalls, nothing in a world without.
func (w *world) trade() []deed {
	if !w.profile.crowded {
		return nil
	}
	return []deed{
		{16, "stalls close", func() { w.turnStalls(1+w.random.IntN(3), false) }},
		{6, "most stalls close", func() { w.turnStalls(stalls, false) }},
		{8, "stalls open", func() { w.turnStalls(1+w.random.IntN(stalls), true) }},
		{2, "let names go", w.users.letGo},
	}
}

func (w *world) turnStalls(some int, open bool) {
	first := w.random.IntN(stalls)
	for n := range some {
		n = (first + n) % stalls
		service, _, target := stall(n)
		var addresses []string
		if open {
			addresses = []string{target}
		}
		w.sites[berlin].offer(service, addresses...)
	}
}

// letGo plans an update of prod, and confirms what it takes away.
func (u *users) letGo() {
	u.remember(prod, intent.Update, "let names go", func(ctx context.Context, p *process) (intent.Accepted, error) {
		planned, err := p.service.Plan(ctx, prod, intent.Update, 0)
		if err != nil {
			return intent.Accepted{}, err
		}
		u.world.crowd.mu.Lock()
		for _, n := range planned.Names {
			if len(n.Targets) == 0 || n.Action == "delete" {
				u.world.crowd.asked[n.Name] = true
			}
		}
		u.world.crowd.mu.Unlock()
		return p.service.Update(ctx, prod, planned.Token, "ann")
	})
}

// checkCrowd: of record lab's names, no more than maxRemoval go unasked (I11).
func (w *world) checkCrowd(owner appcontext.Owner, r state.Release, objects []bundle.Object) {
	if !w.profile.crowded {
		return
	}
	before, now := w.crowd.given[owner], map[string]bool{}
	for _, o := range objects {
		if o.Published != nil && o.Published.Record == lab.Name() {
			for _, name := range o.Published.Names {
				now[name.Host] = true
				delete(w.crowd.gone, name.Host)
			}
		}
	}
	w.crowd.given[owner] = now
	lost := false
	for host := range before {
		if !now[host] && !w.someGives(host) && asksFor(r.Group, host) && !w.letGo(host) {
			w.crowd.gone[host], lost = true, true
		}
	}
	all := map[string]bool{}
	for _, names := range w.crowd.given {
		for host := range names {
			all[host] = true
		}
	}
	if gone := len(w.crowd.gone); lost && guard.Over(gone, len(all)+gone, guard.Default) {
		w.breaks("I11", "%d of %d names of %s have gone, and nobody has asked for it", gone, len(all)+gone, lab)
	}
}

// forgive: of a group that is terminated all names may go, and those that have gone
// count no more.
func (w *world) forgive(owner appcontext.Owner) {
	delete(w.crowd.given, owner)
	clear(w.crowd.gone)
}

func (w *world) someGives(host string) bool {
	for _, names := range w.crowd.given {
		if names[host] {
			return true
		}
	}
	return false
}

func (w *world) letGo(host string) bool {
	w.crowd.mu.Lock()
	defer w.crowd.mu.Unlock()
	return w.crowd.asked[host]
}

func asksFor(g plan.Group, host string) bool {
	return slices.ContainsFunc(g.Bindings, func(b plan.Binding) bool {
		return b.Record == lab.Name() && slices.ContainsFunc(b.Hosts, func(h plan.Host) bool { return h.Name == host })
	})
}

// stays is what a name has that nothing offers an address any more: what it had, if
// the group tells that such names stay.
func stays(l state.Lifecycle, b plan.Binding, c address.Choice, previous []address.Set) address.Choice {
	held := slices.ContainsFunc(l.Retained, func(h state.RetainedNames) bool { return h.Record.Name() == b.Record && h.Names > 0 })
	if held && !c.Some() {
		c.Sets = previous
	}
	return c
}
