package syncer

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// phonebook has the IPv4 address of every host name; empty: there is no such name.
type phonebook struct {
	mu      sync.Mutex
	address string
	asked   int
}

func (b *phonebook) set(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.address = address
}

func (b *phonebook) questions() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked
}

// LookupNetIP implements lookup.Resolver.
func (b *phonebook) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	if network != "ip4" || b.address == "" {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return []netip.Addr{netip.MustParseAddr(b.address)}, nil
}

func TestAHostNameIsObservedWithItsAddresses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, berlin)
		s.clock = hasty{time.Now()}
		z := &phonebook{}
		z.set("203.0.113.10")
		s.resolver = z
		f := s.clusters[berlin]
		_, stop := s.start("a")
		f.SetService("shop", "web", offer("lb.example"))
		s.commitWith("dig", appcontext.Context{Services: map[string][]string{berlin: {"shop/web"}}})
		addresses := func() []string {
			o := s.seen(berlin)
			if o == nil {
				return nil
			}
			return o.Candidates[0].Resolved
		}
		s.until("its addresses are known", func() bool { return slices.Equal(addresses(), []string{"203.0.113.10"}) })
		z.set("203.0.113.11")
		s.until("they change", func() bool { return slices.Equal(addresses(), []string{"203.0.113.11"}) })
		stop()
		z.set("")
		began := z.questions()
		s.start("b")
		s.until("the next owner has tried", func() bool { return z.questions() >= began+4 })
		assert.Equal(t, []string{"203.0.113.11"}, addresses(), "they stay through a restart (I11)")
	})
}
