// Package access authenticates callers, and decides what they may do. The edges give it
// the credentials of a call: a token of the token file, an issuer's JWT, or a certificate
// that TLS has verified. A caller without a role may do nothing.
package access

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Options configure an Authenticator.
type Options struct {
	TokenFile  string // tokens and their roles; empty: none
	PolicyFile string // the roles of an issuer's subjects and of certificates; empty: those that tokens claim
	OIDC       OIDC

	// The CA certificates that sign the client certificates of REST and of gRPC, in PEM.
	// If empty, a certificate that TLS has verified counts as long as its connection
	// lasts.
	ClientCAFile, GRPCClientCAFile string

	Metrics prometheus.Registerer // nil: a registry of its own
	Log     *slog.Logger          // nil: slog.Default()
	Now     func() time.Time      // nil: time.Now
}

// Caller is what a caller shows.
type Caller struct {
	Authorization string               // the header, several of them with commas between them; empty: none
	TLS           *tls.ConnectionState // nil: plain text
	Address       string               // where it comes from, as host:port
}

// Authenticator authenticates and authorizes callers. It is safe for concurrent use.
// A nil *Authenticator authorizes everybody, as Anonymous.
type Authenticator struct {
	ca       *file[authorities] // of those who show certificates; nil: TLS has verified them
	grpcCA   *file[authorities] // likewise, of gRPC
	tokens   *file[tokens]      // nil: none
	policy   *file[*policy]     // nil: none
	issuer   *issuerTokens      // nil: none
	checks   *checks
	rejected *prometheus.CounterVec // by reason
	broken   *prometheus.GaugeVec   // by the flag that names a file
	log      *slog.Logger
	now      func() time.Time
}

// Open reads the files that the options name. Its errors name the flags of
// signpost serve. The issuer is asked for its keys when the first of its tokens
// comes.
func Open(o Options) (*Authenticator, error) {
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	a := &Authenticator{log: o.Log, now: o.Now, checks: newChecks()}
	if err := a.measure(o.Metrics); err != nil {
		return nil, err
	}
	if err := a.read(o); err != nil {
		return nil, err
	}
	if err := a.trust(o); err != nil {
		return nil, err
	}
	return a, nil
}

// read reads the files for the first time.
func (a *Authenticator) read(o Options) error {
	return errors.Join(
		readInto(&a.tokens, a.source("token-file", "token file", o.TokenFile), parseTokens),
		readInto(&a.policy, a.source("policy-file", "policy file", o.PolicyFile), parsePolicy),
		readInto(&a.ca, a.source("client-ca", "CA file", o.ClientCAFile), parseAuthorities),
		readInto(&a.grpcCA, a.source("grpc-client-ca", "CA file", o.GRPCClientCAFile), parseAuthorities),
	)
}

func (a *Authenticator) source(flag, what, path string) source {
	return source{flag: flag, what: what, path: path, log: a.log, broken: a.broken}
}

// ForGRPC returns the Authenticator for callers by gRPC, who have a CA file of their
// own.
func (a *Authenticator) ForGRPC() *Authenticator {
	if a == nil {
		return nil
	}
	other := *a
	other.ca = a.grpcCA
	return &other
}

// measure makes the metrics.
func (a *Authenticator) measure(registry prometheus.Registerer) error {
	a.rejected = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "signpost_auth_rejected_total",
		Help: "Requests and calls of callers that are unknown or not allowed, by reason.",
	}, []string{"reason"})
	for _, reason := range refusals() {
		a.rejected.WithLabelValues(reason)
	}
	a.broken = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "signpost_access_file_broken",
		Help: "1 while an access file is missing or broken and its last good state stays in force, by the flag of the file.",
	}, []string{"flag"})
	return errors.Join(registry.Register(a.rejected), registry.Register(a.broken))
}

// trust takes the tokens of the issuer that the options name, if any.
func (a *Authenticator) trust(o Options) error {
	if o.OIDC.Issuer == "" {
		return o.OIDC.Check()
	}
	if err := o.OIDC.Check(); err != nil {
		return err
	}
	client, err := newIssuerClient(o.OIDC.CAFile)
	if err != nil {
		return err
	}
	fetches := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "signpost_oidc_key_fetches_total",
		Help: "How often the issuer was asked for its keys, by outcome.",
	}, []string{"outcome"})
	for _, outcome := range []string{keysFetched, keysFailed} {
		fetches.WithLabelValues(outcome)
	}
	a.issuer = &issuerTokens{
		OIDC: o.OIDC, now: o.Now,
		keys: &keySet{issuer: o.OIDC.Issuer, client: client, now: o.Now, log: o.Log, fetches: fetches},
	}
	names := o.OIDC.Algorithms
	if len(names) == 0 {
		names = DefaultAlgorithms()
	}
	for _, name := range names {
		a.issuer.algorithms = append(a.issuer.algorithms, jose.SignatureAlgorithm(name))
	}
	return o.Metrics.Register(fetches)
}

// Authorize returns the caller of a request that needs a role in a project (empty: in all
// of them; AnyProject: in one or more). Otherwise it returns an *intent.Error. Unauthenticated: the caller is
// unknown. Forbidden: the role is missing. TooMany: there were too many wrong tokens.
// Unavailable: the issuer's keys are not known.
func (a *Authenticator) Authorize(ctx context.Context, c Caller, least Role, project string) (intent.Actor, error) {
	who, err := a.enter(ctx, c)
	if err == nil {
		err = who.May(least, project)
	}
	if err == nil {
		return who.Actor(), nil
	}
	return intent.Actor{}, a.refused(ctx, c, who.Name, err)
}

// refused tells that somebody was not let in, and answers why as edges know it.
func (a *Authenticator) refused(ctx context.Context, c Caller, subject string, err error) error {
	reason := reasonOf(err)
	a.rejected.WithLabelValues(reason).Inc()
	a.log.InfoContext(ctx, "access refused", slog.String("reason", reason), slog.String("address", c.Address), slog.String("subject", subject), slog.Any("error", err))
	return asIntent(err)
}

// enter answers who asks.
func (a *Authenticator) enter(ctx context.Context, c Caller) (Subject, error) {
	if a == nil {
		return Anonymous(), nil
	}
	if err := a.connected(c); err != nil {
		return Subject{}, err
	}
	if c.Authorization != "" { // a wrong token is not made good by a certificate
		return a.byToken(ctx, c)
	}
	who, err := a.byCertificate(c)
	if err != nil {
		return Subject{}, err
	}
	return a.subject(who), nil
}

// byCertificate answers whose certificate it is.
func (a *Authenticator) byCertificate(c Caller) (identity, error) {
	leaf, who := certified(c.TLS)
	switch {
	case leaf == nil:
		return identity{}, refuse(missing, "send a token, as in Authorization: Bearer TOKEN", nil)
	case expired(leaf, a.now()):
		return identity{}, refuse(outdated, "the certificate has expired", nil)
	}
	return who, nil
}

// connected refuses those whose connection could not begin any more: it may have
// begun when there were other authorities.
func (a *Authenticator) connected(c Caller) error {
	if leaf, _ := certified(c.TLS); leaf == nil || a.ca == nil || a.ca.current().trust(c.TLS) {
		return nil
	}
	return refuse(untrusted, "the signer of the client certificate is no longer trusted; present another certificate, on a new connection", nil)
}

// Certified answers who shows a certificate that counts, as an operator of all
// projects, or why it does not, as Authorize does.
func (a *Authenticator) Certified(ctx context.Context, c Caller) (intent.Actor, error) {
	err := a.connected(c)
	var who identity
	if err == nil {
		who, err = a.byCertificate(c)
	}
	if err != nil {
		return intent.Actor{}, a.refused(ctx, c, who.name, err)
	}
	return Subject{Name: who.name, Grants: []Grant{{Role: Operator}}}.Actor(), nil
}

// byToken answers whose token it is.
func (a *Authenticator) byToken(ctx context.Context, c Caller) (Subject, error) {
	scheme, token, _ := strings.Cut(c.Authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return Subject{}, refuse(missing, "send a token, as in Authorization: Bearer TOKEN", nil)
	}
	token = strings.TrimSpace(token)
	if strings.Contains(token, ",") { // which no token has
		return Subject{}, refuse(malformed, "send one Authorization header with one token", nil)
	}
	if a.tokens != nil {
		if who, ok := a.tokens.current().find(token); ok {
			return who, nil
		}
	}
	if a.issuer == nil || !looksLikeJWT(token) {
		return Subject{}, refuse(unknown, "the token is not known", nil)
	}
	if wait, ok := a.checks.begin(c.Address, token); !ok {
		return Subject{}, &refusal{reason: limited, detail: "too many new tokens come from your address; try again later", wait: wait}
	}
	who, err := a.issuer.enter(ctx, token)
	if err != nil {
		return Subject{}, err
	}
	a.checks.passed(token)
	return a.subject(who), nil
}

// subject gives somebody the roles that the policy says, and those that its
// token claims where these count.
func (a *Authenticator) subject(who identity) Subject {
	s := Subject{Name: who.name}
	if a.policy == nil {
		s.Grants = who.claims
		return s
	}
	policy := a.policy.current()
	s.Grants = policy.grantsOf(who.name, who.groups)
	if policy.Claims {
		s.Grants = append(s.Grants, who.claims...)
	}
	return s
}
