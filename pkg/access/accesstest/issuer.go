// Package accesstest has an OpenID Connect issuer and an authority that signs
// certificates, for tests.
package accesstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"
)

// Audience is what tokens are for unless their claims say else.
const Audience = "signpost"

// Issuer publishes keys on loopback and signs tokens.
type Issuer struct {
	URL string

	t testing.TB

	mu        sync.Mutex
	signs     *ecdsa.PrivateKey
	kid       string
	published []jose.JSONWebKey
	handler   http.HandlerFunc // answers instead, for as long as it is set
	asked     int              // how often keys were asked for
	header    http.Header      // of the keys
}

// NewIssuer starts an issuer with one key.
func NewIssuer(t testing.TB) *Issuer {
	i := &Issuer{t: t, header: http.Header{}}
	server := httptest.NewServer(http.HandlerFunc(i.serve))
	t.Cleanup(server.Close)
	i.URL = server.URL
	i.Rotate()
	return i
}

func (i *Issuer) serve(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.handler != nil {
		i.handler(w, r)
		return
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		answer(w, map[string]string{"issuer": i.URL, "jwks_uri": i.URL + "/keys", "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token"})
	case "/keys":
		i.asked++
		maps.Copy(w.Header(), i.header)
		answer(w, jose.JSONWebKeySet{Keys: i.published})
	default:
		http.NotFound(w, r)
	}
}

// answer answers a value as JSON.
func answer(w http.ResponseWriter, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(raw)
}

// Rotate signs with a new key from now on, and publishes it beside those of
// before.
func (i *Issuer) Rotate() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(i.t, err)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.signs, i.kid = key, rand.Text()
	i.published = append(i.published, jose.JSONWebKey{Key: key.Public(), KeyID: i.kid, Use: "sig", Algorithm: "ES256"})
}

// Withdraw publishes the key that signs alone.
func (i *Issuer) Withdraw() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.published = i.published[len(i.published)-1:]
}

// Publish publishes these keys alone.
func (i *Issuer) Publish(keys ...jose.JSONWebKey) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.published = keys
}

// Answer has all requests answered by handler; nil: as ever again.
func (i *Issuer) Answer(handler http.HandlerFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.handler = handler
}

// SetHeader sets a header of the answer with the keys.
func (i *Issuer) SetHeader(name, value string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.header.Set(name, value)
}

// Asked is how often the keys were asked for.
func (i *Issuer) Asked() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked
}

// Claims are those of a good token of a subject, with others in their place or
// beside them; nil takes one away.
func (i *Issuer) Claims(subject string, others map[string]any) map[string]any {
	claims := map[string]any{
		"iss": i.URL, "aud": Audience, "sub": subject, "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	}
	maps.Copy(claims, others)
	maps.DeleteFunc(claims, func(_ string, value any) bool { return value == nil })
	return claims
}

// Token is a token of a subject, signed.
func (i *Issuer) Token(subject string, others map[string]any) string {
	return i.Typed("JWT", subject, others)
}

// Typed is a token whose header has another typ.
func (i *Issuer) Typed(typ, subject string, others map[string]any) string {
	i.mu.Lock()
	key, kid := i.signs, i.kid
	i.mu.Unlock()
	return sign(i.t, jose.ContentType(typ), jose.ES256, jose.JSONWebKey{Key: key, KeyID: kid}, i.Claims(subject, others))
}

// Sign makes a token.
func Sign(t testing.TB, algorithm jose.SignatureAlgorithm, key any, claims any) string {
	return sign(t, "JWT", algorithm, key, claims)
}

func sign(t testing.TB, typ jose.ContentType, algorithm jose.SignatureAlgorithm, key any, claims any) string {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, (&jose.SignerOptions{}).WithType(typ))
	require.NoError(t, err)
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	require.NoError(t, err)
	return token
}
