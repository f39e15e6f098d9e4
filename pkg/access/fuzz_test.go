package access

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// FuzzTokenFile: whoever a file lets in has a name and a role, and no error
// quotes a token.
func FuzzTokenFile(f *testing.F) {
	for _, text := range []string{"t,anna,admin\n", "# none\n\n t , a , viewer , shop \n", "t,a,admin\nt,b,viewer\n", "hush,anna,king", ",,,", "hush", "", "t,a,admin,shop,more"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		known, err := parseTokens([]byte(text))
		if err != nil {
			_, err = parseTokens([]byte("hushhushhush,x," + strings.ReplaceAll(text, "hush", "") + "\n"))
			require.True(t, err == nil || !strings.Contains(err.Error(), "hushhushhush"), "%v", err)
			return
		}
		require.NotEmpty(t, known)
		for _, who := range known {
			require.NotEmpty(t, who.Name)
			require.Len(t, who.Grants, 1)
			require.Contains(t, RoleNames(), who.Grants[0].Role.String())
		}
	})
}

// FuzzPolicyFile: each rule that is taken grants a role to somebody, and none
// grants one in all projects that names some.
func FuzzPolicyFile(f *testing.F) {
	for _, text := range []string{
		"grants: [{role: admin, subjects: ['oidc:anna']}]", "grants: [{role: viewer, groups: ['cert:ops'], projects: [shop, bakery]}]", "claims: true",
		"grants: [{role: viewer, subjects: ['oidc:a'], projects: []}]", "grants: [{role: king, subjects: ['oidc:a']}]", "grants: [{role: viewer}]", "grants: {", "", "claims: 1", "grants: [null]",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := parsePolicy(text)
		if err != nil {
			return
		}
		require.True(t, p.Claims || len(p.Grants) > 0)
		for _, rule := range p.Grants {
			require.NotEmpty(t, append(rule.Subjects, rule.Groups...))
			require.NotEmpty(t, rule.grants)
			for _, grant := range rule.grants {
				require.Equal(t, !rule.Projects.said, grant.Project == "", "%+v", rule)
			}
		}
	})
}

// FuzzClaims: whatever an issuer says, whoever it stands for has a name that no
// token file gives, and the roles that it claims are roles.
func FuzzClaims(f *testing.F) {
	for _, text := range []string{
		`{"sub":"anna","groups":["ops"],"roles":["admin","shop:editor"]}`, `{"sub":"","roles":"viewer editor"}`, `{"sub":1}`, `{"roles":{"a":1},"sub":"x"}`, `{"sub":"a\u0000"}`, `{"sub":"a","roles":[":admin"]}`, `null`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var claims map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &claims) != nil {
			return
		}
		who, err := (&issuerTokens{}).identify(claims)
		if err != nil {
			return
		}
		require.Greater(t, len(who.name), len(ofIssuer))
		require.True(t, strings.HasPrefix(who.name, ofIssuer))
		require.False(t, strings.ContainsFunc(who.name, unicode.IsControl), "it fits into a line of a log")
		for _, grant := range who.claims {
			require.Contains(t, RoleNames(), grant.Role.String())
		}
	})
}

// FuzzKeys: what an issuer publishes is read, or left out.
func FuzzKeys(f *testing.F) {
	f.Add(`{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","kid":"1"}`)
	f.Add(`{"kty":"RSA","n":"AQAB","e":"AQAB"}`)
	f.Add(`{"kty":"oct","k":"aHVzaA"}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, key string) {
		keys, err := parseKeys([]json.RawMessage{json.RawMessage(key)})
		require.NoError(t, err)
		require.LessOrEqual(t, len(keys), 1)
		for _, key := range keys {
			require.True(t, !usable(key) || key.IsPublic(), "secrets and private keys are nobody's to publish")
		}
	})
}

// FuzzAuthorization: no header lets anybody in who has no token.
func FuzzAuthorization(f *testing.F) {
	file := filepath.Join(f.TempDir(), "tokens")
	require.NoError(f, os.WriteFile(file, []byte("a-token-that-nobody-guesses,anna,admin\n"), 0o600))
	authenticator, err := Open(Options{TokenFile: file, Log: slog.New(slog.DiscardHandler)})
	require.NoError(f, err)
	for _, header := range []string{"", "Bearer", "Bearer x", "bearer  a.b.c", "Basic YTpi", "Bearer eyJhbGciOiJub25lIn0.e30.", "Bearer \x00"} {
		f.Add(header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if strings.Contains(header, "a-token-that-nobody-guesses") {
			return
		}
		_, err := authenticator.Authorize(t.Context(), Caller{Authorization: header, Address: "192.0.2.1:1"}, Viewer, "")
		require.Equal(t, intent.Unauthenticated, intent.CodeOf(err), header)
	})
}
