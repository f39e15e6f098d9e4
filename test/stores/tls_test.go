package stores

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/mongo"
)

// TestTheURITellsTLS: whom to trust and what to show are parameters of the URI.
func TestTheURITellsTLS(t *testing.T) {
	server, err := newServer(t.Context(), t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, server.kill()) }()
	address, ca, client := inFrontOf(t, server.address)
	uri := "mongodb://" + address + "/signpost?tls=true&tlsCAFile=" + ca
	store, err := mongo.New(t.Context(), uri+"&tlsCertificateKeyFile="+client)
	require.NoError(t, err)
	_, err = store.Put(t.Context(), intent.Write{Path: "projects/shop", Body: []byte(`{}`)})
	require.NoError(t, err)
	require.NoError(t, store.Close())
	_, err = mongo.New(t.Context(), uri)
	require.Equal(t, intent.Unavailable, intent.CodeOf(err), "without a certificate: %v", err)
}

// inFrontOf is a TLS listener that asks for a certificate and passes on what
// comes. It answers its address and the files of its authority and of a client.
func inFrontOf(t *testing.T, address string) (listens, ca, client string) {
	t.Helper()
	known := httptest.NewUnstartedServer(nil)
	known.StartTLS() // for its certificate
	pair := known.TLS.Certificates[0]
	known.Close()
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAnyClientCert})
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go passOn(from, address)
		}
	}()
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	require.NoError(t, err)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})
	ca, client = filepath.Join(t.TempDir(), "ca.pem"), filepath.Join(t.TempDir(), "client.pem")
	require.NoError(t, os.WriteFile(ca, certificate, 0o600))
	require.NoError(t, os.WriteFile(client, append(certificate, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...), 0o600))
	return listener.Addr().String(), ca, client
}

// passOn ends both connections when one of them ends.
func passOn(from net.Conn, address string) {
	defer func() { _ = from.Close() }()
	to, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(to, from)
		_ = to.Close()
	}()
	_, _ = io.Copy(from, to)
}
