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
		how := now.How[one.mark]
		one.paused = one.going || how == nil
		one.orphan = !one.there && how == nil
		if one.how != nil && how != nil && !slices.Equal(one.servers, now.Servers[one.mark]) {
			one.restart(at)
		}
		one.how, one.servers = how, now.Servers[one.mark]
		one.updateQuestions(!one.there && !one.going, p.published(one), at)
		p.schedule.set(one, at)
	}
	p.hand(slices.Collect(maps.Keys(concerned)))
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
		one = &proof{key: key}
		p.proofs[key] = one
	}
	concerned[one] = true
	p.sharers.each(one, func(other *proof) { concerned[other] = true })
	if want := asked.Want; want != nil {
		p.sharers.remove(one)
		if one.digest != want.Digest {
			one.digest, one.names, one.cause = want.Digest, namesOf(want.Object.Published), want.Stages.Times().Observed
		}
		one.mark = asked.Mark()
		p.sharers.add(one)
		p.sharers.each(one, func(other *proof) { concerned[other] = true })
	}
	one.there, one.going = asked.There, asked.Going
	if one.there {
		delete(p.gone, key)
	} else {
		p.gone[key] = one
	}
}

// published is what all DNSEndpoints of a proof's external-dns give to its names.
func (p *Names) published(of *proof) given {
	var out given
	p.sharers.each(of, func(other *proof) {
		if !other.there {
			return
		}
		for _, name := range of.names {
			for _, one := range other.names.get(name.nameKey) {
				out = out.with(name.nameKey, one.id, one.targets...)
			}
		}
	})
	return out
}

// sharers finds the proofs that have names in common: the same names of the same external-dns. There may be very many
// names, so that it keeps hashes of them.
type sharers struct {
	seed maphash.Seed
	of   map[uint64][]*proof
}

func newSharers() sharers { return sharers{seed: maphash.MakeSeed(), of: map[uint64][]*proof{}} }

func (s sharers) hash(mark state.Mark, key nameKey) uint64 {
	return maphash.Comparable(s.seed, struct {
		state.Mark
		nameKey
	}{mark, key})
}

func (s sharers) add(one *proof) {
	for _, name := range one.names {
		at := s.hash(one.mark, name.nameKey)
		s.of[at] = append(s.of[at], one)
	}
}

func (s sharers) remove(one *proof) {
	for _, name := range one.names {
		at := s.hash(one.mark, name.nameKey)
		rest := slices.DeleteFunc(s.of[at], func(other *proof) bool { return other == one })
		if s.of[at] = rest; len(rest) == 0 {
			delete(s.of, at)
		}
	}
}

// each visits the proofs that have a name in common with one, and this one, each once.
func (s sharers) each(one *proof, visit func(*proof)) {
	seen := map[*proof]bool{}
	for _, name := range one.names {
		for _, other := range s.of[s.hash(one.mark, name.nameKey)] {
			if other.mark == one.mark && !seen[other] {
				seen[other] = true
				visit(other)
			}
		}
	}
}
