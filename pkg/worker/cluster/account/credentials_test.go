package account_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/signpost-dns/signpost/pkg/worker/cluster/account"
)

func token(claims string) string {
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
}

func TestCredentialsTellWhenTheyEnd(t *testing.T) {
	t.Parallel()
	issued, expires := time.Unix(1_790_000_000, 0).UTC(), time.Unix(1_790_002_000, 0).UTC()
	for _, c := range []struct {
		reason string
		config rest.Config
		want   account.Credentials
	}{
		{"a token of a ServiceAccount", rest.Config{BearerToken: token(`{"iat":1790000000,"exp":1790002000,"kubernetes.io":{"namespace":"signpost","serviceaccount":{"name":"s"}}}`)},
			account.Credentials{Issued: issued, Expires: expires, Namespace: "signpost", Name: "s"}},
		{"of somebody else", rest.Config{BearerToken: token(`{"iat":1790000000,"exp":1790002000}`)}, account.Credentials{Issued: issued, Expires: expires}},
		{"without an end", rest.Config{BearerToken: token(`{"kubernetes.io":{"namespace":"signpost","serviceaccount":{"name":"s"}}}`)}, account.Credentials{}},
		{"no JWT", rest.Config{BearerToken: "abc"}, account.Credentials{}},
		{"broken", rest.Config{BearerToken: "a.!.c"}, account.Credentials{}},
		{"broken claims", rest.Config{BearerToken: token(`{"exp":"soon"}`)}, account.Credentials{}},
		{"a certificate", rest.Config{TLSClientConfig: rest.TLSClientConfig{CertData: certificate(t, issued, expires)}}, account.Credentials{Issued: issued, Expires: expires}},
		{"no certificate", rest.Config{TLSClientConfig: rest.TLSClientConfig{CertData: []byte("x")}}, account.Credentials{}},
		{"nothing", rest.Config{}, account.Credentials{}},
	} {
		require.Equal(t, c.want, account.CredentialsOf(&c.config), c.reason)
	}
}

func certificate(t *testing.T, from, to time.Time) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: to}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
}

func TestCredentialsAreDueInTheSecondHalfOfTheirLife(t *testing.T) {
	t.Parallel()
	from := time.Unix(1_790_000_000, 0)
	c := account.Credentials{Issued: from, Expires: from.Add(time.Hour), Namespace: "signpost", Name: "s"}
	require.False(t, c.Due(from.Add(30*time.Minute-1)))
	require.True(t, c.Due(from.Add(30*time.Minute)))
	c.Name = ""
	require.False(t, c.Due(from.Add(time.Hour)), "nobody can renew it")
}

func TestATokenTakesThePlaceOfTheCurrentUsers(t *testing.T) {
	t.Parallel()
	const before = `{"apiVersion":"v1","kind":"Config","current-context":"c","clusters":[{"name":"c","cluster":{"server":"https://one"}}],
		"users":[{"name":"u","user":{"token":"old"}},{"name":"v","user":{"token":"other"}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}]}`
	raw, err := account.WithToken([]byte(before), account.Token{Value: "new"})
	require.NoError(t, err)
	after, err := clientcmd.Load(raw)
	require.NoError(t, err)
	require.Equal(t, "new", after.AuthInfos["u"].Token)
	require.Equal(t, "other", after.AuthInfos["v"].Token)
	require.Equal(t, "https://one", after.Clusters["c"].Server)
	_, err = account.WithToken([]byte(`{"apiVersion":"v1","kind":"Config"}`), account.Token{})
	require.ErrorContains(t, err, "no user")
}
