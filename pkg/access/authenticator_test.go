package access_test

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/access/accesstest"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// world is an authenticator, with a clock and a log of its own.
type world struct {
	*access.Authenticator
	t       *testing.T
	metrics *prometheus.Registry
	log     *bytes.Buffer

	mu  sync.Mutex
	now time.Time
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// pass lets time go by.
func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

func open(t *testing.T, o access.Options) *world {
	w := &world{t: t, metrics: prometheus.NewRegistry(), log: &bytes.Buffer{}, now: time.Now()}
	o.Metrics, o.Log, o.Now = w.metrics, slog.New(slog.NewTextHandler(w.log, nil)), w.clock
	var err error
	w.Authenticator, err = access.Open(o)
	require.NoError(t, err)
	return w
}

// bearer is a caller with a token.
func bearer(token string) access.Caller {
	return access.Caller{Authorization: "Bearer " + token, Address: "192.0.2.7:4711"}
}

// asks answers who asks for what a viewer of the project may do, or the code of the
// error and what it says.
func (w *world) asks(c access.Caller, project string) string {
	actor, err := w.Authorize(w.t.Context(), c, access.Viewer, project)
	if err != nil {
		return string(intent.CodeOf(err)) + ": " + err.Error()
	}
	return actor.Subject
}

// rejected counts those who were access refused for a reason.
func (w *world) rejected(reason string) float64 {
	return w.value("signpost_auth_rejected_total", reason)
}

// value is what a metric with one label says.
func (w *world) value(name, label string) float64 {
	families, err := w.metrics.Gather()
	require.NoError(w.t, err)
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if family.GetName() == name && metric.GetLabel()[0].GetValue() == label {
				return metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
			}
		}
	}
	w.t.Fatalf("there is no %s of %s", name, label)
	return 0
}

// write makes a file.
func write(t *testing.T, content string) string {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	return file
}

// TestWhoShowsNothingIsNotLetIn, nor who shows something else than a Bearer
// token.
func TestWhoShowsNothingIsNotLetIn(t *testing.T) {
	w := open(t, access.Options{TokenFile: write(t, "s3cr3t,anna,viewer\n")})
	require.Equal(t, "anna", w.asks(bearer("s3cr3t"), "shop"))
	require.Equal(t, "anna", w.asks(access.Caller{Authorization: "bearer  s3cr3t "}, "shop"))
	for _, shown := range []string{"", "Basic djp4", "s3cr3t", "Bearer"} {
		require.Contains(t, w.asks(access.Caller{Authorization: shown}, "shop"), "unauthenticated: ", shown)
	}
	require.Contains(t, w.asks(access.Caller{}, "shop"), "send a token, as in Authorization: Bearer TOKEN")
	require.Contains(t, w.asks(bearer("S3CR3T"), "shop"), "the token is not known")
	require.Contains(t, w.asks(bearer("a.b.c"), "shop"), "the token is not known", "nobody signs tokens")
	require.InDelta(t, 4, w.rejected("missing"), 0)
	require.InDelta(t, 3, w.rejected("unknown"), 0)
	_, err := w.Authorize(t.Context(), bearer("s3cr3t"), access.Editor, "shop")
	require.Equal(t, intent.Forbidden, intent.CodeOf(err))
	require.InDelta(t, 1, w.rejected("forbidden"), 0)
	require.Contains(t, w.log.String(), `reason=forbidden address=192.0.2.7:4711 subject=anna`)
	require.NotContains(t, w.log.String(), "s3cr3t")
	require.NotContains(t, w.log.String(), "S3CR3T")
}

// TestWithoutADoorEverybodyIsAnonymous: and may do everything.
func TestWithoutADoorEverybodyIsAnonymous(t *testing.T) {
	var none *access.Authenticator
	actor, err := none.Authorize(t.Context(), access.Caller{}, access.Admin, "")
	require.NoError(t, err)
	require.Equal(t, "anonymous", actor.Subject)
	require.True(t, actor.Sees("shop"))
}

// TestACertificateIsASubjectWithGroups, which the policy file gives roles.
func TestACertificateIsASubjectWithGroups(t *testing.T) {
	w := open(t, access.Options{TokenFile: write(t, "s3cr3t,anna,viewer\n"), PolicyFile: write(t, `grants:
- {role: viewer, subjects: ["cert:prometheus", "cert:spiffe://lab.example/ns/shop"]}
- {role: operator, projects: [shop], groups: ["cert:ops"]}
`)})
	ours := accesstest.NewAuthority(t, "ours")
	shows := func(leaf accesstest.Leaf) access.Caller { return access.Caller{TLS: ours.State(leaf)} }
	require.Equal(t, "cert:prometheus", w.asks(shows(accesstest.Leaf{Name: "prometheus"}), ""))
	require.Equal(t, "cert:olga", w.asks(shows(accesstest.Leaf{Name: "olga", Groups: []string{"dev", "ops"}}), "shop"))
	require.Contains(t, w.asks(shows(accesstest.Leaf{Name: "olga", Groups: []string{"ops"}}), "bakery"), "forbidden: cert:olga has no rights on project bakery")
	require.Contains(t, w.asks(shows(accesstest.Leaf{Name: "ops"}), "shop"), "forbidden: cert:ops has no role here")
	require.Contains(t, w.asks(shows(accesstest.Leaf{Name: "anna"}), "shop"), "forbidden", "nobody is taken for a subject of the token file")
	mesh := &url.URL{Scheme: "spiffe", Host: "lab.example", Path: "/ns/shop"}
	require.Equal(t, "cert:spiffe://lab.example/ns/shop", w.asks(shows(accesstest.Leaf{URI: mesh}), ""), "as a service mesh has them")
	require.Contains(t, w.asks(shows(accesstest.Leaf{}), ""), "forbidden: cert:number 2")

	both := shows(accesstest.Leaf{Name: "prometheus"})
	both.Authorization = "Bearer wrong"
	require.Contains(t, w.asks(both, ""), "unauthenticated", "a wrong token is not made good by a certificate")
	both.Authorization = "Bearer s3cr3t"
	require.Equal(t, "anna", w.asks(both, ""))
	require.Contains(t, w.asks(access.Caller{TLS: &tls.ConnectionState{}}, ""), "unauthenticated", "TLS without a certificate")
	w.pass(2 * time.Hour)
	require.Contains(t, w.asks(shows(accesstest.Leaf{Name: "prometheus"}), ""), "unauthenticated: the certificate has expired", "on a connection that has lasted")
}

// TestWhatOpensNoDoor: each error names the flag.
func TestWhatOpensNoDoor(t *testing.T) {
	issuer := access.OIDC{Issuer: "https://issuer.example", Audiences: []string{"signpost"}}
	with := func(change func(o *access.OIDC)) access.OIDC {
		changed := issuer
		change(&changed)
		return changed
	}
	require.NoError(t, issuer.Check())
	require.NoError(t, access.OIDC{SubjectClaim: "sub"}.Check())
	require.NoError(t, with(func(o *access.OIDC) { o.Issuer = "http://127.0.0.1:5556/dex" }).Check())
	for says, oidc := range map[string]access.OIDC{
		"--oidc-audience is required with --oidc-issuer: without it, tokens for other services would be accepted": {Issuer: "https://issuer.example"},
		"--oidc-audience is required":                                     with(func(o *access.OIDC) { o.Audiences = []string{"a", ""} }),
		"--oidc-issuer is required":                                       {Audiences: []string{"signpost"}},
		`--oidc-issuer: "http://issuer.example" must begin with https://`: with(func(o *access.OIDC) { o.Issuer = "http://issuer.example" }),
		`--oidc-issuer: "issuer.example" is not a URL`:                    with(func(o *access.OIDC) { o.Issuer = "issuer.example" }),
		`is not a URL such as https://issuer.example`:                     with(func(o *access.OIDC) { o.Issuer = "https://issuer.example?a=b" }),
		"--oidc-algorithms: none accepts unsigned tokens":                 with(func(o *access.OIDC) { o.Algorithms = []string{"RS256", "none"} }),
		"--oidc-algorithms: HS256 needs a shared secret":                  with(func(o *access.OIDC) { o.Algorithms = []string{"HS256"} }),
		`--oidc-algorithms: "rs256" is unknown; allowed are RS256`:        with(func(o *access.OIDC) { o.Algorithms = []string{"rs256"} }),
		"--oidc-ca-file: open none":                                       with(func(o *access.OIDC) { o.CAFile = "none" }),
	} {
		_, err := access.Open(access.Options{OIDC: oidc})
		require.ErrorContains(t, err, says)
	}
	for says, policy := range map[string]string{
		"/grants: there is no grant":                               "claims: false",
		"/grant: unknown field":                                    "grant: []",
		"/clams: unknown field; /grants/1/porjects: unknown field": "{clams: true, grants: [{role: admin, subjects: ['oidc:a']}, {role: admin, porjects: [], subjects: ['oidc:a']}]}",
		`key "role" already set`:                                   "grants: [{role: admin, role: viewer, subjects: ['oidc:a']}]",
		`/grants/0/role: "boss" is not a role; want one of viewer, editor, operator, admin`: "grants: [{role: boss, subjects: ['oidc:anna']}]",
		"/grants/0: names neither subjects nor groups":                                      "grants: [{role: admin}]",
		"/grants/1/projects: is empty; leave it out to grant the role in all":               "grants: [{role: admin, groups: ['oidc:a']}, {role: admin, projects: [], groups: ['oidc:a']}]",
		"/grants/0/projects: is empty; leave it out":                                        "grants: [{role: admin, projects: , groups: ['oidc:a']}]",
		`/grants/0/projects/1: "" is not a name of a project`:                               "grants: [{role: admin, projects: [shop, ''], groups: ['oidc:a']}]",
		`/grants/0/projects/0: "*" is not a name of a project; for all projects leave`:      "grants: [{role: admin, projects: ['*'], groups: ['oidc:a']}]",
		`/grants/0/subjects/0: "anna" must begin with oidc:, as names of an issuer's`:       "grants: [{role: admin, subjects: [anna]}]",
		`/grants/0/groups/1: "cert:" must begin with`:                                       "grants: [{role: admin, groups: ['oidc:a', 'cert:']}]",
		"policy file": "{",
	} {
		_, err := access.Open(access.Options{PolicyFile: write(t, policy)})
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, "--policy-file: policy file ")
	}
	registry := prometheus.NewRegistry()
	_, err := access.Open(access.Options{Metrics: registry})
	require.NoError(t, err)
	_, err = access.Open(access.Options{Metrics: registry})
	require.Error(t, err)
}

// TestAPolicyThatChangesIsReadAgain; while it is broken its last good state
// holds.
func TestAPolicyThatChangesIsReadAgain(t *testing.T) {
	const anna, otto = "grants: [{role: viewer, subjects: ['oidc:anna']}]", "grants: [{role: viewer, subjects: ['oidc:otto']}]"
	issuer, file := accesstest.NewIssuer(t), write(t, anna)
	w := open(t, access.Options{PolicyFile: file, OIDC: access.OIDC{Issuer: issuer.URL, Audiences: []string{accesstest.Audience}}})
	later := time.Now()
	rewrite := func(content string) {
		later = later.Add(time.Second)
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		require.NoError(t, os.Chtimes(file, later, later))
	}
	may := func() (allowed []string) {
		for _, name := range []string{"anna", "otto"} {
			if who := w.asks(bearer(issuer.Token(name, nil)), ""); who == "oidc:"+name {
				allowed = append(allowed, name)
			}
		}
		return allowed
	}
	require.Equal(t, []string{"anna"}, may())
	rewrite(otto)
	require.Equal(t, []string{"otto"}, may())
	rewrite("grants: [{role: boss}]")
	require.Equal(t, []string{"otto"}, may())
	require.Contains(t, w.log.String(), "file is broken; its last good state stays in force")
	require.NoError(t, os.Remove(file))
	require.Equal(t, []string{"otto"}, may())
	rewrite(anna)
	require.Equal(t, []string{"anna"}, may())
}

// TestAFileThatCannotBeReadForAWhile is read once it can be, though it has not
// changed meanwhile: who was taken out must not stay in.
func TestAFileThatCannotBeReadForAWhile(t *testing.T) {
	file := write(t, "s3cr3t,anna,viewer\n")
	w := open(t, access.Options{TokenFile: file})
	require.Equal(t, "anna", w.asks(bearer("s3cr3t"), ""))

	later := time.Now().Add(time.Hour).Truncate(time.Second)
	require.NoError(t, os.Remove(file))
	require.NoError(t, os.Mkdir(file, 0o700)) // which is no file to read
	require.NoError(t, os.Chtimes(file, later, later))
	info, err := os.Stat(file)
	require.NoError(t, err)
	for range 3 {
		require.Equal(t, "anna", w.asks(bearer("s3cr3t"), ""), "its last good state holds")
	}
	require.Equal(t, 1, strings.Count(w.log.String(), "file is broken"), "it is told once")

	require.NoError(t, os.Remove(file))
	content := "0ther,otto,viewer\n"
	content += strings.Repeat("#", int(info.Size())-len(content)) // nothing tells it from what was there
	require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	require.NoError(t, os.Chtimes(file, later, later))
	require.Contains(t, w.asks(bearer("s3cr3t"), ""), "unauthenticated")
	require.Equal(t, "otto", w.asks(bearer("0ther"), ""))
}

// TestAFileOfTheSameSizeAndAgeIsReadAgain: within one tick of a file system's
// clock, a change leaves both as they were.
func TestAFileOfTheSameSizeAndAgeIsReadAgain(t *testing.T) {
	file := write(t, "s3cr3t,anna,viewer\n")
	w := open(t, access.Options{TokenFile: file})
	require.Equal(t, "anna", w.asks(bearer("s3cr3t"), ""))
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte("n3wone,anna,viewer\n"), 0o600))
	require.NoError(t, os.Chtimes(file, info.ModTime(), info.ModTime()))
	require.Contains(t, w.asks(bearer("s3cr3t"), ""), "unauthenticated")
	require.Equal(t, "anna", w.asks(bearer("n3wone"), ""))
}
