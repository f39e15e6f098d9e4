package access

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/access/accesstest"
)

// FuzzJWT: nothing is let in but what the issuer has signed.
func FuzzJWT(f *testing.F) {
	issuer := accesstest.NewIssuer(f)
	authenticator, err := Open(Options{OIDC: OIDC{Issuer: issuer.URL, Audiences: []string{accesstest.Audience}}, Log: slog.New(slog.DiscardHandler)})
	require.NoError(f, err)
	good := issuer.Token("anna", map[string]any{"roles": "viewer", "exp": time.Now().Add(24 * time.Hour).Unix()})
	signed := good[:strings.LastIndexByte(good, '.')]
	for _, seed := range []string{good, signed + ".", "..", "a.b.c", "eyJhbGciOiJub25lIn0.e30.", strings.ReplaceAll(good, ".", " . "), good + "=", `{"payload":"..","signature":""}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		who, err := authenticator.issuer.enter(t.Context(), token)
		if err != nil {
			require.NotEqual(t, forbidden, reasonOf(err), "each refusal has its reason")
			return
		}
		require.Equal(t, "oidc:anna", who.name)
		require.True(t, strings.HasPrefix(token, signed+"."), "another spelling at most of the signature")
	})
}
