package resolvconf

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// asked is which names are asked for, in order; test/glibc compares with glibc.
func asked(name, searches string, options ...intent.PodDNSOption) string {
	var names []string
	for _, query := range Queries(intent.PodDNSConfig{Searches: strings.Fields(searches), Options: options}, name) {
		if name, isA := strings.CutSuffix(query, " A"); isA {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

func TestWhichNamesAreAskedFor(t *testing.T) {
	require.Equal(t, "web.a.example. web.b.example. web.", asked("web", "a.example b.example"))
	require.Equal(t, "web.example. web.example.a.example.", asked("web.example", "a.example"), "ndots is 1 by default")
	require.Equal(t, "web.example.a.example. web.example.", asked("web.example", "a.example", opt("ndots", "2")))
	require.Equal(t, "web.example.", asked("web.example.", "a.example", opt("ndots", "5")), "a dot at the end")
	require.Equal(t, "web.a.example. web. web.b.example.", asked("web", "a.example . b.example"), "the root among searches")
	require.Equal(t, "web.", asked("web", ""))
	require.Equal(t, "web.a.example.", asked("web", "a.example", opt("no-tld-query")))
	require.Equal(t, strings.Repeat("a.", 16), asked(strings.Repeat("a.", 15)+"a", "", opt("ndots", "99")))
	require.Equal(t, ".", asked(".", "a.example"))
	require.Empty(t, asked("web", "a.example", opt("attempts", "0")))
	require.Empty(t, asked("a..b", "a.example"))
	for _, address := range []string{"192.0.2.1", "10.1", "7", "0x7f.1", "2001:db8::1"} {
		require.Empty(t, asked(address, "a.example"), address)
	}
}

func TestTypesOfQueries(t *testing.T) {
	require.Equal(t, []string{"web. A", "web. AAAA"}, Queries(intent.PodDNSConfig{}, "web"))
	require.Equal(t, []string{"web. A"}, Queries(intent.PodDNSConfig{Options: []intent.PodDNSOption{opt("no-aaaa")}}, "web"))
}
