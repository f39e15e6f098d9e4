package verify

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQueryAnswersAsAStubResolverDoes(t *testing.T) {
	t.Parallel()
	s := serve(t, "www.lab.example. 30 IN A 203.0.113.10")
	s.set(func() { s.truncate = true })
	found, err := Query(t.Context(), s.address, "www.lab.example", "a")
	require.NoError(t, err)
	require.Equal(t, Lookup{Server: s.address.String(), Code: "NOERROR", Records: []string{"www.lab.example. 30 IN A 203.0.113.10"}}, found)
	found, err = Query(t.Context(), s.address, "www.lab.example", "TXT")
	require.NoError(t, err)
	require.Empty(t, found.Records)
	_, err = Query(t.Context(), s.address, "www.lab.example", "B")
	require.ErrorContains(t, err, `"B" is no type of DNS records`)
	_, err = Query(t.Context(), netip.MustParseAddrPort("127.0.0.1:1"), "www.lab.example", "A")
	require.ErrorContains(t, err, "127.0.0.1:1: ")
}
