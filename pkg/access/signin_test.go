package access_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/access/accesstest"
)

// TestTheIssuerIsAskedWhereUsersSignIn once an hour, and ten seconds after a fault.
func TestTheIssuerIsAskedWhereUsersSignIn(t *testing.T) {
	t.Parallel()
	issuer := accesstest.NewIssuer(t)
	now := time.Unix(1_000_000, 0)
	of := func(url string) *access.SignInEndpoints {
		endpoints, err := access.NewSignInEndpoints(access.OIDC{Issuer: url, Audiences: []string{"signpost"}}, func() time.Time { return now })
		require.NoError(t, err)
		return endpoints
	}
	good := of(issuer.URL)
	authorization, token, err := good.Find(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{issuer.URL + "/authorize", issuer.URL + "/token"}, []string{authorization, token})

	_, _, err = of(issuer.URL + "/").Find(t.Context())
	require.ErrorContains(t, err, "calls itself", "another name for the issuer is refused")

	issuer.Answer(http.NotFound)
	now = now.Add(59 * time.Minute)
	_, _, err = good.Find(t.Context())
	require.NoError(t, err, "it was asked within an hour")
	now = now.Add(2 * time.Minute)
	_, _, err = good.Find(t.Context())
	require.Error(t, err)
}
