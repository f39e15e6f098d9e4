package names

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheNearestDomainIsNamed for a host name that lies in none, by as many labels as the domain has.
func TestTheNearestDomainIsNamed(t *testing.T) {
	t.Parallel()
	domains := []string{"lab.example", "shop.example"}
	for host, want := range map[string]string{
		"www.shpo.example": "; the nearest domain is shop.example",
		"www.lab.exampel":  "; the nearest domain is lab.example",
		"www.bakery.test":  "",
		"example":          "",
		"a.b.lap.example":  "; the nearest domain is lab.example",
	} {
		require.Equal(t, want, nearestDomain(host, domains), host)
	}
	require.Empty(t, nearestDomain("www.lab.example", nil))
}
