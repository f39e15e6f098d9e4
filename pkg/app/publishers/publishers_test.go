package publishers

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/publisher"
)

// vault opens the values that it has.
type vault map[string]string

func (v vault) Secret(_ context.Context, id string) ([]byte, error) {
	value, ok := v[id]
	if !ok {
		return nil, errors.New("no such value")
	}
	return []byte(value), nil
}

func TestSecretsAreOpenedIntoMemoryAlone(t *testing.T) {
	of := bundle.Publisher{
		Provider: "rfc2136", OwnerID: "one", Environment: map[string]string{"PLAIN": "x"},
		Values: map[string]string{"EXTERNAL_DNS_RFC2136_TSIG_SECRET": "1"}, Files: map[string]string{"/etc/ca.pem": "2"},
	}
	got, err := settingsOf(t.Context(), of, vault{"1": "secret", "2": "certificate"})
	require.NoError(t, err)
	assert.Equal(t, publisher.Settings{
		Provider: "rfc2136", Owner: "one", Environment: map[string]string{"PLAIN": "x", "EXTERNAL_DNS_RFC2136_TSIG_SECRET": "secret"},
		Files: map[string][]byte{"/etc/ca.pem": []byte("certificate")},
	}, got)
	assert.NotContains(t, of.Environment, "EXTERNAL_DNS_RFC2136_TSIG_SECRET", "the provider's settings stay without secrets")
	_, err = settingsOf(t.Context(), of, vault{"2": "certificate"})
	assert.ErrorContains(t, err, "EXTERNAL_DNS_RFC2136_TSIG_SECRET")
}

func TestForbiddenServersAreToldByTheirFields(t *testing.T) {
	forbidden := Forbidden(Limits{Servers: []string{"10.0.0.0/8:53=corp.example", "127.0.0.1"}, Stores: []string{"127.0.0.1:2379"}})
	for reason, c := range map[string]struct {
		provider    string
		parameters  externaldns.Parameters
		environment map[string]string
		field, says string
	}{
		"a listed server": {provider: "rfc2136", parameters: externaldns.Parameters{"rfc2136-host": "10.1.2.3", "rfc2136-zone": "corp.example"}},
		"a zone that is not listed": {
			"rfc2136", externaldns.Parameters{"rfc2136-host": "10.1.2.3", "rfc2136-zone": "else.example"}, nil,
			"external-dns-parameters/rfc2136-host", "is a private address; an administrator allows it by --publisher-servers 10.1.2.3:53"},
		"a store of Signpost": {
			"coredns", nil, map[string]string{"ETCD_URLS": "http://127.0.0.1:2379"}, "environment/ETCD_URLS", "is a store of Signpost itself"},
		"no port": {"coredns", nil, map[string]string{"ETCD_URLS": "http://127.0.0.1"}, "environment/ETCD_URLS", "is not HOST:PORT"},
		"metadata": {
			"webhook", externaldns.Parameters{"webhook-provider-url": "http://169.254.169.254/x"}, nil,
			"external-dns-parameters/webhook-provider-url", "a link-local or metadata address"},
		"a name that nobody knows": {provider: "webhook", parameters: externaldns.Parameters{"webhook-provider-url": "http://webhook.invalid:80"}},
	} {
		got := forbidden(t.Context(), intent.Record{Provider: c.provider, Parameters: c.parameters, Environment: c.environment})
		if c.field == "" {
			assert.Empty(t, got, reason)
			continue
		}
		assert.Len(t, got, 1, reason)
		assert.Contains(t, got[c.field], c.says, reason)
	}
}

// TestZonesAreReadWithinLimits: of providers that can be read, and from servers that may be dialled.
func TestZonesAreReadWithinLimits(t *testing.T) {
	zones := Zones(Limits{}, vault{}, nil, NewPlaces())
	_, err := zones(t.Context(), "shop", bundle.Publisher{Provider: "aws", OwnerID: "one"}, false)
	require.EqualError(t, err, "Signpost cannot read the zones of provider aws; it can with coredns, rfc2136, webhook. "+
		"Export the zone at the DNS provider as a zone file, and make documents of it by signpost import zone FILE")
	for provider, of := range map[string]bundle.Publisher{
		"rfc2136": {Parameters: externaldns.Parameters{"rfc2136-host": "127.0.0.1", "rfc2136-zone": "corp.example", "rfc2136-insecure": true}},
		"coredns": {Environment: map[string]string{"ETCD_URLS": "http://127.0.0.1:2379"}},
		"webhook": {Parameters: externaldns.Parameters{"webhook-provider-url": "http://127.0.0.1:8888"}},
	} {
		of.Provider, of.OwnerID = provider, "one"
		_, err = zones(t.Context(), "shop", of, true)
		require.Equal(t, publisher.Forbidden, fault.Of(err), "%s: %v", provider, err)
		require.ErrorContains(t, err, "--publisher-servers")
	}
}

// TestAReadingServesFurtherPages for a minute. A first page reads anew.
func TestAReadingServesFurtherPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := readings{kept: map[string]*reading{}}
		for _, name := range []string{"a", "b"} {
			kept.put(name, []publisher.Set{{Name: name}})
		}
		sets, known := kept.get("a")
		require.True(t, known)
		require.Equal(t, []publisher.Set{{Name: "a"}}, sets)
		time.Sleep(listKept / 2)
		kept.put("b", []publisher.Set{{Name: "newer"}})
		require.Len(t, kept.kept, 2, "a newer reading drops no other")
		time.Sleep(listKept/2 + time.Second)
		_, known = kept.get("a")
		require.False(t, known)
		sets, known = kept.get("b")
		require.True(t, known, "the end of the older reading is not that of the newer one")
		require.Equal(t, []publisher.Set{{Name: "newer"}}, sets)
		kept.put("d", nil)
		kept.put("c", nil)
		require.Len(t, kept.kept, 1, "only so many are kept")
		time.Sleep(listKept + time.Second)
		_, known = kept.get("c")
		require.False(t, known)
	})

	server, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var transfers atomic.Int64
	started := make(chan struct{})
	dnsServer := &dns.Server{Listener: server, NotifyStartedFunc: func() { close(started) }, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		transfers.Add(1)
		soa, _ := dns.NewRR("corp.example. 60 IN SOA ns.corp.example. x.corp.example. 1 2 3 4 5")
		address, _ := dns.NewRR("www.corp.example. 60 IN A 192.0.2.1")
		reply := new(dns.Msg).SetReply(q)
		reply.Answer = []dns.RR{soa, address, soa}
		_ = w.WriteMsg(reply)
	})}
	ended := make(chan error, 1)
	go func() { ended <- dnsServer.ActivateAndServe() }()
	<-started
	t.Cleanup(func() {
		assert.NoError(t, dnsServer.Shutdown())
		assert.NoError(t, <-ended)
	})
	_, port, err := net.SplitHostPort(server.Addr().String())
	require.NoError(t, err)
	zones := Zones(Limits{Servers: []string{"127.0.0.1:" + port}}, vault{}, nil, NewPlaces())
	of := bundle.Publisher{Provider: "rfc2136", OwnerID: "one", Parameters: externaldns.Parameters{
		"rfc2136-host": "127.0.0.1", "rfc2136-port": port, "rfc2136-zone": "corp.example", "rfc2136-insecure": true,
	}}
	for n, further := range []bool{true, true, false, true} {
		sets, err := zones(t.Context(), "shop", of, further)
		require.NoError(t, err)
		require.Equal(t, []publisher.Set{{Name: "www.corp.example", Type: "A", Targets: []string{"192.0.2.1"}, TTL: 60}}, sets)
		require.Equal(t, []int64{1, 1, 2, 2}[n], transfers.Load())
	}
}
