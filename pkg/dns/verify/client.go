package verify

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/time/rate"

	"github.com/signpost-dns/signpost/pkg/dns/rdata"
)

// How much is asked.
const (
	perSecond      = 50 // questions, of all servers together
	perServer      = 10 // questions a second to one server
	silentAtMost   = 3  // questions in a row that one server leaves without an answer
	silence        = 10 * time.Second
	serversAtATime = 1024 // that are kept in mind
)

// client asks servers, gently.
type client struct {
	timeout time.Duration
	total   *rate.Limiter
	trusted net.Dialer // for the system's resolvers
	dialer  net.Dialer // for all others

	mu      sync.Mutex
	servers map[netip.AddrPort]*server
}

// server is what is kept in mind of one.
type server struct {
	pace     *rate.Limiter
	failures int       // questions in a row that were not answered
	asked    time.Time // when it was asked the last of them
	err      error     // why not
}

func newClient(o Options) *client {
	c := &client{timeout: o.Timeout, total: rate.NewLimiter(perSecond, perSecond), servers: map[netip.AddrPort]*server{}}
	if !o.AllowLocal {
		c.dialer.Control = refuseLocal
	}
	return c
}

// refuseLocal checks the address that is dialled in the end, after all redirections of
// names.
func refuseLocal(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("dial %s: %w", address, err)
	}
	if Local(to.Addr()) {
		return errLocal
	}
	return nil
}

// ask asks an authoritative server.
func (c *client) ask(ctx context.Context, to netip.AddrPort, name, kind string) Reply {
	m := question(name, kind)
	answer, at, err := c.exchange(ctx, &c.dialer, to, m)
	if err != nil {
		return Reply{Server: to.String(), At: at, Err: err}
	}
	r := read(answer, rdata.Host(name), kind)
	if r.size() > longestReply {
		return Reply{Server: to.String(), At: at, Err: errTooMuch}
	}
	r.Server, r.At = to.String(), at
	return r
}

// resolve asks a resolver of the system.
func (c *client) resolve(ctx context.Context, to netip.AddrPort, name, kind string) (*dns.Msg, error) {
	m := question(name, kind)
	m.RecursionDesired = true
	answer, _, err := c.exchange(ctx, &c.trusted, to, m)
	return answer, err
}

func question(name, kind string) *dns.Msg {
	m := new(dns.Msg).SetQuestion(dns.Fqdn(name), dns.StringToType[kind])
	m.RecursionDesired = false
	return m
}

// exchange asks when it is the server's turn, and answers when that was. A server
// that has left several questions without an answer is not asked for a while. A question
// that is given up says nothing of the server.
func (c *client) exchange(ctx context.Context, dialer *net.Dialer, to netip.AddrPort, m *dns.Msg) (*dns.Msg, time.Time, error) {
	s := c.server(to)
	c.mu.Lock()
	silent, asked, last := s.failures >= silentAtMost && time.Since(s.asked) < silence, s.asked, s.err
	c.mu.Unlock()
	if silent {
		return nil, asked, last
	}
	for _, pace := range []*rate.Limiter{s.pace, c.total} {
		if err := pace.Wait(ctx); err != nil {
			return nil, time.Now().UTC(), err
		}
	}
	at := time.Now().UTC()
	answer, err := c.send(ctx, dialer, to, m)
	if err != nil && ended(ctx) {
		return nil, at, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.failures++
	s.asked, s.err = at, err
	if err == nil {
		s.failures = 0
	}
	return answer, at, err
}

// ended tells whether a context has ended. Sockets may notice the end of its time earlier than the context itself.
func ended(ctx context.Context) bool {
	deadline, bounded := ctx.Deadline()
	return ctx.Err() != nil || bounded && !time.Now().Before(deadline)
}

// server is the remembered state of a server. Servers without such state are dropped to
// make room for others.
func (c *client) server(at netip.AddrPort) *server {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.servers[at]
	if s != nil {
		return s
	}
	for other, known := range c.servers {
		if len(c.servers) < serversAtATime {
			break
		}
		if time.Since(known.asked) > silence {
			delete(c.servers, other)
		}
	}
	s = &server{pace: rate.NewLimiter(perServer, perServer)}
	c.servers[at] = s
	return s
}

// send asks by UDP, and by TCP what does not fit into that.
func (c *client) send(ctx context.Context, dialer *net.Dialer, to netip.AddrPort, m *dns.Msg) (*dns.Msg, error) {
	answer, err := c.over(ctx, "udp", dialer, to, m)
	if err == nil && answer.Truncated || errors.Is(err, dns.ErrBuf) {
		answer, err = c.over(ctx, "tcp", dialer, to, m)
	}
	return answer, err
}

func (c *client) over(ctx context.Context, network string, dialer *net.Dialer, to netip.AddrPort, m *dns.Msg) (*dns.Msg, error) {
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	by := dns.Client{Net: network, Dialer: dialer, Timeout: c.timeout}
	answer, _, err := by.ExchangeContext(limited, m, to.String())
	switch {
	case errors.Is(err, errLocal):
		return nil, errLocal
	case isTimeout(err):
		return nil, fmt.Errorf("no answer by %s within %s", strings.ToUpper(network), c.timeout)
	case err != nil:
		return nil, err
	case !answer.Response || len(answer.Question) != 1 || !strings.EqualFold(answer.Question[0].Name, m.Question[0].Name) || answer.Question[0].Qtype != m.Question[0].Qtype:
		return nil, errors.New("what came is not an answer to the question")
	}
	return answer, nil
}

func isTimeout(err error) bool {
	var late net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &late) && late.Timeout()
}

// Local tells whether an address reaches the machine itself or its link, or no single
// machine at all. It also looks through gateways that make an IPv4 address of it.
func Local(address netip.Addr) bool {
	address = address.Unmap()
	if address.IsLoopback() || address.IsUnspecified() || address.IsMulticast() || address.IsLinkLocalUnicast() {
		return true
	}
	if address.Is4() {
		return address.As4()[0] == 0 // 0.0.0.0/8 is the machine itself
	}
	within, is := embedded(address)
	return is && Local(within)
}

// embedded is the IPv4 address that an IPv6 address leads to. It does by NAT64 with the
// well-known or local-use prefix, by 6to4, or as an IPv4-compatible address.
func embedded(address netip.Addr) (within netip.Addr, is bool) {
	octets := address.As16()
	for _, form := range []struct {
		prefix string
		from   int
	}{{"64:ff9b::/96", 12}, {"64:ff9b:1::/48", 12}, {"2002::/16", 2}, {"::/96", 12}} {
		if netip.MustParsePrefix(form.prefix).Contains(address) {
			return netip.AddrFrom4([4]byte(octets[form.from : form.from+4])), true
		}
	}
	return netip.Addr{}, false
}
