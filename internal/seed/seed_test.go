package seed_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/seed"
)

func TestTheExampleHasAGroupForEachProvider(t *testing.T) {
	own := map[string]int{"aws": 9, "aws-sd": 9, "azure": 4, "azure-dns": 4, "azure-private-dns": 4, "coredns": 1, "rfc2136": 8}
	const shared = 25
	for _, provider := range seed.Providers() {
		parameters, err := seed.Parameters(provider)
		require.NoError(t, err)
		assert.Len(t, parameters, shared+own[provider], provider)
		assert.NotContains(t, parameters, "oneOf")
	}
	_, err := seed.Parameters("cloudflare")
	require.ErrorContains(t, err, "cloudflare")
}

func TestTheExampleIsAsItWasWritten(t *testing.T) {
	record, err := seed.Record("rfc2136")
	require.NoError(t, err)
	assert.Equal(t, map[string]any{
		"name": "name_of_dns_information_record", "description": "description of the DNS information",
		"userdata1": "some user data", "userdata2": "some different user data",
	}, record["metadata"])
	parameters, err := seed.Parameters("rfc2136")
	require.NoError(t, err)
	assert.Empty(t, parameters["rfc2136-zone"])
	assert.Equal(t, "axfr", parameters["rfc2136-tsig-axfr"])
	assert.Equal(t, "all", parameters["service-type-filter"])
	assert.Equal(t, true, parameters["once"])
}

func TestTheDNSObjectsOfTheDesigns(t *testing.T) {
	objects, err := seed.DNS()
	require.NoError(t, err)
	assert.Equal(t, []string{"control-plane", "dns-only", "forwards", "infra", "upgrade"}, slices.Sorted(maps.Keys(objects)))
	for name, text := range objects {
		assert.Contains(t, text, "apiVersion: operator.openshift.io/v1\nkind: DNS\n", name)
	}
}
