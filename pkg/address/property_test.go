package address

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/signpost-dns/signpost/pkg/intent"
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

func anyOffers() *rapid.Generator[[]Offer] {
	return rapid.Custom(func(t *rapid.T) []Offer {
		var offers []Offer
		for _, cluster := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a+1", "a+2", "b+1"}), rapid.ID).Draw(t, "clusters") {
			if rapid.Bool().Draw(t, "unknown") {
				offers = append(offers, Offer{Service: Service{Cluster: cluster}})
				continue
			}
			offers = append(offers, offer(cluster, rapid.SliceOfN(anyAddress(), 0, 4).Draw(t, "targets")...))
		}
		return offers
	})
}

// TestPublishedIsAllowed: whatever is offered, no address is published that the
// rule forbids, judged here by the standard library's classes; every candidate
// is accounted for; and an alias stands alone.
func TestPublishedIsAllowed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := Rule{
			Scope:        rapid.SampledFrom([]intent.Scope{intent.Public, intent.ClusterScope}).Draw(t, "scope"),
			AllowPrivate: rapid.Bool().Draw(t, "allowPrivate"),
			Allow:        rapid.SliceOfN(rapid.SampledFrom([]string{"0.0.0.0/0", "8.0.0.0/8", "2000::/3"}), 0, 2).Draw(t, "allow"),
			Deny:         rapid.SliceOfN(rapid.SampledFrom([]string{"8.8.0.0/16", "2600::/16"}), 0, 2).Draw(t, "deny"),
		}
		offers := anyOffers().Draw(t, "offers")
		c := choose(rule, offers)
		for _, target := range slices.Concat(c.Targets("A"), c.Targets("AAAA")) {
			ip := netip.MustParseAddr(target)
			assert.False(t, ip.IsUnspecified() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.Is4In6(), target)
			if rule.Scope == intent.Public && !rule.AllowPrivate {
				assert.False(t, ip.IsPrivate(), target)
			}
			assert.True(t, len(rule.Allow) == 0 || slices.ContainsFunc(rule.Allow, contains(ip)), target)
			assert.False(t, slices.ContainsFunc(rule.Deny, contains(ip)), target)
		}
		assert.LessOrEqual(t, len(c.Targets("CNAME")), 1)
		assert.True(t, len(c.Targets("CNAME")) == 0 || len(c.Targets("A"))+len(c.Targets("AAAA")) == 0, "an alias stands alone")
		accounted(t, offers, c)
	})
}

func contains(ip netip.Addr) func(string) bool {
	return func(network string) bool { return netip.MustParsePrefix(network).Contains(ip) }
}

// accounted checks that each candidate of each cluster is published or
// rejected, that each target has a source, and that none has none.
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
				return r.Cluster == offer.Service.Cluster && r.Target == clip(candidate.Target) && r.Reason != ""
			})
			assert.True(t, published || rejected, candidate.Target)
		}
	}
}
