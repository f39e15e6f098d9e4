package state

import (
	"cmp"
	"maps"
	"net/netip"

	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// Questions are the DNSEndpoints whose names are to be verified, as a step of the
// cluster left them. They are not changed any more.
type Questions struct {
	Endpoints map[string]*Wanted          // by "namespace/name"
	Passed    map[string]*Wanted          // those that came and went since the verifier looked last
	Going     map[string]bool             // those that are being deleted
	How       map[Mark]*appcontext.Verify // of each external-dns
	Servers   map[Mark][]netip.AddrPort   // that its record gives
}

// UpdateQuestions tells the verifying goroutine what there is to be verified. The names of what is
// wanted and not applied yet are asked for, too: whether they are answered is
// then seen all the same.
func (p *Picture) UpdateQuestions() {
	if q, again := p.questions.of(p, p.Ledger.turns, p.ask); again {
		p.SetQuestions(q)
	}
}

func (p *Picture) ask() *Questions {
	q := &Questions{
		Endpoints: map[string]*Wanted{}, Going: map[string]bool{},
		How: map[Mark]*appcontext.Verify{}, Servers: map[Mark][]netip.AddrPort{},
	}
	for id, want := range p.Desired.Objects() {
		switch {
		case isExternalDNS(id, want):
			m := MarkOf(id, want)
			q.How[m] = p.Desired.Pointer(want.Owners[0]).Verify
			q.Servers[m] = ServersOf(q.How[m])
		case id.IsEndpoint():
			q.Endpoints[id.Namespace+"/"+id.Name] = want
		}
	}
	for id := range p.Ledger.Entries() {
		if id.IsEndpoint() && p.Desired.Object(id) == nil {
			q.Going[id.Namespace+"/"+id.Name] = true
		}
	}
	return q
}

// after keeps the DNSEndpoints of questions that nobody has taken up, unless they are among these. Their names are to go
// all the same.
func (q *Questions) after(missed *Questions) {
	q.Passed = map[string]*Wanted{}
	for key, want := range missed.Passed {
		q.Passed[key] = want
	}
	for key, want := range missed.Endpoints {
		q.Passed[key] = want
	}
	maps.DeleteFunc(q.Passed, func(key string, _ *Wanted) bool { return q.Endpoints[key] != nil })
}

// Mark is that of one of the Endpoints, or of those that have passed; the zero one for none.
func (q *Questions) Mark(endpoint string) Mark {
	if want := cmp.Or(q.Endpoints[endpoint], q.Passed[endpoint]); want != nil {
		return MarkOf(want.Object.ID, want)
	}
	return Mark{}
}

// equal tells whether the same is to be verified in the same way.
func (q *Questions) equal(other *Questions) bool {
	return maps.Equal(q.Endpoints, other.Endpoints) && maps.Equal(q.Going, other.Going) && maps.Equal(q.How, other.How)
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
