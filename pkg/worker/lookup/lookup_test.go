package lookup

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
)

// phonebook is a resolver's world: addresses by host name, and errors by network and
// host name.
type phonebook struct {
	mu      sync.Mutex
	names   map[string]string
	failing map[string]error
	asked   []string
	hold    chan struct{} // lookups wait until it is closed
	now     int           // lookups at the moment
	most    int
}

func newPhonebook() *phonebook {
	return &phonebook{names: map[string]string{}, failing: map[string]error{}}
}

func (b *phonebook) set(host, addresses string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.names[host] = addresses
}

func (b *phonebook) fail(network, host string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failing[network+" "+host] = err
}

func (b *phonebook) questions() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.asked)
}

// LookupNetIP implements Resolver.
func (b *phonebook) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	b.mu.Lock()
	b.now++
	b.most = max(b.most, b.now)
	b.asked = append(b.asked, network+" "+host)
	hold := b.hold
	b.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now--
	if err := b.failing[network+" "+host]; err != nil {
		return nil, err
	}
	var found []netip.Addr
	for text := range strings.FieldsSeq(b.names[host]) {
		if ip := netip.MustParseAddr(text); ip.Unmap().Is4() == (network == "ip4") {
			found = append(found, ip)
		}
	}
	if len(found) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return found, nil
}

// manual is a clock that a test moves on.
type manual struct {
	mu  sync.Mutex
	now time.Time
}

func (m *manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

func (m *manual) pass(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}

// web is a Service.
const web = "shop/web"

// desk is lookups over a phonebook.
type desk struct {
	*testing.T
	*Lookups
	book    *phonebook
	clock   *manual
	changes chan string
}

func newDesk(t *testing.T) *desk {
	d := &desk{T: t, book: newPhonebook(), clock: &manual{now: time.Now()}, changes: make(chan string, 100)}
	d.Lookups = New(d.book, d.clock, slog.New(slog.DiscardHandler), func(namespace, service string) { d.changes <- namespace + "/" + service })
	return d
}

func named(host string) address.Observation {
	return address.Observation{Found: true, Candidates: []address.Candidate{{Target: "203.0.113.1"}, {Target: host}}}
}

// again asks for a host name when it is due, waits for the lookup, and answers
// its addresses.
func (d *desk) again(host string) string {
	d.Helper()
	d.clock.pass(resolveEvery)
	o := named(host)
	d.Resolve(d.Context(), web, &o)
	d.Wait()
	require.True(d, d.Resolve(d.Context(), web, &o))
	assert.Nil(d, o.Candidates[0].Resolved)
	return strings.Join(o.Candidates[1].Resolved, " ")
}

func TestHostNamesAreResolvedInBothFamilies(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.book.set("lb.example.", "203.0.113.20 203.0.113.10 2001:db8::1 ::ffff:203.0.113.10")
	o := named("lb.example")
	assert.False(t, d.Resolve(t.Context(), web, &o), "the first lookup is waited for")
	assert.Equal(t, web, <-d.changes, "the Service that offers it is told of")
	assert.True(t, d.Resolve(t.Context(), web, &o))
	assert.Equal(t, []string{"2001:db8::1", "203.0.113.10", "203.0.113.20"}, o.Candidates[1].Resolved)
	assert.ElementsMatch(t, []string{"ip4 lb.example.", "ip6 lb.example."}, d.book.questions(), "as absolute names, once, and addresses not at all")
	assert.Equal(t, "2001:db8::1 203.0.113.10 203.0.113.20", d.again("lb.example"))
	assert.Empty(t, d.changes, "nobody is woken by what is as before")
	d.book.set("lb.example.", "203.0.113.30")
	d.clock.pass(resolveEvery)
	d.Refresh(t.Context())
	d.Wait()
	assert.Equal(t, web, <-d.changes, "what is due is looked up, and told of if it has changed")
	assert.Equal(t, "203.0.113.30", d.again("lb.example."))
}

// Addresses stay while a host name does not resolve (I11).
func TestAddressesStayWhileAHostNameDoesNotResolve(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	assert.Empty(t, d.again("lb.example"), "a name that never resolved has none")
	d.book.set("lb.example.", "203.0.113.10 2001:db8::1")
	require.Equal(t, "2001:db8::1 203.0.113.10", d.again("lb.example"))
	failure := &net.DNSError{Err: "server misbehaving", IsTemporary: true}
	d.book.set("lb.example.", "203.0.113.11 2001:db8::2")
	d.book.fail("ip6", "lb.example.", failure)
	assert.Equal(t, "2001:db8::1 203.0.113.11", d.again("lb.example"), "one family fails")
	d.book.fail("ip4", "lb.example.", errors.New("connection refused"))
	assert.Equal(t, "2001:db8::1 203.0.113.11", d.again("lb.example"), "both do")
	d.book.fail("ip4", "lb.example.", nil)
	d.book.fail("ip6", "lb.example.", nil)
	d.book.set("lb.example.", "")
	assert.Equal(t, "2001:db8::1 203.0.113.11", d.again("lb.example"), "the name is gone")
	d.book.set("lb.example.", "203.0.113.12")
	assert.Equal(t, "203.0.113.12", d.again("lb.example"), "it is back, in one family")
}

// TestTheNextLookupIsKnown, so that nobody has to ask in vain.
func TestTheNextLookupIsKnown(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	_, some := d.Next()
	require.False(t, some)
	d.again("lb.example")
	began := d.clock.Now()
	d.clock.pass(time.Second)
	d.again("other.example")
	next, some := d.Next()
	require.True(t, some)
	require.Equal(t, began.Add(resolveEvery), next)
	d.Refresh(t.Context())
	d.Wait()
	next, _ = d.Next()
	require.Equal(t, began.Add(time.Second+resolveEvery+resolveEvery), next, "the other one")
}

func TestLookupsAreBounded(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.book.hold = make(chan struct{})
	o := address.Observation{Found: true}
	for n := range 3 * resolveAtOnce {
		o.Candidates = append(o.Candidates, address.Candidate{Target: string(rune('a'+n)) + ".example"})
	}
	assert.False(t, d.Resolve(t.Context(), web, &o))
	require.Eventually(t, func() bool { return len(d.book.questions()) == resolveAtOnce }, 30*time.Second, time.Millisecond)
	d.clock.pass(resolveAtMost)
	assert.True(t, d.Resolve(t.Context(), web, &o), "what does not answer is waited for a while at most")
	close(d.book.hold)
	d.Wait()
	assert.Equal(t, resolveAtOnce, d.book.most)
	assert.Len(t, d.book.questions(), 2*3*resolveAtOnce, "one lookup of a name at a time")

	d.clock.pass(resolveForget + 1)
	last := named("other.example")
	d.Resolve(t.Context(), web, &last)
	d.Refresh(t.Context())
	d.Wait()
	assert.Len(t, d.hosts, 1, "host names that nobody offers are forgotten")
	d.book.set("many.example.", strings.Repeat("2001:db8::1 ", 3)+many(3*addressesAtMost))
	assert.Len(t, strings.Fields(d.again("many.example")), addressesAtMost)
}

func many(n int) string {
	var all []string
	ip := netip.MustParseAddr("198.18.0.0")
	for range n {
		ip = ip.Next()
		all = append(all, ip.String())
	}
	return strings.Join(all, " ")
}
