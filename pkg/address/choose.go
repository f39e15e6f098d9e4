package address

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// Rule says which addresses may be published.
type Rule struct {
	Scope        intent.Scope
	AllowPrivate bool     // private addresses in the public scope, too
	Allow, Deny  []string // networks in CIDR form, of the record's targetFilter; no Allow: all; Deny wins
	Names        []string // the names to publish, canonical; a host name that is one of them is refused
}

// Choice is what is published of the offers, and why. All lists are sorted,
// without duplicates, and depend on the offers but not on their order.
type Choice struct {
	Sets  []Set  // ordered by type and ID
	Ports []Port // of the Services that are published, ordered

	Sources  []intent.Source    // where each published target comes from
	Rejected []intent.Rejection // which candidates are not published, and what to do about it
	Warnings []string           // sentences about what is published all the same
	Unknown  []string           // clusters whose Service was never looked at
	Absent   []string           // clusters that were seen to lack the Service
}

// Some tells whether there is anything to publish.
func (c Choice) Some() bool { return len(c.Sets) > 0 }

// Targets are those of all sets of a type, ordered.
func (c Choice) Targets(kind string) []string {
	var out []string
	for _, set := range c.Sets {
		if set.Type == kind {
			out = append(out, set.Targets...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// choose decides what is published of the offers. It is a function of its
// arguments alone.
//
// Every address that the rule lets through is published. A host name is
// published as an alias where there is one and no address: DNS allows one
// alias, and nothing beside it. With addresses, host names are rejected; of
// several host names without addresses the first is published, in the order of
// clusters, Services and fields.
func choose(rule Rule, offers []Offer) Choice {
	r := newReading(rule)
	for _, offer := range slices.SortedStableFunc(slices.Values(offers), compareOffers) {
		switch {
		case offer.Observation == nil:
			r.choice.Unknown = append(r.choice.Unknown, offer.Service.Cluster)
		case !offer.Observation.Found:
			r.choice.Absent = append(r.choice.Absent, offer.Service.Cluster)
		default:
			for _, candidate := range offer.Observation.Candidates {
				r.consider(found{offer.Service, candidate}, withheld(offer.Standing))
			}
		}
	}
	r.alias()
	return r.finish()
}

func compareOffers(a, b Offer) int {
	return cmp.Or(cmp.Compare(a.Service.Cluster, b.Service.Cluster),
		cmp.Compare(a.Service.Namespace, b.Service.Namespace), cmp.Compare(a.Service.Name, b.Service.Name))
}

// found is a candidate with the Service that offers it.
type found struct {
	service Service
	Candidate
}

func (f found) object() string {
	return cmp.Or(f.Object, "Service "+f.service.Namespace+"/"+f.service.Name)
}

// kind is the candidate's; one that was stored without is the Service's own.
func (f found) kind() string {
	if f.Kind == "" && strings.HasPrefix(f.Field, "spec.externalIPs") {
		return string(External)
	}
	return string(cmp.Or(f.Kind, LoadBalancer))
}

// alias is a host name that could be published.
type alias struct {
	name string // canonical
	found
}

// reading is a choice in the making.
type reading struct {
	rule                   Rule
	never                  map[netip.Prefix]string
	private, documentation []netip.Prefix
	allow, deny            []netip.Prefix
	aliases                []alias // in the order of the offers
	a, aaaa, cname         []string
	choice                 Choice
}

func newReading(rule Rule) *reading {
	r := &reading{rule: rule, never: never(), private: private(), documentation: documentation()}
	r.allow = r.networks("allow", rule.Allow)
	r.deny = r.networks("deny", rule.Deny)
	return r
}

// mappedBits is how many bits stand before the IPv4 address in an IPv4-mapped one.
const mappedBits = 96

// networks reads a list of the target filter. What does not parse matches
// nothing, so that an unreadable list of allowed networks allows none.
func (r *reading) networks(list string, texts []string) []netip.Prefix {
	var out []netip.Prefix
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			r.warn("targetFilter.%s: %q is no network and is ignored; write it as 203.0.113.0/24", list, text)
			continue
		}
		if mapped := network.Addr(); mapped.Is4In6() && network.Bits() >= mappedBits {
			network = netip.PrefixFrom(mapped.Unmap(), network.Bits()-mappedBits)
		}
		out = append(out, network)
	}
	return out
}

// consider judges a candidate, unless its offer is withheld.
func (r *reading) consider(f found, withheld string) {
	if withheld != "" {
		r.reject(f, withheld)
		return
	}
	r.judge(f)
}

// judge sorts one candidate in.
func (r *reading) judge(f found) {
	ip, err := netip.ParseAddr(f.Target)
	if err != nil {
		r.judgeName(f)
		return
	}
	zone := ip.Zone()
	ip = ip.WithZone("").Unmap()
	if reason := r.refuse(ip); reason != "" {
		r.reject(f, reason)
		return
	}
	if zone != "" {
		r.reject(f, reasonInvalid)
		return
	}
	if within(r.documentation, ip) {
		r.warn("%s of %s on %s is an address for documentation, which nobody can reach; it is published as it is", ip, f.object(), f.service.Cluster)
	}
	if ip.Is4() {
		r.a = append(r.a, ip.String())
	} else {
		r.aaaa = append(r.aaaa, ip.String())
	}
	r.publish(f, ip.String())
}

// judgeName sorts a candidate in that is no address.
func (r *reading) judgeName(f found) {
	name, reason := hostName(f.Target)
	switch {
	case reason != "":
		r.reject(f, reason)
	case slices.Contains(r.rule.Names, name):
		r.reject(f, "the very name that is to be published: it cannot be an alias of itself; give the Service's load balancer an address")
	case len(r.rule.Allow) > 0:
		r.reject(f, "a host name, whose addresses the record's targetFilter.allow cannot check; remove allow to publish it")
	default:
		r.aliases = append(r.aliases, alias{name, f})
	}
}

// alias publishes a host name where one may stand, and rejects the others.
func (r *reading) alias() {
	addresses := len(r.a)+len(r.aaaa) > 0
	for _, a := range r.aliases {
		first := r.aliases[0].name
		switch {
		case addresses:
			r.reject(a.found, "a host name beside addresses of other Services or fields: DNS allows no alias there; give this Service's load balancer an address, or another name")
		case a.name != first:
			r.reject(a.found, fmt.Sprintf("a second host name: DNS allows one alias, and that is %s, the first in order; give the Services' load balancers addresses, or each Service a name of its own", first))
		default:
			r.cname = append(r.cname, first)
			r.publish(a.found, first)
		}
	}
}

func (r *reading) publish(f found, target string) {
	r.choice.Sources = append(r.choice.Sources, intent.Source{
		Target: target, Cluster: f.service.Cluster, Object: f.object(), Field: f.Field, Kind: f.kind(),
	})
}

func (r *reading) reject(f found, reason string) {
	r.choice.Rejected = append(r.choice.Rejected, intent.Rejection{
		Target: clip(f.Target), Cluster: f.service.Cluster, Object: f.object(), Reason: reason, Code: "Refused", Field: f.Field, Kind: f.kind(),
	})
}

func (r *reading) warn(format string, args ...any) {
	r.choice.Warnings = append(r.choice.Warnings, fmt.Sprintf(format, args...))
}

// finish brings the lists into order.
func (r *reading) finish() Choice {
	c := r.choice
	for _, set := range []Set{{Type: "A", Targets: r.a}, {Type: "AAAA", Targets: r.aaaa}, {Type: "CNAME", Targets: r.cname}} {
		if len(set.Targets) > 0 {
			slices.Sort(set.Targets)
			set.Targets = slices.Compact(set.Targets)
			c.Sets = append(c.Sets, set)
		}
	}
	for _, list := range []*[]string{&c.Warnings, &c.Unknown, &c.Absent} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	slices.SortFunc(c.Sources, func(a, b intent.Source) int {
		return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Field, b.Field))
	})
	c.Sources = slices.Compact(c.Sources)
	slices.SortFunc(c.Rejected, func(a, b intent.Rejection) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Reason, b.Reason))
	})
	c.Rejected = slices.Compact(c.Rejected)
	return c
}
