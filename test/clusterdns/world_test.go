package clusterdns

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan/clusterdns"
)

// coreDNS prepares a CoreDNS in the cluster.
func (w *World) coreDNS(t *testing.T, kubeconfig string) *CoreDNS {
	t.Helper()
	c, err := NewCoreDNS(t.Context(), t.TempDir(), kubeconfig, w.Ports)
	require.NoError(t, err)
	t.Cleanup(c.Kill)
	return c
}

// configure gives CoreDNS what an intent asks for, and answers it.
func configure(t *testing.T, c *CoreDNS, spec intent.DNSCRIntent) corefile.Config {
	t.Helper()
	config, err := clusterdns.Configure(Asked(spec))
	require.NoError(t, err)
	config.Port = c.Port
	text, err := corefile.Build(config)
	require.NoError(t, err)
	for name, search := range corefile.SearchFiles(config) {
		require.NoError(t, c.WriteFile("/etc/coredns/"+name, search))
	}
	require.NoError(t, c.Write(text))
	return config
}

// run runs a CoreDNS as an intent asks for it.
func (w *World) run(t *testing.T, kubeconfig string, spec intent.DNSCRIntent) *CoreDNS {
	t.Helper()
	c := w.coreDNS(t, kubeconfig)
	configure(t, c, spec)
	start(t, c)
	return c
}

// start waits for CoreDNS to answer, and no longer than it takes it to give up
// waiting for its cluster many times over.
func start(t *testing.T, c *CoreDNS) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, c.Start(ctx))
}

// upstream starts a nameserver whose answers are its own.
func (w *World) upstream(t *testing.T, answer string) *Upstream {
	t.Helper()
	u, err := StartUpstream(t.Context(), w.Ports, answer, nil)
	require.NoError(t, err)
	return u
}
