package autopath

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/signpost-dns/signpost/pkg/dns/resolvconf"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Resolver looks names up as glibc's getaddrinfo does: it asks for A and AAAA
// of a name, appends the search domains by itself, one after the other, and
// stops at the first name that has an answer.
type Resolver struct {
	Server string // host:port
	Search []string
	Ndots  int

	// Stops makes the resolver's search end with the first name that is not
	// missing, as stock autopath's does: glibc goes on if it has no address, or
	// its server fails.
	Stops bool
}

// Conf is the resolver's resolv.conf.
func (r Resolver) Conf() string {
	host, _, _ := net.SplitHostPort(r.Server) // is a host and a port
	ndots := strconv.Itoa(r.Ndots)
	return resolvconf.Text(intent.PodDNSConfig{
		Nameservers: []string{host}, Searches: r.Search, Options: []intent.PodDNSOption{{Name: "ndots", Value: &ndots}},
	})
}

// Result is what a lookup came to, and what it cost.
type Result struct {
	Addresses []netip.Addr // in order, each once; none: there is no such name
	Failed    bool         // there is no address because servers failed, and it may be tried again
	Queries   int          // of each type
	TCP       int          // how many answers had to be fetched anew over TCP
}

// outcome is what became of a name, in glibc's terms, and in the order in which
// glibc reports them.
type outcome int

const (
	success  outcome = iota // an answer with records
	noData                  // the name is there, and no address
	tryAgain                // the server failed
	hostNotFound
)

// attempts are how often glibc asks a server that does not answer, or fails.
const attempts = 2

// Lookup looks a name up. The error says that the server could not be reached.
func (r Resolver) Lookup(ctx context.Context, name string) (Result, error) {
	l := lookup{Resolver: r}
	bare, absolute := strings.CutSuffix(name, ".")
	first := absolute || strings.Count(bare, ".") >= r.Ndots
	if first {
		if became, err := l.try(ctx, bare); became == success || absolute || err != nil {
			return l.end(became), err
		}
	}
	became, err := l.search(ctx, bare)
	if became != success && !first && err == nil {
		last, err := l.try(ctx, bare)
		if last == success || became == hostNotFound {
			became = last
		}
		return l.end(became), err
	}
	return l.end(became), err
}

// lookup is one that is under way.
type lookup struct {
	Resolver
	result Result
}

// search tries a name in each search domain, and answers what is the most to
// say of those that did not succeed.
func (l *lookup) search(ctx context.Context, bare string) (outcome, error) {
	most := hostNotFound
	for _, domain := range l.Search {
		became, err := l.try(ctx, bare+"."+domain)
		if became == success || err != nil {
			return became, err
		}
		most = min(most, became)
		if l.Stops && became != hostNotFound {
			break
		}
	}
	return most, nil
}

func (l *lookup) end(became outcome) Result {
	l.result.Failed = became == tryAgain
	return l.result
}

// try asks for both types of one name, and again where a server fails.
func (l *lookup) try(ctx context.Context, name string) (became outcome, err error) {
	for range attempts {
		l.result.Queries++
		var a, aaaa *dns.Msg
		if a, err = l.ask(ctx, name, dns.TypeA); err != nil {
			return tryAgain, err
		}
		if aaaa, err = l.ask(ctx, name, dns.TypeAAAA); err != nil {
			return tryAgain, err
		}
		if became = judge(a, aaaa); became == success {
			l.result.Addresses = addresses(a, aaaa)
		}
		if became != tryAgain {
			return became, nil
		}
	}
	return became, nil
}

// judge is glibc's: an answer with any record is an answer, be it an alias that
// leads nowhere.
func judge(a, aaaa *dns.Msg) outcome {
	answered := func(m *dns.Msg) bool { return m.Rcode == dns.RcodeSuccess && len(m.Answer) > 0 }
	if answered(a) || answered(aaaa) {
		return success
	}
	rcode := a.Rcode
	if rcode == dns.RcodeSuccess {
		rcode = aaaa.Rcode
	}
	switch rcode {
	case dns.RcodeSuccess:
		return noData
	case dns.RcodeNameError:
		return hostNotFound
	}
	return tryAgain
}

func addresses(messages ...*dns.Msg) []netip.Addr {
	var all []netip.Addr
	for _, m := range messages {
		for _, rr := range m.Answer {
			switch rr := rr.(type) {
			case *dns.A:
				all = append(all, addressOf(rr.A))
			case *dns.AAAA:
				all = append(all, addressOf(rr.AAAA))
			}
		}
	}
	return sorted(all)
}

// sorted are addresses in order, each once.
func sorted(all []netip.Addr) []netip.Addr {
	slices.SortFunc(all, netip.Addr.Compare)
	return slices.Compact(all)
}

func addressOf(ip net.IP) netip.Addr {
	address, _ := netip.AddrFromSlice(ip) // of a record, so it is one
	return address.Unmap()
}

// ask asks over UDP, and over TCP what was cut off. As glibc does, it asks a
// second time if nobody answers, and reads nothing of EDNS0.
func (l *lookup) ask(ctx context.Context, name string, kind uint16) (*dns.Msg, error) {
	query := new(dns.Msg).SetQuestion(dns.Fqdn(name), kind)
	answer, err := exchange(ctx, "udp", l.Server, query)
	if err == nil && answer.Truncated {
		l.result.TCP++
		answer, err = exchange(ctx, "tcp", l.Server, query)
	}
	if err != nil {
		return nil, fmt.Errorf("ask %s for %s: %w", l.Server, name, err)
	}
	return answer, nil
}

// timeout is glibc's.
const timeout = 5 * time.Second

func exchange(ctx context.Context, network, server string, query *dns.Msg) (answer *dns.Msg, err error) {
	client := &dns.Client{Net: network, Timeout: timeout}
	for range attempts {
		if answer, _, err = client.ExchangeContext(ctx, query, server); err == nil {
			break
		}
	}
	return answer, err
}
