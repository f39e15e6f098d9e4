package etcd_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
)

// guarded serves TLS, and nobody who comes without a certificate.
func guarded(t *testing.T, config *tls.Config) (server *httptest.Server, authority *x509.CertPool) {
	t.Helper()
	server = httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS, server.EnableHTTP2 = config, true
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	t.Cleanup(server.Close)
	authority = x509.NewCertPool()
	authority.AddCert(server.Certificate())
	return server, authority
}

// unserved is the address of a listener of whom nobody accepts a connection.
func unserved(t *testing.T) *net.TCPListener {
	t.Helper()
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

// failed is why Dial or Ping fails, which one of them has to.
func failed(t *testing.T, options etcd.DialOptions) error {
	t.Helper()
	options.Timeout = time.Second
	external, err := etcd.Dial(options)
	if err == nil {
		err = external.Ping(t.Context())
		require.NoError(t, external.Close())
	}
	require.Equal(t, intent.Unavailable, intent.CodeOf(err))
	return err
}

// TestWhoCannotReachEtcdIsToldWhy: with a user, who signs in at once, and
// without one; over TLS and without.
func TestWhoCannotReachEtcdIsToldWhy(t *testing.T) {
	t.Parallel()
	wary, authority := guarded(t, &tls.Config{ClientAuth: tls.RequireAnyClientCert})
	old, oldAuthority := guarded(t, &tls.Config{ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12})
	plain := strings.TrimPrefix(start(t, etcd.EmbeddedOptions{ListenClients: true}).ClientURL(), "http://")
	silent, gone := unserved(t).Addr().String(), unserved(t)
	require.NoError(t, gone.Close())
	for name, c := range map[string]struct {
		options etcd.DialOptions
		says    []string
	}{
		"no certificate":          {etcd.DialOptions{Endpoints: []string{wary.URL}, TLS: &tls.Config{RootCAs: authority}}, []string{wary.URL, "certificate required"}},
		"no certificate, TLS 1.2": {etcd.DialOptions{Endpoints: []string{old.URL}, TLS: &tls.Config{RootCAs: oldAuthority}}, []string{old.URL, "handshake failure"}},
		"an unknown authority":    {etcd.DialOptions{Endpoints: []string{wary.URL}}, []string{wary.URL, "certificate signed by unknown authority"}},
		"TLS, which is not there": {etcd.DialOptions{Endpoints: []string{"https://" + plain}}, []string{"https://" + plain, "http://"}},
		"no TLS, which is there":  {etcd.DialOptions{Endpoints: []string{"http://" + wary.Listener.Addr().String()}}, []string{"it speaks TLS: give https://"}},
		"nobody":                  {etcd.DialOptions{Endpoints: []string{"https://" + gone.Addr().String()}}, []string{gone.Addr().String(), "connection refused"}},
		"nobody, without TLS":     {etcd.DialOptions{Endpoints: []string{gone.Addr().String()}}, []string{gone.Addr().String(), "connection refused"}},
		"nobody who answers":      {etcd.DialOptions{Endpoints: []string{"https://" + silent}}, []string{"deadline exceeded"}},
		"several": {
			etcd.DialOptions{Endpoints: []string{wary.URL, "https://" + gone.Addr().String()}, TLS: &tls.Config{RootCAs: authority}},
			[]string{wary.URL, "certificate required; https://" + gone.Addr().String(), "connection refused"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, user := range []string{"", "signpost"} {
				c.options.Username, c.options.Password = user, user
				err := failed(t, c.options)
				for _, words := range c.says {
					require.ErrorContains(t, err, words)
				}
			}
		})
	}
}

// TestARefusalIsToldAlsoWhenItWasNotRead: with TLS 1.3, a client may write to a
// connection that etcd has refused before it reads that. Here it has to: the
// first connection ends before the refusal is out.
func TestARefusalIsToldAlsoWhenItWasNotRead(t *testing.T) {
	t.Parallel()
	known, authority := guarded(t, &tls.Config{})
	for name, user := range map[string]string{"without a user": "", "with a user": "signpost"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var connections atomic.Int64
			server, _ := guarded(t, &tls.Config{GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
				return &tls.Config{
					MinVersion: tls.VersionTLS13, Certificates: known.TLS.Certificates, NextProtos: known.TLS.NextProtos,
					VerifyConnection: func(tls.ConnectionState) error {
						if connections.Add(1) == 1 {
							return reset(hello.Conn)
						}
						return errors.New("not you")
					},
				}, nil
			}})
			err := failed(t, etcd.DialOptions{Endpoints: []string{server.URL}, TLS: &tls.Config{RootCAs: authority}, Username: user, Password: user})
			require.ErrorIs(t, err, etcd.ErrTLSRefused)
			require.ErrorContains(t, err, "bad certificate")
		})
	}
}

// reset ends a connection so that nothing more is sent.
func reset(connection net.Conn) error {
	tcp, ok := connection.(*net.TCPConn)
	if !ok {
		return fmt.Errorf("%T is not a TCP connection", connection)
	}
	return errors.Join(errors.New("not yet"), tcp.SetLinger(0), tcp.Close())
}

// TestWhatEtcdAnswersIsNotExplainedAway: who has been answered is told that.
func TestWhatEtcdAnswersIsNotExplainedAway(t *testing.T) {
	t.Parallel()
	server, authority := guarded(t, &tls.Config{})
	err := failed(t, etcd.DialOptions{Endpoints: []string{server.URL}, TLS: &tls.Config{RootCAs: authority}})
	require.NotErrorIs(t, err, etcd.ErrTLSRefused)
	require.ErrorContains(t, err, "404")
}
