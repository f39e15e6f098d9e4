package accesstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Authority signs certificates.
type Authority struct {
	t           testing.TB
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// Leaf says what a certificate is for.
type Leaf struct {
	Name   string
	Groups []string  // its organizations
	URI    *url.URL  // nil: none
	Until  time.Time // zero: an hour from now
	Server bool      // it is a server's on loopback, else a client's
}

// NewAuthority makes an authority with a certificate of its own.
func NewAuthority(t testing.TB, name string) *Authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return newAuthority(t, name, key, 1)
}

// Renewed is the same authority with another certificate for its key.
func (a *Authority) Renewed() *Authority {
	return newAuthority(a.t, a.certificate.Subject.CommonName, a.key, a.certificate.SerialNumber.Int64()+1)
}

func newAuthority(t testing.TB, name string, key *ecdsa.PrivateKey, number int64) *Authority {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(number), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(raw)
	require.NoError(t, err)
	return &Authority{t, certificate, key}
}

// File holds the authority's certificate.
func (a *Authority) File() string { return pemFile(a.t, "CERTIFICATE", a.certificate.Raw) }

// Pool trusts the authority alone.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

// Sign answers the files of a certificate, and of its key.
func (a *Authority) Sign(leaf Leaf) (certificate, key string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	if leaf.Until.IsZero() {
		leaf.Until = time.Now().Add(time.Hour)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: leaf.Name, Organization: leaf.Groups},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: leaf.Until, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if leaf.URI != nil {
		template.URIs = []*url.URL{leaf.URI}
	}
	if leaf.Server {
		template.ExtKeyUsage, template.IPAddresses = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &private.PublicKey, a.key)
	require.NoError(a.t, err)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(a.t, err)
	return pemFile(a.t, "CERTIFICATE", raw), pemFile(a.t, "PRIVATE KEY", pkcs8)
}

// Pair is a certificate that a client shows.
func (a *Authority) Pair(leaf Leaf) tls.Certificate {
	pair, err := tls.LoadX509KeyPair(a.Sign(leaf))
	require.NoError(a.t, err)
	return pair
}

// State is that of a connection whose client has shown the certificate.
func (a *Authority) State(leaf Leaf) *tls.ConnectionState {
	return &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{a.Pair(leaf).Leaf, a.certificate}}}
}

func pemFile(t testing.TB, kind string, content []byte) string {
	name := filepath.Join(t.TempDir(), "file.pem")
	require.NoError(t, os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), 0o600))
	return name
}
