package autopath

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"
)

// Wire hears the queries that go over loopback to some servers.
type Wire struct {
	socket  int
	servers map[netip.AddrPort]bool
}

// Query is one that was sent.
type Query struct {
	To      netip.AddrPort
	Proto   string // udp or tcp
	Name    string // without the dot at its end
	Type    uint16
	Options map[uint16]string // of EDNS0, by code; those for local use alone
}

// NewWire begins to hear what is sent to servers.
func NewWire(servers ...netip.AddrPort) (*Wire, error) {
	loopback, err := net.InterfaceByName("lo")
	if err != nil {
		return nil, err
	}
	socket, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("hear packets: %w", err)
	}
	w := &Wire{socket: socket, servers: map[netip.AddrPort]bool{}}
	for _, server := range servers {
		w.servers[server] = true
	}
	program := filter(servers)
	err = unix.SetsockoptSockFprog(socket, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("filter packets: %w", err), w.Close())
	}
	const networkOrder = unix.ETH_P_IP >> 8
	if err := unix.Bind(socket, &unix.SockaddrLinklayer{Protocol: networkOrder, Ifindex: loopback.Index}); err != nil {
		return nil, errors.Join(fmt.Errorf("hear loopback: %w", err), w.Close())
	}
	return w, nil
}

// filter lets packets of UDP and TCP through that go to the ports of servers, so
// that all else that is said on loopback takes no room.
func filter(servers []netip.AddrPort) []unix.SockFilter {
	program := []unix.SockFilter{
		{Code: unix.BPF_LDX | unix.BPF_B | unix.BPF_MSH},           // how long IP's header is
		{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_IND, K: portTo}, // the port behind it
	}
	for n, server := range servers {
		accept := uint8(len(servers) - n)
		program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(server.Port()), Jt: accept})
	}
	const whole = 1 << 18
	return append(program, unix.SockFilter{Code: unix.BPF_RET}, unix.SockFilter{Code: unix.BPF_RET, K: whole})
}

// Close ends the hearing.
func (w *Wire) Close() error { return unix.Close(w.socket) }

// Queries are those that were sent since the last call, in order. What was
// answered has been heard; there is nothing to wait for.
func (w *Wire) Queries() ([]Query, error) {
	var all []Query
	packet := make([]byte, 1<<16)
	for {
		n, from, err := unix.Recvfrom(w.socket, packet, 0)
		if errors.Is(err, unix.EAGAIN) {
			return all, w.complete()
		}
		if err != nil {
			return nil, err
		}
		// Loopback's packets are heard twice: when they are sent, and when they come.
		if link, ok := from.(*unix.SockaddrLinklayer); !ok || link.Pkttype != unix.PACKET_HOST {
			continue
		}
		to, proto, message := dissect(packet[:n])
		if !w.servers[to] {
			continue
		}
		if proto == "udp" {
			all = appendQuery(all, to, proto, message)
		} else {
			all = appendStream(all, to, message)
		}
	}
}

// complete tells whether anything went unheard.
func (w *Wire) complete() error {
	stats, err := unix.GetsockoptTpacketStats(w.socket, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return err
	}
	if stats.Drops > 0 {
		return fmt.Errorf("%d packets were not heard: ask more often", stats.Drops)
	}
	return nil
}

// Where things are in packets of IPv4, TCP and UDP.
const (
	wordSize       = 4
	ipShortest     = 20
	ipProtocol     = 9
	ipDestination  = 16
	udpHeader      = 8
	portTo         = 2
	tcpShortest    = 20
	tcpOffset      = 12
	tcpLengthBytes = 2 // before each message
)

// dissect answers what is in a packet of IPv4, and whom it is for: nobody, if
// it is nothing for a server.
func dissect(packet []byte) (to netip.AddrPort, proto string, payload []byte) {
	if len(packet) < ipShortest {
		return to, "", nil
	}
	segment := packet[int(packet[0]&0xf)*wordSize:]
	var header int
	switch {
	case packet[ipProtocol] == unix.IPPROTO_UDP && len(segment) > udpHeader:
		proto, header = "udp", udpHeader
	case packet[ipProtocol] == unix.IPPROTO_TCP && len(segment) > tcpShortest:
		proto, header = "tcp", int(segment[tcpOffset]>>4)*wordSize
	default:
		return to, "", nil
	}
	address := netip.AddrFrom4([4]byte(packet[ipDestination:ipShortest]))
	return netip.AddrPortFrom(address, binary.BigEndian.Uint16(segment[portTo:])), proto, segment[header:]
}

// appendStream appends the queries in a segment of TCP. They are short, and so
// sent at once.
func appendStream(all []Query, to netip.AddrPort, data []byte) []Query {
	for len(data) > tcpLengthBytes {
		length := int(binary.BigEndian.Uint16(data))
		data = data[tcpLengthBytes:]
		if length > len(data) {
			break
		}
		all = appendQuery(all, to, "tcp", data[:length])
		data = data[length:]
	}
	return all
}

// appendQuery appends a message that is a query.
func appendQuery(all []Query, to netip.AddrPort, proto string, message []byte) []Query {
	m := new(dns.Msg)
	if err := m.Unpack(message); err != nil || m.Response || len(m.Question) != 1 {
		return all
	}
	question := m.Question[0]
	query := Query{To: to, Proto: proto, Name: question.Name[:len(question.Name)-1], Type: question.Qtype, Options: map[uint16]string{}}
	if edns := m.IsEdns0(); edns != nil {
		for _, option := range edns.Option {
			if local, ok := option.(*dns.EDNS0_LOCAL); ok {
				query.Options[local.Code] = string(local.Data)
			}
		}
	}
	return append(all, query)
}
