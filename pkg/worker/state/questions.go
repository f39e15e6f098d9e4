package state

import (
	"maps"
	"net/netip"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// Questions are what has changed about the names that are to be verified.
type Questions struct {
	Changed map[string]Asked            // DNSEndpoints, by "namespace/name"
	How     map[Mark]*appcontext.Verify // of each external-dns, changed or not
	Servers map[Mark][]netip.AddrPort   // that its record gives
}

// Asked is a DNSEndpoint whose names are to be verified, or are to go.
type Asked struct {
	Want  *Wanted // as it is wanted, or was wanted last; nil: it was not wanted since the questions before
	There bool    // it is wanted
	Going bool    // it is being deleted

	Written time.Time // when it was written as it is wanted; zero: it is not there so
}

// Mark is that of the external-dns; the zero one if it is not known here.
func (a Asked) Mark() Mark {
	if a.Want == nil {
		return Mark{}
	}
	return MarkOf(a.Want.Object.ID, a.Want)
}

// how is in which way each external-dns has its names verified.
type how map[Mark]*appcontext.Verify

// UpdateQuestions tells the verifying goroutine what has changed about what is to be verified. The
// names of what is wanted and not applied yet are asked for, too: whether they are answered is
// then seen all the same.
func (p *Picture) UpdateQuestions() {
	ids, _ := p.stale.asked.Take()
	changed := map[string]Asked{}
	for id := range ids {
		if id.IsEndpoint() {
			changed[id.Namespace+"/"+id.Name] = p.asked(id)
		}
	}
	ways, _ := p.how.of(p, 0, p.ways)
	p.SetQuestions(changed, ways)
}

func (p *Picture) asked(id bundle.ID) Asked {
	want := p.Desired.Object(id)
	entry, known := p.Ledger.Entries()[id]
	asked := Asked{Want: want, There: want != nil, Going: known && want == nil}
	if want != nil {
		asked.Written = entry.Written(want.Digest)
	}
	return asked
}

func (p *Picture) ways() how {
	ways := how{}
	for id := range p.Desired.few {
		if want := p.Desired.Object(id); isExternalDNS(id, want) {
			ways[MarkOf(id, want)] = p.Desired.verify(want.Owners[0])
		}
	}
	return ways
}

// questions are those that nobody has taken up yet.
type questions struct {
	changed map[string]Asked
	how     how
	begun   bool               // there were some
	fresh   bool               // they differ from those that were taken up last
	probed  map[string]*Wanted // the DNSEndpoints whose addresses are to be probed; not changed any more
}

// add adds what has changed, and tells whether anything has, and what is to be probed. A DNSEndpoint that has come and
// gone is kept: its names are to go all the same.
func (q *questions) add(changed map[string]Asked, ways how) (differ, probes bool) {
	differ = len(changed) > 0 || !q.begun || !maps.Equal(q.how, ways)
	if !q.begun {
		q.begun, q.changed, probes = true, map[string]Asked{}, true
	}
	for key, now := range changed {
		if before := q.changed[key]; now.Want == nil {
			now.Want = before.Want
		}
		q.changed[key] = now
		if now.asksForProbes() || q.probed[key] != nil {
			if !probes {
				q.probed, probes = maps.Clone(q.probed), true
			}
			q.probe(key, now)
		}
	}
	q.how, q.fresh = ways, q.fresh || differ
	return differ, probes
}

func (a Asked) asksForProbes() bool {
	return a.There && a.Want.Object.Published != nil && len(a.Want.Object.Published.Probes) > 0
}

// probe notes whether a DNSEndpoint has addresses to be probed.
func (q *questions) probe(key string, now Asked) {
	delete(q.probed, key)
	if !now.asksForProbes() {
		return
	}
	if q.probed == nil {
		q.probed = map[string]*Wanted{}
	}
	q.probed[key] = now.Want
}

// take answers what has changed, nil for nothing.
func (q *questions) take() *Questions {
	if !q.fresh {
		return nil
	}
	out := &Questions{Changed: q.changed, How: q.how, Servers: map[Mark][]netip.AddrPort{}}
	for mark, way := range q.how {
		out.Servers[mark] = ServersOf(way)
	}
	q.changed, q.fresh = map[string]Asked{}, false
	return out
}

// SetQuestions tells what has changed about the names that are to be verified, and how that is done.
func (c *Cluster) SetQuestions(changed map[string]Asked, ways map[Mark]*appcontext.Verify) {
	c.mu.Lock()
	differ, probes := c.questions.add(changed, ways)
	c.mu.Unlock()
	if differ {
		c.Signals.Verify.Wake()
	}
	if probes {
		c.Signals.Addresses.Wake()
	}
}

// TakeQuestions answers what has changed about the names that are to be verified since it was called last, to the verifier
// alone; nil: nothing.
func (c *Cluster) TakeQuestions() *Questions {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.questions.take()
}

// Asks tells whether it is known what is to be verified.
func (c *Cluster) Asks() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.questions.begun
}

// Probed answers the DNSEndpoints whose addresses are to be probed, by "namespace/name". The caller must not change the map.
func (c *Cluster) Probed() map[string]*Wanted {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.questions.probed
}

// ServersOf answers the servers that are to be asked, none for those of the zone.
func ServersOf(how *appcontext.Verify) []netip.AddrPort {
	if how == nil {
		return nil
	}
	var out []netip.AddrPort
	for _, text := range how.Servers {
		if server, err := netip.ParseAddrPort(text); err == nil {
			out = append(out, server)
		}
	}
	return out
}
