package address

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestEachCodeHasWordsOfItsOwn, so that neither programs nor people have to guess.
func TestEachCodeHasWordsOfItsOwn(t *testing.T) {
	seen := map[string]code{}
	for _, c := range []code{
		unspecified, loopback, linkLocal, multicast, private, denied, notAllowed, invalid, localhost, noDomain, itself,
		insideCluster, otherType, drained, notReady, unreachable, standby, noWeight, notListed, unresolved, waiting, oneAlias,
	} {
		words := c.reason("x")
		assert.NotEqual(t, string(c), words)
		assert.Empty(t, seen[words], "%s says the same", c)
		seen[words] = c
		assert.Regexp(t, "^[A-Z][A-Za-z]+$", string(c), "one word in CamelCase")
	}
}

// TestWhatTheRoutingHoldsBackPasses: such a target is published when the clusters before it fail.
func TestWhatTheRoutingHoldsBackPasses(t *testing.T) {
	for _, held := range []string{Standby, NoWeight, NotListed} {
		assert.True(t, Passes(held), held)
	}
	assert.False(t, Passes(string(denied)))
}
