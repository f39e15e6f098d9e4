package cli

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/access/accesstest"
)

// TestAServerMayAskForACertificate: the client trusts whom --ca-file names alone,
// and shows what --cert-file holds.
func TestAServerMayAskForACertificate(t *testing.T) {
	ours, theirs := accesstest.NewAuthority(t, "ours"), accesstest.NewAuthority(t, "theirs")
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"items":[{"metadata":{"name":"` + r.TLS.VerifiedChains[0][0].Subject.CommonName + `"},"spec":{}}]}`))
	}))
	server.TLS = &tls.Config{
		MinVersion: tls.VersionTLS12, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ours.Pool(),
		Certificates: []tls.Certificate{ours.Pair(accesstest.Leaf{Name: "signpost", Server: true})},
	}
	server.StartTLS()
	defer server.Close()
	cert, key := ours.Sign(accesstest.Leaf{Name: "anna"})
	list := func(more ...string) result {
		return signpost(t, server.URL, append([]string{"get", "projects", "--output=json"}, more...)...)
	}
	good := list("--ca-file", ours.File(), "--cert-file", cert, "--key-file", key)
	require.Equal(t, exitDone, good.code, good.err)
	require.Contains(t, good.out, "anna")
	for says, args := range map[string][]string{
		"certificate signed by unknown authority\n  Give the CA certificate with --ca-file or": {"--ca-file", theirs.File(), "--cert-file", cert, "--key-file", key},
		"certificate required\n  Check that the server trusts the certificate of":              {"--ca-file", ours.File()},
		"--cert-file and --key-file belong together: give both":                                {"--cert-file", cert},
		"--cert-file and --key-file: open none":                                                {"--cert-file", "none", "--key-file", key},
		"--ca-file: open none":                                                                 {"--ca-file", "none"},
		"--ca-file: " + key + " holds no PEM certificate":                                      {"--ca-file", key},
	} {
		got := list(args...)
		require.NotEqual(t, exitDone, got.code)
		require.Contains(t, got.err, says)
	}
	plain := signpost(t, strings.Replace(server.URL, "https", "http", 1), "get", "projects")
	require.Contains(t, plain.err, "the server speaks TLS; use https://")
	t.Setenv("SIGNPOST_CA_FILE", ours.File())
	t.Setenv("SIGNPOST_CERT_FILE", cert)
	t.Setenv("SIGNPOST_KEY_FILE", key)
	require.Equal(t, exitDone, list().code)
}
