package address

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// class is what becomes of an address in a public record, in one that allows
// private addresses, and in the cluster scope: published, published with a
// warning, or the reason why not.
type class struct {
	name, address, as             string // as: how it is published, empty: as it is
	public, allowPrivate, cluster code
}

const published, warned code = "", "warned"

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
		{"RFC 1918", "10.1.2.3", "", private, published, published},
		{"RFC 1918", "172.16.0.1", "", private, published, published},
		{"RFC 1918", "172.31.255.255", "", private, published, published},
		{"RFC 1918", "192.168.1.1", "", private, published, published},
		{"IPv4-mapped RFC 1918", "::ffff:10.1.2.3", "10.1.2.3", private, published, published},
		{"shared by carriers", "100.64.0.1", "", private, published, published},
		{"reserved", "240.0.0.1", "", private, published, published},
		{"unique local", "fc00::1", "", private, published, published},
		{"unique local", "fdff::1", "", private, published, published},
		{"site-local", "fec0::1", "", private, published, published},
	}
}

func neverClasses() []class {
	return []class{
		{"unspecified", "0.0.0.0", "", unspecified, unspecified, unspecified},
		{"unspecified", "::", "", unspecified, unspecified, unspecified},
		{"unspecified", "::ffff:0.0.0.0", "", unspecified, unspecified, unspecified},
		{"this network", "0.1.2.3", "", unspecified, unspecified, unspecified},
		{"loopback", "127.0.0.1", "", loopback, loopback, loopback},
		{"loopback", "127.8.9.1", "", loopback, loopback, loopback},
		{"loopback", "::1", "", loopback, loopback, loopback},
		{"loopback", "::ffff:127.0.0.1", "", loopback, loopback, loopback},
		{"link-local", "169.254.20.10", "", linkLocal, linkLocal, linkLocal},
		{"link-local", "fe80::1", "", linkLocal, linkLocal, linkLocal},
		{"link-local with a zone", "fe80::1%eth0", "", linkLocal, linkLocal, linkLocal},
		{"multicast", "224.0.0.251", "", multicast, multicast, multicast},
		{"multicast", "ff02::fb", "", multicast, multicast, multicast},
		{"broadcast", "255.255.255.255", "", broadcast, broadcast, broadcast},
		{"a zone on a public address", "2600:1901::1%eth0", "", invalid, invalid, invalid},
		{"four parts out of range", "10.0.0.300", "", invalid, invalid, invalid},
		{"a leading zero", "010.1.2.3", "", invalid, invalid, invalid},
		{"an address with its port", "8.8.4.4:80", "", invalid, invalid, invalid},
		{"in brackets", "[2600:1901::1]", "", invalid, invalid, invalid},
		{"a network", "8.8.4.0/24", "", invalid, invalid, invalid},
		{"spaces", " 8.8.4.4", "", invalid, invalid, invalid},
	}
}

// TestClassesOfAddresses tells each class of addresses, in both families, what
// becomes of it in each scope.
func TestClassesOfAddresses(t *testing.T) {
	for _, c := range slices.Concat(publishedClasses(), privateClasses(), neverClasses()) {
		for _, s := range []struct {
			name string
			rule Rule
			want code
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

func (c class) check(t *testing.T, choice Choice, want code) {
	t.Helper()
	if want != published && want != warned {
		assert.False(t, choice.Some())
		assert.Equal(t, []intent.Rejection{{Target: c.address, Cluster: "edge+berlin", Object: "Service shop/web", Reason: want.reason(""), Code: string(want), Field: "spec.externalIPs[0]", Kind: "external"}}, choice.Rejected)
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
	assert.Equal(t, []string{"private address in a public name: its provider has no allowPrivate"}, reasons(c))
}

func TestTargetFilter(t *testing.T) {
	offers := []Offer{offer("edge+berlin", "8.8.4.4", "8.8.8.8", "2600:1901::1")}
	for _, c := range []struct {
		reason      string
		allow, deny []string
		passed      []string
		want        []string
		rejected    []code
	}{
		{"no filter", nil, nil, nil, []string{"8.8.4.4", "8.8.8.8", "2600:1901::1"}, nil},
		{"allowed networks", []string{"8.8.4.0/24", "2600::/16"}, nil, nil, []string{"8.8.4.4", "2600:1901::1"}, []code{notAllowed}},
		{"denied networks", nil, []string{"8.8.0.0/16"}, nil, []string{"2600:1901::1"}, []code{denied, denied}},
		{"deny wins", []string{"8.8.0.0/16"}, []string{"8.8.8.0/24"}, nil, []string{"8.8.4.4"}, []code{notAllowed, denied}},
		{"mapped networks", []string{"::ffff:8.8.4.0/120"}, nil, nil, []string{"8.8.4.4"}, []code{notAllowed, notAllowed}},
		{"all mapped addresses are all of IPv4", nil, []string{"::ffff:0.0.0.0/96"}, nil, []string{"2600:1901::1"}, []code{denied, denied}},
		{"what external-dns leaves", nil, nil, []string{"8.8.8.0/24"}, []string{"8.8.8.8"}, []code{notAllowed, notAllowed}},
		{"what is allowed and left", []string{"8.8.0.0/16"}, nil, []string{"8.8.8.0/24", "2600::/16"}, []string{"8.8.8.8"}, []code{notAllowed, notAllowed}},
	} {
		for _, scope := range []intent.Scope{intent.Public, intent.ClusterScope} {
			t.Run(c.reason+"/"+string(scope), func(t *testing.T) {
				choice := choose(Rule{Scope: scope, Allow: c.allow, Deny: c.deny, Passed: c.passed}, offers)
				assert.Equal(t, c.want, append(choice.Targets("A"), choice.Targets("AAAA")...))
				assert.ElementsMatch(t, c.rejected, codes(choice))
			})
		}
	}
}

func TestUnreadableTargetFilterAllowsNothing(t *testing.T) {
	c := choose(Rule{Scope: intent.Public, Allow: []string{"8.8.4.4"}, Deny: []string{"x"}}, []Offer{offer("edge+berlin", "8.8.4.4")})
	assert.False(t, c.Some())
	assert.Len(t, c.Warnings, 2)
}
