package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// OIDC says whose tokens are taken besides those of the token file: JWTs that an
// OpenID Connect issuer has signed. The zero value takes none.
type OIDC struct {
	Issuer       string   // its URL, as tokens have it in iss; https, or http on loopback
	Audiences    []string // a token has to have one of them in aud
	Algorithms   []string // of signatures; none: DefaultAlgorithms
	CAFile       string   // who signs the issuer's certificate, in PEM (those whom the system trusts)
	SubjectClaim string   // whose value is the subject; empty: sub
	GroupsClaim  string   // whose values are its groups; empty: groups
	RolesClaim   string   // whose values are roles, ROLE or PROJECT:ROLE; empty: roles
}

// DefaultAlgorithms are those by which an issuer may sign when nothing else is
// said. All of them have a key that the issuer alone knows.
func DefaultAlgorithms() []string {
	return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
}

// Check finds what cannot work together. Its errors name the flags of signpost
// serve.
func (o OIDC) Check() error {
	if o.Issuer == "" {
		if len(o.Audiences)+len(o.Algorithms) > 0 || o.CAFile != "" {
			return errors.New("--oidc-issuer is required with --oidc-audience, --oidc-algorithms and --oidc-ca-file: without it, no token can be trusted")
		}
		return nil
	}
	if len(o.Audiences) == 0 || slices.Contains(o.Audiences, "") {
		return errors.New("--oidc-audience is required with --oidc-issuer: without it, tokens for other services would be accepted")
	}
	if err := secureURL(o.Issuer); err != nil {
		return fmt.Errorf("--oidc-issuer: %w", err)
	}
	for _, name := range o.Algorithms {
		switch {
		case slices.Contains(DefaultAlgorithms(), name):
		case name == "none":
			return errors.New("--oidc-algorithms: none accepts unsigned tokens; allowed are " + strings.Join(DefaultAlgorithms(), ", "))
		case strings.HasPrefix(name, "HS"):
			return fmt.Errorf("--oidc-algorithms: %s needs a shared secret, with which every verifier could sign; allowed are %s", name, strings.Join(DefaultAlgorithms(), ", "))
		default:
			return fmt.Errorf("--oidc-algorithms: %q is unknown; allowed are %s", name, strings.Join(DefaultAlgorithms(), ", "))
		}
	}
	return nil
}

// secureURL refuses what nobody can be trusted at.
func secureURL(text string) error {
	if strings.ContainsAny(text, "@?#") { // perhaps with a password, which is not for a log
		return errors.New("the value is not a URL such as https://issuer.example, without a user and parameters")
	}
	parsed, err := url.Parse(text)
	if err != nil || parsed.Hostname() == "" {
		return fmt.Errorf("%q is not a URL such as https://issuer.example", text)
	}
	ip := net.ParseIP(parsed.Hostname())
	local := parsed.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if parsed.Scheme != "https" && (parsed.Scheme != "http" || !local) {
		return fmt.Errorf("%q must begin with https://, because keys in plain text can be replaced on the way", text)
	}
	return nil
}

// issuerTokens judges the tokens of an issuer. It is safe for concurrent use.
type issuerTokens struct {
	OIDC
	algorithms []jose.SignatureAlgorithm
	keys       *keySet
	now        func() time.Time
}

// looksLikeJWT tells a JWT from a token of the token file.
func looksLikeJWT(token string) bool {
	const dots = 2
	return strings.Count(token, ".") == dots
}

// enter answers who a JWT stands for, or a *refusal.
func (o *issuerTokens) enter(ctx context.Context, raw string) (identity, error) {
	const longest = 16 << 10
	if len(raw) > longest {
		return identity{}, refuse(malformed, fmt.Sprintf("the token is longer than %d bytes", longest), nil)
	}
	token, err := jwt.ParseSigned(raw, o.algorithms)
	if wrong := (*jose.ErrUnexpectedSignatureAlgorithm)(nil); errors.As(err, &wrong) {
		return identity{}, refuse(algorithm, "the token is signed by an algorithm that is not allowed", err)
	}
	if err != nil {
		return identity{}, refuse(malformed, "the token is not a JWT", err)
	}
	var standard jwt.Claims
	claims := map[string]json.RawMessage{}
	if err := o.keys.open(ctx, token, &standard, &claims); err != nil {
		return identity{}, err
	}
	if err := o.judge(standard); err != nil {
		return identity{}, err
	}
	if err := forCallers(token.Headers[0], claims); err != nil {
		return identity{}, err
	}
	return o.identify(claims)
}

// judge checks the claims that say whose token it is, for whom, and when.
func (o *issuerTokens) judge(c jwt.Claims) error {
	const leeway = time.Minute // between the issuer's clock and ours
	now := o.now()
	if c.Expiry == nil {
		return refuse(malformed, "the token has no expiry (exp)", nil)
	}
	if !now.Before(c.Expiry.Time()) {
		return refuse(outdated, "the token has expired", nil)
	}
	err := c.ValidateWithLeeway(jwt.Expected{Issuer: o.Issuer, AnyAudience: o.Audiences, Time: now}, leeway)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jwt.ErrInvalidIssuer):
		return refuse(issuer, "the token is from another issuer (iss)", err)
	case errors.Is(err, jwt.ErrInvalidAudience):
		return refuse(audience, "the token is for another service, not for Signpost (aud)", err)
	}
	return refuse(early, "the token is not valid yet (nbf, iat)", err)
}
