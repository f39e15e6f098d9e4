package searchtest

import (
	"net"
	"sync"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

// Names is a DNS server whose names a test may change while it serves. A name
// that it does not have does not exist.
type Names struct {
	Address string // host:port, for UDP and for TCP

	mu      sync.Mutex
	records map[string][]dns.RR // by name and type, as in "A web.example."
	rcodes  map[string]int      // likewise
	ttl     uint32              // of negative answers
	asked   []*dns.Msg
}

// StartNames starts a server whose negative answers live for ttl seconds, until
// the test ends.
func StartNames(t testing.TB, ttl uint32) *Names {
	t.Helper()
	n := &Names{ttl: ttl}
	n.Set(nil)
	n.Address = Serve(t, n.serve)
	return n
}

// Set replaces all names by those of records, in the form of a zone file with
// full names. Another type of a name that has records has no data.
func (n *Names) Set(records []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.records, n.rcodes = map[string][]dns.RR{}, map[string]int{}
	for _, text := range records {
		record, err := dns.NewRR(text)
		if err != nil {
			panic(err)
		}
		name := dns.CanonicalName(record.Header().Name)
		n.records[name] = append(n.records[name], record)
		key := dns.TypeToString[record.Header().Rrtype] + " " + name
		n.records[key] = append(n.records[key], record)
	}
}

// Fail makes the server answer this code for a type of a name.
func (n *Names) Fail(qtype, name string, rcode int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rcodes[qtype+" "+name] = rcode
}

// Asked are the queries since it was last asked for them.
func (n *Names) Asked() []*dns.Msg {
	n.mu.Lock()
	defer n.mu.Unlock()
	asked := n.asked
	n.asked = nil
	return asked
}

// Resolve answers as the server does, without asking it.
func (n *Names) Resolve(name string, qtype uint16) *dns.Msg {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.answer(Query(name, qtype))
}

func (n *Names) serve(w dns.ResponseWriter, r *dns.Msg) {
	n.mu.Lock()
	n.asked = append(n.asked, r)
	m := n.answer(r)
	n.mu.Unlock()
	_ = w.WriteMsg(m)
}

func (n *Names) answer(r *dns.Msg) *dns.Msg {
	m := new(dns.Msg).SetReply(r)
	name := dns.CanonicalName(r.Question[0].Name)
	key := dns.TypeToString[r.Question[0].Qtype] + " " + name
	m.Rcode = n.rcodes[key]
	m.Answer = n.records[key]
	if m.Rcode != dns.RcodeSuccess || len(m.Answer) > 0 {
		return m
	}
	if _, exists := n.records[name]; !exists {
		m.Rcode = dns.RcodeNameError
	}
	m.Ns = []dns.RR{&dns.SOA{
		Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: n.ttl},
		Ns:  "ns.", Mbox: "hostmaster.", Serial: 1, Minttl: n.ttl,
	}}
	return m
}

// BlackHole takes queries over UDP and TCP at an address, until the test ends,
// and never answers.
func BlackHole(t testing.TB) (address string) {
	return Serve(t, func(dns.ResponseWriter, *dns.Msg) {})
}

// Serve answers queries over UDP and TCP at one address, until the test ends.
func Serve(t testing.TB, handler dns.HandlerFunc) (address string) {
	t.Helper()
	for range 20 { // a port that is free for TCP may be in use for UDP
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		packets, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", listener.Addr().String())
		if err != nil {
			require.NoError(t, listener.Close())
			continue
		}
		for _, server := range []*dns.Server{{Listener: listener, Handler: handler}, {PacketConn: packets, Handler: handler}} {
			started := make(chan struct{})
			server.NotifyStartedFunc = func() { close(started) }
			go func() { _ = server.ActivateAndServe() }()
			<-started
			t.Cleanup(func() { _ = server.Shutdown() })
		}
		return listener.Addr().String()
	}
	require.Fail(t, "no port is free")
	return ""
}
