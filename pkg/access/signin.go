package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// SignInEndpoints finds where users of an issuer sign in, and where a code becomes a token.
// It asks the issuer once an hour at most. It is safe for concurrent use.
type SignInEndpoints struct {
	issuer string
	client *http.Client
	now    func() time.Time

	mu                   sync.Mutex
	asked                time.Time // zero: never
	err                  error     // of that time
	authorization, token string
}

// NewSignInEndpoints makes the endpoints of an issuer. now is the clock.
func NewSignInEndpoints(o OIDC, now func() time.Time) (*SignInEndpoints, error) {
	client, err := newIssuerClient(o.CAFile)
	if err != nil {
		return nil, err
	}
	return &SignInEndpoints{issuer: o.Issuer, client: client, now: now}, nil
}

// Find answers both URLs, or why they are not known. A fault is remembered for ten seconds.
func (s *SignInEndpoints) Find(ctx context.Context) (authorization, token string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := keysFresh
	if s.err != nil {
		known = keysPace
	}
	if s.asked.IsZero() || s.now().Sub(s.asked) > known {
		s.err = s.ask(ctx)
		s.asked = s.now()
	}
	return s.authorization, s.token, s.err
}

func (s *SignInEndpoints) ask(ctx context.Context) error {
	var about struct {
		Issuer        string `json:"issuer"`
		Authorization string `json:"authorization_endpoint"`
		Token         string `json:"token_endpoint"`
	}
	if _, err := get(ctx, s.client, strings.TrimSuffix(s.issuer, "/")+"/.well-known/openid-configuration", &about); err != nil {
		return err
	}
	if about.Issuer != s.issuer {
		return fmt.Errorf("the issuer calls itself %q; give --oidc-issuer exactly as it is written there", about.Issuer)
	}
	if about.Authorization == "" || about.Token == "" {
		return errors.New("the issuer names no authorization_endpoint or no token_endpoint")
	}
	for _, url := range []string{about.Authorization, about.Token} {
		if err := secureURL(strings.SplitN(url, "?", 2)[0]); err != nil {
			return fmt.Errorf("an endpoint of the issuer: %w", err)
		}
	}
	s.authorization, s.token = about.Authorization, about.Token
	return nil
}
