package render

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// HealthCache is what is known of how clusters can be reached. The controller keeps
// it, so that no step has to ask for all clusters; while nobody does, it is read.
type HealthCache struct {
	mu     sync.Mutex
	kept   *reach // never changed; nil: nobody keeps it
	frozen string // as it was last told

	sighted map[string]sighting // of clusters that do not answer; never changed
}

// reach is how clusters can be reached, as their owners have seen it.
type reach struct {
	all    map[string]observed.Reachability // by cluster
	silent []string                         // of them, those that do not answer, ordered
	answer int                              // how many do
}

func reachOf(all map[string]observed.Reachability) *reach {
	r := &reach{all: all}
	for cluster, seen := range all {
		switch {
		case seen.Reachable:
			r.answer++
		case !seen.Counted.IsZero():
			r.silent = append(r.silent, cluster)
		}
	}
	slices.Sort(r.silent)
	return r
}

// reached answers how clusters can be reached.
func (s *Renderer) reached(ctx context.Context) (*reach, error) {
	s.Health.mu.Lock()
	kept := s.Health.kept
	s.Health.mu.Unlock()
	if kept != nil {
		return kept, nil
	}
	all, err := s.Observed.Reachabilities(ctx)
	return reachOf(all), err
}

// KeepHealth reads how all clusters can be reached. The caller sees to it that
// FollowReached hears of each change since, or calls LoseHealth.
func (s *Renderer) KeepHealth(ctx context.Context) error {
	all, err := s.Observed.Reachabilities(ctx)
	if err != nil {
		return err
	}
	s.Health.keep(reachOf(all))
	return nil
}

// LoseHealth forgets how clusters are, so that it is read at each use.
func (s *Renderer) LoseHealth() { s.Health.keep(nil) }

func (o *HealthCache) keep(r *reach) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept = r
}

// FollowReached reads again how some clusters can be reached, and answers those whose names have to follow. Names follow
// whether a cluster does not answer, since when, and who has seen it. They never follow the message, nor who serves a cluster
// that answers.
func (s *Renderer) FollowReached(ctx context.Context, clusters []string) ([]string, error) {
	s.Health.mu.Lock()
	kept := s.Health.kept
	s.Health.mu.Unlock()
	if kept == nil {
		return clusters, nil // it is read at each use
	}
	all, changed := maps.Clone(kept.all), []string{}
	for _, cluster := range clusters {
		was, known := all[cluster]
		delete(all, cluster)
		seen, err := s.Observed.Reachability(ctx, cluster)
		if err != nil {
			return nil, err
		}
		if seen != nil {
			all[cluster] = *seen
		}
		switch {
		case (!known || was.Reachable) && (seen == nil || seen.Reachable): // it answers, or nobody has asked it
		case known && seen != nil && was.SameButMessage(*seen):
		default:
			changed = append(changed, cluster)
		}
	}
	s.Health.keep(reachOf(all))
	return changed, nil
}

// Standings are those of the clusters that do not answer.
func (s *Renderer) Standings(ctx context.Context) (map[string]address.Standing, error) {
	now, err := s.clusterHealth(ctx)
	if err != nil {
		return nil, err
	}
	standings := make(map[string]address.Standing, len(now.silent))
	for cluster := range now.silent {
		standings[cluster] = now.of(cluster)
	}
	return standings, nil
}

// Lost are the clusters that do not answer, and since when.
func (s *Renderer) Lost(ctx context.Context) (map[string]time.Time, error) {
	kept, err := s.reached(ctx)
	if err != nil {
		return nil, err
	}
	seen, err := s.stillSilent(ctx, kept)
	if err != nil {
		return nil, err
	}
	lost := make(map[string]time.Time, len(seen.silent))
	for _, cluster := range seen.silent {
		lost[cluster] = seen.all[cluster].Since.UTC()
	}
	return lost, nil
}

// stillSilent reads again how the clusters can be reached that did not answer. A picture
// that is kept is as old as the last news. A replica that stood still, or hears late,
// would count on for clusters that have come back since. It would take them out for an
// outage that nobody saw to be so long (I11).
func (s *Renderer) stillSilent(ctx context.Context, seen *reach) (*reach, error) {
	if len(seen.silent) == 0 {
		return seen, nil
	}
	now, err := s.Observed.ReachabilitiesOf(ctx, seen.silent)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(seen.all)
	for _, cluster := range seen.silent {
		delete(all, cluster)
	}
	maps.Copy(all, now)
	return reachOf(all), nil
}

// Outage is a cluster that does not answer.
type Outage struct {
	Since   time.Time // UTC: since when anybody has seen that it does not
	Counted time.Time // UTC: since when the outage counts against its addresses; zero: it does not count now
}

// Outages are the clusters that do not answer. frozen says why none of them is taken out
// of names for it; empty: they may be.
func (s *Renderer) Outages(ctx context.Context) (outages map[string]Outage, frozen string, err error) {
	now, err := s.clusterHealth(ctx)
	outages = make(map[string]Outage, len(now.silent))
	for cluster, since := range now.silent {
		outages[cluster] = Outage{Since: since.UTC(), Counted: now.lost[cluster].UTC()}
	}
	return outages, now.frozen, err
}

// clusterHealth are those of all clusters at a time.
type clusterHealth struct {
	silent map[string]time.Time // since when clusters were seen not to answer; others do, or nobody knows
	lost   map[string]time.Time // of these, since when who serves them has seen it without a break
	frozen string               // why none is taken out for it; empty: they may be
}

func (s clusterHealth) of(cluster string) address.Standing {
	return address.Standing{UnreachableSince: s.lost[cluster], SilentSince: s.silent[cluster], Frozen: s.frozen}
}

// clusterHealth combines what was seen of clusters with who serves them. An outage counts
// only while the worker that has reported it still serves the cluster. Clocks may be
// wrong. A cluster is taken out only when that worker's clock and our own agree, and kept
// out as soon as one of them says so.
func (s *Renderer) clusterHealth(ctx context.Context) (clusterHealth, error) {
	kept, err := s.reached(ctx)
	if err != nil {
		return clusterHealth{}, err
	}
	seen, err := s.stillSilent(ctx, kept)
	if err != nil {
		return clusterHealth{}, err
	}
	now := clusterHealth{silent: map[string]time.Time{}, lost: map[string]time.Time{}}
	sighted := s.Health.sight(seen, s.Now().UTC())
	if len(seen.silent) == 0 {
		return now, nil
	}
	serving, err := s.Ledger.Servers(ctx, seen.silent)
	if err != nil {
		return clusterHealth{}, err
	}
	for _, cluster := range seen.silent {
		r, here := seen.all[cluster], sighted[cluster]
		now.silent[cluster] = earlier(r.Since, here.silent)
		if server := serving[cluster]; server != 0 && server == r.Owner {
			now.lost[cluster] = later(r.Counted, here.counted)
		}
	}
	now.frozen = address.Freeze(len(seen.silent), seen.answer+len(seen.silent)) // by any worker: a cluster that changes hands thaws nobody
	return now, nil
}

// sighting is since when this process knows, by its own clock, that a cluster does
// not answer.
type sighting struct {
	silent  time.Time             // without a break
	counted time.Time             // as who serves it counts now
	as      observed.Reachability // how he does
}

// sight notes the clusters that do not answer, and forgets those that do.
func (o *HealthCache) sight(seen *reach, now time.Time) map[string]sighting {
	o.mu.Lock()
	defer o.mu.Unlock()
	next := make(map[string]sighting, len(seen.silent))
	for _, cluster := range seen.silent {
		r, at := seen.all[cluster], o.sighted[cluster]
		if at.silent.IsZero() {
			at.silent = now
		}
		if !at.as.Counted.Equal(r.Counted) || at.as.Owner != r.Owner {
			at.counted, at.as = now, r
		}
		next[cluster] = at
	}
	o.sighted = next
	return next
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Frozen says why no cluster is taken out of names for being unreachable, as of
// the controller's last look; empty: they may be.
func (s *Renderer) Frozen() string {
	s.Health.mu.Lock()
	defer s.Health.mu.Unlock()
	return s.Health.frozen
}

// NoteFrozen looks whether clusters may be taken out, tells when that has
// changed, and whether it has.
func (s *Renderer) NoteFrozen(ctx context.Context) (changed bool, err error) {
	now, err := s.clusterHealth(ctx)
	if err != nil {
		return false, err
	}
	s.Health.mu.Lock()
	before := s.Health.frozen
	s.Health.frozen = now.frozen
	s.Health.mu.Unlock()
	switch {
	case now.frozen != "" && before == "":
		s.Logger.WarnContext(ctx, "fail-safe: published addresses are frozen", "message", now.frozen)
	case now.frozen == "" && before != "":
		s.Logger.InfoContext(ctx, "published addresses are no longer frozen")
	}
	return (now.frozen == "") != (before == ""), nil
}
