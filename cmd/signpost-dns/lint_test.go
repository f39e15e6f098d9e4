package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/dns/linter"
)

// lintThis has a process of this program lint a Corefile, as the server does.
func lintThis(t *testing.T, text string) []corefile.Finding {
	t.Helper()
	findings, err := linter.New(os.Args[0]).Lint(t.Context(), text)
	require.NoError(t, err)
	return findings
}

func TestLintInAProcessOfItsOwn(t *testing.T) {
	require.Empty(t, lintThis(t, ".:53 {\n forward . /etc/resolv.conf\n kubernetes cluster.local\n cache\n}\n"))
	require.Equal(t, []corefile.Finding{
		{Line: 3, Severity: corefile.Error, Message: `there is no plugin "policy"`},
		{Line: 4, Severity: corefile.Error, Message: "plugin/cache: cache TTL can not be zero or negative: 0"},
	}, lintThis(t, "foo.com:5353 {\n forward . 1.2.3.4 5.6.7.8:5353\n policy round_robin\n cache 0\n}\n"))
}

// A file of the server is neither quoted nor told to be there or not.
func TestLintReadsNoFiles(t *testing.T) {
	const secret = "the server's own secret"
	dir := t.TempDir()
	there, absent := filepath.Join(dir, "one"), filepath.Join(dir, "two") // of one length, which some findings depend on
	require.NoError(t, os.WriteFile(there, []byte(secret), 0o644))
	for _, form := range []string{
		"{ import %s\n}", "{\n import %s\n}", "{\n \"import\" %s\n}", "{\n errors \"#\"\n import %s\n}",
		"{\n forward . 1.1.1.1 %s\n}", "{\n forward . %s\n}", "{\n forward . tls://%s\n}",
		"{\n forward . 1.1.1.1 {\n max_fails 1 tls %[1]s %[1]s\n }\n}", "{\n forward . 1.1.1.1 { tls %s\n }\n}",
		"{\n grpc . 1.1.1.1:1 { tls %s\n }\n}", "{\n grpc . %s\n}", "{\n autopath . %s\n}", "{\n loadbalance weighted %s\n}",
		"{\n kubernetes {\n kubeconfig %s\n }\n}", "{\n etcd {\n tls %s\n }\n}", "{\n hosts %s\n}", "{\n file %s\n}",
		"{\n auto {\n directory %s\n }\n}", "{\n geoip %s\n}", "{\n tls %[1]s %[1]s\n}", "{\n dnssec {\n key file %s\n }\n}",
		"{\n sign %s\n}", "{\n tsig {\n secrets %s\n }\n}", "{\n root %s\n}", "{\n clouddns a:b:c {\n credentials %s\n }\n}",
		"{\n dnstap %s\n}", "{\n trace %s\n}", "{\n searchpath a.local {\n suffixes %s b.local\n }\n}", "{\n searchpath a.local {\n suffixes b.local %[1]s %[1]s\n }\n}",
		"{\n searchpath %s {\n suffixes %[1]s\n }\n}", "{\n searchexpand %s {\n suffixes %[1]s\n }\n}", "{\n view a {\n expr %s\n }\n}", "{\n template ANY ANY {\n answer %s\n }\n}",
	} {
		answer := func(file string) string {
			findings := lintThis(t, ".:53 "+fmt.Sprintf(form, file))
			return strings.ReplaceAll(fmt.Sprint(findings), file, "FILE")
		}
		require.NotContains(t, answer(there), secret, form)
		require.Equal(t, answer(absent), answer(there), form)
	}
}

// Nothing is dialled, looked up or listened to, whatever plugins are there.
func TestLintTouchesNoNetwork(t *testing.T) {
	stream, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer stream.Close()
	packets, err := net.ListenPacket("udp", stream.Addr().String())
	require.NoError(t, err)
	defer packets.Close()
	var touched atomic.Int64
	go func() {
		for {
			if _, err := stream.Accept(); err != nil {
				return
			}
			touched.Add(1)
		}
	}()
	go func() {
		for {
			if _, _, err := packets.ReadFrom(make([]byte, 1)); err != nil {
				return
			}
			touched.Add(1)
		}
	}()
	at := stream.Addr().String()
	text := strings.ReplaceAll(`.:53 {
    bind 127.0.0.1
    health AT
    ready AT
    prometheus AT
    pprof AT
    dnstap tcp://AT full
    trace AT
    forward a.example AT {
        health_check 1ms
    }
    forward b.example name.example {
        resolver AT
    }
    forward c.example 127.0.0.1 {
        max_fails 1 resolver AT
    }
    grpc d.example AT
    etcd e.example {
        endpoint http://AT
        credentials user secret
    }
    kubernetes f.example {
        endpoint http://AT
    }
    nomad g.example {
        address http://AT
    }
    secondary h.example {
        transfer from AT
    }
    transfer {
        to AT
    }
    loop
    reload 2s
    on startup curl http://AT
}
`, "AT", at)
	for _, finding := range lintThis(t, text) {
		require.Equal(t, corefile.Warning, finding.Severity, finding)
	}
	require.Zero(t, touched.Load())
}

// Whatever a Corefile does to CoreDNS, there is an answer, and soon.
func TestLintSurvivesWhatCoreDNSDoesNot(t *testing.T) {
	for _, one := range []struct{ reason, text, says string }{
		{"too large", strings.Repeat("#", corefile.MaxLinted+1), "it is larger than"},
		{"larger by far", strings.Repeat("x y z\n", corefile.MaxLinted), "it is larger than"},
		{"nested too deep", ".:53 " + strings.Repeat("{\n", 100_000), "Unexpected EOF"},
		{"an expression without end", ".:53 {\n view a {\n expr " + strings.Repeat("(", 900_000) + "\n}\n}", "CoreDNS does not survive it"},
		{"expressions that take all memory", ".:53 {\n template ANY ANY {\n" + strings.Repeat("match ^[a-z]{1000}$\n", 40_000) + "}\n}", "CoreDNS does not survive it"},
		{"many things that are none", ".:53 {\n" + thousands("x%d\n", 80_000) + "}", "more findings"},
		{"many blocks", thousands("a%d.example {\n errors\n}\n", 20_000) + "a0.example {\n}", "is served by another block already"},
	} {
		began := time.Now()
		findings := lintThis(t, one.text)
		require.NotEmpty(t, findings, one.reason)
		require.Contains(t, fmt.Sprint(findings), one.says, one.reason)
		require.Less(t, time.Since(began), patience, one.reason)
	}
}

func thousands(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestLintByHandSurvivesAnEndlessInput(t *testing.T) {
	endless, err := os.Open("/dev/zero")
	require.NoError(t, err)
	defer endless.Close()
	cmd := program(t.Context(), "lint")
	cmd.Stdin = endless
	output, err := cmd.Output()
	require.NoError(t, err)
	require.Contains(t, string(output), "it is larger than")
}
