package publishers

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
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
