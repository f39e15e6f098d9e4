package access_test

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/access/accesstest"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// content is what is in a file.
func content(t *testing.T, file string) string {
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(raw)
}

// TestACAFileHoldsCertificatesAlone: what may be a damaged one is not passed over,
// and the error says where it is.
func TestACAFileHoldsCertificatesAlone(t *testing.T) {
	one, two := content(t, accesstest.NewAuthority(t, "one").File()), content(t, accesstest.NewAuthority(t, "two").File())
	behind := func(text string) int { return strings.Count(text, "\n") + 1 }
	inside := strings.Index(one, "\n") + 1
	for _, good := range []string{one, one + two, "# one\n" + one + "\nTwo, of 2026\n============\n    00:c1:7f\n" + two + "end", strings.ReplaceAll(one+two, "\n", "\r\n"), strings.TrimSpace(one)} {
		_, err := access.Open(access.Options{ClientCAFile: write(t, good)})
		require.NoError(t, err)
	}
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("s3cr3t")}))
	for name, c := range map[string]struct {
		content string
		line    int
		says    string
	}{
		"half a beginning":          {one + strings.Replace(two, "-----BEGIN ", "", 1), behind(one), "belongs to no PEM certificate; remove it"},
		"a key":                     {one + key, behind(one), "belongs to no PEM certificate"},
		"without a beginning":       {one[inside:], 1, "belongs to no PEM certificate"},
		"without an end":            {two + one[:inside], behind(two), "the certificate has no end line, which is -----END CERTIFICATE-----"},
		"one within another":        {one[:inside] + two, 1, "the certificate has no end"},
		"no base64":                 {two + one[:inside] + "?" + one[inside:], behind(two), "the certificate is damaged: it is not PEM"},
		"cut":                       {one[:inside+8] + one[inside+12:], 1, "the certificate is damaged"},
		"what is not a certificate": {string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})), 1, "the certificate is damaged"},
	} {
		file := write(t, c.content)
		for flag, options := range map[string]access.Options{
			"--client-ca": {ClientCAFile: file}, "--grpc-client-ca": {GRPCClientCAFile: file},
			"--oidc-ca-file": {OIDC: access.OIDC{Issuer: "https://issuer.example", Audiences: []string{"a"}, CAFile: file}},
		} {
			_, err := access.Open(options)
			require.ErrorContains(t, err, flag+": ", name)
			require.ErrorContains(t, err, fmt.Sprintf("%s, line %d: %s", file, c.line, c.says), name)
			require.NotContains(t, err.Error(), "s3cr3t")
		}
	}
	_, err := access.Open(access.Options{ClientCAFile: write(t, "# none\n")})
	require.ErrorContains(t, err, " holds no PEM certificate")
}

// TestAConnectionCountsAsLongAsItsAuthority: once that is taken out of the file, no
// request of the connection is answered, with a token either; a renewed
// certificate of it is as good.
func TestAConnectionCountsAsLongAsItsAuthority(t *testing.T) {
	ours, theirs := accesstest.NewAuthority(t, "ours"), accesstest.NewAuthority(t, "theirs")
	for name, ask := range map[string]func(o access.Options, file string) (*world, func(c access.Caller) string){
		"REST": func(o access.Options, file string) (*world, func(c access.Caller) string) {
			o.ClientCAFile = file
			w := open(t, o)
			return w, func(c access.Caller) string { return w.asks(c, "") }
		},
		"gRPC": func(o access.Options, file string) (*world, func(c access.Caller) string) {
			o.GRPCClientCAFile = file
			w := open(t, o)
			w.Authenticator = w.ForGRPC()
			return w, func(c access.Caller) string { return w.asks(c, "") }
		},
		"gRPC without a policy": func(o access.Options, file string) (*world, func(c access.Caller) string) {
			o.GRPCClientCAFile = file
			w := open(t, o)
			return w, func(c access.Caller) string {
				actor, err := w.ForGRPC().Certified(t.Context(), c)
				if err != nil {
					return string(intent.CodeOf(err)) + ": " + err.Error()
				}
				return actor.Subject
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := write(t, content(t, ours.File()))
			say := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
			w, asks := ask(access.Options{
				TokenFile: write(t, "s3cr3t,anna,viewer\n"), PolicyFile: write(t, "grants: [{role: viewer, subjects: ['cert:olga']}]"),
			}, file)
			olga := access.Caller{TLS: ours.State(accesstest.Leaf{Name: "olga"})}
			require.Equal(t, "cert:olga", asks(olga))
			say(content(t, ours.Renewed().File()))
			require.Equal(t, "cert:olga", asks(olga), "the authority is the same")
			say(content(t, theirs.File()))
			require.Contains(t, asks(olga), "unauthenticated: the signer of the client certificate is no longer trusted; present another certificate, on a new connection")
			withToken := olga
			withToken.Authorization = "Bearer s3cr3t"
			require.Contains(t, asks(withToken), "unauthenticated: the signer of the client certificate is no longer trusted")
			require.InDelta(t, 2, w.rejected("untrusted"), 0)
			say(content(t, theirs.File()) + content(t, ours.File()))
			require.Equal(t, "cert:olga", asks(olga))
		})
	}
}

// TestABrokenCAFileChangesNothing: its last good state holds, which the log says
// once, and a metric as long as it is so.
func TestABrokenCAFileChangesNothing(t *testing.T) {
	ours, theirs := accesstest.NewAuthority(t, "ours"), accesstest.NewAuthority(t, "theirs")
	file := write(t, content(t, ours.File()))
	w := open(t, access.Options{ClientCAFile: file, PolicyFile: write(t, "grants: [{role: viewer, subjects: ['cert:olga']}]")})
	olga := access.Caller{TLS: ours.State(accesstest.Leaf{Name: "olga"})}
	broken := func() float64 { return w.value("signpost_access_file_broken", "client-ca") }
	require.Zero(t, broken())
	for _, spoil := range []func() error{
		func() error { return os.WriteFile(file, []byte(content(t, theirs.File())+"-----BEGIN CERT\n"), 0o600) },
		func() error { return os.Remove(file) },
	} {
		require.NoError(t, spoil())
		for range 3 {
			require.Equal(t, "cert:olga", w.asks(olga, ""))
		}
		require.InDelta(t, 1, broken(), 0)
	}
	require.Equal(t, 2, strings.Count(w.log.String(), "file is broken"), "each is told once")
	require.Contains(t, w.log.String(), file+", line ")
	require.NoError(t, os.WriteFile(file, []byte(content(t, theirs.File())), 0o600))
	require.Contains(t, w.asks(olga, ""), "unauthenticated")
	require.Zero(t, broken())
}

// TestAKeptConnectionIsRefused, over TLS as it is.
func TestAKeptConnectionIsRefused(t *testing.T) {
	ours, theirs := accesstest.NewAuthority(t, "ours"), accesstest.NewAuthority(t, "theirs")
	certificate, key := ours.Sign(accesstest.Leaf{Name: "signpost", Server: true})
	trusted := write(t, content(t, ours.File()))
	config, err := access.ListenerTLS{CertFile: certificate, KeyFile: key, ClientCAFile: trusted}.Config(slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	w := open(t, access.Options{ClientCAFile: trusted, PolicyFile: write(t, "grants: [{role: viewer, subjects: ['cert:olga']}]")})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		if _, err := w.Authorize(r.Context(), access.Caller{TLS: r.TLS, Address: r.RemoteAddr}, access.Viewer, ""); err != nil {
			answer.WriteHeader(http.StatusUnauthorized)
		}
	}))
	server.TLS = config
	server.StartTLS()
	t.Cleanup(server.Close)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		MinVersion: tls.VersionTLS12, RootCAs: ours.Pool(), Certificates: []tls.Certificate{ours.Pair(accesstest.Leaf{Name: "olga"})},
	}}}
	get := func() (status int, reused bool) {
		trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { reused = c.Reused }}
		request, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodGet, server.URL, http.NoBody)
		require.NoError(t, err)
		response, err := client.Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		_, err = new(bytes.Buffer).ReadFrom(response.Body)
		require.NoError(t, err)
		return response.StatusCode, reused
	}
	status, _ := get()
	require.Equal(t, http.StatusOK, status)
	require.NoError(t, os.WriteFile(trusted, []byte(content(t, theirs.File())), 0o600))
	status, reused := get()
	require.True(t, reused)
	require.Equal(t, http.StatusUnauthorized, status)
}
