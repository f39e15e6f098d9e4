package resolvconf

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// opt is an option as resolv.conf has it.
func opt(name string, value ...string) intent.PodDNSOption {
	if len(value) == 0 {
		return intent.PodDNSOption{Name: name}
	}
	return intent.PodDNSOption{Name: name, Value: &value[0]}
}

func TestMergeAppendsAndOptionsOverrideByName(t *testing.T) {
	base := intent.PodDNSConfig{
		Nameservers: []string{"10.0.0.10"},
		Searches:    []string{"default.svc.cluster.local", "foo.com"},
		Options:     []intent.PodDNSOption{opt("ndots", "5"), opt("edns0")},
	}
	more := intent.PodDNSConfig{
		Nameservers: []string{"1.2.3.4", "10.0.0.10"},
		Searches:    []string{"foo.com", "bar.com", "bar.com"},
		Options:     []intent.PodDNSOption{opt("rotate"), opt("ndots", "1"), opt("edns0", ""), opt("rotate")},
	}
	require.Equal(t, intent.PodDNSConfig{
		Nameservers: []string{"10.0.0.10", "1.2.3.4"},
		Searches:    []string{"default.svc.cluster.local", "foo.com", "bar.com"},
		Options:     []intent.PodDNSOption{opt("ndots", "1"), opt("edns0"), opt("rotate")},
	}, Merge(base, more))
}

func TestMergeWithNothing(t *testing.T) {
	require.Zero(t, Merge(intent.PodDNSConfig{}, intent.PodDNSConfig{}))
	some := intent.PodDNSConfig{Nameservers: []string{"1.2.3.4"}, Options: []intent.PodDNSOption{opt("edns0")}}
	require.Equal(t, some, Merge(some, intent.PodDNSConfig{}))
	require.Equal(t, some, Merge(intent.PodDNSConfig{}, some))
}

// settings are any settings, of few words, so that they meet again.
func settings() *rapid.Generator[intent.PodDNSConfig] {
	words := func(some ...string) *rapid.Generator[[]string] { return rapid.SliceOfN(rapid.SampledFrom(some), 0, 5) }
	options := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) intent.PodDNSOption {
		name := rapid.SampledFrom([]string{"ndots", "timeout", "rotate"}).Draw(t, "option")
		if rapid.Bool().Draw(t, "valued") {
			return opt(name, rapid.SampledFrom([]string{"1", "2", ""}).Draw(t, "value"))
		}
		return opt(name)
	}), 0, 5)
	return rapid.Custom(func(t *rapid.T) intent.PodDNSConfig {
		return intent.PodDNSConfig{
			Nameservers: words("1.2.3.4", "5.6.7.8", "2001:db8::1").Draw(t, "nameservers"),
			Searches:    words("a.example", "b.example", "c.example", ".").Draw(t, "searches"),
			Options:     options.Draw(t, "options"),
		}
	})
}

// A pod's template and its intent are merged before kubelet merges the result
// with the policy: it must not matter which is merged first.
func TestMergeIsTheSameInEitherOrderOfSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := settings().Draw(t, "a"), settings().Draw(t, "b"), settings().Draw(t, "c")
		require.Equal(t, Merge(Merge(a, b), c), Merge(a, Merge(b, c)))
	})
}

func TestMergeSharesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := settings().Draw(t, "a"), settings().Draw(t, "b")
		before := Merge(a, b)
		again := Merge(a, b)
		for _, list := range [][]string{again.Nameservers, again.Searches} {
			_ = append(list[:0], slices.Repeat([]string{"x"}, len(list))...)
		}
		require.Equal(t, before, Merge(a, b))
	})
}
