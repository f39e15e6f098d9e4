package syncer

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// questions are the DNSEndpoints whose names are to be verified, as a step of the
// cluster worker left them. It is not changed any more.
type questions struct {
	endpoints map[string]*wanted          // by "namespace/name"
	marks     map[string]mark             // of these
	going     map[string]bool             // those that are being deleted
	how       map[mark]*appcontext.Verify // of each external-dns
	servers   map[mark][]netip.AddrPort   // that its record gives
}

// updateQuestions tells the verifier what there is to be verified. The names of what is
// wanted and not applied yet are asked for, too: whether they are answered is
// then seen all the same.
func (t *clusterWorker) updateQuestions() {
	p := &questions{
		endpoints: map[string]*wanted{}, marks: map[string]mark{}, going: map[string]bool{},
		how: map[mark]*appcontext.Verify{}, servers: map[mark][]netip.AddrPort{},
	}
	for id, want := range t.desired.objects {
		switch {
		case isExternalDNS(id, want):
			m := markOf(id, want)
			p.how[m] = t.desired.shares[appcontext.Owner(want.owners[0])].pointer.Verify
			p.servers[m] = serversOf(p.how[m])
		case id.IsEndpoint():
			key := id.Namespace + "/" + id.Name
			p.endpoints[key], p.marks[key] = want, markOf(id, want)
		}
	}
	for id := range t.entries {
		if id.IsEndpoint() && t.desired.objects[id] == nil {
			p.going[id.Namespace+"/"+id.Name] = true
		}
	}
	t.mu.Lock()
	same := t.questions != nil && t.questions.equal(p)
	if !same {
		t.questions = p
	}
	t.mu.Unlock()
	if !same {
		wake(t.wakeVerifier)
	}
}

// equal tells whether the same is to be verified in the same way.
func (p *questions) equal(other *questions) bool {
	return maps.Equal(p.endpoints, other.endpoints) && maps.Equal(p.going, other.going) && maps.Equal(p.how, other.how)
}

func serversOf(how *appcontext.Verify) []netip.AddrPort {
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

// nameKey is one name and type.
type nameKey struct{ name, kind string }

// sets are the targets of a name and type, by set identifier.
type sets map[string][]string

// namesOf are what a DNSEndpoint publishes, targets without a final dot.
func namesOf(p *bundle.Published) map[nameKey]sets {
	out := map[nameKey]sets{}
	if p == nil {
		return out
	}
	for _, n := range p.Names {
		key := nameKey{n.Name, n.Type}
		if out[key] == nil {
			out[key] = sets{}
		}
		for _, target := range n.Targets {
			out[key][n.ID] = append(out[key][n.ID], strings.TrimSuffix(target, "."))
		}
	}
	return out
}

// all are the targets of all sets, ordered.
func (s sets) all() []string {
	var out []string
	for _, targets := range s {
		out = append(out, targets...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
