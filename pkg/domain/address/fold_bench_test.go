package address

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// BenchmarkFold is what one name costs whose Service five clusters offer.
func BenchmarkFold(b *testing.B) {
	in := Input{Rule: Rule{Scope: intent.Public, Names: []string{"www.lab.example"}}, Health: &intent.Health{UnreachableAfter: "5m"}, Now: dawn()}
	for _, cluster := range []string{"edge+a", "edge+b", "edge+c", "edge+d", "edge+e"} {
		o := offer(cluster, "8.8.4.4", "2600:1901::1")
		o.Observation.Readiness = &Readiness{Ready: 1, Total: 1}
		in.Offers = append(in.Offers, o)
	}
	b.ReportAllocs()
	for b.Loop() {
		c, _ := Fold(in)
		require.Len(b, c.Sets, 2)
	}
}
