package noderesolver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// DefaultInterval is how often the services are looked up.
const DefaultInterval = time.Minute

// lookupTimeout is how long a lookup may take.
const lookupTimeout = 5 * time.Second

// updateTimeout is how long the file may be kept from being updated: somebody
// else may have locked it for ever.
const updateTimeout = 10 * time.Second

// Service is a service of the cluster.
type Service struct {
	Namespace, Name string
}

// ParseService reads "namespace/name".
func ParseService(text string) (Service, error) {
	namespace, name, ok := strings.Cut(text, "/")
	if !ok || namespace == "" || name == "" || strings.ContainsAny(name, "/ ") {
		return Service{}, fmt.Errorf("%q is not a service: write namespace/name, as in image-registry/image-registry", text)
	}
	return Service{Namespace: namespace, Name: name}, nil
}

// names are those that the hosts file gets, the canonical one last.
func (s Service) names(domain string) []string {
	short := s.Name + "." + s.Namespace + ".svc"
	return []string{short, short + "." + domain}
}

// Resolver keeps a hosts file right.
type Resolver struct {
	File       File
	Owner      Owner // of its lines in the file
	Services   []Service
	Domain     string         // of the cluster, as in cluster.local
	Nameserver netip.AddrPort // the cluster's DNS
	Interval   time.Duration  // between two looks; 0: a minute
	Log        *slog.Logger
}

// Run keeps the file right until ctx ends. Trouble is logged and tried again:
// the node needs the entries that there are.
func (r *Resolver) Run(ctx context.Context) error {
	if err := r.File.Recover(); err != nil {
		return fmt.Errorf("finish what an earlier run began: %w", err)
	}
	interval := r.Interval
	interval = cmp.Or(interval, DefaultInterval)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		if err := r.Once(ctx); err != nil && ctx.Err() == nil {
			r.Log.WarnContext(ctx, "the hosts file was not updated", "file", r.File.Path, "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// Once looks every service up and brings the file up to date.
func (r *Resolver) Once(ctx context.Context) error {
	entries, unknown := r.lookup(ctx)
	ctx, cancel := context.WithTimeout(ctx, updateTimeout)
	defer cancel()
	change, err := r.File.Update(ctx, func(content []byte) []byte {
		return r.Owner.Replace(content, append(slices.Clone(entries), unknown.among(r.Owner.Entries(content))...))
	})
	switch {
	case err != nil:
		return err
	case change == Replaced:
		r.Log.InfoContext(ctx, "hosts file replaced", "file", r.File.Path)
	case change == Rewritten:
		r.Log.WarnContext(ctx, "hosts file written in place, since it is a mount of its own; mount its directory to have it replaced in one step", "file", r.File.Path)
	}
	return nil
}

// question is what is looked up: a name's addresses of one family.
type question struct {
	name string
	ipv6 bool
}

// questions is a set of them.
type questions map[question]bool

// among are the entries that answer one of the questions.
func (q questions) among(entries []Entry) []Entry {
	var out []Entry
	for _, e := range entries {
		if q[question{e.Names[len(e.Names)-1], e.Address.Is6()}] {
			out = append(out, e)
		}
	}
	return out
}

// lookup answers the entries that were found, and which questions nobody
// answered: what the file says to these is to stay.
func (r *Resolver) lookup(ctx context.Context) (found []Entry, unknown questions) {
	unknown = questions{}
	for _, service := range r.Services {
		names := service.names(r.Domain)
		for _, ipv6 := range []bool{false, true} {
			q := question{names[len(names)-1], ipv6}
			addresses, err := r.ask(ctx, q)
			if err != nil {
				r.Log.WarnContext(ctx, "lookup failed, its entries stay", "name", q.name, "ipv6", ipv6, "error", err)
				unknown[q] = true
			}
			for _, address := range addresses {
				found = append(found, Entry{Address: address, Names: names})
			}
		}
	}
	return found, unknown
}

// ask answers the addresses of a name, none when the nameserver says that
// there are none.
func (r *Resolver) ask(ctx context.Context, q question) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	resolver := net.Resolver{PreferGo: true, StrictErrors: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, r.Nameserver.String())
	}}
	network := "ip4"
	if q.ipv6 {
		network = "ip6"
	}
	addresses, err := resolver.LookupNetIP(ctx, network, q.name+".")
	if failure, ok := errors.AsType[*net.DNSError](err); ok && failure.IsNotFound {
		return nil, nil
	}
	for i, address := range addresses {
		addresses[i] = address.Unmap()
	}
	return addresses, err
}
