package simulate

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// sickOneIn of the seeds has Services that lose their endpoints, and clusters
// that are away for long. The histories of the others do not depend on it.
const (
	sickOneIn = 5
	sickest   = 2 // the remainder of those seeds
)

// Rhythm of what is sick.
const (
	unreachableAfter = 25 * time.Second // of the names of these worlds
	turnsAtMost      = 4                // of a Service: each more is damped for longer
	darkFor          = 60 * time.Second // how long most clusters fail
	reacts           = 20 * time.Second // in which a decision is written that was right when it was made
)

// names gives host names to an app's Service.
func (p profile) names(app string, hostnames ...string) string {
	health := ""
	if p.sick {
		health = fmt.Sprintf(`,"health":{"unreachableAfter":%q}`, unreachableAfter)
	}
	return fmt.Sprintf(`{"app":%q,"serviceName":%q,"hostnames":%s%s}`, app, app, encode(hostnames), health)
}

// ail is what happens to what is sick, nothing in a world without.
func (w *world) ail() []deed {
	if !w.profile.sick {
		return nil
	}
	return []deed{
		{8, "endpoints turn", w.turnEndpoints},
		{4, "long outage", w.longOutage},
		{2, "most clusters fail", w.darken},
	}
}

func (w *world) turnEndpoints() {
	s, service := w.offering()
	w.turn(s, service)
}

// turn has a Service turn, unless it has turned too often.
func (w *world) turn(s *site, service string) {
	w.turns[s.name+" "+service]++
	if w.turns[s.name+" "+service] <= turnsAtMost {
		s.turn(service)
	}
}

func (w *world) longOutage() {
	s, _ := w.offering()
	s.down = true
	w.after(unreachableAfter+time.Duration(10+w.random.IntN(30))*time.Second, s.name+" is back", func() { s.down = false; s.version++ })
}

func (w *world) darken() {
	for _, name := range []string{berlin, paris} {
		s := w.sites[name]
		s.down = true
		w.after(darkFor, s.name+" is back", func() { s.down = false; s.version++ })
	}
}

// health is what the store said of the clusters, and until when.
type health struct {
	counted     map[string]time.Time             // by cluster: since when its owner counts, by the true time
	unready     map[string]time.Time             // "cluster service" that ever was, to until when; zero: it is
	reach       map[string]observed.Reachability // by cluster
	unreachable map[string]time.Time             // clusters that ever were for long enough to count, to until when; zero: they are
	thawed      time.Time                        // when most clusters were last reachable
}

func newHealth() health {
	return health{
		unready: map[string]time.Time{}, counted: map[string]time.Time{}, reach: map[string]observed.Reachability{},
		unreachable: map[string]time.Time{}, thawed: time.Now(),
	}
}

// noteReadiness remembers what was written of a Service, which has to have been
// true: that it turned bad, at once, and that it turned good, some time ago.
func (w *world) noteReadiness(name, service string, o address.Observation) {
	key := name + " " + service
	until, ever := w.health.unready[key]
	was, is := ever && until.IsZero(), o.Readiness != nil && o.Readiness.Ready == 0
	if was == is {
		return
	}
	if !w.sites[name].wasReady(service, !is, time.Now().Add(-stale)) {
		w.breaks("I11", "%s on %s is written down as ready: %t, which it was not", service, name, !is)
	}
	w.health.unready[key] = time.Time{}
	if !is {
		w.health.unready[key] = time.Now()
	}
}

// noteReach remembers what was written of a cluster's reachability.
func (w *world) noteReach(op kv.Op) {
	name, _, _ := strings.Cut(strings.TrimPrefix(op.Key, "/signpost/observed/"), "/")
	if !w.dark() {
		w.health.thawed = time.Now()
	}
	if last := w.health.reach[name]; w.health.counts(name) && !last.Reachable {
		w.health.unreachable[name] = time.Now()
	}
	var r observed.Reachability
	if err := json.Unmarshal(op.Value, &r); err != nil {
		w.breaks("I6", "the reachability of %s is damaged: %v", name, err)
	}
	if last := w.health.reach[name]; last.Owner != r.Owner || !last.Counted.Equal(r.Counted) {
		w.health.counted[name] = time.Now()
	}
	w.health.reach[name] = r
}

// dark tells whether most clusters are known not to answer.
func (w *world) dark() bool {
	away := 0
	for _, r := range w.health.reach {
		if !r.Reachable {
			away++
		}
	}
	return away > 1 && 2*away > len(w.health.reach)
}

// counts tells whether a cluster has been unreachable for long enough.
func (h *health) counts(name string) bool {
	return !h.reach[name].Counted.IsZero() && time.Since(h.counted[name]) >= unreachableAfter
}

// excused tells whether a target of a cluster may go though the cluster offers
// it: it is not healthy, or was not a short time ago, and something else is
// published.
func (w *world) excused(name string, b plan.Binding, some bool) bool {
	if health := b.Hosts[0].Health; health != nil && health.WhenAllUnhealthy == intent.Remove {
		some = true // no address is better than one of an unhealthy cluster
	}
	if !w.profile.sick || !some || b.Scope != intent.Public {
		return false
	}
	if b.Hosts[0].Routing.Policy == intent.Failover { // an earlier cluster of its order has addresses
		return true
	}
	if until, ever := w.health.unready[name+" "+b.Namespace+"/"+b.Service]; ever && (until.IsZero() || time.Since(until) < stale) {
		return true
	}
	until, ever := w.health.unreachable[name]
	lately := ever && time.Since(until) < stale
	frozen := w.dark() && time.Since(w.health.thawed) > reacts && !w.stoodStill
	return (lately || w.health.counts(name)) && !frozen
}
