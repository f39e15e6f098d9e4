package access_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/access/accesstest"
)

// TestRenewedCertificatesAreShown to new connections; while the files are
// broken, the last good ones are.
func TestRenewedCertificatesAreShown(t *testing.T) {
	ours := accesstest.NewAuthority(t, "ours")
	certificate, key := ours.Sign(accesstest.Leaf{Name: "first", Server: true})
	var log bytes.Buffer
	config, err := access.ListenerTLS{CertFile: certificate, KeyFile: key}.Config(slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	shown := func() string {
		now, err := config.GetConfigForClient(nil)
		require.NoError(t, err)
		leaf, err := x509.ParseCertificate(now.Certificates[0].Certificate[0])
		require.NoError(t, err)
		return leaf.Subject.CommonName
	}
	require.Equal(t, "first", shown())
	secondCertificate, secondKey := ours.Sign(accesstest.Leaf{Name: "second", Server: true})
	require.NoError(t, os.Rename(secondCertificate, certificate))
	require.Equal(t, "first", shown(), "the key is not yet the new one's")
	require.Equal(t, "first", shown())
	require.Equal(t, 1, strings.Count(log.String(), "broken"), "it is told once, however many connect")
	require.NoError(t, os.Rename(secondKey, key))
	require.Equal(t, "second", shown())
	require.NoError(t, os.Remove(key))
	require.Equal(t, "second", shown())
}

// TestAListenerIsTLS12AndUp, and knows the certificates of callers by what the
// file of their authorities says now.
func TestAListenerIsTLS12AndUp(t *testing.T) {
	ours, theirs := accesstest.NewAuthority(t, "ours"), accesstest.NewAuthority(t, "theirs")
	certificate, key := ours.Sign(accesstest.Leaf{Name: "signpost", Server: true})
	trusted := ours.File()
	listener := access.ListenerTLS{CertFile: certificate, KeyFile: key, ClientCAFile: trusted, Protocols: []string{"h2"}}
	config, err := listener.Config(slog.Default())
	require.NoError(t, err)
	now := func() *tls.Config {
		c, err := config.GetConfigForClient(nil)
		require.NoError(t, err)
		require.Equal(t, uint16(tls.VersionTLS12), c.MinVersion)
		require.Equal(t, []string{"h2"}, c.NextProtos)
		require.True(t, c.SessionTicketsDisabled, "nobody comes back by a ticket of an authority that is trusted no more")
		return c
	}
	require.Equal(t, tls.VerifyClientCertIfGiven, now().ClientAuth)
	require.True(t, now().ClientCAs.Equal(ours.Pool()))
	require.NoError(t, os.Rename(theirs.File(), trusted))
	require.True(t, now().ClientCAs.Equal(theirs.Pool()))

	listener.Required = true
	config, err = listener.Config(slog.Default())
	require.NoError(t, err)
	require.Equal(t, tls.RequireAndVerifyClientCert, now().ClientAuth)

	config, err = access.ListenerTLS{}.Config(slog.Default())
	require.NoError(t, err)
	require.Nil(t, config, "plain text")
}

// TestFilesOfAListenerAreNamedByTheirFlags: in what is said of them.
func TestFilesOfAListenerAreNamedByTheirFlags(t *testing.T) {
	for _, c := range []struct {
		listener access.ListenerTLS
		says     string
	}{
		{access.ListenerTLS{CertFile: "c"}, "--tls-cert and --tls-key belong together: give both or none"},
		{access.ListenerTLS{Prefix: "grpc-", KeyFile: "k"}, "--grpc-tls-cert and --grpc-tls-key belong together: give both or none"},
		{access.ListenerTLS{ClientCAFile: "a"}, "--client-ca: client certificates need TLS; also give --tls-cert and --tls-key"},
	} {
		require.EqualError(t, c.listener.Check(), c.says)
	}
	_, err := access.ListenerTLS{CertFile: "none", KeyFile: "none"}.Config(slog.Default())
	require.ErrorContains(t, err, "--tls-cert and --tls-key: open none")
	ours := accesstest.NewAuthority(t, "ours")
	certificate, key := ours.Sign(accesstest.Leaf{Name: "signpost", Server: true})
	_, err = access.ListenerTLS{CertFile: certificate, KeyFile: key, ClientCAFile: key}.Config(slog.Default())
	require.ErrorContains(t, err, "--client-ca: "+key+", line 1: belongs to no PEM certificate")
}
