package verify

import (
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/rdata"
)

// nameserver is a DNS server on loopback, over UDP and TCP.
type nameserver struct {
	t       *testing.T
	address netip.AddrPort

	mu       sync.Mutex
	records  map[string][]dns.RR // by lower-case name
	lame     bool                // it does not speak for the zone
	rcode    int                 // other than NOERROR: of each answer
	broken   string              // it fails to answer for this name and those below it
	mute     bool                // it answers nothing
	truncate bool                // it truncates what is asked by UDP
	shy      bool                // it denies aliases to those who ask for them, and follows them all the same
	asked    []string            // "udp www.lab.example. A"
}

// serve starts a server of the records, in the form of zone files.
func serve(t *testing.T, records ...string) *nameserver {
	t.Helper()
	s := &nameserver{t: t, records: map[string][]dns.RR{}}
	s.add(records...)
	packets, stream := listen(t)
	s.address = packets.LocalAddr().(*net.UDPAddr).AddrPort()
	for _, server := range []*dns.Server{
		{PacketConn: packets, Handler: s.over("udp")}, {Listener: stream, Handler: s.over("tcp")},
	} {
		started := make(chan struct{})
		server.NotifyStartedFunc = func() { close(started) }
		go func() { _ = server.ActivateAndServe() }()
		<-started
		t.Cleanup(func() { _ = server.Shutdown() })
	}
	return s
}

// listen opens a port for UDP and for TCP. One that is free for the one may be
// taken for the other.
func listen(t *testing.T) (net.PacketConn, net.Listener) {
	t.Helper()
	for range 20 {
		stream, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		packets, err := net.ListenPacket("udp", stream.Addr().String())
		if err == nil {
			return packets, stream
		}
		require.NoError(t, stream.Close())
	}
	t.Fatal("no port is free for UDP and TCP")
	return nil, nil
}

func (s *nameserver) add(records ...string) {
	s.t.Helper()
	for _, text := range records {
		rr, err := dns.NewRR(text)
		require.NoError(s.t, err)
		s.set(func() {
			name := rdata.Host(rr.Header().Name)
			s.records[name] = append(s.records[name], rr)
		})
	}
}

func (s *nameserver) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *nameserver) questions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

func (s *nameserver) over(network string) dns.HandlerFunc {
	return func(w dns.ResponseWriter, asked *dns.Msg) {
		s.mu.Lock()
		defer s.mu.Unlock()
		q := asked.Question[0]
		s.asked = append(s.asked, network+" "+q.Name+" "+dns.TypeToString[q.Qtype])
		if s.mute {
			return
		}
		m := new(dns.Msg).SetReply(asked)
		m.Authoritative, m.Rcode = !s.lame, s.rcode
		s.answer(m, q)
		if s.broken != "" && dns.IsSubDomain(dns.Fqdn(s.broken), q.Name) {
			m.Rcode = dns.RcodeServerFailure
		}
		if m.Truncated = s.truncate && network == "udp"; m.Truncated {
			m.Answer = nil
		}
		_ = w.WriteMsg(m)
	}
}

// answer fills in what a server of zone files would.
func (s *nameserver) answer(m *dns.Msg, q dns.Question) {
	there, known := s.records[rdata.Host(q.Name)]
	if s.shy && q.Qtype == dns.TypeCNAME {
		there, known = nil, false
	}
	for _, rr := range there {
		if t := rr.Header().Rrtype; t == q.Qtype || t == dns.TypeCNAME {
			m.Answer = append(m.Answer, rr)
		}
	}
	if !known && m.Rcode == dns.RcodeSuccess {
		m.Rcode = dns.RcodeNameError
	}
	if len(m.Answer) > 0 {
		return
	}
	for name := rdata.Host(q.Name); ; {
		for _, rr := range s.records[name] {
			if rr.Header().Rrtype == dns.TypeSOA {
				m.Ns = append(m.Ns, rr)
				return
			}
		}
		if name == "" {
			return
		}
		_, name, _ = strings.Cut(name, ".")
	}
}
