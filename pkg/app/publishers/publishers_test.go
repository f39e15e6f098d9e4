package publishers

import (
	"context"
	"errors"
	"testing"

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
	zones := Zones(Limits{}, vault{}, nil)
	_, err := zones(t.Context(), bundle.Publisher{Provider: "aws", OwnerID: "one"})
	require.EqualError(t, err, "Signpost cannot read the zones of provider aws; it can with coredns and rfc2136")
	for provider, of := range map[string]bundle.Publisher{
		"rfc2136": {Parameters: externaldns.Parameters{"rfc2136-host": "127.0.0.1", "rfc2136-zone": "corp.example", "rfc2136-insecure": true}},
		"coredns": {Environment: map[string]string{"ETCD_URLS": "http://127.0.0.1:2379"}},
	} {
		of.Provider, of.OwnerID = provider, "one"
		_, err = zones(t.Context(), of)
		require.Equal(t, publisher.Forbidden, fault.Of(err), "%s: %v", provider, err)
		require.ErrorContains(t, err, "--publisher-servers")
	}
}
