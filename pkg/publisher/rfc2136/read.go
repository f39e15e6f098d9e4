package rfc2136

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/miekg/dns"
	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/dns/rdata"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/publisher/marks"
)

// atOnce is how many questions of one Read are on their way at a time.
const atOnce = 16

// version is what a State was read from.
type version struct {
	zone    string
	records map[string]dns.RR   // by type and target, as "A 192.0.2.7"
	marks   map[string][]string // the texts at the name of a type's mark, each of one TXT record
	alias   map[string]string   // where the name of a type's mark is a CNAME: its target
}

// lookup is one question and the records of its answer that are of the name itself.
type lookup struct {
	name    string
	qtype   uint16
	records []dns.RR
	err     error // why there is no answer
}

// Read answers the state of each of the names, by questions for its addresses and for its marks to
// the authoritative server. No zone is transferred. A zone that is not answered holds up no other.
func (w *Writer) Read(ctx context.Context, names []string, types ...string) (map[string]publisher.State, error) {
	if len(names) > publisher.Most {
		return nil, fault.Errorf(publisher.Invalid, "a read of %d names; the most are %d", len(names), publisher.Most)
	}
	kinds := slices.Concat(publisher.Managed(), slices.DeleteFunc(slices.Clone(types), func(kind string) bool { return !externaldns.Writes("rfc2136", kind) }))
	states, unread, inZone := make(map[string]publisher.State, len(names)), publisher.Unread{}, map[string][]string{}
	for _, name := range names {
		zone, err := w.zoneOf(name)
		if err != nil {
			unread[name] = err
			continue
		}
		inZone[zone] = append(inZone[zone], name)
	}
	var mu sync.Mutex
	var zones sync.WaitGroup
	for zone, of := range inZone {
		zones.Go(func() {
			lookups := w.lookUp(ctx, zone, of, kinds, max(1, atOnce/len(inZone)))
			for _, name := range of {
				state, err := w.state(ctx, name, zone, kinds, lookups[name])
				mu.Lock()
				if states[name] = state; err != nil {
					delete(states, name)
					unread[name] = err
				}
				mu.Unlock()
			}
		})
	}
	zones.Wait()
	return states, unread.Err()
}

// lookUp asks all questions about names of one zone, some at once. It asks no more of a server that does not answer: each
// question would wait as long.
func (w *Writer) lookUp(ctx context.Context, zone string, names, kinds []string, atOnce int) map[string][]*lookup {
	group, asking := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	lookups := make(map[string][]*lookup, len(names))
	for _, name := range names {
		lookups[name] = w.questions(name, kinds)
		for _, l := range lookups[name] {
			group.Go(func() error {
				if l.err = w.look(asking, zone, l); fault.Of(l.err) == fault.Unreachable {
					return l.err
				}
				return nil
			})
		}
	}
	unanswered := group.Wait()
	for _, l := range slices.Concat(slices.Collect(maps.Values(lookups))...) {
		if fault.Of(l.err) == fault.Unreachable {
			l.err = unanswered // the others were given up
		}
	}
	return lookups
}

// questions are those about one name: for its records, and as many as types for its marks.
// A CNAME shows in the answer to A.
func (w *Writer) questions(name string, kinds []string) []*lookup {
	var all []*lookup
	for _, kind := range kinds {
		if kind != "CNAME" {
			all = append(all, &lookup{name: name, qtype: dns.StringToType[kind]})
		}
	}
	for _, kind := range kinds {
		all = append(all, &lookup{name: w.marks.Name(name, kind), qtype: dns.TypeTXT})
	}
	return all
}

func (w *Writer) look(ctx context.Context, zone string, l *lookup) error {
	answer, err := w.ask(ctx, zone, new(dns.Msg).SetQuestion(dns.Fqdn(l.name), l.qtype))
	if err != nil {
		return err
	}
	for _, record := range answer.reply.Answer {
		if strings.EqualFold(record.Header().Name, dns.Fqdn(l.name)) {
			l.records = append(l.records, record)
		}
	}
	return nil
}

// state puts a name's records and marks together.
func (w *Writer) state(ctx context.Context, name, zone string, kinds []string, lookups []*lookup) (publisher.State, error) {
	v := version{zone: zone, records: map[string]dns.RR{}, marks: map[string][]string{}, alias: map[string]string{}}
	state := publisher.State{Name: name, Orphans: map[string]publisher.Mark{}}
	if at := slices.IndexFunc(lookups, func(l *lookup) bool { return l.err != nil }); at >= 0 {
		return state, lookups[at].err
	}
	records, marked := lookups[:len(lookups)-len(kinds)], lookups[len(lookups)-len(kinds):]
	for _, l := range records { // the name of a mark may have a CNAME of its own
		for _, record := range l.records {
			if kind, target, ok := targetOf(record); ok {
				v.records[kind+" "+target] = record
				state.Sets = with(state.Sets, name, kind, target, int64(record.Header().Ttl))
			}
		}
	}
	for n, kind := range kinds {
		mark, is := publisher.Mark{}, false
		for _, record := range marked[n].records {
			if cname, ok := record.(*dns.CNAME); ok {
				v.alias[kind] = strings.TrimSuffix(cname.Target, ".")
			}
			if txt, ok := record.(*dns.TXT); ok {
				text := strings.Join(txt.Txt, "")
				v.marks[kind] = append(v.marks[kind], text)
				if read, ok := marks.Parse(text); ok {
					mark, is = read, true
				}
			}
		}
		at := slices.IndexFunc(state.Sets, func(s publisher.Set) bool { return s.Type == kind })
		switch {
		case at >= 0:
			state.Sets[at].Mark = mark
		case is:
			state.Orphans[kind] = mark
		}
	}
	state.Version = v
	return w.withoutWildcards(ctx, state, zone)
}

// withoutWildcards leaves out sets that a wildcard of the zone answers for. They have no mark, and the server says
// that they do not exist when an update without any change asks for them.
func (w *Writer) withoutWildcards(ctx context.Context, state publisher.State, zone string) (publisher.State, error) {
	var kept []publisher.Set
	for _, set := range state.Sets {
		if set.Mark == (publisher.Mark{}) {
			probe := new(dns.Msg).SetUpdate(zone)
			probe.RRsetUsed([]dns.RR{emptyOf(set.Name, set.Type)})
			reply, err := w.send(ctx, zone, probe)
			if err != nil {
				return publisher.State{}, err
			}
			if reply.Rcode == dns.RcodeNXRrset || reply.Rcode == dns.RcodeNameError {
				continue
			}
		}
		kept = append(kept, set)
	}
	state.Sets = kept
	return state, nil
}

// with adds a target to the set of its type.
func with(sets []publisher.Set, name, kind, target string, ttl int64) []publisher.Set {
	at := slices.IndexFunc(sets, func(s publisher.Set) bool { return s.Type == kind })
	if at < 0 {
		return append(sets, publisher.Set{Name: name, Type: kind, Targets: []string{target}, TTL: ttl})
	}
	if !slices.Contains(sets[at].Targets, target) {
		sets[at].Targets = append(sets[at].Targets, target)
		slices.Sort(sets[at].Targets)
	}
	return sets
}

// targetOf reads a record of a type that the Writer writes, and is no mark of another name.
func targetOf(record dns.RR) (kind, target string, ok bool) {
	kind, target = dns.Type(record.Header().Rrtype).String(), rdata.Value(record)
	if !slices.Contains(publisher.Managed(), kind) && !externaldns.Writes("rfc2136", kind) {
		return "", "", false
	}
	if kind == "TXT" {
		if _, mark := marks.Parse(target); mark {
			return "", "", false
		}
		target = externaldns.QuoteText(target)
	}
	return kind, target, true
}
