package noderesolver_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/noderesolver"
)

func entry(address string, names ...string) noderesolver.Entry {
	return noderesolver.Entry{Address: netip.MustParseAddr(address), Names: names}
}

const (
	strangers = "127.0.0.1 localhost\n::1 localhost # the loopback\n\n#10.0.0.1 commented\n10.9.9.9\tother # signpost-node-resolver was here\n"
	registry4 = "10.0.0.5 registry.images.svc registry.images.svc.cluster.local # signpost-node-resolver\n"
	registry6 = "fd00::5 registry.images.svc registry.images.svc.cluster.local # signpost-node-resolver\n"
)

func registry(address string) noderesolver.Entry {
	return entry(address, "registry.images.svc", "registry.images.svc.cluster.local")
}

func TestReplaceOwnsMarkedLinesAlone(t *testing.T) {
	for _, one := range []struct {
		reason, before string
		entries        []noderesolver.Entry
		want           string
	}{
		{"an empty file", "", []noderesolver.Entry{registry("10.0.0.5")}, registry4},
		{"strangers' lines stay", strangers, []noderesolver.Entry{registry("10.0.0.5")}, strangers + registry4},
		{"both families", strangers, []noderesolver.Entry{registry("fd00::5"), registry("10.0.0.5")}, strangers + registry4 + registry6},
		{"what is right stays where it is", registry4 + strangers, []noderesolver.Entry{registry("10.0.0.5")}, registry4 + strangers},
		{"what is not wanted goes", registry6 + strangers + registry4, []noderesolver.Entry{registry("10.0.0.5")}, strangers + registry4},
		{"nothing is wanted", registry6 + strangers + registry4, nil, strangers},
		{"twice the same line", registry4 + registry4, []noderesolver.Entry{registry("10.0.0.5")}, registry4},
		{"a last line without its end", "127.0.0.1 localhost", []noderesolver.Entry{registry("10.0.0.5")}, "127.0.0.1 localhost\n" + registry4},
		{"nothing to do to it", "127.0.0.1 localhost", nil, "127.0.0.1 localhost"},
		{"lines of Windows", "127.0.0.1 localhost\r\n", []noderesolver.Entry{registry("10.0.0.5")}, "127.0.0.1 localhost\r\n" + registry4},
		{"a marked line that was cut", "# signpost-node-resolver\n 10.0.0.5 # signpost-node-resolver\n", nil, "# signpost-node-resolver\n"},
	} {
		require.Equal(t, one.want, string(noderesolver.Owner("").Replace([]byte(one.before), one.entries)), one.reason)
	}
}

// Logical clouds may each have a node resolver on one node.
func TestOwnersLeaveEachOthersLines(t *testing.T) {
	content := []byte(strangers)
	for _, owner := range []noderesolver.Owner{"", "signpost-dns", "dns"} {
		content = owner.Replace(content, []noderesolver.Entry{registry("10.0.0.5")})
	}
	require.Equal(t, strangers+registry4+strings.TrimSuffix(registry4, "\n")+" signpost-dns\n"+strings.TrimSuffix(registry4, "\n")+" dns\n", string(content))
	for _, owner := range []noderesolver.Owner{"dns", "", "signpost-dns"} {
		require.Equal(t, []noderesolver.Entry{registry("10.0.0.5")}, owner.Entries(content))
		content = owner.Replace(content, nil)
		require.Empty(t, owner.Entries(content))
	}
	require.Equal(t, strangers, string(content))
}

func TestEntriesReadsWhatReplaceWrote(t *testing.T) {
	entries := []noderesolver.Entry{registry("10.0.0.5"), registry("fd00::5")}
	require.ElementsMatch(t, entries, noderesolver.Owner("").Entries(noderesolver.Owner("").Replace([]byte(strangers), entries)))
	require.Empty(t, noderesolver.Owner("").Entries([]byte(strangers)))
	require.Empty(t, noderesolver.Owner("").Entries([]byte("nonsense registry # signpost-node-resolver\n10.0.0.5 # signpost-node-resolver\n")))
}

// Whatever a hosts file holds, every line without the mark survives, and doing
// it twice is doing it once.
func FuzzReplace(f *testing.F) {
	f.Add(strangers+registry4, "10.0.0.7")
	f.Add("a # signpost-node-resolver", "fd00::1")
	f.Fuzz(func(t *testing.T, content, address string) {
		parsed, err := netip.ParseAddr(address)
		if err != nil || parsed.Zone() != "" {
			return
		}
		entries := []noderesolver.Entry{registry(parsed.String())}
		once := noderesolver.Owner("").Replace([]byte(content), entries)
		require.Equal(t, once, noderesolver.Owner("").Replace(once, entries))
		require.Contains(t, noderesolver.Owner("").Entries(once), entries[0])
		gone := string(noderesolver.Owner("").Replace(once, nil))
		require.Equal(t, others(content), others(gone))
	})
}

// others are the lines without the mark at their end.
func others(content string) []string {
	var lines []string
	for line := range strings.Lines(content) {
		if text := strings.TrimRight(line, "\r\n"); !strings.HasSuffix(strings.TrimRight(text, " \t"), " # signpost-node-resolver") {
			lines = append(lines, text)
		}
	}
	return lines
}
