package verify

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/signpost-dns/signpost/pkg/dns/rdata"
	"github.com/signpost-dns/signpost/pkg/storage/recent"
)

// How long it is remembered whom to ask, and of how many names.
const (
	foundFor     = 10 * time.Minute
	notFoundFor  = time.Minute
	foundAtMost  = 10_000
	shortestZone = 2 // labels: a record's zone is none of those above
)

// MostServers is how many servers of a name are asked at most.
const MostServers = 16

// finder finds the authoritative servers of names. It finds a domain or a zone once, for all names in it.
type finder struct {
	client    *client
	resolvers func() []netip.AddrPort

	zones   recent.Memory[string, found[string]]           // of names and their domains
	servers recent.Memory[string, found[[]netip.AddrPort]] // of zones
}

// found is what was found, or why nothing was.
type found[Value any] struct {
	value Value
	err   error
	until time.Time // when it is to be found anew
}

func newFinder(c *client, resolvers func() []netip.AddrPort) *finder {
	return &finder{client: c, resolvers: resolvers}
}

// recall answers what was found lately, or else finds it. It does not remember what ends with ctx.
func recall[Value any](ctx context.Context, known *recent.Memory[string, found[Value]], name string, find func(ctx context.Context, name string) (Value, error)) (Value, error) {
	if last, is := known.Get(name); is && time.Now().Before(last.until) {
		return last.value, last.err
	}
	value, err := find(ctx, name)
	if ctx.Err() != nil {
		return value, ctx.Err()
	}
	lasts := foundFor
	if err != nil {
		lasts = notFoundFor
	}
	known.Keep(name, found[Value]{value, err, time.Now().Add(lasts)}, foundAtMost)
	return value, err
}

// systemResolvers are those of /etc/resolv.conf.
func systemResolvers() []netip.AddrPort {
	config, err := dns.ClientConfigFromFile("/etc/resolv.conf")
	if err != nil {
		return nil
	}
	var out []netip.AddrPort
	for _, server := range config.Servers {
		if address, err := netip.ParseAddr(server); err == nil {
			out = append(out, netip.AddrPortFrom(address, dnsPort))
		}
	}
	return out
}

const dnsPort = 53

// serversOf finds the servers of the zone that a name is in. The error says what
// to do about it.
func (f *finder) serversOf(ctx context.Context, name string) ([]netip.AddrPort, error) {
	zone, err := recall(ctx, &f.zones, strings.TrimPrefix(name, "*."), f.zone)
	var servers []netip.AddrPort
	if err == nil {
		servers, err = recall(ctx, &f.servers, zone, f.zoneServers)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("the authoritative servers of %s cannot be found: %w; give them in the record's verify.servers", name, err)
	}
	return servers, nil
}

// zone walks up from a name to the zone that it is in. Answers behind an alias belong to
// another zone, so only answers for the name itself or its ancestors count.
func (f *finder) zone(ctx context.Context, name string) (string, error) {
	m, err := f.resolve(ctx, name, "SOA")
	if err != nil {
		return "", err
	}
	for _, record := range slices.Concat(m.Answer, m.Ns) {
		if zone := rdata.Host(record.Header().Name); record.Header().Rrtype == dns.TypeSOA && dns.IsSubDomain(dns.Fqdn(zone), dns.Fqdn(name)) {
			return zone, nil
		}
	}
	_, above, more := strings.Cut(name, ".")
	if !more {
		return "", errors.New("no zone says that it is its own")
	}
	return recall(ctx, &f.zones, above, f.zone)
}

// zoneServers finds the servers of a zone.
func (f *finder) zoneServers(ctx context.Context, zone string) ([]netip.AddrPort, error) {
	if dns.CountLabel(dns.Fqdn(zone)) < shortestZone {
		return nil, fmt.Errorf("the nearest zone that Signpost's resolver knows is %q", dns.Fqdn(zone))
	}
	hosts, err := f.values(ctx, zone, "NS")
	if err != nil {
		return nil, err
	}
	var out []netip.AddrPort
	var failed error
	for _, host := range hosts[:min(len(hosts), MostServers)] { // who writes the zone does not say how much is asked
		address, err := f.address(ctx, host)
		switch {
		case err != nil:
			failed = err
		case address.IsValid():
			out = append(out, netip.AddrPortFrom(address, dnsPort))
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case failed != nil:
		return nil, failed
	}
	return nil, fmt.Errorf("zone %s names no servers that have an address", zone)
}

// address is one of a server's, of IPv4 where it has some; none when it has none
// at all.
func (f *finder) address(ctx context.Context, host string) (netip.Addr, error) {
	for _, kind := range []string{"A", "AAAA"} {
		values, err := f.values(ctx, host, kind)
		if err != nil {
			return netip.Addr{}, err
		}
		if len(values) > 0 {
			return netip.ParseAddr(values[0])
		}
	}
	return netip.Addr{}, nil
}

func (f *finder) values(ctx context.Context, name, kind string) ([]string, error) {
	m, err := f.resolve(ctx, name, kind)
	if err != nil {
		return nil, err
	}
	return read(m, name, kind).Values, nil
}

// resolve asks the resolvers in turn, until one knows.
func (f *finder) resolve(ctx context.Context, name, kind string) (*dns.Msg, error) {
	last := errors.New("this machine has no resolver")
	for _, resolver := range f.resolvers() {
		m, err := f.client.resolve(ctx, resolver, name, kind)
		switch {
		case err != nil:
			last = fmt.Errorf("resolver %s: %w", resolver, err)
		case m.Rcode != dns.RcodeSuccess && m.Rcode != dns.RcodeNameError:
			last = fmt.Errorf("resolver %s answers %s", resolver, dns.RcodeToString[m.Rcode])
		default:
			return m, nil
		}
	}
	return nil, last
}
