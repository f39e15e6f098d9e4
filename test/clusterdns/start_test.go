package clusterdns

import (
	"net/netip"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/signpost-dns/signpost/internal/draw"
	"github.com/signpost-dns/signpost/internal/sample"
	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan/clusterdns"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// TestCoreDNSStartsWithWhateverIsConfigured: a real one becomes ready with each
// of many drawn intents, whatever the linter thinks of it. Where search paths come
// in an option it is signpost-dns, else stock CoreDNS.
func TestCoreDNSStartsWithWhateverIsConfigured(t *testing.T) {
	many := sample.Cases(6, 6, 40)
	w := NewWorld(t)
	w.Create(t, Asked(intent.DNSCRIntent{}))
	kubeconfig, intents, started := w.Kubeconfig(t), rapid.Custom(draw.DNSCRIntent), 0
	_, bundle := certify(t, "dns.foo.com")
	programs := t.TempDir()
	require.NoError(t, fixture.BuildDNS(t.Context(), programs))
	first := int(sample.Seed(t)) //nolint:gosec // a seed has 32 bits
	for seed := first; started < many; seed++ {
		require.Less(t, seed, first+100*many, "most of what is drawn should be right")
		config, err := clusterdns.Configure(Asked(intents.Example(seed)))
		if err != nil {
			continue
		}
		started++
		c := w.coreDNS(t, kubeconfig)
		config.Port = c.Port
		stayHere(&config.Resolvers.Forward)
		for i := range config.Servers {
			stayHere(&config.Servers[i].Forward)
		}
		if config.Expand != nil {
			c.Path = filepath.Join(programs, "signpost-dns")
		}
		text, err := corefile.Build(config)
		require.NoError(t, err)
		c.files(t, config, bundle)
		require.NoError(t, c.Write(text))
		start(t, c)
		c.Kill()
	}
}

// stayHere keeps the questions that CoreDNS asks by itself on this machine.
func stayHere(f *corefile.Forward) {
	for i, upstream := range f.Upstreams {
		address := netip.MustParseAddr("127.0.0.1")
		if upstream.Addr().Is6() {
			address = netip.IPv6Loopback()
		}
		f.Upstreams[i] = netip.AddrPortFrom(address, upstream.Port())
	}
}

// files makes those that a configuration names.
func (c *CoreDNS) files(t *testing.T, config corefile.Config, bundle []byte) {
	t.Helper()
	require.NoError(t, c.WriteFile("/etc/resolv.conf", "nameserver 127.0.0.9\n"))
	for name, text := range corefile.SearchFiles(config) {
		require.NoError(t, c.WriteFile("/etc/coredns/"+name, text))
	}
	forwards := []corefile.Forward{config.Resolvers.Forward}
	for _, s := range config.Servers {
		forwards = append(forwards, s.Forward)
	}
	for _, f := range forwards {
		if f.TLS == nil || f.TLS.CAFile == "" {
			continue
		}
		require.NoError(t, c.WriteFile(f.TLS.CAFile, string(bundle)))
	}
}
