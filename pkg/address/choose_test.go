package address

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// offer makes the Service shop/web of a cluster that offers targets.
func offer(cluster string, targets ...string) Offer {
	o := Offer{Service: Service{Cluster: cluster, Namespace: "shop", Name: "web"}, Observation: &Observation{Found: true}}
	for n, target := range targets {
		o.Observation.Candidates = append(o.Observation.Candidates, Candidate{Target: target, Field: fmt.Sprintf("spec.externalIPs[%d]", n)})
	}
	return o
}

func reasons(c Choice) []string {
	var out []string
	for _, r := range c.Rejected {
		out = append(out, r.Reason)
	}
	return out
}

// class is what becomes of an address in a public record, in one that allows
// private addresses, and in the cluster scope: published, published with a
// warning, or the reason why not.
type class struct {
	name, address, as             string // as: how it is published, empty: as it is
	public, allowPrivate, cluster string
}

const published, warned = "", "warned"

func publishedClasses() []class {
	return []class{
		{"a public address", "8.8.4.4", "", published, published, published},
		{"a public address", "2600:1901::1", "", published, published, published},
		{"a long form", "2600:1901:0:0::0001", "2600:1901::1", published, published, published},
		{"an IPv4-mapped public address", "::ffff:8.8.4.4", "8.8.4.4", published, published, published},
		{"benchmarking", "198.18.0.1", "", published, published, published},
		{"beside RFC 1918", "172.32.0.1", "", published, published, published},
		{"beside it", "100.128.0.1", "", published, published, published},
		{"documentation", "192.0.2.1", "", warned, warned, warned},
		{"documentation", "198.51.100.1", "", warned, warned, warned},
		{"documentation", "203.0.113.10", "", warned, warned, warned},
		{"documentation", "2001:db8::1", "", warned, warned, warned},
		{"documentation", "3fff::1", "", warned, warned, warned},
	}
}

func privateClasses() []class {
	return []class{
		{"RFC 1918", "10.1.2.3", "", reasonPrivate, published, published},
		{"RFC 1918", "172.16.0.1", "", reasonPrivate, published, published},
		{"RFC 1918", "172.31.255.255", "", reasonPrivate, published, published},
		{"RFC 1918", "192.168.1.1", "", reasonPrivate, published, published},
		{"IPv4-mapped RFC 1918", "::ffff:10.1.2.3", "10.1.2.3", reasonPrivate, published, published},
		{"shared by carriers", "100.64.0.1", "", reasonPrivate, published, published},
		{"reserved", "240.0.0.1", "", reasonPrivate, published, published},
		{"unique local", "fc00::1", "", reasonPrivate, published, published},
		{"unique local", "fdff::1", "", reasonPrivate, published, published},
		{"site-local", "fec0::1", "", reasonPrivate, published, published},
	}
}

func neverClasses() []class {
	return []class{
		{"unspecified", "0.0.0.0", "", reasonUnspecified, reasonUnspecified, reasonUnspecified},
		{"unspecified", "::", "", reasonUnspecified, reasonUnspecified, reasonUnspecified},
		{"unspecified", "::ffff:0.0.0.0", "", reasonUnspecified, reasonUnspecified, reasonUnspecified},
		{"this network", "0.1.2.3", "", reasonUnspecified, reasonUnspecified, reasonUnspecified},
		{"loopback", "127.0.0.1", "", reasonLoopback, reasonLoopback, reasonLoopback},
		{"loopback", "127.8.9.1", "", reasonLoopback, reasonLoopback, reasonLoopback},
		{"loopback", "::1", "", reasonLoopback, reasonLoopback, reasonLoopback},
		{"loopback", "::ffff:127.0.0.1", "", reasonLoopback, reasonLoopback, reasonLoopback},
		{"link-local", "169.254.20.10", "", reasonLinkLocal, reasonLinkLocal, reasonLinkLocal},
		{"link-local", "fe80::1", "", reasonLinkLocal, reasonLinkLocal, reasonLinkLocal},
		{"link-local with a zone", "fe80::1%eth0", "", reasonLinkLocal, reasonLinkLocal, reasonLinkLocal},
		{"multicast", "224.0.0.251", "", reasonMulticast, reasonMulticast, reasonMulticast},
		{"multicast", "ff02::fb", "", reasonMulticast, reasonMulticast, reasonMulticast},
		{"broadcast", "255.255.255.255", "", reasonBroadcast, reasonBroadcast, reasonBroadcast},
		{"a zone on a public address", "2600:1901::1%eth0", "", reasonInvalid, reasonInvalid, reasonInvalid},
		{"four parts out of range", "10.0.0.300", "", reasonInvalid, reasonInvalid, reasonInvalid},
		{"a leading zero", "010.1.2.3", "", reasonInvalid, reasonInvalid, reasonInvalid},
		{"an address with its port", "8.8.4.4:80", "", reasonInvalid, reasonInvalid, reasonInvalid},
		{"in brackets", "[2600:1901::1]", "", reasonInvalid, reasonInvalid, reasonInvalid},
		{"a network", "8.8.4.0/24", "", reasonInvalid, reasonInvalid, reasonInvalid},
		{"spaces", " 8.8.4.4", "", reasonInvalid, reasonInvalid, reasonInvalid},
	}
}

// TestClassesOfAddresses tells each class of addresses, in both families, what
// becomes of it in each scope.
func TestClassesOfAddresses(t *testing.T) {
	for _, c := range slices.Concat(publishedClasses(), privateClasses(), neverClasses()) {
		for _, s := range []struct {
			name string
			rule Rule
			want string
		}{
			{"public", Rule{Scope: intent.Public}, c.public},
			{"public with allowPrivate", Rule{Scope: intent.Public, AllowPrivate: true}, c.allowPrivate},
			{"cluster", Rule{Scope: intent.ClusterScope}, c.cluster},
		} {
			t.Run(s.name+"/"+c.name+"/"+c.address, func(t *testing.T) {
				c.check(t, choose(s.rule, []Offer{offer("edge+berlin", c.address)}), s.want)
			})
		}
	}
}

func (c class) check(t *testing.T, choice Choice, want string) {
	t.Helper()
	if want != published && want != warned {
		assert.False(t, choice.Some())
		assert.Equal(t, []intent.Rejection{{Target: c.address, Cluster: "edge+berlin", Object: "Service shop/web", Reason: want, Code: "Refused", Field: "spec.externalIPs[0]", Kind: "external"}}, choice.Rejected)
		return
	}
	as := cmp.Or(c.as, c.address)
	assert.Equal(t, []string{as}, append(choice.Targets("A"), choice.Targets("AAAA")...))
	assert.Equal(t, strings.Contains(as, ":"), len(choice.Targets("AAAA")) == 1)
	assert.Equal(t, []intent.Source{{Target: as, Cluster: "edge+berlin", Object: "Service shop/web", Field: "spec.externalIPs[0]", Kind: "external"}}, choice.Sources)
	assert.Equal(t, want == warned, len(choice.Warnings) == 1)
	assert.Empty(t, choice.Rejected)
}

func TestPrivateAddressIsRejectedInTheWordsOfTheStory(t *testing.T) {
	c := choose(Rule{Scope: intent.Public}, []Offer{offer("edge+berlin", "10.1.2.3")})
	assert.Equal(t, []string{"private address in a public record"}, reasons(c))
}

func TestHostNames(t *testing.T) {
	long := strings.Repeat("a", 63) + "."
	for _, c := range []struct{ reason, target, want, rejected string }{
		{"a host name", "lb.cloud.example", "lb.cloud.example", ""},
		{"upper case and a trailing dot", "LB.Cloud.Example.", "lb.cloud.example", ""},
		{"an underscore", "lb_1.cloud.example", "lb_1.cloud.example", ""},
		{"as long as DNS allows", strings.Repeat(long, 3) + strings.Repeat("a", 61), strings.Repeat(long, 3) + strings.Repeat("a", 61), ""},
		{"longer", strings.Repeat(long, 4) + "a", "", reasonInvalid},
		{"a long label", "a" + long + "example", "", reasonInvalid},
		{"an empty label", "a..example", "", reasonInvalid},
		{"two trailing dots", "a.example..", "", reasonInvalid},
		{"a hyphen at an end", "-a.example", "", reasonInvalid},
		{"a wildcard", "*.example", "", reasonInvalid},
		{"not ASCII", "münchen.example", "", reasonInvalid},
		{"a URL", "http://a.example/", "", reasonInvalid},
		{"nothing", "", "", reasonInvalid},
		{"the root", ".", "", reasonInvalid},
		{"localhost", "localhost", "", reasonLocalhost},
		{"below localhost", "lb.Localhost.", "", reasonLocalhost},
		{"no domain", "lb", "", reasonSingle},
	} {
		for _, scope := range []intent.Scope{intent.Public, intent.ClusterScope} {
			t.Run(c.reason+"/"+string(scope), func(t *testing.T) {
				choice := choose(Rule{Scope: scope}, []Offer{offer("edge+berlin", c.target)})
				if c.rejected != "" {
					assert.Equal(t, []string{c.rejected}, reasons(choice))
					assert.False(t, choice.Some())
					return
				}
				assert.Equal(t, []string{c.want}, choice.Targets("CNAME"))
				assert.Empty(t, choice.Rejected)
				require.Len(t, choice.Sources, 1)
				assert.Equal(t, c.want, choice.Sources[0].Target)
			})
		}
	}
}

func TestOneHostNameIsAnAlias(t *testing.T) {
	c := choose(Rule{Scope: intent.Public}, []Offer{offer("edge+berlin", "lb.cloud.example"), offer("edge+paris", "LB.cloud.example.")})
	assert.Equal(t, []string{"lb.cloud.example"}, c.Targets("CNAME"))
	assert.Empty(t, c.Rejected)
	assert.Len(t, c.Sources, 2, "both clusters offer it")
}

func TestHostNamesBesideAddressesAreRejectedWithAdvice(t *testing.T) {
	c := choose(Rule{Scope: intent.Public}, []Offer{offer("edge+berlin", "lb.cloud.example"), offer("edge+paris", "8.8.4.4", "lb2.cloud.example")})
	assert.Equal(t, []string{"8.8.4.4"}, c.Targets("A"))
	assert.Empty(t, c.Targets("CNAME"))
	require.Len(t, c.Rejected, 2)
	for _, reason := range reasons(c) {
		assert.Contains(t, reason, "beside addresses")
		assert.Contains(t, reason, "give this Service's load balancer an address")
	}
}

func TestHostNamesBesideRejectedAddressesArePublished(t *testing.T) {
	c := choose(Rule{Scope: intent.Public}, []Offer{offer("edge+berlin", "10.0.0.1", "lb.cloud.example")})
	assert.Equal(t, []string{"lb.cloud.example"}, c.Targets("CNAME"))
	assert.Equal(t, []string{reasonPrivate}, reasons(c))
}

func TestFirstOfSeveralHostNamesIsPublished(t *testing.T) {
	c := choose(Rule{Scope: intent.Public}, []Offer{
		offer("edge+paris", "a.cloud.example"), offer("edge+berlin", "z.cloud.example", "b.cloud.example"),
	})
	assert.Equal(t, []string{"z.cloud.example"}, c.Targets("CNAME"), "the first cluster's first")
	require.Len(t, c.Rejected, 2)
	for _, reason := range reasons(c) {
		assert.Contains(t, reason, "z.cloud.example, the first in order")
	}
}

func TestNameToPublishIsNoAliasOfItself(t *testing.T) {
	c := choose(Rule{Scope: intent.Public, Names: []string{"www.lab.example"}}, []Offer{offer("edge+berlin", "WWW.lab.example.")})
	assert.False(t, c.Some())
	require.Len(t, c.Rejected, 1)
	assert.Contains(t, c.Rejected[0].Reason, "alias of itself")
}

func TestTargetFilter(t *testing.T) {
	offers := []Offer{offer("edge+berlin", "8.8.4.4", "8.8.8.8", "2600:1901::1")}
	for _, c := range []struct {
		reason      string
		allow, deny []string
		want        []string
		rejected    []string
	}{
		{"no filter", nil, nil, []string{"8.8.4.4", "8.8.8.8", "2600:1901::1"}, nil},
		{"allowed networks", []string{"8.8.4.0/24", "2600::/16"}, nil, []string{"8.8.4.4", "2600:1901::1"}, []string{reasonNotAllowed}},
		{"denied networks", nil, []string{"8.8.0.0/16"}, []string{"2600:1901::1"}, []string{reasonDenied, reasonDenied}},
		{"deny wins", []string{"8.8.0.0/16"}, []string{"8.8.8.0/24"}, []string{"8.8.4.4"}, []string{reasonNotAllowed, reasonDenied}},
		{"mapped networks", []string{"::ffff:8.8.4.0/120"}, nil, []string{"8.8.4.4"}, []string{reasonNotAllowed, reasonNotAllowed}},
	} {
		for _, scope := range []intent.Scope{intent.Public, intent.ClusterScope} {
			t.Run(c.reason+"/"+string(scope), func(t *testing.T) {
				choice := choose(Rule{Scope: scope, Allow: c.allow, Deny: c.deny}, offers)
				assert.Equal(t, c.want, append(choice.Targets("A"), choice.Targets("AAAA")...))
				assert.ElementsMatch(t, c.rejected, reasons(choice))
			})
		}
	}
}

func TestUnreadableTargetFilterAllowsNothing(t *testing.T) {
	c := choose(Rule{Scope: intent.Public, Allow: []string{"8.8.4.4"}, Deny: []string{"x"}}, []Offer{offer("edge+berlin", "8.8.4.4")})
	assert.False(t, c.Some())
	assert.Len(t, c.Warnings, 2)
}

func TestAllowedNetworksCannotCheckHostNames(t *testing.T) {
	c := choose(Rule{Scope: intent.Public, Allow: []string{"8.8.0.0/16"}}, []Offer{offer("edge+berlin", "lb.cloud.example")})
	assert.False(t, c.Some())
	assert.Contains(t, c.Rejected[0].Reason, "targetFilter.allow")
	c = choose(Rule{Scope: intent.Public, Deny: []string{"8.8.0.0/16"}}, []Offer{offer("edge+berlin", "lb.cloud.example")})
	assert.True(t, c.Some())
}

func TestDuplicatesAreMergedWithAllTheirSources(t *testing.T) {
	c := choose(Rule{Scope: intent.Public}, []Offer{offer("edge+paris", "8.8.4.4"), offer("edge+berlin", "8.8.4.4", "::ffff:8.8.4.4", "10.0.0.1", "10.0.0.1")})
	assert.Equal(t, []string{"8.8.4.4"}, c.Targets("A"))
	assert.Equal(t, []intent.Source{
		{Target: "8.8.4.4", Cluster: "edge+berlin", Object: "Service shop/web", Field: "spec.externalIPs[0]", Kind: "external"},
		{Target: "8.8.4.4", Cluster: "edge+berlin", Object: "Service shop/web", Field: "spec.externalIPs[1]", Kind: "external"},
		{Target: "8.8.4.4", Cluster: "edge+paris", Object: "Service shop/web", Field: "spec.externalIPs[0]", Kind: "external"},
	}, c.Sources)
	assert.Len(t, c.Rejected, 2, "one for each field")
}

// TestUnknownIsNotEmpty is I11's share of a choice: who was never looked at is
// told apart from who offers nothing.
func TestUnknownIsNotEmpty(t *testing.T) {
	absent := offer("edge+rome")
	absent.Observation.Found = false
	c := choose(Rule{Scope: intent.Public}, []Offer{
		{Service: Service{Cluster: "edge+paris"}}, absent, offer("edge+oslo"), {Service: Service{Cluster: "edge+berlin"}}, offer("edge+kyiv", "8.8.4.4"),
	})
	assert.Equal(t, []string{"edge+berlin", "edge+paris"}, c.Unknown)
	assert.Equal(t, []string{"edge+rome"}, c.Absent)
	assert.Equal(t, []string{"8.8.4.4"}, c.Targets("A"))
	assert.False(t, choose(Rule{}, nil).Some())
}

// TestChoosingTwiceGivesTheSame is I8 for choices: the order of the offers does
// not show.
func TestChoosingTwiceGivesTheSame(t *testing.T) {
	offers := []Offer{
		offer("edge+berlin", "z.cloud.example", "a.cloud.example", "10.0.0.1"), offer("edge+paris", "a.cloud.example", "127.0.0.1"),
		{Service: Service{Cluster: "edge+rome"}}, offer("edge+oslo", "b.cloud.example", "x"), offer("edge+kyiv", "localhost"),
	}
	rule := Rule{Scope: intent.Public, Deny: []string{"10.0.0.0/8", "bad"}}
	want, err := json.Marshal(choose(rule, offers))
	require.NoError(t, err)
	for range 200 {
		rand.Shuffle(len(offers), func(i, j int) { offers[i], offers[j] = offers[j], offers[i] })
		got, err := json.Marshal(choose(rule, offers))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	}
}

func TestLongNonsenseIsClipped(t *testing.T) {
	c := choose(Rule{}, []Offer{offer("edge+berlin", strings.Repeat("é", 5000)+"\xff")})
	require.Len(t, c.Rejected, 1)
	assert.LessOrEqual(t, len([]rune(c.Rejected[0].Target)), longestName+1)
}
