package search

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
)

// Budget is how long names are waited for that are before one which was found.
// It leaves the answer time to come back before the node's cache gives up, which
// waits for two seconds.
const Budget = 1500 * time.Millisecond

// Patience is how long a search may take that finds nothing: resolvers give up
// then.
const Patience = 5 * time.Second

// hedge is how long a name is waited for before the next one is asked beside it:
// longer than servers take that answer at all.
const hedge = 250 * time.Millisecond

// race looks names up in their order. It goes on to the next name if the last one is not
// found or its server is silent. So a dead server hides no name.
type race struct {
	names    []string
	qtype    uint16
	lookup   Lookup
	lookups  atomic.Int64
	heard    chan finding // has room for all, so that none waits for a search that has ended
	findings []*finding   // by place, nil while a name is silent
	started  int          // names that were asked for
	settled  bool         // one of them ends the search, so that none is needed behind it
	next     *time.Timer  // when one more is asked for
	budget   *time.Timer  // when what is found behind silent names counts
	overdue  bool         // it has run out
}

// finding is what has come of one name.
type finding struct {
	place  int
	result Result
	reply  *dns.Msg
	other  *dns.Msg // of the addresses of the other family, where they were asked for
}

// ends tells whether no name behind this one counts.
func (f *finding) ends() bool { return f.result == Found || judge(f.other) == Found }

func newRace(names []string, qtype uint16, lookup Lookup) *race {
	return &race{
		names: names, qtype: qtype, lookup: lookup, next: time.NewTimer(hedge), budget: time.NewTimer(Budget),
		heard: make(chan finding, len(names)), findings: make([]*finding, len(names)),
	}
}

// await is what has come of the name at this place: a failure if that is not
// known in time.
func (r *race) await(ctx context.Context, place int) *finding {
	if r.started == place {
		r.start(ctx, hedge)
	}
	for r.findings[place] == nil {
		if r.overdue && r.settled {
			return &finding{result: Failed}
		}
		select {
		case f := <-r.heard:
			r.hear(f)
			if last := r.started - 1; f.place == last && last > place {
				r.start(ctx, r.pace())
			}
		case <-r.next.C:
			r.start(ctx, r.pace())
		case <-r.budget.C:
			r.overdue = true
		case <-ctx.Done():
			for len(r.heard) > 0 {
				r.hear(<-r.heard)
			}
			if r.findings[place] == nil {
				return &finding{result: Failed}
			}
		}
	}
	return r.findings[place]
}

func (r *race) stop() {
	r.next.Stop()
	r.budget.Stop()
}

func (r *race) hear(f finding) {
	r.findings[f.place] = &f
	r.settled = r.settled || f.ends()
}

// pace is how long race waits for each name after a silent one. All names are asked for
// before the search ends, with time to answer.
func (r *race) pace() time.Duration { return min(hedge, Budget/2/time.Duration(len(r.names))) }

// start asks for the next name, and for the one after it when this one has been
// silent for a while.
func (r *race) start(ctx context.Context, silence time.Duration) {
	if r.settled || r.started == len(r.names) || ctx.Err() != nil {
		return
	}
	place := r.started
	r.started++
	r.next.Reset(silence)
	go func() { r.heard <- r.ask(ctx, place) }()
}

// ask looks one name up. If the name has no addresses of the requested family, ask also
// finds out whether the name has others: a resolver would stop there. A server that has
// been silent is not waited for twice.
func (r *race) ask(ctx context.Context, place int) finding {
	began := time.Now()
	f := finding{place: place, reply: r.look(ctx, place, r.qtype)}
	f.result = judge(f.reply)
	silent := f.reply == nil || time.Since(began) > hedge
	if f.result != NoData && (f.result != Failed || silent) {
		return f
	}
	switch r.qtype {
	case dns.TypeA:
		f.other = r.look(ctx, place, dns.TypeAAAA)
	case dns.TypeAAAA:
		f.other = r.look(ctx, place, dns.TypeA)
	}
	return f
}

func (r *race) look(ctx context.Context, place int, qtype uint16) *dns.Msg {
	if ctx.Err() != nil {
		return nil
	}
	r.lookups.Add(1)
	return r.lookup(ctx, r.names[place], qtype)
}
