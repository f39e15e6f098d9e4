package autopath

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/autopath"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	parts "github.com/signpost-dns/signpost/test/clusterdns"
)

func TestMain(m *testing.M) { os.Exit(Enter(m.Run)) }

// nameserver is where a node's cache listens.
func nameserver() netip.AddrPort {
	return netip.AddrPortFrom(netip.MustParseAddr(autopath.LocalIP), 53)
}

// node is one on which pods run: a site's DNS pod, and the node's cache, as an
// intent asks for them.
type node struct {
	*Site
	spec  intent.DNSCRIntent
	pod   *parts.CoreDNS
	cache *parts.CoreDNS
}

// edns0 and static ask for autopath in either mode.
func edns0() *intent.Autopath { return &intent.Autopath{Mode: intent.AutopathEDNS0} }

func static() *intent.Autopath {
	return &intent.Autopath{Mode: intent.AutopathStatic, Namespaces: []string{"shop", "ns2"}, Searches: HostSearch()}
}

// newNode starts what an intent asks for on a node of a site.
func newNode(t *testing.T, s *Site, wanted *intent.Autopath) *node {
	t.Helper()
	n := &node{Site: s, spec: s.Asked(wanted, true)}
	n.pod = s.DNSPod(t, n.spec)
	start(t, n.pod)
	n.cache = n.newCache(t)
	start(t, n.cache)
	return n
}

// newCache prepares a cache of the node, which has its address.
func (n *node) newCache(t *testing.T) *parts.CoreDNS {
	t.Helper()
	localIP(t, autopath.LocalIP)
	localIP(t, "fd00::10") // glibc asks for AAAA only where there is IPv6
	return n.NodeCache(t, n.spec, n.pod, nameserver())
}

// localIP gives the node an address, as the init container of a node's cache
// does.
func localIP(t *testing.T, address string) {
	t.Helper()
	program, err := Program(t.Context(), "")
	require.NoError(t, err)
	output, err := exec.CommandContext(t.Context(), program, "local-ip", address).CombinedOutput()
	require.NoError(t, err, string(output))
}

func start(t *testing.T, c *parts.CoreDNS) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, c.Start(ctx))
}

func addrPort(c *parts.CoreDNS) netip.AddrPort { return netip.MustParseAddrPort(c.HostPort()) }

// resolve looks a name up, and expects to be answered.
func resolve(t *testing.T, r Resolver, name string) Result {
	t.Helper()
	result, err := r.Lookup(t.Context(), name)
	require.NoError(t, err, name)
	return result
}

// getent asks glibc, on a machine with this resolver's resolv.conf, and answers
// the addresses in order; none where there is no such name.
func getent(t *testing.T, r Resolver, name string) []netip.Addr {
	t.Helper()
	require.NoError(t, SetResolvConf(r.Conf()))
	output, err := exec.CommandContext(t.Context(), "getent", "ahosts", name).CombinedOutput()
	const noSuchName = 2
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == noSuchName {
		return nil
	}
	require.NoError(t, err, string(output))
	var all []netip.Addr
	for line := range bytes.Lines(output) {
		all = append(all, netip.MustParseAddr(string(bytes.Fields(line)[0])).Unmap())
	}
	return sorted(all)
}

// ear hears what a server is asked.
type ear struct{ *Wire }

func hear(t *testing.T, c *parts.CoreDNS) ear {
	t.Helper()
	wire, err := NewWire(addrPort(c))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, wire.Close()) })
	return ear{wire}
}

// queries are those since the last call.
func (e ear) queries(t *testing.T) []Query {
	t.Helper()
	all, err := e.Queries()
	require.NoError(t, err)
	return all
}

// cost is how many queries there were of each type since the last call: as many
// of A as of AAAA, and all over UDP.
func (e ear) cost(t *testing.T) int {
	t.Helper()
	byType := map[uint16]int{}
	all := e.queries(t)
	for _, query := range all {
		require.Equal(t, "udp", query.Proto)
		byType[query.Type]++
	}
	require.Equal(t, map[uint16]int{dns.TypeA: len(all) / 2, dns.TypeAAAA: len(all) / 2}, byType)
	return len(all) / 2
}

// text writes addresses for people.
func text(addresses []netip.Addr) string {
	words := make([]string, 0, len(addresses))
	for _, address := range addresses {
		words = append(words, address.String())
	}
	return strings.Join(words, " ")
}
