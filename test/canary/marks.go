package canary

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// marks are the secrets that are given to Signpost.
type marks struct{ all []secret }

// word makes a secret of letters and digits.
func (m *marks) word(name string) string {
	return m.keep(name, rand.Text())
}

// text makes a secret with characters that encodings change.
func (m *marks) text(name string) string {
	return m.keep(name, `p%/+<&"'`+rand.Text())
}

func (m *marks) keep(name, value string) string {
	m.all = append(m.all, secret{name, value})
	return value
}

// sealingKey makes a key of secrets at rest.
func (m *marks) sealingKey() string {
	const size = 32
	raw := make([]byte, size)
	_, _ = rand.Read(raw) // never fails
	m.keep("the key of secrets at rest", string(raw))
	return base64.StdEncoding.EncodeToString(raw)
}

// client makes a certificate of a client and its key, in PEM.
func (m *marks) client(name string) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "signpost"}, NotAfter: time.Now().Add(time.Hour)}
	raw, certErr := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	number, numberErr := private.Bytes()
	rawKey, keyErr := x509.MarshalECPrivateKey(private)
	m.keep(name, string(number)) // the rest of the key is public
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: rawKey}), errors.Join(certErr, numberErr, keyErr)
}

// kubeconfig makes one for a cluster where nobody answers, with a secret in each
// place that takes one.
func (m *marks) kubeconfig() ([]byte, error) {
	certificate, key, err := m.client("a cluster's client key")
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: away
clusters:
- name: away
  cluster: {server: "https://me:%s@127.0.0.1:1", insecure-skip-tls-verify: true}
users:
- name: signpost
  user: {token: %s, client-certificate-data: %s, client-key-data: %s}
- name: other
  user: {username: me, password: %s}
contexts:
- name: away
  context: {cluster: away, user: signpost}
`, m.word("the password in a cluster's URL"), m.word("a cluster's token"),
		base64.StdEncoding.EncodeToString(certificate), base64.StdEncoding.EncodeToString(key), m.word("a cluster's password")), err
}
