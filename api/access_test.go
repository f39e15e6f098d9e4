package api_test

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/access/accesstest"
)

// right is a line of testdata/rights.txt.
type right struct {
	public  bool
	role    access.Role // least
	project bool        // in the route's project is enough
	any     bool        // in any project is enough
}

// allows tells whether a subject with a grant may, where the route's project, if it
// has one, is shop.
func (r right) allows(g access.Grant) bool {
	return r.public || g.Role >= r.role && (g.Project == "" || r.any || r.project && g.Project == "shop")
}

// rights reads testdata/rights.txt, the lines of gRPC left out.
func rights(t *testing.T) map[string]right {
	content, err := os.ReadFile("testdata/rights.txt")
	require.NoError(t, err)
	all := map[string]right{}
	for line := range strings.Lines(string(content)) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" || words[0] == "gRPC" {
			continue
		}
		r, route := right{public: words[2] == "public"}, words[0]+" "+words[1]
		if !r.public {
			var known bool
			r.role, known = access.ParseRole(words[2])
			r.project, r.any = words[3] == "project", words[3] == "any"
			require.True(t, known && (r.project || r.any || words[3] == "all"), line)
		}
		require.NotContains(t, all, route, "it is listed twice")
		all[route] = r
	}
	return all
}

// shower makes somebody with a grant (nil: with none) show who they are.
type shower func(w *world, g *access.Grant)

// showers are the kinds of subjects. What each shows is made once for each grant.
func showers(t *testing.T) (*access.Authenticator, map[string]shower) {
	issuer, authority := accesstest.NewIssuer(t), accesstest.NewAuthority(t, "clients")
	var tokens, policy strings.Builder
	policy.WriteString("claims: true\ngrants:\n")
	jwts, certificates := map[string]string{"": issuer.Token("nobody", nil)}, map[string]*tls.ConnectionState{"": authority.State(accesstest.Leaf{Name: "nobody"})}
	for _, g := range grants() {
		name := nameOf(&g)
		fmt.Fprintf(&tokens, "token-%s,%s,%s", name, name, g.Role)
		claim, projects := g.Role.String(), ""
		if g.Project != "" {
			tokens.WriteString("," + g.Project)
			claim, projects = g.Project+":"+claim, ", projects: ["+g.Project+"]"
		}
		tokens.WriteString("\n")
		fmt.Fprintf(&policy, "- {role: %s%s, subjects: ['cert:%s']}\n", g.Role, projects, name)
		jwts[name] = issuer.Token(name, map[string]any{"roles": []string{claim, "offline_access"}})
		certificates[name] = authority.State(accesstest.Leaf{Name: name})
	}
	file := func(name, content string) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	authenticator, err := access.Open(access.Options{
		TokenFile: file("tokens", tokens.String()), PolicyFile: file("policy.yaml", policy.String()),
		OIDC: access.OIDC{Issuer: issuer.URL, Audiences: []string{accesstest.Audience}}, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	return authenticator, map[string]shower{
		"a token of the file": func(w *world, g *access.Grant) { w.token = "token-" + nameOf(g) },
		"an issuer's token":   func(w *world, g *access.Grant) { w.token = jwts[nameOf(g)] },
		"a certificate":       func(w *world, g *access.Grant) { w.tls = certificates[nameOf(g)] },
	}
}

// grants are each role in all projects, in the project that is asked for, and in
// another one.
func grants() []access.Grant {
	var all []access.Grant
	for role := access.Viewer; role <= access.Admin; role++ {
		for _, project := range []string{"", "shop", "bakery"} {
			all = append(all, access.Grant{Role: role, Project: project})
		}
	}
	return all
}

// nameOf is the subject with a grant, empty for none.
func nameOf(g *access.Grant) string {
	if g == nil {
		return ""
	}
	return g.Role.String() + "-of-" + g.Project
}

// TestEveryRouteForEveryKindOfSubject: what testdata/rights.txt says of a route is
// so, for each role in all projects, in the route's and in another one, whether it is
// shown by a token, a JWT or a certificate; and nobody else may.
func TestEveryRouteForEveryKindOfSubject(t *testing.T) {
	t.Parallel()
	authenticator, kinds := showers(t)
	w := newWorld(t, func(o *api.Options) { o.Authenticator = authenticator })
	listed := rights(t)
	for _, d := range inOrder(w.doc) {
		route := d.method + " " + d.template
		needed, ok := listed[route]
		require.True(t, ok, "api/testdata/rights.txt does not say who may %s", route)
		delete(listed, route)
		code := func(show shower, g *access.Grant) int {
			w.token, w.tls = "", nil
			show(w, g)
			return w.send(d.method, d.target(false), nil).Code
		}
		for kind, show := range kinds {
			for _, g := range grants() {
				got := code(show, &g)
				require.Equal(t, needed.allows(g), got != http.StatusForbidden, "%s for %s by %s: %d", route, nameOf(&g), kind, got)
				require.NotEqual(t, http.StatusUnauthorized, got)
			}
			if kind != "a token of the file" { // which nobody has without a role
				require.Equal(t, needed.public, code(show, nil) != http.StatusForbidden, "%s by %s without a role", route, kind)
			}
		}
		for _, wrong := range []string{"", "x", "TOKEN-ADMIN-OF-", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbi1vZi0ifQ."} {
			got := code(func(w *world, _ *access.Grant) { w.token = wrong }, nil)
			require.Equal(t, needed.public, got != http.StatusUnauthorized, "%s with %q: %d", route, wrong, got)
		}
	}
	require.Empty(t, listed, "api/testdata/rights.txt lists routes that do not exist")
}
