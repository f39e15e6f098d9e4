package app

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/pkg/intent"
)

// authority signs certificates.
type authority struct {
	t           *testing.T
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, name string) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(raw)
	require.NoError(t, err)
	return &authority{t, certificate, key}
}

// file holds the authority's certificate.
func (a *authority) file() string { return pemFile(a.t, "CERTIFICATE", a.certificate.Raw) }

func (a *authority) pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// sign answers the files of a certificate for loopback, and of its key.
func (a *authority) sign(name string, until time.Time, use x509.ExtKeyUsage) (certificate, key string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{use}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &private.PublicKey, a.key)
	require.NoError(a.t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(a.t, err)
	return pemFile(a.t, "CERTIFICATE", raw), pemFile(a.t, "PRIVATE KEY", pkcs8)
}

// pair is a certificate that a client shows.
func (a *authority) pair(until time.Time, use x509.ExtKeyUsage) []tls.Certificate {
	pair, err := tls.LoadX509KeyPair(a.sign("emco", until, use))
	require.NoError(a.t, err)
	return []tls.Certificate{pair}
}

func pemFile(t *testing.T, kind string, content []byte) string {
	name := filepath.Join(t.TempDir(), "file.pem")
	require.NoError(t, os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600))
	return name
}

// probe asks a listener how it does.
func probe(t *testing.T, address string, c credentials.TransportCredentials) error {
	client, err := grpc.NewClient(address, grpc.WithTransportCredentials(c))
	require.NoError(t, err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	answer, err := grpc_health_v1.NewHealthClient(client).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
	require.Equal(t, err == nil, answer.GetStatus() == grpc_health_v1.HealthCheckResponse_SERVING)
	return err
}

// TestGRPCCallersShowCertificates: whoever does not, or shows a wrong one, is
// not even heard.
func TestGRPCCallersShowCertificates(t *testing.T) {
	later := time.Now().Add(time.Hour)
	ours, theirs := newAuthority(t, "ours"), newAuthority(t, "theirs")
	certificate, key := ours.sign("signpost", later, x509.ExtKeyUsageServerAuth)
	s := serve(t, t.TempDir(), func(c *Config) {
		c.GRPCCertFile, c.GRPCKeyFile, c.GRPCClientCAFile = certificate, key, ours.file()
	})
	client := func(trust *authority, show []tls.Certificate, versions ...uint16) credentials.TransportCredentials {
		config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: trust.pool(), Certificates: show}
		if len(versions) > 0 {
			config.MinVersion, config.MaxVersion = versions[0], versions[0]
		}
		return credentials.NewTLS(config)
	}
	good := ours.pair(later, x509.ExtKeyUsageClientAuth)
	require.NoError(t, probe(t, s.grpc, client(ours, good)))
	require.NoError(t, probe(t, s.grpc, client(ours, good, tls.VersionTLS12)), "as EMCO's older clients have it")
	for reason, wrong := range map[string]credentials.TransportCredentials{
		"plain text":                        insecure.NewCredentials(),
		"no certificate":                    client(ours, nil),
		"a certificate of somebody else":    client(ours, theirs.pair(later, x509.ExtKeyUsageClientAuth)),
		"an expired one":                    client(ours, ours.pair(time.Now().Add(-time.Minute), x509.ExtKeyUsageClientAuth)),
		"one for servers":                   client(ours, ours.pair(later, x509.ExtKeyUsageServerAuth)),
		"a client that does not trust us":   client(theirs, good),
		"a version of TLS that is outdated": client(ours, good, tls.VersionTLS11),
	} {
		require.Error(t, probe(t, s.grpc, wrong), reason)
	}
	require.NoError(t, probe(t, s.grpc, client(ours, good)), "others are served all the same")
	s.stop()
}

// TestGRPCOverTLSNeedsNoCertificateOfTheCaller unless it is asked for: EMCO
// shows none.
func TestGRPCOverTLSNeedsNoCertificateOfTheCaller(t *testing.T) {
	ours := newAuthority(t, "ours")
	certificate, key := ours.sign("signpost", time.Now().Add(time.Hour), x509.ExtKeyUsageServerAuth)
	s := serve(t, t.TempDir(), func(c *Config) { c.GRPCCertFile, c.GRPCKeyFile = certificate, key })
	require.NoError(t, probe(t, s.grpc, credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12, RootCAs: ours.pool()})))
	require.Error(t, probe(t, s.grpc, insecure.NewCredentials()))
}

// TestRenewedCertificatesAreShown to new connections; while the files are
// broken, the last good ones are.
func TestRenewedCertificatesAreShown(t *testing.T) {
	ours := newAuthority(t, "ours")
	later := time.Now().Add(time.Hour)
	certificate, key := ours.sign("first", later, x509.ExtKeyUsageServerAuth)
	var log bytes.Buffer
	config, err := grpcTLS(Config{GRPCCertFile: certificate, GRPCKeyFile: key}, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	shown := func() string {
		now, err := config.GetConfigForClient(nil)
		require.NoError(t, err)
		leaf, err := x509.ParseCertificate(now.Certificates[0].Certificate[0])
		require.NoError(t, err)
		return leaf.Subject.CommonName
	}
	require.Equal(t, "first", shown())
	secondCertificate, secondKey := ours.sign("second", later, x509.ExtKeyUsageServerAuth)
	require.NoError(t, os.Rename(secondCertificate, certificate))
	require.Equal(t, "first", shown(), "the key is not yet the new one's")
	require.Contains(t, log.String(), "broken")
	require.NoError(t, os.Rename(secondKey, key))
	require.Equal(t, "second", shown())
	require.NoError(t, os.Remove(key))
	require.Equal(t, "second", shown())
}

func TestFilesForGRPCAreReadBeforeTheStart(t *testing.T) {
	ours := newAuthority(t, "ours")
	certificate, key := ours.sign("signpost", time.Now().Add(time.Hour), x509.ExtKeyUsageServerAuth)
	for says, change := range map[string]func(c *Config){
		"--grpc-tls-cert and --grpc-tls-key: open":                func(c *Config) { c.GRPCCertFile = "none" },
		"--grpc-tls-cert and --grpc-tls-key: tls":                 func(c *Config) { c.GRPCKeyFile = certificate },
		"--grpc-client-ca: open":                                  func(c *Config) { c.GRPCClientCAFile = "none" },
		"--grpc-client-ca: " + key + " holds no certificate in P": func(c *Config) { c.GRPCClientCAFile = key },
	} {
		config := fits()
		config.DataDir, config.GRPCCertFile, config.GRPCKeyFile = t.TempDir(), certificate, key
		change(&config)
		require.ErrorContains(t, Run(t.Context(), config), says)
	}
}

// TestWhoMayChangeAppContexts: callers of a listener that others reach show a
// token, unless everybody is to be served.
func TestWhoMayChangeAppContexts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(file, []byte("op,emco,operator\nview,grafana,viewer\nshop,ci,operator,shop\n"), 0o600))
	tokens, err := api.LoadTokens(file, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.Nil(t, Config{GRPCListen: "0.0.0.0:9048", Insecure: true}.grpcAuthorizer(nil), "there are no tokens")
	require.Nil(t, Config{GRPCListen: "0.0.0.0:9048", Insecure: true}.grpcAuthorizer(tokens), "with consent, everybody may")
	for _, address := range []string{"127.0.0.1:9048", "localhost:0", "[::1]:9048"} {
		require.Nil(t, Config{GRPCListen: address}.grpcAuthorizer(tokens), "on loopback EMCO calls without a token")
	}
	authorize := Config{GRPCListen: ":9048"}.grpcAuthorizer(tokens)
	actor, err := authorize("Bearer op")
	require.NoError(t, err)
	require.Equal(t, "emco", actor)
	for header, code := range map[string]intent.Code{
		"": intent.Unauthenticated, "op": intent.Unauthenticated, "Bearer other": intent.Unauthenticated,
		"Bearer view": intent.Forbidden, "Bearer shop": intent.Forbidden,
	} {
		_, err := authorize(header)
		require.Equal(t, code, intent.CodeOf(err), header)
	}
	_, err = authorize("")
	require.ErrorContains(t, err, "--grpc-client-ca")
}
