package resolvconf

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// many are n domains, no two alike, of this many characters each.
func many(n, length int) []string {
	var out []string
	for i := range n {
		name := fmt.Sprintf("d%d.", i)
		out = append(out, name+strings.Repeat("x", length-len(name)))
	}
	return out
}

func TestWhatKubernetesTakesExceedsNothing(t *testing.T) {
	require.Empty(t, Exceeded(intent.PodDNSConfig{}))
	require.Empty(t, Exceeded(intent.PodDNSConfig{Nameservers: slices.Repeat([]string{"1.2.3.4"}, 3), Searches: many(32, 63)}))
	require.Empty(t, Exceeded(intent.PodDNSConfig{Searches: append(many(31, 63), strings.Repeat("x", 2048-31*64))}), "2048 characters")
}

func TestWhichLimitsAreExceeded(t *testing.T) {
	require.Equal(t,
		[]Excess{{"nameservers", "4 nameservers; Kubernetes takes at most 3"}},
		Exceeded(intent.PodDNSConfig{Nameservers: slices.Repeat([]string{"1.2.3.4"}, 4)}))
	require.Equal(t,
		[]Excess{{"searches", "33 searches; Kubernetes takes at most 32"}},
		Exceeded(intent.PodDNSConfig{Searches: many(33, 10)}))
	require.Equal(t,
		[]Excess{{"searches", "searches of 2049 characters, joined by spaces; Kubernetes takes at most 2048"}},
		Exceeded(intent.PodDNSConfig{Searches: append(many(31, 63), strings.Repeat("x", 2049-31*64))}))
	require.Len(t, Exceeded(intent.PodDNSConfig{Nameservers: slices.Repeat([]string{"1.2.3.4"}, 4), Searches: many(33, 100)}), 3)
}

func TestWhatSomeResolversDoNotTake(t *testing.T) {
	for reason, c := range map[string]struct {
		searches []string
		want     string
	}{
		"none":               {nil, ""},
		"six":                {many(6, 20), ""},
		"255 characters":     {many(4, 63), ""},
		"seven":              {many(7, 10), "are 7: glibc before 2.26 takes the first 6 only"},
		"256 characters":     {append(many(3, 63), strings.Repeat("x", 64)), "have 256 characters, joined by spaces: musl, as in Alpine images, ignores all of them above 255"},
		"both, by the worse": {many(8, 63), "have 511 characters"},
	} {
		got := NotTakenEverywhere(c.searches)
		if c.want == "" {
			require.Empty(t, got, reason)
		} else {
			require.Contains(t, got, c.want, reason)
		}
	}
}
