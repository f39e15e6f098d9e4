package address

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// anyAddress draws addresses of all kinds, and what is none.
func anyAddress() *rapid.Generator[string] {
	four := rapid.Custom(func(t *rapid.T) string {
		return netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "four"))).String()
	})
	sixteen := rapid.Custom(func(t *rapid.T) string {
		return netip.AddrFrom16([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "sixteen"))).String()
	})
	known := rapid.SampledFrom([]string{
		"10.0.0.1", "192.168.0.1", "100.64.0.1", "127.0.0.1", "169.254.1.1", "::1", "fe80::1", "fd00::1", "::ffff:10.0.0.1",
		"8.8.4.4", "203.0.113.10", "2001:db8::1", "2600::1", "lb.cloud.example", "LB.cloud.example.", "other.example", "localhost", "", "x",
	})
	return rapid.OneOf(known, four, sixteen, rapid.String())
}

// anyCandidates draws what a Service offers, of all kinds.
func anyCandidates() *rapid.Generator[[]Candidate] {
	one := rapid.Custom(func(t *rapid.T) Candidate {
		c := Candidate{Target: anyAddress().Draw(t, "target"), Kind: rapid.SampledFrom([]Kind{"", LoadBalancer, External, Ingress, Gateway, Node, NodeInternal, ClusterIP, Endpoint}).Draw(t, "kind")}
		if rapid.Bool().Draw(t, "known") {
			c.Resolved = rapid.SliceOfN(rapid.SampledFrom([]string{"8.8.4.4", "1.1.1.1", "10.0.0.1", "2600::1"}), 0, 2).Draw(t, "resolved")
		}
		return c
	})
	return rapid.Custom(func(t *rapid.T) []Candidate {
		candidates := rapid.SliceOfN(one, 0, 4).Draw(t, "candidates")
		for n := range candidates {
			candidates[n].Field = fmt.Sprintf("field[%d]", n)
		}
		return candidates
	})
}

// anyOffers draws what clusters offer, at most once each, and how they are.
func anyOffers() *rapid.Generator[[]Offer] {
	return rapid.Custom(func(t *rapid.T) []Offer {
		var offers []Offer
		for _, cluster := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a+1", "a+2", "b+1"}), 0, 3, rapid.ID).Draw(t, "clusters") {
			o := Offer{Service: Service{Cluster: cluster, Namespace: "shop", Name: "web"}}
			o.Standing.Drained = rapid.IntRange(0, 3).Draw(t, "drained") == 0
			if ago := rapid.SampledFrom([]int{0, 0, 1, 9}).Draw(t, "unreachable for minutes"); ago > 0 {
				o.Standing.UnreachableSince = dawn().Add(-time.Duration(ago) * time.Minute)
				o.Standing.Frozen = rapid.SampledFrom([]string{"", "most fail"}).Draw(t, "frozen")
			}
			if rapid.IntRange(0, 5).Draw(t, "unknown") > 0 {
				o.Observation = &Observation{Found: rapid.IntRange(0, 5).Draw(t, "absent") > 0}
			}
			if o.Observation != nil && o.Observation.Found {
				o.Observation.Candidates = anyCandidates().Draw(t, "candidates")
				if ready := rapid.SampledFrom([]int{-1, 0, 0, 2}).Draw(t, "ready"); ready >= 0 {
					o.Observation.Readiness = &Readiness{Ready: ready, Total: 2}
				}
			}
			offers = append(offers, o)
		}
		return offers
	})
}

// anyInput draws all but what is published already.
func anyInput() *rapid.Generator[Input] {
	lists := func(of ...string) *rapid.Generator[[]string] { return rapid.SliceOfN(rapid.SampledFrom(of), 0, 2) }
	return rapid.Custom(func(t *rapid.T) Input {
		return Input{
			Rule: Rule{
				Scope:        rapid.SampledFrom([]intent.Scope{intent.Public, intent.ClusterScope}).Draw(t, "scope"),
				AllowPrivate: rapid.Bool().Draw(t, "allowPrivate"),
				Allow:        rapid.OneOf(rapid.Just[[]string](nil), lists("0.0.0.0/0", "8.0.0.0/8", "2000::/3")).Draw(t, "allow"),
				Deny:         lists("8.8.0.0/16", "2600::/16").Draw(t, "deny"),
			},
			Types:   rapid.SampledFrom([][]string{nil, nil, {"A"}, {"AAAA", "CNAME"}}).Draw(t, "types"),
			NoAlias: rapid.SampledFrom([]string{"", "", "it is an apex"}).Draw(t, "noAlias"),
			Routing: rapid.SampledFrom([]intent.Routing{
				{}, {Policy: intent.Multivalue}, {Policy: intent.Failover}, {Policy: intent.Failover, Order: []string{"b+1", "a+2"}},
				{Policy: intent.Weighted, Weights: map[string]int64{"a+1": 90, "a+2": 10, "b+1": 0}},
				{Policy: intent.Latency, Regions: map[string]string{"a+1": "eu-central-1", "a+2": "eu-central-1"}},
				{Policy: intent.Geo, Locations: map[string][]string{"a+1": {"continent/EU", "country/CH"}, "a+2": {"continent/EU"}, "b+1": {"default"}}},
			}).Draw(t, "routing"),
			Health: rapid.SampledFrom([]*intent.Health{nil, {}, {UnreachableAfter: "5m"}, {WhenAllUnhealthy: intent.Remove}}).Draw(t, "health"),
			Offers: anyOffers().Draw(t, "offers"), SetIDs: rapid.Bool().Draw(t, "setIDs"), Now: dawn(),
		}
	})
}

// history folds random observations one after another, each over what the last
// left published, and answers the last of it all.
func history(t *rapid.T) (Input, Choice) {
	in := anyInput().Draw(t, "input")
	c, _ := Fold(in)
	for range rapid.IntRange(0, 3).Draw(t, "steps") {
		in.Previous, in.Offers = c.Sets, anyOffers().Draw(t, "offers")
		c, _ = Fold(in)
	}
	return in, c
}

// TestPublishedIsAllowed: whatever is offered, no address is published that the
// rule forbids, judged here by the standard library's classes; every candidate
// is accounted for; and an alias stands alone, and nowhere that none may.
func TestPublishedIsAllowed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, c := history(t)
		for _, target := range slices.Concat(c.Targets("A"), c.Targets("AAAA")) {
			ip := netip.MustParseAddr(target)
			assert.False(t, ip.IsUnspecified() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.Is4In6(), target)
			if in.Rule.Scope == intent.Public && !in.Rule.AllowPrivate {
				assert.False(t, ip.IsPrivate(), target)
			}
			assert.True(t, len(in.Rule.Allow) == 0 || slices.ContainsFunc(in.Rule.Allow, contains(ip)), target)
			assert.False(t, slices.ContainsFunc(in.Rule.Deny, contains(ip)), target)
		}
		sets := map[string]int{}
		for _, set := range c.Sets {
			sets[set.Type+" "+set.ID]++
			assert.True(t, len(in.Types) == 0 || slices.Contains(in.Types, set.Type), set.Type)
			assert.Equal(t, 1, sets[set.Type+" "+set.ID], "one set for each type and identifier")
			assert.True(t, set.ID == "" || in.SetIDs && (set.Weight > 0 || set.Region != "" || set.Location != ""), "set identifiers are for providers that have them")
			assert.True(t, set.Type != "CNAME" || len(set.Targets) == 1 && in.NoAlias == "", "an alias is one name, and stands where one may")
		}
		assert.True(t, len(c.Targets("CNAME")) == 0 || len(c.Targets("A"))+len(c.Targets("AAAA")) == 0, "an alias stands alone")
		accounted(t, in.Offers, c)
	})
}

// offeredBy tells whether one of the offers has a target, itself or as an address
// of a host name.
func offeredBy(offers []Offer, target string) bool {
	return slices.ContainsFunc(offers, func(o Offer) bool {
		return o.Observation != nil && slices.ContainsFunc(o.Observation.Candidates, func(c Candidate) bool {
			ip, _ := netip.ParseAddr(c.Target)
			name, _ := hostName(c.Target)
			return ip.IsValid() && ip.WithZone("").Unmap().String() == target || name == target || slices.Contains(c.Resolved, target)
		})
	})
}

// isIll tells, by the words of the issue, whether a cluster of an offer counts.
func isIll(in Input, o Offer) bool {
	if in.Health == nil || o.Observation == nil {
		return false
	}
	unready := o.Observation.Readiness != nil && o.Observation.Readiness.Ready == 0
	lost := in.Rule.Scope == intent.Public && !o.Standing.UnreachableSince.IsZero() && in.Now.Sub(o.Standing.UnreachableSince) >= 5*time.Minute
	return unready || lost
}

// TestPublishedIsOffered: each target is offered by a cluster that is not drained
// and, unless no cluster is healthy or most fail at once, by one that is healthy.
// There is one exception: addresses of a host name that is still offered, until
// its new ones are known.
func TestPublishedIsOffered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, c := history(t)
		open := slices.DeleteFunc(slices.Clone(in.Offers), func(o Offer) bool { return o.Standing.Drained })
		well := slices.DeleteFunc(slices.Clone(open), func(o Offer) bool { return isIll(in, o) })
		for _, set := range c.Sets {
			for _, target := range set.Targets {
				held := slices.ContainsFunc(c.Rejected, func(r intent.Rejection) bool { return r.Code == string(unresolved) })
				assert.True(t, offeredBy(open, target) || held && !offeredBy(in.Offers, target), target)
				assert.True(t, offeredBy(well, target) || len(c.Health) > 0 || held, target)
			}
		}
	})
}

// TestNeverEmptyOnceSomethingWasHealthy: under keep, a name that was published
// stays, as long as something is offered that could be published if health did
// not matter.
func TestNeverEmptyOnceSomethingWasHealthy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, _ := history(t)
		if in.Health != nil && in.Health.WhenAllUnhealthy == intent.Remove || len(in.Previous) == 0 {
			return
		}
		healthy := in
		healthy.Health = nil
		could, _ := Fold(healthy)
		c, _ := Fold(in)
		assert.Equal(t, could.Some(), c.Some())
	})
}

// TestPublishedFollowsFromTheFinalObservations: and from what was published, not
// from the order of either, nor from how often one looks; nothing that Fold is
// given is changed.
func TestPublishedFollowsFromTheFinalObservations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, c := history(t)
		before := fmt.Sprintf("%+v", in)
		other := in
		other.Offers, other.Previous = rapid.Permutation(in.Offers).Draw(t, "offers"), rapid.Permutation(in.Previous).Draw(t, "previous")
		again, _ := Fold(other)
		assert.Equal(t, c, again, "the order does not show")
		assert.Equal(t, before, fmt.Sprintf("%+v", in))
		in.Previous = c.Sets
		settled, _ := Fold(in)
		assert.Equal(t, c.Sets, settled.Sets, "what is published does not move by itself")
	})
}

// TestNothingChangesBeforeItIsDue: whoever looks again when Fold says so misses
// nothing.
func TestNothingChangesBeforeItIsDue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, _ := history(t)
		c, due := Fold(in)
		later := in
		later.Now = in.Now.Add(time.Duration(rapid.IntRange(0, 6*60).Draw(t, "later, seconds")) * time.Second)
		if due.IsZero() || later.Now.Before(due) {
			again, _ := Fold(later)
			assert.Equal(t, c.Sets, again.Sets)
		}
	})
}

func contains(ip netip.Addr) func(string) bool {
	return func(network string) bool { return netip.MustParsePrefix(network).Contains(ip) }
}

// secondRate tells whether there is a candidate of a kind that may come first.
func secondRate(candidate Candidate, all []Candidate) bool {
	return rank(intent.ClusterScope, candidate.kind()) > outward && len(all) > 1
}

// accounted checks that each candidate of each cluster is published or
// rejected, or stands back behind others, that each target has a source, and that none has none.
func accounted(t *rapid.T, offers []Offer, c Choice) {
	targets := slices.Concat(c.Targets("A"), c.Targets("AAAA"), c.Targets("CNAME"))
	for _, source := range c.Sources {
		assert.Contains(t, targets, source.Target)
	}
	for _, target := range targets {
		assert.True(t, slices.ContainsFunc(c.Sources, func(s intent.Source) bool { return s.Target == target }), target)
	}
	for _, offer := range offers {
		if offer.Observation == nil {
			assert.Contains(t, c.Unknown, offer.Service.Cluster)
			continue
		}
		for _, candidate := range offer.Observation.Candidates {
			published := slices.ContainsFunc(c.Sources, func(s intent.Source) bool {
				return s.Cluster == offer.Service.Cluster && s.Field == candidate.Field
			})
			rejected := slices.ContainsFunc(c.Rejected, func(r intent.Rejection) bool {
				return r.Cluster == offer.Service.Cluster && r.Field == candidate.Field && r.Reason != ""
			})
			assert.True(t, published || rejected || secondRate(candidate, offer.Observation.Candidates), candidate.Target)
		}
	}
}
