package access

import (
	"errors"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// The reasons for which somebody is not let in, as the metric and the log have
// them.
const (
	missing     = "missing"     // nothing was shown
	unknown     = "unknown"     // a token that is not in the token file, and no issuer's
	malformed   = "malformed"   // no JWT, or one without what it needs
	algorithm   = "algorithm"   // signed by an algorithm that is not allowed
	signature   = "signature"   // not signed with a key of the issuer's
	issuer      = "issuer"      // another one's
	audience    = "audience"    // for another service
	outdated    = "expired"     // too old
	early       = "early"       // not yet valid
	untrusted   = "untrusted"   // a certificate whose authority has been taken out of the file
	unavailable = "unavailable" // the issuer's keys are not known
	limited     = "limited"     // too many new tokens from there
	forbidden   = "forbidden"   // known, but without the role
)

// refusals lists the reasons.
func refusals() []string {
	return []string{missing, unknown, malformed, algorithm, signature, issuer, audience, outdated, early, untrusted, unavailable, limited, forbidden}
}

// refusal is why somebody is not let in.
type refusal struct {
	reason string
	detail string        // what the caller is told
	wait   time.Duration // before another try; 0: as the edge says
	err    error         // what it comes from; may be nil
}

func (r *refusal) Error() string { return r.detail }

func (r *refusal) Unwrap() error { return r.err }

// refuse is a refusal as error.
func refuse(reason, detail string, err error) error {
	return &refusal{reason: reason, detail: detail, err: err}
}

// reasonOf answers why somebody is not let in.
func reasonOf(err error) string {
	if r := (*refusal)(nil); errors.As(err, &r) {
		return r.reason
	}
	return forbidden
}

// asIntent is the error as the edges know it.
func asIntent(err error) error {
	r := (*refusal)(nil)
	if !errors.As(err, &r) {
		return err
	}
	code := intent.Unauthenticated
	switch r.reason {
	case unavailable:
		code = intent.Unavailable
	case limited:
		code = intent.TooMany
	}
	return &intent.Error{Code: code, Detail: r.detail, RetryAfter: r.wait, Err: r.err}
}
