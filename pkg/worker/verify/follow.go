package verify

import (
	"hash/maphash"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/worker/state"
)

// follow takes up what has changed about what is to be verified. A DNSEndpoint that has gone is
// leaving. While it goes, and while it has no external-dns, nothing is asked.
func (p *Names) follow(now *state.Questions, at time.Time) {
	concerned := p.otherWays(now)
	for key, asked := range now.Changed {
		p.takeUp(key, asked, concerned)
	}
	for one := range concerned {
		next := p.wayOf(one.mark, now)
		one.paused = one.going || next.how == nil
		one.orphan = !one.there && next.how == nil
		if one.how != nil && next.how != nil && !slices.Equal(one.servers, next.servers) {
			one.restart(at)
		}
		one.way = next
		names := one.names()
		one.updateQuestions(!one.there && !one.going, names, p.published(one, names), at)
		p.schedule.set(one, at)
	}
	p.hand(slices.Collect(maps.Keys(concerned)))
}

// wayOf is how the names of an external-dns are verified now.
func (p *Names) wayOf(mark state.Mark, now *state.Questions) *way {
	if p.ways[mark] == nil {
		p.ways[mark] = &way{mark, now.How[mark], now.Servers[mark]}
	}
	return p.ways[mark]
}

// otherWays takes up how names are verified, and answers the proofs for which that has changed: all of them if they were
// just recalled.
func (p *Names) otherWays(now *state.Questions) map[*proof]bool {
	concerned, changed := map[*proof]bool{}, map[state.Mark]bool{}
	for mark, how := range now.How {
		if was, known := p.how[mark]; !known || !reflect.DeepEqual(was, how) {
			changed[mark] = true
		}
	}
	for mark := range p.how {
		if _, still := now.How[mark]; !still {
			changed[mark] = true
		}
	}
	for mark := range changed {
		delete(p.ways, mark)
	}
	if p.recalled || len(changed) > 0 {
		for _, one := range p.proofs {
			if p.recalled || changed[one.mark] {
				concerned[one] = true
			}
		}
	}
	p.how, p.recalled = now.How, false
	return concerned
}

// takeUp takes up a DNSEndpoint as it is, or was last. It adds the proofs that it concerns: those that have a name in
// common with it.
func (p *Names) takeUp(key string, asked state.Asked, concerned map[*proof]bool) {
	one := p.proofs[key]
	if one == nil && asked.Want == nil {
		return
	}
	if one == nil {
		one = &proof{key: key, way: &way{}}
		p.proofs[key] = one
	}
	concerned[one] = true
	names := one.names()
	p.sharers.each(one, names, func(other *proof) { concerned[other] = true })
	if want := asked.Want; want != nil {
		p.sharers.remove(one, names)
		changed, back := one.want == nil || one.want.Digest != want.Digest, one.cameBack(want)
		if one.want != nil && changed || back || one.askedBefore(asked.Written) {
			one.began = time.Time{} // it is asked anew, also for what it gave before
		}
		if back {
			one.renew(names)
		}
		if changed || back {
			names, one.cause = namesOf(want.Publishes()), want.Stages.Times().Observed
		}
		one.want, one.recalled = want, nil
		if mark := asked.Mark(); mark != one.mark {
			one.way = &way{mark, one.how, one.servers}
		}
		p.sharers.add(one, names)
		p.sharers.each(one, names, func(other *proof) { concerned[other] = true })
	}
	one.there, one.going = asked.There, asked.Going
	if one.there {
		delete(p.gone, key)
	} else {
		p.gone[key] = one
	}
}

// published is what all DNSEndpoints of a proof's external-dns give to its names.
func (p *Names) published(of *proof, names given) given {
	var out given
	p.sharers.each(of, names, func(other *proof) {
		if !other.there {
			return
		}
		gives := names
		if other != of {
			gives = other.names()
		}
		for _, name := range names {
			for _, one := range gives.get(name.nameKey) {
				out = out.with(name.nameKey, one.id, one.targets...)
			}
		}
	})
	return out
}

// sharers finds the proofs that have names in common: the same names of the same external-dns. There may be very many
// names, so that it keeps hashes of them.
type sharers struct {
	seed  maphash.Seed
	first map[uint64]*proof
	more  map[uint64][]*proof // the others, if several have a name
}

func newSharers() sharers {
	return sharers{seed: maphash.MakeSeed(), first: map[uint64]*proof{}, more: map[uint64][]*proof{}}
}

func (s sharers) hash(mark state.Mark, key nameKey) uint64 {
	return maphash.Comparable(s.seed, struct {
		state.Mark
		nameKey
	}{mark, key})
}

func (s sharers) add(one *proof, names given) {
	for _, name := range names {
		if at := s.hash(one.mark, name.nameKey); s.first[at] == nil {
			s.first[at] = one
		} else {
			s.more[at] = append(s.more[at], one)
		}
	}
}

func (s sharers) remove(one *proof, names given) {
	for _, name := range names {
		at := s.hash(one.mark, name.nameKey)
		rest := slices.DeleteFunc(s.all(at), func(other *proof) bool { return other == one })
		delete(s.first, at)
		delete(s.more, at)
		if len(rest) > 0 {
			s.first[at] = rest[0]
		}
		if len(rest) > 1 {
			s.more[at] = rest[1:]
		}
	}
}

// all are the proofs that have a name of this hash.
func (s sharers) all(at uint64) []*proof {
	if s.first[at] == nil {
		return nil
	}
	return append([]*proof{s.first[at]}, s.more[at]...)
}

// each visits the proofs that have a name in common with one, and this one, each once.
func (s sharers) each(one *proof, names given, visit func(*proof)) {
	seen := map[*proof]bool{}
	for _, name := range names {
		for _, other := range s.all(s.hash(one.mark, name.nameKey)) {
			if other.mark == one.mark && !seen[other] {
				seen[other] = true
				visit(other)
			}
		}
	}
}
