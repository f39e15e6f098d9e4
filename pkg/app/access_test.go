package app

import (
	"crypto/tls"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/access/accesstest"
)

// visitor asks a Signpost that speaks TLS for things.
type visitor struct {
	t      *testing.T
	base   string
	client *http.Client
}

// visit makes a visitor, on a connection of its own, who trusts an authority and shows
// a certificate, if any.
func visit(t *testing.T, s *server, trust *accesstest.Authority, show ...tls.Certificate) *visitor {
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: trust.Pool()}
	if len(show) > 0 { // whether the server asks for one of its authority or not
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &show[0], nil }
	}
	transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: config}
	t.Cleanup(transport.CloseIdleConnections)
	return &visitor{t: t, base: "https://" + s.http, client: &http.Client{Transport: transport, Timeout: patience}}
}

// seen is an answer that has been read.
type seen struct {
	status, proto int // of HTTP/2: 2
	body          string
}

// get answers what it asks for with a token, if any.
func (v *visitor) get(path, token string) (seen, error) {
	request, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, v.base+path, http.NoBody)
	require.NoError(v.t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := v.client.Do(request)
	if err != nil {
		return seen{}, err
	}
	defer func() { require.NoError(v.t, answer.Body.Close()) }()
	body, err := io.ReadAll(answer.Body)
	require.NoError(v.t, err)
	return seen{answer.StatusCode, answer.ProtoMajor, string(body)}, nil
}

// status is that of what it asks for.
func (v *visitor) status(path, token string) int {
	answer, err := v.get(path, token)
	require.NoError(v.t, err)
	return answer.status
}

// TestRESTOverTLS: tokens, JWTs and certificates come in by one authenticator, whoever shows
// nothing gets what is public, and renewed files count for new connections.
func TestRESTOverTLS(t *testing.T) {
	t.Parallel()
	ours, theirs, issuer := accesstest.NewAuthority(t, "ours"), accesstest.NewAuthority(t, "theirs"), accesstest.NewIssuer(t)
	dir := t.TempDir()
	tokens, policy := filepath.Join(dir, "tokens"), filepath.Join(dir, "policy.yaml")
	require.NoError(t, os.WriteFile(tokens, []byte("s3cr3t,ci,viewer\n"), 0o600))
	require.NoError(t, os.WriteFile(policy, []byte("grants: [{role: viewer, subjects: ['cert:prometheus', 'oidc:anna']}]"), 0o600))
	certificate, key := ours.Sign(accesstest.Leaf{Name: "first", Server: true})
	trusted := ours.File()
	s := serve(t, t.TempDir(), func(c *Config) {
		c.TLSCertFile, c.TLSKeyFile, c.ClientCAFile, c.TokenFile, c.PolicyFile = certificate, key, trusted, tokens, policy
		c.OIDC = access.OIDC{Issuer: issuer.URL, Audiences: []string{accesstest.Audience}}
	})
	stranger, prometheus := visit(t, s, ours), visit(t, s, ours, ours.Pair(accesstest.Leaf{Name: "prometheus"}))
	for _, path := range []string{"/healthz", "/readyz", "/version", "/v2/openapi.yaml"} {
		require.Equal(t, http.StatusOK, stranger.status(path, ""), path)
	}
	for _, path := range []string{"/metrics", "/v2/projects"} {
		require.Equal(t, http.StatusUnauthorized, stranger.status(path, ""), path)
		require.Equal(t, http.StatusUnauthorized, prometheus.status(path, "wrong"), path)
		require.Equal(t, http.StatusOK, stranger.status(path, "s3cr3t"), path)
		require.Equal(t, http.StatusOK, stranger.status(path, issuer.Token("anna", nil)), path)
		require.Equal(t, http.StatusForbidden, stranger.status(path, issuer.Token("otto", nil)), path)
		require.Equal(t, http.StatusOK, prometheus.status(path, ""), path)
	}
	metrics, err := prometheus.get("/metrics", "")
	require.NoError(t, err)
	require.Equal(t, 2, metrics.proto)
	require.Contains(t, metrics.body, `signpost_auth_rejected_total{reason="forbidden"} 2`)
	require.Contains(t, metrics.body, `signpost_auth_rejected_total{reason="missing"} 2`)
	require.Contains(t, metrics.body, `signpost_oidc_key_fetches_total{outcome="fetched"} 1`)

	_, err = visit(t, s, ours, theirs.Pair(accesstest.Leaf{Name: "prometheus"})).get("/healthz", "")
	require.Error(t, err, "a certificate of somebody else")
	_, err = visit(t, s, theirs).get("/healthz", "")
	require.Error(t, err, "a client that does not trust us")
	_, err = visit(t, s, ours, ours.Pair(accesstest.Leaf{Name: "prometheus", Until: time.Now().Add(-time.Minute)})).get("/healthz", "")
	require.Error(t, err, "an expired one")
	require.Eventually(t, func() bool {
		metrics, err := prometheus.get("/metrics", "")
		return err == nil && strings.Contains(metrics.body, `signpost_tls_handshakes_failed_total{listener="rest"} 3`)
	}, patience, tick, "each of them counts")
	old := visit(t, s, ours)
	old.client.Transport.(*http.Transport).TLSClientConfig.MinVersion = tls.VersionTLS10
	old.client.Transport.(*http.Transport).TLSClientConfig.MaxVersion = tls.VersionTLS11
	_, err = old.get("/healthz", "")
	require.ErrorContains(t, err, "protocol version")
	plain := visit(t, s, ours)
	plain.base = "http://" + s.http
	require.Equal(t, http.StatusBadRequest, plain.status("/healthz", ""))

	newCertificate, newKey := theirs.Sign(accesstest.Leaf{Name: "second", Server: true})
	require.NoError(t, os.Rename(newCertificate, certificate))
	require.NoError(t, os.Rename(newKey, key))
	require.NoError(t, os.Rename(theirs.File(), trusted))
	require.Equal(t, http.StatusUnauthorized, prometheus.status("/v2/projects", ""), "the connection is the one of before, and its authority is trusted no more")
	require.Equal(t, http.StatusOK, visit(t, s, theirs, theirs.Pair(accesstest.Leaf{Name: "prometheus"})).status("/v2/projects", ""))
	_, err = visit(t, s, theirs, ours.Pair(accesstest.Leaf{Name: "prometheus"})).get("/v2/projects", "")
	require.Error(t, err, "its authority is trusted no more")
	s.stop()
}

// TestFilesOfRESTAreReadBeforeTheStart: what is wrong with one is told by its flag.
func TestFilesOfRESTAreReadBeforeTheStart(t *testing.T) {
	t.Parallel()
	ours := accesstest.NewAuthority(t, "ours")
	certificate, key := ours.Sign(accesstest.Leaf{Name: "signpost", Server: true})
	tokens := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(tokens, []byte("s3cr3t,ci,viewer\n"), 0o600))
	for says, change := range map[string]func(c *Config){
		"--tls-cert and --tls-key: open":                          func(c *Config) { c.TLSCertFile = "none" },
		"--client-ca: CA file " + key + ", line 1: belongs to no": func(c *Config) { c.ClientCAFile, c.TokenFile = key, tokens },
		"--policy-file: policy file: open none":                   func(c *Config) { c.ClientCAFile, c.PolicyFile = ours.File(), "none" },
		"--token-file: token file " + key + ", line 1":            func(c *Config) { c.TokenFile = key },
		"--oidc-ca-file: open none": func(c *Config) {
			c.OIDC = access.OIDC{Issuer: "https://issuer.example", Audiences: []string{"signpost"}, CAFile: "none"}
		},
	} {
		config := fits()
		config.DataDir, config.TLSCertFile, config.TLSKeyFile = t.TempDir(), certificate, key
		change(&config)
		require.ErrorContains(t, Run(t.Context(), config), says)
	}
}

// TestTokensInPlainTextAreWarnedOf where others may hear them.
func TestTokensInPlainTextAreWarnedOf(t *testing.T) {
	t.Parallel()
	tokens := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(tokens, []byte("s3cr3t,ci,viewer\n"), 0o600))
	for _, c := range []struct {
		config Config
		warns  bool
	}{
		{Config{Listeners: Listeners{Listen: ":9018"}, Access: Access{TokenFile: tokens}}, true},
		{Config{Listeners: Listeners{Listen: "127.0.0.1:9018"}, Access: Access{TokenFile: tokens}}, false},
		{Config{Listeners: Listeners{Listen: ":9018", TLSCertFile: "cert"}, Access: Access{TokenFile: tokens}}, false},
		{Config{Listeners: Listeners{Listen: ":9018"}, Access: Access{Insecure: true}}, false},
	} {
		var log strings.Builder
		_, _, err := openAuthenticators(t.Context(), c.config, prometheus.NewRegistry(), slog.New(slog.NewTextHandler(&log, nil)))
		require.NoError(t, err)
		require.Equal(t, c.warns, strings.Contains(log.String(), "tokens come in plain text"), c.config)
	}
}
