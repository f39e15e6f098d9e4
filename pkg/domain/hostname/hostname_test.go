package hostname_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/hostname"
)

// TestTheLongestNamesOfDNSAreNames checks the limits of RFC 1035: 63 characters
// of a label, and 253 of a name.
func TestTheLongestNamesOfDNSAreNames(t *testing.T) {
	t.Parallel()
	label := strings.Repeat("a", 63)
	longest := strings.Join([]string{label, label, label, strings.Repeat("b", 61)}, ".")
	require.Len(t, longest, hostname.Longest)
	for _, read := range []func(string) (string, error){hostname.Canonical, hostname.Zone} {
		for _, name := range []string{label + ".example", longest} {
			got, err := read(name)
			require.NoError(t, err)
			require.Equal(t, name, got)
		}
		for _, name := range []string{"a" + label + ".example", "xn--" + label + ".example", "www." + strings.Repeat("ü", 64) + ".example"} {
			_, err := read(name)
			require.ErrorContains(t, err, "a label longer than 63 characters; shorten the part between two dots", name)
		}
		_, err := read(longest + "b")
		require.ErrorContains(t, err, "longer than 253")
	}
}
