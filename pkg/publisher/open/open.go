// Package open opens the Writer of a provider, by its kind. Around each Writer it keeps to
// the provider's policy, to deadlines, and to a number of requests at a time.
package open

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/publisher/coredns"
	"github.com/signpost-dns/signpost/pkg/publisher/rfc2136"
	"github.com/signpost-dns/signpost/pkg/publisher/webhook"
)

// atOnce is how many requests of one Writer are on their way at a time.
const atOnce = 8

// Writer opens the Writer of a provider. It connects to no server yet.
func Writer(s publisher.Settings, metrics *Metrics) (publisher.Writer, error) {
	inner, err := kind(s)
	if err != nil {
		return nil, err
	}
	minimum, err := time.ParseDuration(cmp.Or(externaldns.Value(s.Parameters, "min-ttl"), "0s"))
	if err != nil {
		return nil, fault.Errorf(publisher.Invalid, "min-ttl: %v", err)
	}
	return &limited{
		Writer: inner, provider: s.Provider, owner: s.Owner, policy: cmp.Or(externaldns.Value(s.Parameters, "policy"), "sync"), ttl: int64(minimum.Seconds()),
		places: make(chan struct{}, atOnce), metrics: metrics, settings: s,
	}, nil
}

// kind opens the Writer that the row of the provider names.
func kind(s publisher.Settings) (publisher.Writer, error) {
	switch externaldns.WriterOf(s.Provider) {
	case "coredns":
		return coredns.Open(s)
	case "rfc2136":
		return rfc2136.Open(s)
	case "webhook":
		return webhook.Open(s)
	}
	return nil, fault.Errorf(publisher.Invalid, "provider %s has no built-in publisher; give %s, or deploy external-dns",
		s.Provider, strings.Join(externaldns.BuiltIn(), ", "))
}

// Servers are those that the Writer of a provider connects to, as far as its settings name them. Nothing is connected to.
func Servers(s publisher.Settings) []publisher.Server {
	switch externaldns.WriterOf(s.Provider) {
	case "coredns":
		return coredns.Servers(s)
	case "rfc2136":
		return rfc2136.Servers(s)
	case "webhook":
		return webhook.Servers(s)
	}
	return nil
}

// limited is a Writer within limits.
type limited struct {
	publisher.Writer
	provider string
	owner    string
	policy   string // sync, upsert-only or create-only
	ttl      int64  // of sets that name none
	places   chan struct{}
	metrics  *Metrics
	settings publisher.Settings
}

func (l *limited) Read(ctx context.Context, names []string, types ...string) (states map[string]publisher.State, err error) {
	err = l.within(ctx, "read", func(ctx context.Context) error {
		states, err = l.Writer.Read(ctx, names, types...)
		return err
	})
	return states, err
}

func (l *limited) Write(ctx context.Context, change publisher.Change) error {
	return l.within(ctx, "write", func(ctx context.Context) error { return l.Writer.Write(ctx, l.allowed(change)) })
}

// within does a request when there is a place, in time.
func (l *limited) within(ctx context.Context, what string, do func(context.Context) error) error {
	select {
	case l.places <- struct{}{}:
	case <-ctx.Done():
		return &fault.Error{Fault: fault.Unreachable, Message: "the request was given up before it was sent", Err: ctx.Err()}
	}
	defer func() { <-l.places }()
	ctx, cancel := context.WithTimeout(ctx, publisher.WriteDeadline)
	defer cancel()
	begun := time.Now()
	err := do(ctx)
	l.metrics.observe(l.provider, what, time.Since(begun), err)
	return err
}

// allowed is the part of a change that the policy of the provider allows. Upsert-only removes no set, create-only changes none
// either.
func (l *limited) allowed(change publisher.Change) publisher.Change {
	after := slices.Clone(change.After)
	for n := range after {
		after[n].TTL = cmp.Or(after[n].TTL, l.ttl)
	}
	if l.policy == "sync" {
		change.After = after
		return change
	}
	for _, before := range change.Before.Sets {
		at := slices.IndexFunc(after, func(s publisher.Set) bool { return s.Type == before.Type })
		switch {
		case at < 0 && before.Mark.Owner == l.owner:
			after = append(after, before)
		case at >= 0 && l.policy == "create-only":
			after[at] = before
		}
	}
	change.After = after
	return change
}
