package clusterdns

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/miekg/dns"

	"github.com/signpost-dns/signpost/test/e2e/process"
)

// Upstream is a nameserver that counts. It answers every question for an
// address with its own, unless it is told otherwise.
type Upstream struct {
	At     netip.AddrPort
	Answer string // of every A; no other upstream's

	mu        sync.Mutex
	asked     []Question
	silent    bool                       // hears and never answers, health checks neither
	truncates bool                       // answers over UDP are cut off
	tell      func(answer *dns.Msg) bool // nil: tells Answer
}

// Question is one that an upstream was asked.
type Question struct {
	Name  string // without the dot at its end
	Proto string // udp or tcp
}

// StartUpstream starts an upstream on loopback, which ctx ends. With a
// certificate it speaks DNS over TLS alone.
func StartUpstream(ctx context.Context, ports *process.Ports, answer string, certificate *tls.Certificate) (*Upstream, error) {
	address, err := ports.Address(ctx)
	if err != nil {
		return nil, err
	}
	u := &Upstream{At: netip.MustParseAddrPort(address), Answer: answer}
	networks := []string{"udp", "tcp"}
	if certificate != nil {
		networks = []string{"tcp-tls"}
	}
	for _, network := range networks {
		if err := u.serve(ctx, network, certificate); err != nil {
			return nil, fmt.Errorf("upstream %s over %s: %w", answer, network, err)
		}
	}
	return u, nil
}

// serve listens before it returns.
func (u *Upstream) serve(ctx context.Context, network string, certificate *tls.Certificate) error {
	listening := make(chan struct{})
	server := &dns.Server{Addr: u.At.String(), Net: network, Handler: u, NotifyStartedFunc: func() { close(listening) }}
	if certificate != nil {
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12}
	}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	select {
	case err := <-failed:
		return err
	case <-listening:
		context.AfterFunc(ctx, func() { _ = server.Shutdown() })
		return nil
	}
}

// ServeDNS answers one question, and counts it unless CoreDNS asks on its own
// behalf: whether the upstream lives, or whether queries go round in a loop.
func (u *Upstream) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	question := query.Question[0]
	_, udp := w.RemoteAddr().(*net.UDPAddr)
	u.mu.Lock()
	if question.Qtype != dns.TypeHINFO && question.Name != "." {
		proto := "tcp"
		if udp {
			proto = "udp"
		}
		u.asked = append(u.asked, Question{Name: question.Name[:len(question.Name)-1], Proto: proto})
	}
	silent, truncates, tell := u.silent, u.truncates, u.tell
	u.mu.Unlock()
	if silent {
		return
	}
	answer := new(dns.Msg).SetReply(query)
	answer.RecursionAvailable = true
	switch {
	case truncates && udp:
		answer.Truncated = true
	case tell != nil:
		if !tell(answer) {
			return
		}
		if udp {
			answer.Truncate(dns.MinMsgSize)
		}
	case question.Qtype == dns.TypeA:
		header := dns.RR_Header{Name: question.Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 60}
		answer.Answer = []dns.RR{&dns.A{Hdr: header, A: net.ParseIP(u.Answer)}}
	}
	_ = w.WriteMsg(answer) // who asked may have gone
}

// Fall makes the upstream silent, or speak again.
func (u *Upstream) Fall(silent bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.silent = silent
}

// Truncate makes the upstream cut off what it answers over UDP.
func (u *Upstream) Truncate() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.truncates = true
}

// Tell has the upstream's replies completed in another way, and those alone sent
// of which tell says so.
func (u *Upstream) Tell(tell func(answer *dns.Msg) (answers bool)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.tell = tell
}

// Asked is what the upstream was asked so far, in order.
func (u *Upstream) Asked() []Question {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.asked)
}
