package access

import (
	"context"
	"crypto/rsa"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"
)

const (
	keysFresh   = time.Hour        // keys are asked for again after that, or sooner, as the issuer says
	keysLeast   = 5 * time.Minute  // but not before that
	keysLast    = 24 * time.Hour   // keys count for so long while the issuer is down
	keysPace    = 10 * time.Second // between two requests for keys
	keysTimeout = 5 * time.Second  // of a request for keys
)

// The results of a request for keys, as the metric has them.
const (
	keysFetched = "fetched"
	keysFailed  = "failed"
)

// keySet is the keys that an issuer signs with. It requests them when a token needs them.
// Withdrawn keys are forgotten within keysFresh, and new keys are known within keysPace.
// It is safe for concurrent use.
type keySet struct {
	issuer  string
	client  *http.Client
	now     func() time.Time
	log     *slog.Logger
	fetches *prometheus.CounterVec // by outcome

	asking singleflight.Group

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	fetched time.Time     // when the issuer answered last
	fresh   time.Duration // since then
	asked   time.Time     // when it was asked last
	failing bool          // it did not answer then
}

// open verifies a token's signature and decodes its claims. Its errors are
// *refusal values.
func (s *keySet) open(ctx context.Context, token *jwt.JSONWebToken, claims ...any) error {
	keys, err := s.current(ctx)
	if err != nil {
		return err
	}
	header := token.Headers[0]
	suiting := fitting(keys, header)
	if len(suiting) == 0 { // the issuer may have begun to use another
		if keys, err = s.ask(ctx); err != nil {
			return err
		}
		suiting = fitting(keys, header)
	}
	if len(suiting) == 0 {
		return refuse(signature, "the token is signed with a key that the issuer does not publish", nil)
	}
	for _, key := range suiting {
		if err = token.Claims(key.Key, claims...); err == nil {
			return nil
		}
	}
	if errors.Is(err, jose.ErrCryptoFailure) || errors.Is(err, jose.ErrUnsupportedAlgorithm) {
		return refuse(signature, "the token's signature is wrong", err)
	}
	return refuse(malformed, "the token's header or claims are not those of a JWT", err)
}

// fitting are the keys that a token may be signed with.
func fitting(keys []jose.JSONWebKey, header jose.Header) []jose.JSONWebKey {
	var suiting []jose.JSONWebKey
	for _, key := range keys {
		if (header.KeyID == "" || header.KeyID == key.KeyID) && (key.Algorithm == "" || key.Algorithm == header.Algorithm) {
			suiting = append(suiting, key)
		}
	}
	return suiting
}

// current is the keys, asked for again when they are no longer fresh. An issuer
// that has not answered is waited for by one of all who come in keysPace.
func (s *keySet) current(ctx context.Context) ([]jose.JSONWebKey, error) {
	s.mu.Lock()
	keys, now := s.keys, s.now()
	fresh := now.Before(s.fetched.Add(s.fresh))
	waited := s.failing && now.Before(s.asked.Add(keysPace)) && !s.outdated()
	s.mu.Unlock()
	if fresh || waited {
		return keys, nil
	}
	return s.ask(ctx)
}

// outdated tells whether the keys count no longer, whether or not the issuer
// answers. The caller holds mu.
func (s *keySet) outdated() bool {
	return s.fetched.IsZero() || s.now().After(s.fetched.Add(keysLast))
}

// ask asks the issuer for its keys, once for all who wait, unless it was asked
// just now. It answers those of before while the issuer does not answer.
func (s *keySet) ask(ctx context.Context) ([]jose.JSONWebKey, error) {
	asked := s.asking.DoChan("", func() (any, error) {
		if s.mayAsk() {
			s.fetch(context.WithoutCancel(ctx))
		}
		return nil, nil
	})
	select {
	case <-asked:
	case <-ctx.Done():
		return nil, refuse(unavailable, "the token issuer did not answer in time; try again", ctx.Err())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.outdated() {
		return nil, &refusal{reason: unavailable, detail: "the token issuer does not answer, so tokens cannot be checked; try again", wait: keysPace}
	}
	return s.keys, nil
}

// mayAsk tells whether the issuer may be asked, and notes that it is.
func (s *keySet) mayAsk() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if !s.asked.IsZero() && now.Before(s.asked.Add(keysPace)) {
		return false
	}
	s.asked = now
	return true
}

// fetch reads the keys of the issuer.
func (s *keySet) fetch(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, keysTimeout)
	defer cancel()
	published, fresh, err := discover(ctx, s.client, s.issuer)
	keys := slices.DeleteFunc(published, func(k jose.JSONWebKey) bool { return !usable(k) })
	if err == nil && len(keys) == 0 {
		err = errors.New("it publishes no public key for signatures")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing = err != nil; s.failing {
		s.fetches.WithLabelValues(keysFailed).Inc()
		s.log.ErrorContext(ctx, "the issuer's keys cannot be read", slog.String("issuer", s.issuer), slog.Any("error", err))
		return
	}
	s.fetches.WithLabelValues(keysFetched).Inc()
	s.keys, s.fetched, s.fresh = keys, s.now(), max(fresh, keysLeast)
}

// usable tells whether an issuer may sign with a key: one that is public, long
// enough and not for encryption.
func usable(key jose.JSONWebKey) bool {
	const shortest = 2048
	if public, ok := key.Key.(*rsa.PublicKey); ok && public.N.BitLen() < shortest {
		return false
	}
	return key.IsPublic() && key.Valid() && (key.Use == "" || key.Use == "sig")
}
