package lint_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/lint"
	"github.com/signpost-dns/signpost/pkg/dns/corefile"
)

func TestCheckSaysEverythingAtOnceWithItsLine(t *testing.T) {
	require.Equal(t, []corefile.Finding{
		{Line: 3, Severity: corefile.Error, Message: `there is no plugin "policy"`},
		{Line: 9, Severity: corefile.Error, Message: "plugin/kubernetes: unknown property 'upstream'"},
		{Line: 12, Severity: corefile.Error, Message: "plugin/forward: unknown policy 'wrong'"},
		{Line: 14, Severity: corefile.Error, Message: "plugin/cache: cache TTL can not be zero or negative: 0"},
		{Line: 16, Severity: corefile.Error, Message: "foo.com.:5353 is served by another block already"},
	}, lint.Check(`foo.com:5353 {
    forward . 1.2.3.4 5.6.7.8:5353
    policy round_robin
}
.:5353 {
    errors
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods insecure
        upstream
    }
    forward . /etc/resolv.conf {
        policy wrong
    }
    cache 0
}
FOO.com.:5353 {
    forward . 1.1.1.1
}
`))
}

func TestCheckFindsNothingWrongWithWhatIsRight(t *testing.T) {
	for _, right := range []string{
		".:53 {\n forward . /etc/resolv.conf\n}",
		"# a comment about import and {$HOME}\n. {\n errors\n}",
		"foo.com:53 bar.com:53 {\n forward . 1.1.1.1 [2001:db8::1]:53 tls://9.9.9.9\n}",
		".:53 {\n kubernetes cluster.local\n prometheus :9153\n health\n ready\n loop\n reload\n}",
		".:53 {\n rewrite name import foo\n}",
		".:53 {\n forward . 1.1.1.1 tls://9.9.9.9%dns.quad9.net {\n tls /etc/ca.crt\n }\n grpc x. 1.1.1.1:443 {\n tls a b c\n }\n}",
		"a.com {\n bind 127.0.0.1\n errors\n}\na.com {\n bind 127.0.0.2\n errors\n}",
		"a.com tls://a.com 10.0.0.0/9 {\n errors\n}",
		".:53 {\n autopath @kubernetes\n kubernetes cluster.local {\n pods verified\n }\n}",
		".:53 {\n cache\n searchpath cluster.local {\n suffixes /etc/resolv.conf other/resolv.conf foo.com\n option 65001\n }\n forward . 1.1.1.1 {\n force_tcp\n }\n}",
		"a.com {\n searchexpand cluster.local {\n allow 10.0.0.0/8\n suffixes foo.com\n }\n}\n.:53 {\n searchexpand\n}",
		"a.com {\n view one {\n expr client_ip() == '1.2.3.4'\n }\n whoami\n}\na.com {\n whoami\n}",
	} {
		require.Empty(t, lint.Check(right), right)
	}
}

// TestTheCorefileOfANodesCacheIsJudged: the variable in it is a warning, and the
// rest is judged with an address in its place.
func TestTheCorefileOfANodesCacheIsJudged(t *testing.T) {
	const warning = "{$DNS_DEFAULT_SERVICE_HOST} is known in the container alone: an address stands for it here"
	text := ".:53 {\n bind 169.254.20.10\n searchpath cluster.local {\n suffixes /etc/resolv.conf\n }\n forward . {$DNS_DEFAULT_SERVICE_HOST} {\n force_tcp\n }\n}"
	require.Equal(t, []corefile.Finding{{Line: 6, Severity: corefile.Warning, Message: warning}}, lint.Check(text))
	require.Equal(t, []corefile.Finding{
		{Line: 6, Severity: corefile.Warning, Message: warning},
		{Line: 7, Severity: corefile.Error, Message: "plugin/forward: unknown property 'nothing'"},
	}, lint.Check(strings.Replace(text, "force_tcp", "nothing", 1)))
	for _, other := range []string{"{$DNS_DEFAULT_SERVICE_PORT}", "{$DNS_DEFAULT_SERVICE_HOST}{$HOME}", "{${$DNS_DEFAULT_SERVICE_HOST}}", "{%{$DNS_DEFAULT_SERVICE_HOST}%}"} {
		require.Contains(t, fmt.Sprint(lint.Check(".:53 {\n forward . "+other+"\n}")), "would be read from the environment: write the value", other)
	}
}

// What the parser would open or look up is found by its own idea of words, so
// that no way of writing it gets past.
func TestCheckRefusesToReadAnythingElse(t *testing.T) {
	for _, one := range []struct {
		reason, corefile string
		line             int
		message          string
	}{
		{"another file", ".:53 {\n import /etc/passwd\n}", 2, "import reads another file"},
		{"another file, after the brace", ".:53 { import /etc/passwd\n}", 1, "import reads another file"},
		{"another file, quoted", ".:53 {\n \"import\" x\n}", 2, "import reads another file"},
		{"another file, after a word of two lines", ".:53 {\n errors \"\n\" import x\n}", 3, "import reads another file"},
		{"another file, beyond what looks like a comment", ".:53 {\n errors \"#\"\n import x\n}", 3, "import reads another file"},
		{"another file for a zone", "a.com,\nimport x {\n}", 2, "import reads another file"},
		{"another file after a block", ".:53 {\n}\nimport x\n", 3, "import reads another file"},
		{"a snippet too", "import snippet\n", 1, "import reads another file"},
		{"the environment", ".:53 {\n forward . {$UPSTREAM}\n}", 2, "{$UPSTREAM} would be read from the environment"},
		{"the environment, as on Windows", "{%HOME%}:53 {\n}", 1, "{%HOME%} would be read from the environment"},
		{"the environment within a word", ".:53 {\n im{$NONE}port x\n}", 2, "{$NONE} would be read from the environment"},
		{"the environment, beyond what looks like a comment", ".:53 {\n errors \"#{$HOME}\"\n}", 2, "{$HOME} would be read"},
		{"the environment over two lines", ".:53 {\n errors \"{$HO\nME}\"\n}", 2, "would be read from the environment"},
	} {
		findings := lint.Check(one.corefile)
		require.Len(t, findings, 1, one.reason)
		require.Equal(t, one.line, findings[0].Line, one.reason)
		require.Equal(t, corefile.Error, findings[0].Severity, one.reason)
		require.Contains(t, findings[0].Message, one.message, one.reason)
	}
}

func TestCheckWarnsOfWhatCannotBeKnownHere(t *testing.T) {
	for _, one := range []struct{ reason, corefile, message string }{
		{"a zone file", ".:53 {\n file db.example\n}", "reads files of the container"},
		{"a list of nameservers", ".:53 {\n forward . /etc/other.conf\n}", "names /etc/other.conf"},
		{"an upstream by name", ".:53 {\n forward . dns.example.org\n}", "names dns.example.org"},
		{"a cloud", ".:53 {\n route53 example.org.:Z1Z2Z3Z4DZ5Z6Z7\n}", "asks another server"},
		{"an upstream by name, with a port", ".:53 {\n forward . dns.example.org:53\n}", "names dns.example.org:53"},
		{"an upstream by name, the second time", ".:53 {\n forward a.com 1.1.1.1\n forward b.com dns.example.org\n}", "names dns.example.org"},
		{"an upstream by name, over gRPC", ".:53 {\n grpc . dns.example.org:443\n}", "names dns.example.org:443"},
		{"a file that is not the node's resolvers", ".:53 {\n autopath . ../search\n}", "names ../search"},
		{"an interface of the node", ".:53 {\n bind eth0\n}", "names eth0"},
		{"etcd", ".:53 {\n etcd example.org {\n endpoint http://localhost:1\n }\n}", "asks another server"},
		{"a program", ".:53 {\n on startup rm -rf /\n}", "runs programs"},
		{"no plugin at all", "example.org {\n}", "every query is refused"},
	} {
		findings := lint.Check(one.corefile)
		require.Len(t, findings, 1, one.reason)
		require.Equal(t, corefile.Warning, findings[0].Severity, one.reason)
		require.Contains(t, findings[0].Message, one.message, one.reason)
	}
}

func TestCheckOfWhatIsNoCorefile(t *testing.T) {
	for _, one := range []struct{ reason, corefile, message string }{
		{"empty", " \n", "it is empty"},
		{"too large", strings.Repeat("#", corefile.MaxLinted+1), "it is larger than 1048576 bytes"},
		{"no end", ".:53 {\n errors\n", "Unexpected token 'errors', expecting '}'"},
		{"no domain of a cluster", ".:53 {\n searchpath /etc/passwd\n}", "plugin/searchpath: \"/etc/passwd\" is not a domain"},
		{"a file in place of a domain", ".:53 {\n searchexpand a.local {\n suffixes /etc/passwd\n }\n}", "plugin/searchexpand: \"/etc/passwd\" is not a domain"},
		{"an option of others", ".:53 {\n searchpath a.local {\n option 15\n }\n}", "write a number from 65001 to 65534"},
		{"too many upstreams", ".:53 {\n forward . " + many(16) + "\n}", "more than 15"},
	} {
		findings := lint.Check(one.corefile)
		require.NotEmpty(t, findings, one.reason)
		require.Equal(t, corefile.Error, findings[0].Severity, one.reason)
		require.Contains(t, findings[0].Message, one.message, one.reason)
	}
}

func TestCheckOfZones(t *testing.T) {
	for _, one := range []struct {
		reason, corefile string
		line             int
		message          string
	}{
		{"twice in a block", "a.com a.com:53 {\n errors\n}", 1, "a.com.:53 is served by another block already"},
		{"twice as other letters", "a.com {\n errors\n}\n\n# again\nA.com. {\n errors\n}", 6, "a.com.:53 is served"},
		{"twice on one address", "a.com {\n bind 127.0.0.1\n}\na.com {\n bind 127.0.0.2 127.0.0.1\n}", 4, "a.com.:53 is served"},
		{"once on all addresses", "a.com {\n bind 127.0.0.1\n}\na.com {\n errors\n}", 4, "a.com.:53 is served"},
		{"twice over TLS", "tls://a.com {\n errors\n}\ntls://a.com:853 {\n errors\n}", 4, "tls://a.com.:853 is served"},
		{"twice after a snippet", "(s) {\n errors\n}\na.com {\n errors\n}\na.com {\n errors\n}", 7, "a.com.:53 is served"},
		{"no zone", "a..com:53 {\n errors\n}", 1, "is not a zone"},
	} {
		findings := lint.Check(one.corefile)
		require.Len(t, findings, 1, one.reason)
		require.Equal(t, one.line, findings[0].Line, one.reason)
		require.Contains(t, findings[0].Message, one.message, one.reason)
	}
}

func TestCheckTellsAsMuchAsPeopleRead(t *testing.T) {
	findings := lint.Check(".:53 {\n" + strings.Repeat("y", 10_000) + "\n}\n")
	require.Len(t, findings, 1)
	require.Less(t, len(findings[0].Message), 600)
	var wrong strings.Builder
	for i := range 150 {
		fmt.Fprintf(&wrong, " x%d\n", i)
	}
	findings = lint.Check(".:53 {\n" + wrong.String() + "}\n")
	require.Len(t, findings, 101)
	require.Equal(t, corefile.Finding{Severity: corefile.Error, Message: "there are 50 more findings"}, findings[100])
}

// A Corefile is text of strangers: whatever it is, it is judged.
func FuzzCheckJudgesEverything(f *testing.F) {
	f.Add(".:53 {\n forward . 1.1.1.1 {\n policy random\n }\n cache 30\n}\n")
	f.Add(".:53 { import x\n}")
	f.Add(". {\n searchpath a.local {\n suffixes a/b c\n option 1\n }\n searchexpand b.local {\n allow ::/0\n }\n}")
	f.Add("(a) {\n}\n{$A}\"\\\"{%B%}")
	f.Fuzz(func(t *testing.T, text string) {
		for _, finding := range lint.Check(text) {
			require.NotEmpty(t, finding.Message)
			require.Contains(t, []corefile.Severity{corefile.Error, corefile.Warning}, finding.Severity)
			require.GreaterOrEqual(t, finding.Line, 0)
			require.LessOrEqual(t, finding.Line, strings.Count(text, "\n")+1)
		}
	})
}

func many(n byte) string {
	var addresses []string
	for i := range n {
		addresses = append(addresses, netip.AddrFrom4([4]byte{10, 0, 0, i}).String())
	}
	return strings.Join(addresses, " ")
}

// What the builder writes, CoreDNS takes.
func FuzzWhatIsBuiltIsRight(f *testing.F) {
	f.Add("foo.com", []byte{1, 2, 3, 4}, uint16(53), byte(0), true, int64(0))
	f.Add("a-b.example", []byte{0x20, 1, 13, 184, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, uint16(853), byte(2), false, int64(30))
	f.Fuzz(func(t *testing.T, zone string, address []byte, port uint16, policy byte, secure bool, ttl int64) {
		upstream, ok := netip.AddrFromSlice(address)
		if !ok || port == 0 || !canonical(zone) || ttl < 0 || ttl > 1<<31 {
			return
		}
		forward := corefile.Forward{
			Upstreams: []netip.AddrPort{netip.AddrPortFrom(upstream.Unmap(), port)},
			Policy:    []corefile.Policy{corefile.Random, corefile.RoundRobin, corefile.Sequential}[policy%3],
			ForceTCP:  !secure,
		}
		if secure {
			forward.TLS = &corefile.TLS{ServerName: "dns." + zone}
		}
		text, err := corefile.Build(corefile.Config{Servers: []corefile.Server{{Name: "one", Zones: []string{zone}, Forward: forward}}})
		require.NoError(t, err)
		require.Empty(t, lint.Check(text), text)
	})
}

// canonical tells a host name as the API lets it through.
func canonical(zone string) bool {
	if len(zone) > 200 || strings.HasSuffix(zone, "in-addr.arpa") || zone == "hostname.bind" {
		return false
	}
	for _, label := range strings.Split(zone, ".") {
		legal := strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
		if !legal || label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return true
}
