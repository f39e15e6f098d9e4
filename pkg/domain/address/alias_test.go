package address

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

func TestHostNames(t *testing.T) {
	long := strings.Repeat("a", 63) + "."
	for _, c := range []struct {
		reason, target, want string
		rejected             code
	}{
		{"a host name", "lb.cloud.example", "lb.cloud.example", ""},
		{"upper case and a trailing dot", "LB.Cloud.Example.", "lb.cloud.example", ""},
		{"an underscore", "lb_1.cloud.example", "lb_1.cloud.example", ""},
		{"as long as DNS allows", strings.Repeat(long, 3) + strings.Repeat("a", 61), strings.Repeat(long, 3) + strings.Repeat("a", 61), ""},
		{"longer", strings.Repeat(long, 4) + "a", "", invalid},
		{"a long label", "a" + long + "example", "", invalid},
		{"an empty label", "a..example", "", invalid},
		{"two trailing dots", "a.example..", "", invalid},
		{"a hyphen at an end", "-a.example", "", invalid},
		{"a wildcard", "*.example", "", invalid},
		{"not ASCII", "münchen.example", "", invalid},
		{"a URL", "http://a.example/", "", invalid},
		{"nothing", "", "", invalid},
		{"the root", ".", "", invalid},
		{"localhost", "localhost", "", localhost},
		{"below localhost", "lb.Localhost.", "", localhost},
		{"not a domain", "lb", "", noDomain},
	} {
		for _, scope := range []intent.Scope{intent.Public, intent.ClusterScope} {
			t.Run(c.reason+"/"+string(scope), func(t *testing.T) {
				choice := choose(Rule{Scope: scope}, []Offer{offer("edge+berlin", c.target)})
				if c.rejected != "" {
					assert.Equal(t, []code{c.rejected}, codes(choice))
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
	assert.Equal(t, []code{private}, codes(c))
}

func TestFirstOfSeveralHostNamesIsPublished(t *testing.T) {
	c := choose(Rule{Scope: intent.Public}, []Offer{
		offer("edge+paris", "a.cloud.example"), offer("edge+berlin", "z.cloud.example", "b.cloud.example"),
	})
	assert.Equal(t, []string{"z.cloud.example"}, c.Targets("CNAME"), "the first cluster's first")
	require.Len(t, c.Rejected, 2)
	for _, reason := range reasons(c) {
		assert.Contains(t, reason, "z.cloud.example is the first in order")
	}
}

func TestNameToPublishIsNoAliasOfItself(t *testing.T) {
	c := choose(Rule{Scope: intent.Public, Names: []string{"www.lab.example"}}, []Offer{offer("edge+berlin", "WWW.lab.example.")})
	assert.False(t, c.Some())
	require.Len(t, c.Rejected, 1)
	assert.Contains(t, c.Rejected[0].Reason, "alias of itself")
}

func TestAllowedNetworksCannotCheckHostNames(t *testing.T) {
	c := choose(Rule{Scope: intent.Public, Allow: []string{"8.8.0.0/16"}}, []Offer{offer("edge+berlin", "lb.cloud.example")})
	assert.False(t, c.Some())
	assert.Contains(t, c.Rejected[0].Reason, "the networks that the provider allows")
	c = choose(Rule{Scope: intent.Public, Deny: []string{"8.8.0.0/16"}}, []Offer{offer("edge+berlin", "lb.cloud.example")})
	assert.True(t, c.Some())
}
