package inspect

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheNameserverOfAQuestion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"127.0.0.1": "127.0.0.1:53", "127.0.0.1:5353": "127.0.0.1:5353", "::1": "[::1]:53", "[::1]:5353": "[::1]:5353",
		"localhost": "127.0.0.1:53", "localhost:5353": "127.0.0.1:5353",
	} {
		server, err := nameserver(text)
		require.NoError(t, err, text)
		require.Equal(t, want, server.String(), text)
	}
	for _, text := range []string{"ns.example", "127.0.0.1:", "localhost:dns"} {
		_, err := nameserver(text)
		require.ErrorContains(t, err, "is not an address", text)
	}
}
