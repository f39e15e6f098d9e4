package resolvconf

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

func TestParse(t *testing.T) {
	got, err := Parse(`# made by hand
nameserver 10.1.1.10
  nameserver	10.1.1.11 # and no more
;nameserver 10.1.1.12
domain corp.example
search left.example
search foo.com. . bar.com
options ndots:1 rotate
options timeout:2 ndots:3 ndots:
sortlist 10.0.0.0
`)
	require.NoError(t, err)
	require.Equal(t, intent.PodDNSConfig{
		Nameservers: []string{"10.1.1.10", "10.1.1.11"},
		Searches:    []string{"foo.com", "bar.com"},
		Options:     []intent.PodDNSOption{opt("ndots", ""), opt("rotate"), opt("timeout", "2")},
	}, got)
}

func TestParseNothing(t *testing.T) {
	got, err := Parse("")
	require.NoError(t, err)
	require.Zero(t, got)
	require.Empty(t, Text(got))
}

func TestANameserverWithoutAddressIsNamed(t *testing.T) {
	_, err := Parse("search foo.com\nnameserver \n")
	require.EqualError(t, err, "line 2 has a nameserver without address")
}

func TestWhatIsOtherThanAResolvConf(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "\n\n": false, "# nothing\n; yet\n": false, "domain a.example\n": false, "sortlist 10.0.0.0\n": false,
		"127.0.0.1 localhost\nnameserver 10.1.1.10\n": false, "127.0.0.1 localhost\n": true, "nameservers: [10.1.1.10]": true,
	} {
		require.Equal(t, want, IsOther(text), text)
	}
}

// On the node's network, the node's loopback is the pod's.
func TestLoopbackOfTheNodeIsThereForPodsOnItsNetwork(t *testing.T) {
	n := Node{Host: intent.PodDNSConfig{Nameservers: []string{"127.0.0.53"}}}
	require.Empty(t, n.Preview(Pod{HostNetwork: true, Policy: intent.DNSDefault}, "").Warnings)
	require.Len(t, n.Preview(Pod{Policy: intent.DNSDefault}, "").Warnings, 1)
}

// FuzzParse: what is read and written is read again as the same.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"nameserver 10.0.0.1\nsearch a.example b.example.\noptions ndots:2 edns0 ndots:5\n", "nameserver", "search .", "options :", "domain a.example", "nameserver 1 2\r\n", "\tsearch\v a", "options a:b:c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		read, err := Parse(text)
		if err != nil {
			require.Contains(t, err.Error(), "nameserver without address")
			return
		}
		again, err := Parse(Text(read))
		require.NoError(t, err)
		require.Len(t, again.Nameservers, len(read.Nameservers))
		require.Equal(t, read.Options, again.Options)
	})
}
