package intent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestNamesTellSecrets checks how names are written in manifests, flags and
// environments.
func TestNamesTellSecrets(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"password", "dbPassword", "DB_PASSWD", "--rfc2136-tsig-secret", "clientSecret", "token", "API_TOKENS", "api.key", "aws-access-keys", "privateKey", "Authorization"} {
		require.True(t, intent.NamesSecret(name), name)
	}
	for _, name := range []string{"", "secrets", "imagePullSecrets", "secretName", "tokenFile", "key", "username"} {
		require.False(t, intent.NamesSecret(name), name)
	}
}
