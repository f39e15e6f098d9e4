package address

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// source is an offer of which candidates are considered.
type source struct {
	*Offer
	object string // the Service, for people
}

// entry is a candidate that the rule allows.
type entry struct {
	*source
	*Candidate
	target string     // as it would be published
	ip     netip.Addr // not valid: the target is a host name
	via    string     // the host name whose address the target is; empty: it is offered itself
	ill    code       // why it does not count, empty: it does
	detail string     // of ill
}

func (e entry) in() string { return cmp.Or(e.Candidate.Object, e.object) }

// seen names the object with its cluster. The built-in publisher has no cluster of the user's.
func (e entry) seen() string {
	if intent.IsPublisher(e.Service.Cluster) {
		return e.in()
	}
	return e.in() + " on " + e.Service.Cluster
}

// kind is the type of record that the target would be in.
func (e entry) kind() string {
	switch {
	case !e.ip.IsValid():
		return "CNAME"
	case e.ip.Is4():
		return "A"
	}
	return "AAAA"
}

func compareOffers(a, b Offer) int {
	return cmp.Or(cmp.Compare(a.Service.Cluster, b.Service.Cluster),
		cmp.Compare(a.Service.Namespace, b.Service.Namespace), cmp.Compare(a.Service.Name, b.Service.Name))
}

// collect reads the offers, in their order.
func (f *fold) collect() {
	if !slices.IsSortedFunc(f.Offers, compareOffers) {
		f.Offers = slices.SortedStableFunc(slices.Values(f.Offers), compareOffers)
	}
	f.offered = make([]entry, 0, 2*len(f.Offers)) // most offer an address in each family
	for n := range f.Offers {
		offer := &f.Offers[n]
		switch {
		case offer.Foreign:
			f.choice.Foreign = append(f.choice.Foreign, offer.Service.Cluster)
		case offer.Observation == nil:
			f.choice.Unknown = append(f.choice.Unknown, offer.Service.Cluster)
		case !offer.Observation.Found:
			f.choice.Absent = append(f.choice.Absent, offer.Service.Cluster)
		default:
			f.read(&source{Offer: offer, object: "Service " + offer.Service.Namespace + "/" + offer.Service.Name})
		}
	}
}

// read considers the addresses of one Service. Addresses behind better ones are not
// candidates, and are not mentioned.
func (f *fold) read(s *source) {
	f.recall(s)
	start := len(f.offered)
	better, known := best{}, false
	for n := range s.Observation.Candidates {
		e := entry{source: s, Candidate: &s.Observation.Candidates[n]}
		rank := rank(f.Rule.Scope, e.Candidate.kind())
		switch {
		case s.Standing.Drained:
			f.reject(e, drained, "")
			continue
		case rank > outward && !known:
			better, known = bestOf(f.Rule.Scope, s.Observation.Candidates), true
		}
		e, why, detail := f.judge(e)
		if rank > outward && better.outranks(e.ip, rank) {
			continue
		}
		if rank == nowhere {
			why, detail = insideCluster, ""
		}
		if why != "" {
			f.reject(e, why, detail)
			continue
		}
		f.offered = append(f.offered, e)
	}
	f.examine(s, f.offered[start:])
}

// recall warns of what cannot be seen any more, and counts as it was.
func (f *fold) recall(s *source) {
	for _, kind := range slices.Sorted(maps.Keys(s.Observation.Unseen)) {
		if slices.ContainsFunc(s.Observation.Candidates, func(c Candidate) bool { return c.Kind == kind }) {
			f.warn("the routes to %s on %s by %s are as they were last observed: %s", s.object, s.Service.Cluster, kind, s.Observation.Unseen[kind])
		}
	}
}

// judge finds out what a candidate would be published as, or why not.
func (f *fold) judge(e entry) (_ entry, why code, detail string) {
	ip, err := netip.ParseAddr(e.Target)
	if err != nil {
		e.target, why = hostName(e.Target)
		if why == "" && slices.Contains(f.Rule.Names, e.target) {
			why = itself
		}
		return e, why, ""
	}
	zone := ip.Zone()
	return f.judgeIP(e, ip.WithZone("").Unmap(), zone != "")
}

// judgeIP finds out whether an address may be published.
func (f *fold) judgeIP(e entry, ip netip.Addr, zone bool) (_ entry, why code, detail string) {
	e.ip, e.target = ip, ip.String()
	why = f.refuse(ip)
	switch {
	case why != "":
	case zone:
		why = invalid
	case !f.has(e.kind()):
		why, detail = otherType, e.kind()
	}
	return e, why, detail
}

// mappedBits is how many bits stand before the IPv4 address in an IPv4-mapped one.
const mappedBits = 96

// networks reads a list of the target filter. Text that does not parse matches nothing,
// so that an unreadable list of allowed networks allows none.
func (f *fold) networks(list string, texts []string) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			f.warn("%s: %q is not a network and is ignored; write it as 203.0.113.0/24", list, text)
			continue
		}
		if mapped := network.Addr(); mapped.Is4In6() && network.Bits() >= mappedBits {
			network = netip.PrefixFrom(mapped.Unmap(), network.Bits()-mappedBits)
		}
		out = append(out, network)
	}
	return out
}

func (f *fold) reject(e entry, why code, detail string) {
	f.choice.Rejected = append(f.choice.Rejected, e.rejection(why, detail))
}

// rejection says why a candidate is not published.
func (e entry) rejection(why code, detail string) intent.Rejection {
	target := e.Target
	if e.via != "" {
		target = e.target
	}
	return intent.Rejection{
		Target: clip(target), Cluster: e.Service.Cluster, Object: e.in(), Reason: why.reason(detail), Code: string(why), Field: e.Field, Kind: string(e.Candidate.kind()),
	}
}

func (f *fold) warn(format string, args ...any) {
	f.choice.Warnings = append(f.choice.Warnings, fmt.Sprintf(format, args...))
}

// FixedOffer offers the targets that the document of a name gives: addresses, or one
// host name. The cluster is the one of the external-dns that publishes them.
func FixedOffer(document, cluster string, targets []string) Offer {
	seen := Observation{Found: true}
	for n, target := range targets {
		field := fmt.Sprintf("spec.addresses[%d]", n)
		if _, err := netip.ParseAddr(target); err != nil {
			field = "spec.cname"
		}
		seen.Candidates = append(seen.Candidates, Candidate{Target: target, Field: field, Kind: Fixed, Object: document})
	}
	return Offer{Service: Service{Cluster: cluster}, Observation: &seen}
}
