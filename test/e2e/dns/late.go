package dns

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"

	"github.com/signpost-dns/signpost/test/e2e/process"
)

// Late is an authoritative server of BINDZone that is behind when told so: it
// answers as BIND does, until it is held, and then as BIND did at that moment.
// A secondary whose transfers are late does the same.
type Late struct {
	// Address is its "127.0.0.1:port", both for UDP and for TCP.
	Address string

	bind    *BIND
	servers []*dns.Server

	mu   sync.Mutex
	held []dns.RR // the zone as it was; nil: it is not held
}

// NewLate starts a server that is not held; Close ends it.
func NewLate(ctx context.Context, bind *BIND, ports *process.Ports) (*Late, error) {
	address, err := ports.Address(ctx)
	if err != nil {
		return nil, err
	}
	packets, err := new(net.ListenConfig).ListenPacket(ctx, "udp", address)
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	l := &Late{Address: address, bind: bind}
	l.servers = []*dns.Server{{PacketConn: packets, Handler: l}, {Listener: listener, Handler: l}}
	for _, server := range l.servers {
		go func() { _ = server.ActivateAndServe() }()
	}
	return l, nil
}

// Hold keeps the zone as it is now.
func (l *Late) Hold(ctx context.Context) error {
	var connection net.Dialer
	dial, err := connection.DialContext(ctx, "tcp", l.bind.Address)
	if err != nil {
		return err
	}
	key := l.bind.KeyName + "."
	transfer := &dns.Transfer{Conn: &dns.Conn{Conn: dial}, TsigSecret: map[string]string{key: l.bind.Secret}}
	question := new(dns.Msg).SetAxfr(BINDZone + ".")
	question.SetTsig(key, dns.HmacSHA256, 300, time.Now().Unix())
	envelopes, err := transfer.In(question, l.bind.Address)
	if err != nil {
		return fmt.Errorf("transfer: %w", err)
	}
	var zone []dns.RR
	for envelope := range envelopes {
		if envelope.Error != nil {
			return fmt.Errorf("transfer: %w", envelope.Error)
		}
		zone = append(zone, envelope.RR...)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = zone
	return nil
}

// Release answers as BIND does again.
func (l *Late) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = nil
}

// Close ends the server.
func (l *Late) Close() {
	for _, server := range l.servers {
		_ = server.Shutdown()
	}
}

// ServeDNS implements dns.Handler.
func (l *Late) ServeDNS(w dns.ResponseWriter, question *dns.Msg) {
	l.mu.Lock()
	held := l.held
	l.mu.Unlock()
	if held != nil {
		_ = w.WriteMsg(past(held, question))
		return
	}
	answer, _, err := (&dns.Client{Net: w.LocalAddr().Network()}).Exchange(question, l.bind.Address)
	if err != nil {
		answer = new(dns.Msg).SetRcode(question, dns.RcodeServerFailure)
	}
	_ = w.WriteMsg(answer)
}

// past answers a question from a zone without wildcards.
func past(zone []dns.RR, question *dns.Msg) *dns.Msg {
	answer := new(dns.Msg).SetRcode(question, dns.RcodeNameError)
	answer.Authoritative = true
	asked := question.Question[0]
	for _, record := range zone {
		if !strings.EqualFold(record.Header().Name, asked.Name) {
			continue
		}
		answer.Rcode = dns.RcodeSuccess
		if record.Header().Rrtype == asked.Qtype {
			answer.Answer = append(answer.Answer, record)
		}
	}
	return answer
}
