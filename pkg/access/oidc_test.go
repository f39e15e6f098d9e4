package access_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/access/accesstest"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// trusting is an authenticator that takes an issuer's tokens, with the roles that they
// claim.
func trusting(t *testing.T, changes ...func(o *access.OIDC)) (*world, *accesstest.Issuer) {
	issuer := accesstest.NewIssuer(t)
	oidc := access.OIDC{Issuer: issuer.URL, Audiences: []string{"other", accesstest.Audience}}
	for _, change := range changes {
		change(&oidc)
	}
	return open(t, access.Options{OIDC: oidc}), issuer
}

// viewer are the claims of somebody who may read everything.
func viewer(others ...any) map[string]any {
	claims := map[string]any{"roles": []string{"viewer"}}
	for i := 0; i < len(others); i += 2 {
		claims[others[i].(string)] = others[i+1]
	}
	return claims
}

// TestAnIssuersTokenIsJudgedByItsClaims: by issuer, audience and time, exactly.
func TestAnIssuersTokenIsJudgedByItsClaims(t *testing.T) {
	w, issuer := trusting(t)
	at := func(d time.Duration) int64 { return w.clock().Add(d).Unix() }
	for _, c := range []struct {
		claims map[string]any
		reason string // empty: let in
		says   string
	}{
		{viewer(), "", ""},
		{viewer("aud", []string{"elsewhere", "other"}), "", ""},
		{viewer("nbf", at(30*time.Second), "iat", at(30*time.Second)), "", ""},
		{viewer("iat", nil), "", ""},
		{viewer("iss", issuer.URL+"/"), "issuer", "unauthenticated: the token is from another issuer (iss)"},
		{viewer("iss", nil), "issuer", "unauthenticated: the token is from another issuer (iss)"},
		{viewer("aud", "Signpost"), "audience", "for another service"},
		{viewer("aud", []string{}), "audience", "for another service"},
		{viewer("aud", nil), "audience", "for another service"},
		{viewer("exp", at(-time.Second)), "expired", "the token has expired"},
		{viewer("exp", nil), "malformed", "has no expiry (exp)"},
		{viewer("exp", "tomorrow"), "malformed", "not those of a JWT"},
		{viewer("nbf", at(2*time.Minute)), "early", "not valid yet"},
		{viewer("iat", at(2*time.Minute)), "early", "not valid yet"},
		{viewer("sub", nil), "malformed", "claim sub is not a name"},
		{viewer("sub", ""), "malformed", "claim sub is not a name"},
		{viewer("sub", 7), "malformed", "not those of a JWT"},
		{viewer("sub", "anna\nactor=root"), "malformed", "claim sub is not a name"},
		{viewer("sub", strings.Repeat("a", 257)), "malformed", "claim sub is not a name"},
		{viewer("pad", strings.Repeat("a", 16<<10)), "malformed", "longer than 16384 bytes"},
	} {
		before := 0.0
		if c.reason != "" {
			before = w.rejected(c.reason)
		}
		said := w.asks(bearer(issuer.Token("anna", c.claims)), "")
		if c.reason == "" {
			require.Equal(t, "oidc:anna", said, c.claims)
			continue
		}
		require.Contains(t, said, "unauthenticated: ", c.claims)
		require.Contains(t, said, c.says)
		require.InDelta(t, before+1, w.rejected(c.reason), 0, c.claims)
	}
}

// TestATokenIsForCallers checks that what an issuer signs for another purpose, or only
// for the holder of a key, lets nobody in.
func TestATokenIsForCallers(t *testing.T) {
	w, issuer := trusting(t)
	const logout = "http://schemas.openid.net/event/backchannel-logout"
	for what, c := range map[string]struct{ token, says string }{
		"an ID token":                   {issuer.Typed("JWT", "anna", viewer("typ", "ID")), ""},
		"an access token":               {issuer.Typed("at+jwt", "anna", viewer("typ", "Bearer")), ""},
		"of no kind":                    {issuer.Typed("", "anna", viewer("typ", 7, "cnf", nil, "events", "x")), ""},
		"of another event":              {issuer.Token("anna", viewer("events", map[string]any{"https://example.org/hired": map[string]any{}})), ""},
		"a logout token":                {issuer.Typed("logout+jwt", "anna", viewer()), "for logout (typ)"},
		"a logout token, at length":     {issuer.Typed("Application/Logout+JWT", "anna", viewer()), "for logout (typ)"},
		"a logout token by its claim":   {issuer.Token("anna", viewer("typ", "Logout")), "for logout (typ)"},
		"a logout token by its event":   {issuer.Token("anna", viewer("events", map[string]any{logout: map[string]any{}})), "logout notice"},
		"a proof":                       {issuer.Typed("dpop+jwt", "anna", viewer()), "for dpop (typ)"},
		"a token that needs a proof":    {issuer.Token("anna", viewer("typ", "DPoP")), "for dpop (typ)"},
		"bound to a key":                {issuer.Token("anna", viewer("cnf", map[string]any{"jkt": "x"})), "(cnf)"},
		"bound to a certificate":        {issuer.Token("anna", viewer("cnf", map[string]any{"x5t#S256": "x"})), "(cnf)"},
		"bound to what nobody can read": {issuer.Token("anna", viewer("cnf", "x")), "(cnf)"},
	} {
		said := w.asks(bearer(c.token), "")
		if c.says == "" {
			require.Equal(t, "oidc:anna", said, what)
			continue
		}
		require.Contains(t, said, "unauthenticated: ", what)
		require.Contains(t, said, c.says, what)
	}
}

// TestATokenIsSignedByTheIssuersKey and by no other, nor by none: alg none, HS*
// with the public key as secret, a key that the token brings along, and extensions
// that nobody here knows.
func TestATokenIsSignedByTheIssuersKey(t *testing.T) {
	w, issuer := trusting(t)
	good := issuer.Token("anna", viewer())
	require.Equal(t, "oidc:anna", w.asks(bearer(good), ""))
	parts := strings.Split(good, ".")
	claims := issuer.Claims("anna", viewer())
	encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	mine, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	header, err := base64.RawURLEncoding.DecodeString(parts[0])
	require.NoError(t, err)
	kid := strings.Split(strings.SplitAfter(string(header), `"kid":"`)[1], `"`)[0]
	embedding, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: mine}, &jose.SignerOptions{EmbedJWK: true})
	require.NoError(t, err)
	embedded, err := embedding.Sign([]byte(`{}`))
	require.NoError(t, err)
	bringing, err := embedded.CompactSerialize()
	require.NoError(t, err)
	critical, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: mine, KeyID: kid}}, (&jose.SignerOptions{}).WithCritical("x").WithHeader("x", 1))
	require.NoError(t, err)
	extended, err := critical.Sign([]byte(`{}`))
	require.NoError(t, err)
	beyond, err := extended.CompactSerialize()
	require.NoError(t, err)
	for what, c := range map[string]struct{ token, reason string }{
		"alg none":                   {encode(`{"alg":"none"}`) + "." + parts[1] + ".", "algorithm"},
		"alg None":                   {encode(`{"alg":"None","kid":"`+kid+`"}`) + "." + parts[1] + "." + parts[2], "algorithm"},
		"no alg":                     {encode(`{}`) + "." + parts[1] + "." + parts[2], "algorithm"},
		"HS256":                      {accesstest.Sign(t, jose.HS256, []byte(strings.Repeat("k", 32)), claims), "algorithm"},
		"another's key, with the id": {accesstest.Sign(t, jose.ES256, jose.JSONWebKey{Key: mine, KeyID: kid}, claims), "signature"},
		"another's key":              {accesstest.Sign(t, jose.ES256, jose.JSONWebKey{Key: mine, KeyID: "mine"}, claims), "signature"},
		"a key without an id":        {accesstest.Sign(t, jose.ES256, mine, claims), "signature"},
		"a key of its own":           {bringing, "signature"},
		"an unknown extension":       {beyond, "malformed"},
		"other claims":               {parts[0] + "." + encode(`{"sub":"root"}`) + "." + parts[2], "signature"},
		"no signature":               {parts[0] + "." + parts[1] + ".", "signature"},
		"no JWT":                     {"a.b.c", "malformed"},
		"all in JSON":                {`{"payload":"a.b","signatures":[{"protected":"a.b"}]}`, "malformed"},
	} {
		before := w.rejected(c.reason)
		require.Contains(t, w.asks(bearer(c.token), ""), "unauthenticated: ", what)
		require.InDelta(t, before+1, w.rejected(c.reason), 0, what)
	}
	require.NotContains(t, w.log.String(), parts[1])
}

// TestAlgorithmsOfSignatures: all that are allowed work with keys of their kind,
// and those that are not listed do not.
func TestAlgorithmsOfSignatures(t *testing.T) {
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	require.NoError(t, err)
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	curve, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	w, issuer := trusting(t)
	picky := open(t, access.Options{OIDC: access.OIDC{Issuer: issuer.URL, Audiences: []string{accesstest.Audience}, Algorithms: []string{"EdDSA"}}})
	issuer.Publish(
		jose.JSONWebKey{Key: long.Public(), KeyID: "rsa"}, jose.JSONWebKey{Key: edwards.Public(), KeyID: "ed"}, jose.JSONWebKey{Key: curve.Public(), KeyID: "ec"},
		jose.JSONWebKey{Key: short.Public(), KeyID: "short"}, jose.JSONWebKey{Key: long.Public(), KeyID: "enc", Use: "enc"},
		jose.JSONWebKey{Key: long.Public(), KeyID: "other", Algorithm: "RS512"}, jose.JSONWebKey{Key: []byte("secret"), KeyID: "oct"},
	)
	for _, c := range []struct {
		algorithm jose.SignatureAlgorithm
		key       any
		kid       string
		good      bool
	}{
		{jose.RS256, long, "rsa", true}, {jose.PS512, long, "rsa", true}, {jose.EdDSA, edwards, "ed", true}, {jose.ES384, curve, "ec", true}, {jose.EdDSA, edwards, "", true},
		{jose.RS512, long, "other", true}, {jose.RS256, long, "other", false}, {jose.RS256, short, "short", false}, {jose.RS256, long, "enc", false},
	} {
		token := accesstest.Sign(t, c.algorithm, jose.JSONWebKey{Key: c.key, KeyID: c.kid}, issuer.Claims("anna", viewer()))
		require.Equal(t, c.good, w.asks(bearer(token), "") == "oidc:anna", "%s %s", c.algorithm, c.kid)
		require.Equal(t, c.algorithm == jose.EdDSA, picky.asks(bearer(token), "") == "oidc:anna", c.algorithm)
	}
}

// TestKeysRotate: one that the issuer begins to use is known at once, or after ten
// seconds, and one that it withdraws is forgotten within an hour.
func TestKeysRotate(t *testing.T) {
	w, issuer := trusting(t)
	first := issuer.Token("anna", viewer())
	require.Equal(t, "oidc:anna", w.asks(bearer(first), ""))
	issuer.Rotate()
	second := issuer.Token("anna", viewer())
	require.Contains(t, w.asks(bearer(second), ""), "a key that the issuer does not publish", "it was asked just now")
	w.pass(11 * time.Second)
	require.Equal(t, "oidc:anna", w.asks(bearer(second), ""))
	require.Equal(t, "oidc:anna", w.asks(bearer(first), ""), "it is published as ever")
	require.Equal(t, 2, issuer.Asked())
	issuer.Withdraw()
	require.Equal(t, "oidc:anna", w.asks(bearer(first), ""))
	w.pass(59 * time.Minute)
	w.pass(2 * time.Minute)
	require.Equal(t, 2, issuer.Asked())
	require.Contains(t, w.asks(bearer(second), ""), "expired")
	require.Equal(t, 3, issuer.Asked())
}

// TestAWithdrawnKeyIsTrustedForAnHourAtMost, and for as long as the issuer says
// where that is less, but not asked for all the time.
func TestAWithdrawnKeyIsTrustedForAnHourAtMost(t *testing.T) {
	for header, trusted := range map[string]time.Duration{
		"": time.Hour, "public, max-age=600": 10 * time.Minute, "max-age=86400": time.Hour, "max-age=0": 5 * time.Minute, "no-store": time.Hour, "Max-Age=x": time.Hour,
		"max-age=99999999999999999999": time.Hour, "max-age=9999999999999": time.Hour,
	} {
		w, issuer := trusting(t)
		issuer.SetHeader("Cache-Control", header)
		token := issuer.Token("anna", viewer("exp", time.Now().Add(3*time.Hour).Unix()))
		require.Equal(t, "oidc:anna", w.asks(bearer(token), ""))
		issuer.Rotate()
		issuer.Withdraw()
		w.pass(trusted - time.Second)
		require.Equal(t, "oidc:anna", w.asks(bearer(token), ""), header)
		w.pass(time.Second)
		require.Contains(t, w.asks(bearer(token), ""), "a key that the issuer does not publish", header)
	}
}

// TestAnIssuerThatIsDown: its keys count for a day, tokens are 503 after that and
// before it has answered, and the token file works all the while.
func TestAnIssuerThatIsDown(t *testing.T) {
	issuer := accesstest.NewIssuer(t)
	w := open(t, access.Options{TokenFile: write(t, "s3cr3t,anna,viewer\n"), OIDC: access.OIDC{Issuer: issuer.URL, Audiences: []string{accesstest.Audience}}})
	token := issuer.Token("otto", viewer("exp", time.Now().Add(48*time.Hour).Unix()))
	down := func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusBadGateway) }
	issuer.Answer(down)
	const unavailable = "unavailable: the token issuer does not answer, so tokens cannot be checked; try again"
	require.Equal(t, unavailable, w.asks(bearer(token), ""))
	require.Equal(t, "anna", w.asks(bearer("s3cr3t"), ""))
	issuer.Answer(nil)
	require.Equal(t, unavailable, w.asks(bearer(token), ""), "it was asked just now")
	w.pass(10 * time.Second)
	require.Equal(t, "oidc:otto", w.asks(bearer(token), ""))
	issuer.Answer(down)
	w.pass(24 * time.Hour)
	require.Equal(t, "oidc:otto", w.asks(bearer(token), ""), "the last good keys count")
	w.pass(time.Second)
	require.Equal(t, unavailable, w.asks(bearer(token), ""))
	require.Equal(t, "anna", w.asks(bearer("s3cr3t"), ""))
	require.Contains(t, w.log.String(), "the issuer's keys cannot be read")
	require.Contains(t, w.log.String(), "502 Bad Gateway")
	issuer.Answer(nil)
	w.pass(10 * time.Second)
	require.Equal(t, "oidc:otto", w.asks(bearer(token), ""))
}

// TestAnIssuerThatHangsIsWaitedForByOne: the others go by the keys of before at
// once.
func TestAnIssuerThatHangsIsWaitedForByOne(t *testing.T) {
	w, issuer := trusting(t)
	token := issuer.Token("anna", viewer("exp", time.Now().Add(48*time.Hour).Unix()))
	require.Equal(t, "oidc:anna", w.asks(bearer(token), ""))
	issuer.Answer(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusBadGateway) })
	w.pass(2 * time.Hour)
	require.Equal(t, "oidc:anna", w.asks(bearer(token), ""))

	asked, hangs := make(chan struct{}), make(chan struct{})
	answer := sync.OnceFunc(func() { close(hangs) })
	defer answer()
	issuer.Answer(func(http.ResponseWriter, *http.Request) { close(asked); <-hangs })
	w.pass(time.Minute)
	waits := make(chan string, 1)
	go func() { waits <- w.asks(bearer(token), "") }()
	<-asked
	short, cancel := context.WithTimeout(t.Context(), 3*time.Second) // the one waits for 5
	defer cancel()
	for range 10 {
		_, err := w.Authorize(short, bearer(token), access.Viewer, "")
		require.NoError(t, err, "while another one waits")
	}
	answer()
	require.Equal(t, "oidc:anna", <-waits)
}

// TestAnIssuerThatAnswersNonsenseIsNotBelieved: what it published before counts
// on.
func TestAnIssuerThatAnswersNonsenseIsNotBelieved(t *testing.T) {
	w, issuer := trusting(t)
	token := issuer.Token("anna", viewer("exp", time.Now().Add(48*time.Hour).Unix()))
	require.Equal(t, "oidc:anna", w.asks(bearer(token), ""))
	discovery := func(keys string) string { return fmt.Sprintf(`{"issuer":%q,"jwks_uri":%q}`, issuer.URL, keys) }
	for says, answers := range map[string][2]string{
		`\"https://other.example\"`:            {`{"issuer":"https://other.example","jwks_uri":"` + issuer.URL + `/keys"}`},
		"must begin with https://":             {discovery("http://192.0.2.1/keys")},
		"is not a URL":                         {discovery("")},
		"invalid character":                    {"<html>"},
		"unexpected end of JSON":               {discovery(issuer.URL + "/keys"), `{"keys":[`},
		"publishes no public key":              {discovery(issuer.URL + "/keys"), `{"keys":[{"kty":"oct","k":"c2VjcmV0"},{"kty":"new"},7]}`},
		"it publishes 101 keys":                {discovery(issuer.URL + "/keys"), `{"keys":[1` + strings.Repeat(",1", 100) + `]}`},
		"would take more than 8 MiB of memory": {discovery(issuer.URL + "/keys"), `{"keys":[` + strings.Repeat("1,", 1<<14) + `1]}`},
		"request body too large":               {discovery(issuer.URL + "/keys"), strings.Repeat(" ", 1<<20+1)},
	} {
		issuer.Answer(func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/keys" {
				_, _ = rw.Write([]byte(answers[1]))
				return
			}
			_, _ = rw.Write([]byte(answers[0]))
		})
		w.pass(time.Hour)
		require.Equal(t, "oidc:anna", w.asks(bearer(token), ""), says)
		require.Contains(t, w.log.String(), says)
	}
}

// TestAnIssuerIsNotFollowedElsewhere: neither to another address nor to another
// path, by whatever status.
func TestAnIssuerIsNotFollowedElsewhere(t *testing.T) {
	w, issuer := trusting(t)
	token := issuer.Token("anna", viewer("exp", time.Now().Add(48*time.Hour).Unix()))
	require.Equal(t, "oidc:anna", w.asks(bearer(token), ""))
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		asked := 0
		issuer.Answer(func(rw http.ResponseWriter, r *http.Request) {
			asked++
			http.Redirect(rw, r, issuer.URL+"/keys", status)
		})
		w.pass(time.Hour)
		require.Equal(t, "oidc:anna", w.asks(bearer(token), ""))
		require.Equal(t, 1, asked)
		require.Contains(t, w.log.String(), "the server redirects to "+issuer.URL+", which Signpost does not follow")
	}
}

// TestKeysAreAskedForOnce by however many wait for them, and wrong tokens do not
// have them asked for more often than every ten seconds.
func TestKeysAreAskedForOnce(t *testing.T) {
	w, issuer := trusting(t)
	token := issuer.Token("anna", viewer())
	var waiting sync.WaitGroup
	for range 50 {
		waiting.Go(func() {
			_, err := w.Authorize(t.Context(), bearer(token), access.Viewer, "")
			if err != nil {
				t.Error(err)
			}
		})
	}
	waiting.Wait()
	require.Equal(t, 1, issuer.Asked())
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	for range 20 {
		w.pass(time.Second)
		foreign := accesstest.Sign(t, jose.ES256, jose.JSONWebKey{Key: key, KeyID: rand.Text()}, issuer.Claims("anna", viewer()))
		require.Contains(t, w.asks(bearer(foreign), ""), "unauthenticated")
	}
	require.Equal(t, 3, issuer.Asked())
}

// TestRolesOfClaims count without a policy file, and with one only where it says
// so; what means nothing here is passed over.
func TestRolesOfClaims(t *testing.T) {
	const grants = `grants: [{role: operator, groups: ["oidc:ops"]}, {role: admin, projects: [shop], subjects: ["oidc:anna"]}]`
	issuer := accesstest.NewIssuer(t)
	oidc := access.OIDC{Issuer: issuer.URL, Audiences: []string{accesstest.Audience}}
	bare := open(t, access.Options{OIDC: oidc})
	deaf := open(t, access.Options{OIDC: oidc, PolicyFile: write(t, grants)})
	both := open(t, access.Options{OIDC: oidc, PolicyFile: write(t, "claims: true\n"+grants)})
	own := open(t, access.Options{OIDC: access.OIDC{Issuer: issuer.URL, Audiences: oidc.Audiences, SubjectClaim: "email", GroupsClaim: "teams", RolesClaim: "https://signpost.example/roles"}, PolicyFile: write(t, "claims: true\n"+strings.ReplaceAll(grants, "oidc:anna", "oidc:anna@lab.example"))})
	may := func(w *world, claims map[string]any, least access.Role, project string) bool {
		_, err := w.Authorize(t.Context(), bearer(issuer.Token("anna", claims)), least, project)
		return err == nil
	}
	roles := func(list ...string) map[string]any { return map[string]any{"roles": list} }
	require.True(t, may(bare, roles("admin"), access.Admin, ""))
	require.True(t, may(bare, map[string]any{"roles": "openid shop:editor"}, access.Editor, "shop"))
	require.False(t, may(bare, roles("shop:editor"), access.Operator, "shop"))
	require.False(t, may(bare, roles("shop:editor"), access.Viewer, "bakery"))
	for _, strange := range []any{nil, []string{}, []string{"boss", ":admin", "shop:", "Admin", "admin "}, 7, map[string]any{"admin": true}, []any{"admin", 7}, ""} {
		require.False(t, may(bare, map[string]any{"roles": strange}, access.Viewer, "shop"), strange)
	}
	require.False(t, may(deaf, roles("admin"), access.Admin, ""))
	require.True(t, may(deaf, nil, access.Admin, "shop"))
	require.False(t, may(deaf, nil, access.Viewer, "bakery"))
	require.True(t, may(deaf, map[string]any{"groups": []string{"dev", "ops"}}, access.Operator, "bakery"))
	require.False(t, may(deaf, map[string]any{"groups": []string{"oidc:ops", "cert:ops"}}, access.Operator, "bakery"), "a group is not named as another kind's")
	require.True(t, may(both, roles("bakery:viewer"), access.Viewer, "bakery"))
	require.True(t, may(both, roles("bakery:viewer"), access.Admin, "shop"))

	require.Contains(t, own.asks(bearer(issuer.Token("anna", nil)), "shop"), "claim email is not a name")
	for _, verified := range []any{false, "true", 1} {
		require.Contains(t, own.asks(bearer(issuer.Token("anna", map[string]any{"email": "anna@lab.example", "email_verified": verified})), "shop"), "the issuer has not verified")
	}
	require.True(t, may(own, map[string]any{"email": "anna@lab.example", "email_verified": true}, access.Admin, "shop"))
	require.True(t, may(own, map[string]any{"email": "x@lab.example", "teams": "ops", "https://signpost.example/roles": "garage:editor"}, access.Operator, "bakery"))
	require.True(t, may(own, map[string]any{"email": "x@lab.example", "https://signpost.example/roles": "garage:editor"}, access.Editor, "garage"))
}

// TestNewTokensAreNotCheckedForEver: too many of an address are answered 429
// before any work, but for those that were right before, and those of other
// addresses.
func TestNewTokensAreNotCheckedForEver(t *testing.T) {
	w, issuer := trusting(t)
	good, late := issuer.Token("anna", viewer()), issuer.Token("otto", viewer())
	require.Equal(t, "oidc:anna", w.asks(bearer(good), ""))
	from := func(address, token string) access.Caller {
		return access.Caller{Authorization: "Bearer " + token, Address: address}
	}
	// exhaust asks until it is refused, and answers how often it was not: by far
	// fewer than a whole bucket's where somebody has emptied that before.
	exhaust := func(address string) (tries int, refused *intent.Error) {
		for ; refused == nil; tries++ {
			_, err := w.Authorize(t.Context(), from(address, "a.b.c"), access.Viewer, "")
			if intent.CodeOf(err) == intent.TooMany {
				require.ErrorAs(t, err, &refused)
			}
			require.Less(t, tries, 100_000, "it is limited at some time")
		}
		return tries, refused
	}
	tries, limited := exhaust("192.0.2.7:1")
	require.Greater(t, tries, 400)
	require.Greater(t, w.rejected("malformed"), 400.0)
	require.InDelta(t, 1, w.rejected("limited"), 0)
	require.Positive(t, limited.RetryAfter)
	tries, _ = exhaust("192.0.2.7:2")
	require.Less(t, tries, 300, "another port is no other client")
	require.Equal(t, "oidc:anna", w.asks(bearer(good), ""), "others may share the address")
	require.Equal(t, "oidc:otto", w.asks(from("192.0.2.8:1", late), ""))
	exhaust("[2001:db8::1]:1")
	tries, _ = exhaust("[2001:db8::ffff:2]:1")
	require.Less(t, tries, 300, "a network of IPv6 is one client")
	require.Contains(t, w.asks(from("[2001:db8:0:1::1]:1", "a.b.c"), ""), "not a JWT")
	require.Contains(t, w.asks(from("nonsense", "a.b.c"), ""), "not a JWT")
}
