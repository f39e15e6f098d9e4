// Package searchtest has what the tests of searchpath and searchexpand share:
// real servers on loopback, zones for them, and queries.
package searchtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coredns/coredns/test"
	"github.com/miekg/dns"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/cmd/signpost-dns/searchexpand"
	"github.com/signpost-dns/signpost/cmd/signpost-dns/searchpath"
)

// Main runs a package's tests with both plugins.
func Main(m *testing.M) {
	if err := errors.Join(searchexpand.Register(), searchpath.Register()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// Server is a CoreDNS in this process.
type Server struct {
	Address string // host:port, for UDP and for TCP
	UDP     string
}

// Start starts a CoreDNS with the server blocks of a Corefile, which are for
// port 0, until the test ends.
func Start(t testing.TB, corefile string) Server {
	t.Helper()
	instance, udp, tcp, err := test.CoreDNSServerAndPorts(corefile)
	require.NoError(t, err, corefile)
	t.Cleanup(func() {
		instance.ShutdownCallbacks()
		require.NoError(t, instance.Stop())
	})
	return Server{Address: tcp, UDP: udp}
}

// Ask asks over UDP.
func (s Server) Ask(t testing.TB, name string, qtype uint16) *dns.Msg {
	t.Helper()
	return s.Exchange(t, "udp", Query(name, qtype))
}

// patience is how long an answer may take.
const patience = 30 * time.Second

// Exchange sends a query over udp or tcp.
func (s Server) Exchange(t testing.TB, network string, query *dns.Msg) *dns.Msg {
	t.Helper()
	address := s.UDP
	if network == "tcp" {
		address = s.Address
	}
	reply, _, err := (&dns.Client{Net: network, Timeout: patience}).Exchange(query, address)
	require.NoError(t, err)
	return reply
}

// Query asks for a name, with or without a dot at its end.
func Query(name string, qtype uint16) *dns.Msg {
	return new(dns.Msg).SetQuestion(dns.Fqdn(name), qtype)
}

// Counter is the sum of a metric's values over all servers of this process, for
// the other labels given by their values.
func Counter(t testing.TB, name string, values ...string) float64 {
	t.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	require.NoError(t, err)
	sum := 0.0
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, metric := range family.GetMetric() {
			has := 0
			for _, label := range metric.GetLabel() {
				if slices.Contains(values, label.GetValue()) {
					has++
				}
			}
			if has == len(values) {
				sum += metric.GetCounter().GetValue()
			}
		}
	}
	return sum
}

// Zone writes a zone's records into a file below a SOA record, whose negative
// answers live for 30 seconds, and answers its path.
func Zone(t testing.TB, records ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "zone")
	text := "@ 30 IN SOA ns hostmaster 1 60 60 60 30\n@ 30 IN NS ns\n" + strings.Join(records, "\n") + "\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Text is a reply in one line for each record, as dig writes them, below its
// code.
func Text(reply *dns.Msg) string {
	lines := []string{dns.RcodeToString[reply.Rcode]}
	for _, records := range [][]dns.RR{reply.Answer, reply.Ns} {
		for _, record := range records {
			lines = append(lines, strings.Join(strings.Fields(record.String()), " "))
		}
	}
	return strings.Join(lines, "\n")
}
