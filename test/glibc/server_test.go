package glibc

import (
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

// server is a nameserver that knows no name, and notes the questions in the order
// in which they come.
type server struct {
	mu    sync.Mutex
	asked []string // as in "www.example.com. A"
}

const nameserver = "127.0.0.1"

// serve starts the nameserver over UDP and TCP, until the test ends.
func serve(t *testing.T) *server {
	t.Helper()
	s := &server{}
	address := net.JoinHostPort(nameserver, "53")
	udp, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", address)
	require.NoError(t, err)
	tcp, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	require.NoError(t, err)
	var serving sync.WaitGroup
	serving.Go(func() { s.datagrams(udp) })
	serving.Go(func() { s.connections(tcp) })
	t.Cleanup(func() {
		_ = udp.Close()
		_ = tcp.Close()
		serving.Wait()
	})
	return s
}

// datagrams answers one after the other, so that the notes are in order.
func (s *server) datagrams(conn net.PacketConn) {
	packet := make([]byte, dns.MaxMsgSize)
	for {
		n, client, err := conn.ReadFrom(packet)
		if err != nil {
			return
		}
		if reply := s.reply(packet[:n]); reply != nil {
			_, _ = conn.WriteTo(reply, client)
		}
	}
}

// connections serves one after the other, too: one client asks at a time.
func (s *server) connections(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		stream := &dns.Conn{Conn: conn}
		for {
			query, err := stream.ReadMsgHeader(nil)
			if err != nil {
				break
			}
			if _, err := stream.Write(s.reply(query)); err != nil {
				break
			}
		}
		_ = conn.Close()
	}
}

func (s *server) reply(packet []byte) []byte {
	var query, reply dns.Msg
	if err := query.Unpack(packet); err != nil {
		return nil
	}
	question := query.Question[0]
	s.mu.Lock()
	s.asked = append(s.asked, question.Name+" "+dns.TypeToString[question.Qtype])
	s.mu.Unlock()
	packed, err := reply.SetRcode(&query, dns.RcodeNameError).Pack()
	if err != nil {
		return nil
	}
	return packed
}

// taken is what was asked since it was taken last.
func (s *server) taken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := slices.Clone(s.asked)
	s.asked = nil
	return asked
}
