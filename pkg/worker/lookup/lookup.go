// Package lookup looks up the addresses of the host names that Services offer,
// without waiting for an answer.
package lookup

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
)

// Resolver looks up the addresses of a host name, of network "ip4" or "ip6", as
// net.Resolver does.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// How host names are looked up.
const (
	resolveEvery    = 25 * time.Second
	resolveAtMost   = 5 * time.Second
	resolveAtOnce   = 8         // lookups of one cluster's host names
	resolveForget   = time.Hour // after which a host name is forgotten that no Service has offered; longer than until each is looked at again
	addressesAtMost = 64        // of one host name
)

// Clock is the time.
type Clock interface {
	Now() time.Time
}

// Lookups keeps the host names that one cluster's Services offer, and the
// addresses that these last had. It waits for no answer: each host name has a
// goroutine of its own while it is looked up. It is safe for concurrent use.
type Lookups struct {
	resolver Resolver
	clock    Clock
	logger   *slog.Logger
	changed  func(namespace, service string)

	slots   chan struct{}
	running sync.WaitGroup

	mu    sync.Mutex
	hosts map[string]*lookup
}

type lookup struct {
	addresses    []string
	first, begun time.Time // when it was asked for first, and looked up last
	busy, ended  bool      // it is being looked up; it was
	failing      bool
	services     map[string]time.Time // "namespace/name", when they have offered it last
}

// New makes Lookups without host names. When the addresses of one are other ones, or
// known for the first time, they call changed for each Service that has offered it.
func New(resolver Resolver, clock Clock, logger *slog.Logger, changed func(namespace, service string)) *Lookups {
	return &Lookups{
		resolver: resolver, clock: clock, logger: logger, changed: changed,
		slots: make(chan struct{}, resolveAtOnce), hosts: map[string]*lookup{},
	}
}

// Wait waits until no lookup is under way. The contexts of the lookups must have
// ended.
func (l *Lookups) Wait() { l.running.Wait() }

// Refresh begins to look the host names up that are due, until ctx ends.
func (l *Lookups) Refresh(ctx context.Context) {
	now := l.clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(now)
	for _, host := range slices.Sorted(maps.Keys(l.hosts)) {
		l.begin(ctx, now, host, l.hosts[host])
	}
}

// Next is when a host name is due next, and whether there are any.
func (l *Lookups) Next() (at time.Time, some bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range l.hosts {
		if due := one.begun.Add(resolveEvery); !some || due.Before(at) {
			at, some = due, true
		}
	}
	return at, some
}

// begin looks a host name up if it is due. The lookups are locked.
func (l *Lookups) begin(ctx context.Context, now time.Time, host string, at *lookup) {
	if at.due(now) {
		at.busy, at.begun = true, now
		l.running.Go(func() { l.look(ctx, host, at) })
	}
}

func (l *lookup) due(now time.Time) bool {
	return !l.busy && (l.begun.IsZero() || now.Sub(l.begun) >= resolveEvery)
}

// Resolve adds the addresses of host names to what a Service ("namespace/name") offers. It answers
// false while the first lookup of one is under way, for a while at most.
func (l *Lookups) Resolve(ctx context.Context, service string, o *address.Observation) bool {
	known := true
	for i := range o.Candidates {
		c := &o.Candidates[i]
		if _, err := netip.ParseAddr(c.Target); err == nil {
			continue
		}
		addresses, ready := l.addresses(ctx, service, c.Target)
		c.Resolved, known = addresses, known && ready
	}
	return known
}

func (l *Lookups) addresses(ctx context.Context, service, host string) (last []string, ready bool) {
	now := l.clock.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.hosts[host]
	if at == nil {
		at = &lookup{first: now, services: map[string]time.Time{}}
		l.hosts[host] = at
	}
	at.services[service] = now
	l.begin(ctx, now, host, at)
	return at.addresses, at.ended || now.Sub(at.first) >= resolveAtMost
}

func (l *Lookups) forget(now time.Time) {
	for host, at := range l.hosts {
		maps.DeleteFunc(at.services, func(_ string, last time.Time) bool { return now.Sub(last) > resolveForget })
		if !at.busy && len(at.services) == 0 {
			delete(l.hosts, host)
		}
	}
}

// look looks a host name up once.
func (l *Lookups) look(ctx context.Context, host string, at *lookup) {
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
	case <-ctx.Done():
		return
	}
	l.mu.Lock()
	before := at.addresses
	l.mu.Unlock()
	found, err := l.both(ctx, host, before)
	if ctx.Err() != nil {
		return
	}
	l.mu.Lock()
	news := !at.ended || !slices.Equal(before, found)
	begins := err != nil && !at.failing
	at.addresses, at.busy, at.ended, at.failing = found, false, true, err != nil
	services := slices.Sorted(maps.Keys(at.services))
	l.mu.Unlock()
	if begins {
		l.logger.WarnContext(ctx, "host name of a Service does not resolve: its last addresses stay", "host", host, "error", err)
	}
	if !news {
		return
	}
	for _, service := range services {
		namespace, name, _ := strings.Cut(service, "/")
		l.changed(namespace, name)
	}
}

// both looks up both families. Of a family that could not be looked up the
// addresses of before stay, and all of them where there is no such name.
func (l *Lookups) both(ctx context.Context, host string, before []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, resolveAtMost)
	defer cancel()
	four, noFour := l.family(ctx, "ip4", host, before)
	six, noSix := l.family(ctx, "ip6", host, before)
	found := slices.Concat(four, six)
	err := errors.Join(noFour, noSix)
	switch {
	case isNone(noFour) && isNone(noSix):
		return before, err
	case isNone(noFour):
		err = noSix
	case isNone(noSix):
		err = noFour
	}
	slices.Sort(found)
	found = slices.Compact(found)
	return found[:min(len(found), addressesAtMost)], err
}

// family looks up one family. The name is given as absolute, so that no search
// domain counts.
func (l *Lookups) family(ctx context.Context, network, host string, before []string) ([]string, error) {
	found, err := l.resolver.LookupNetIP(ctx, network, strings.TrimSuffix(host, ".")+".")
	if isNone(err) {
		return nil, err
	}
	if err != nil {
		return slices.DeleteFunc(slices.Clone(before), func(ip string) bool { return strings.Contains(ip, ":") != (network == "ip6") }), err
	}
	var out []string
	for _, ip := range found {
		out = append(out, ip.WithZone("").Unmap().String())
	}
	return out, nil
}

// isNone tells whether there positively is no address of the family.
func isNone(err error) bool {
	var e *net.DNSError
	return errors.As(err, &e) && e.IsNotFound
}
