package rfc2136

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
)

const secret = "c2VjcmV0LXNlY3JldC1zZWNyZXQ="

// server is a DNS server on loopback that does what BIND does only when something is wrong. All that is right is
// tested with BIND itself, in test/publisher/updates.
type server struct {
	port    string
	answer  func(w dns.ResponseWriter, asked, reply *dns.Msg)
	udp     atomic.Int64
	tcp     atomic.Int64
	updates atomic.Int64
}

func (s *server) ServeDNS(w dns.ResponseWriter, asked *dns.Msg) {
	if _, udp := w.RemoteAddr().(*net.UDPAddr); udp {
		s.udp.Add(1)
	} else {
		s.tcp.Add(1)
	}
	if asked.Opcode == dns.OpcodeUpdate {
		s.updates.Add(1)
	}
	reply := new(dns.Msg).SetReply(asked)
	reply.Authoritative = true
	s.answer(w, asked, reply)
}

func begin(t *testing.T, answer func(w dns.ResponseWriter, asked, reply *dns.Msg)) *server {
	t.Helper()
	s := &server{answer: answer}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, s.port, err = net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	packets, err := net.ListenPacket("udp", "127.0.0.1:"+s.port)
	require.NoError(t, err)
	for _, one := range []*dns.Server{{Listener: listener}, {PacketConn: packets}} {
		one.Handler, one.TsigSecret = s, map[string]string{"key1.": secret}
		one.MsgAcceptFunc = func(dns.Header) dns.MsgAcceptAction { return dns.MsgAccept }
		started := make(chan struct{})
		one.NotifyStartedFunc = func() { close(started) }
		ended := make(chan error, 1)
		go func() { ended <- one.ActivateAndServe() }()
		<-started
		t.Cleanup(func() {
			assert.NoError(t, one.Shutdown())
			assert.NoError(t, <-ended)
		})
	}
	return s
}

func (s *server) writer(t *testing.T, more externaldns.Parameters) *Writer {
	t.Helper()
	given := externaldns.Parameters{
		"rfc2136-host": []any{"127.0.0.1"}, "rfc2136-port": s.port, "rfc2136-zone": "corp.example", "rfc2136-tsig-keyname": "key1",
	}
	for name, value := range more {
		given[name] = value
	}
	w, err := Open(publisher.Settings{
		Provider: "rfc2136", Owner: "one", Parameters: given, Environment: map[string]string{"EXTERNAL_DNS_RFC2136_TSIG_SECRET": secret},
		Dial: func(ctx context.Context, network, address, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, network, address)
		},
	})
	require.NoError(t, err)
	return w
}

// signed sends a reply as the server signs it.
func signed(w dns.ResponseWriter, reply *dns.Msg) {
	reply.SetTsig("key1.", dns.HmacSHA256, 300, time.Now().Unix())
	_ = w.WriteMsg(reply)
}

// unsigned sends a reply with an error of the signature, which is not signed itself.
func unsigned(w dns.ResponseWriter, reply *dns.Msg, code uint16) {
	reply.Rcode = dns.RcodeNotAuth
	reply.Extra = append(reply.Extra, &dns.TSIG{
		Hdr:       dns.RR_Header{Name: "key1.", Rrtype: dns.TypeTSIG, Class: dns.ClassANY},
		Algorithm: dns.HmacSHA256, TimeSigned: uint64(time.Now().Unix()), Fudge: 300, OrigId: reply.Id, Error: code,
	})
	packed, _ := reply.Pack()
	_, _ = w.Write(packed)
}

const name = "www.corp.example"

func change(t *testing.T, w *Writer) error {
	t.Helper()
	states, err := w.Read(t.Context(), []string{name})
	if err != nil {
		return err
	}
	return w.Write(t.Context(), publisher.Change{Before: states[name], After: []publisher.Set{{Name: name, Type: "A", Targets: []string{"192.0.2.1"}}}})
}

// TestRefusalsSayWhatToDo has a server that refuses updates, or answers them wrongly.
func TestRefusalsSayWhatToDo(t *testing.T) {
	for reason, c := range map[string]struct {
		update func(w dns.ResponseWriter, reply *dns.Msg)
		fault  fault.Kind
		says   string
	}{
		"a wrong clock":    {func(w dns.ResponseWriter, reply *dns.Msg) { unsigned(w, reply, dns.RcodeBadTime) }, fault.Refused, "BADTIME"},
		"an unknown key":   {func(w dns.ResponseWriter, reply *dns.Msg) { unsigned(w, reply, dns.RcodeBadKey) }, fault.Refused, "BADKEY"},
		"another secret":   {func(w dns.ResponseWriter, reply *dns.Msg) { unsigned(w, reply, dns.RcodeBadSig) }, fault.Refused, "BADSIG"},
		"a policy":         {func(w dns.ResponseWriter, reply *dns.Msg) { reply.Rcode = dns.RcodeRefused; signed(w, reply) }, fault.Refused, "allow key key1."},
		"a secondary":      {func(w dns.ResponseWriter, reply *dns.Msg) { reply.Rcode = dns.RcodeNotAuth; signed(w, reply) }, fault.Refused, "not the primary"},
		"a broken server":  {func(w dns.ResponseWriter, reply *dns.Msg) { reply.Rcode = dns.RcodeServerFailure; signed(w, reply) }, fault.Unreachable, "SERVFAIL"},
		"no updates":       {func(w dns.ResponseWriter, reply *dns.Msg) { reply.Rcode = dns.RcodeNotImplemented; signed(w, reply) }, fault.Refused, "NOTIMP"},
		"a changed name":   {func(w dns.ResponseWriter, reply *dns.Msg) { reply.Rcode = dns.RcodeYXRrset; signed(w, reply) }, fault.Stale, "YXRRSET"},
		"a forged success": {func(w dns.ResponseWriter, reply *dns.Msg) { _ = w.WriteMsg(reply) }, fault.Unreachable, "not signed"},
	} {
		t.Run(reason, func(t *testing.T) {
			s := begin(t, func(w dns.ResponseWriter, asked, reply *dns.Msg) {
				if asked.Opcode == dns.OpcodeUpdate {
					c.update(w, reply)
					return
				}
				signed(w, reply)
			})
			err := change(t, s.writer(t, nil))
			require.Equal(t, c.fault, fault.Of(err), "%v", err)
			assert.ErrorContains(t, err, c.says)
		})
	}
}

// TestAnUpdateIsOnlyForANameAsItWasRead has somebody else write the name between the reading and the update.
func TestAnUpdateIsOnlyForANameAsItWasRead(t *testing.T) {
	s := begin(t, func(w dns.ResponseWriter, asked, reply *dns.Msg) {
		for _, prerequisite := range asked.Answer {
			h := prerequisite.Header()
			if asked.Opcode == dns.OpcodeUpdate && h.Name == dns.Fqdn(name) && h.Rrtype == dns.TypeA && h.Class == dns.ClassNONE {
				reply.Rcode = dns.RcodeYXRrset
			}
		}
		signed(w, reply)
	})
	err := change(t, s.writer(t, nil))
	assert.Equal(t, fault.Stale, fault.Of(err), "%v", err)
}

// TestACutAnswerIsAskedForByTCP has a set that does not fit into a datagram.
func TestACutAnswerIsAskedForByTCP(t *testing.T) {
	s := begin(t, func(w dns.ResponseWriter, asked, reply *dns.Msg) {
		_, udp := w.RemoteAddr().(*net.UDPAddr)
		switch question := asked.Question[0]; {
		case asked.Opcode == dns.OpcodeUpdate:
		case question.Name == dns.Fqdn(name) && question.Qtype == dns.TypeA && udp:
			reply.Truncated = true
		case question.Name == dns.Fqdn(name) && question.Qtype == dns.TypeA:
			for n := range 200 {
				record, _ := dns.NewRR(fmt.Sprintf("%s 60 A 192.0.2.%d", dns.Fqdn(name), n+1))
				reply.Answer = append(reply.Answer, record)
			}
		}
		signed(w, reply)
	})
	states, err := s.writer(t, nil).Read(t.Context(), []string{name})
	require.NoError(t, err)
	require.Len(t, states[name].Sets, 1)
	assert.Len(t, states[name].Sets[0].Targets, 200)
	assert.Equal(t, int64(5), s.udp.Load())
	assert.Equal(t, int64(2), s.tcp.Load(), "the cut answer, and whether a wildcard has given it")
}

// TestAnAnswerThatIsCutOffByTCPTooIsNotTaken, because a part of a set would be taken for all of it.
func TestAnAnswerThatIsCutOffByTCPTooIsNotTaken(t *testing.T) {
	s := begin(t, func(w dns.ResponseWriter, _, reply *dns.Msg) {
		reply.Truncated = true
		signed(w, reply)
	})
	err := change(t, s.writer(t, nil))
	require.Equal(t, fault.Refused, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, "cuts its answer for zone corp.example. off by TCP, too")
	assert.Zero(t, s.updates.Load())
}

// TestAnotherHostIsAskedWhenOneIsDown has two hosts, of which the first is closed.
func TestAnotherHostIsAskedWhenOneIsDown(t *testing.T) {
	s := begin(t, func(w dns.ResponseWriter, _, reply *dns.Msg) { signed(w, reply) })
	w := s.writer(t, nil)
	w.servers = append([]string{"127.0.0.1:1"}, w.servers...)
	require.NoError(t, change(t, w))
	assert.Equal(t, int64(1), s.updates.Load())
	assert.Equal(t, int32(1), w.current.Load(), "the host that answered is asked first from now on")
}

// TestAnUpdateWithoutAnAnswerIsNotRepeated has a server that takes an update and then says nothing: whether it has
// done it, only a reading tells.
func TestAnUpdateWithoutAnAnswerIsNotRepeated(t *testing.T) {
	s := begin(t, func(w dns.ResponseWriter, asked, reply *dns.Msg) {
		if asked.Opcode == dns.OpcodeUpdate {
			_ = w.Close()
			return
		}
		signed(w, reply)
	})
	w := s.writer(t, nil)
	w.servers = append(w.servers, w.servers[0])
	err := change(t, w)
	var failed *fault.Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, fault.Unreachable, failed.Fault)
	assert.Equal(t, int64(1), s.updates.Load())
}

// TestACNAMEAtTheNameOfAMarkIsNamed: beside it there is no place for the mark.
func TestACNAMEAtTheNameOfAMarkIsNamed(t *testing.T) {
	s := begin(t, func(w dns.ResponseWriter, asked, reply *dns.Msg) {
		if asked.Opcode == dns.OpcodeUpdate {
			reply.Rcode = dns.RcodeYXRrset
		} else if question := asked.Question[0]; question.Qtype == dns.TypeTXT && question.Name == "a-"+dns.Fqdn(name) {
			record, _ := dns.NewRR(question.Name + " 60 CNAME elsewhere.example.")
			reply.Answer = append(reply.Answer, record)
		}
		signed(w, reply)
	})
	err := change(t, s.writer(t, nil))
	require.Equal(t, publisher.Foreign, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, "a-www.corp.example, which is a CNAME of elsewhere.example")
}

// TestASlowServerIsGivenUpInTime has a server that says nothing, by UDP and by TCP.
func TestASlowServerIsGivenUpInTime(t *testing.T) {
	s := begin(t, func(dns.ResponseWriter, *dns.Msg, *dns.Msg) {})
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	_, err := s.writer(t, nil).Read(ctx, []string{name})
	require.Equal(t, fault.Unreachable, fault.Of(err), "%v", err)
	assert.ErrorContains(t, err, "does not answer in time")
}

// TestNamesThatCannotBeReadAreTold, each with its reason, and the others are read: also beside a zone that the server is
// silent about.
func TestNamesThatCannotBeReadAreTold(t *testing.T) {
	s := begin(t, func(w dns.ResponseWriter, asked, reply *dns.Msg) {
		switch asked := asked.Question[0].Name; {
		case dns.IsSubDomain("silent.example.", asked):
			return
		case dns.IsSubDomain("new.example.", asked):
			reply.Rcode = dns.RcodeNotAuth
		case dns.IsSubDomain("away.corp.example.", asked):
			reply.Authoritative = false
		}
		signed(w, reply)
	})
	w := s.writer(t, externaldns.Parameters{"rfc2136-zone": []any{"corp.example", "new.example", "silent.example"}})
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	reasons := map[string]string{
		"www.new.example": "not the primary of zone new.example", "db.away.corp.example": "not authoritative", "www.lost.example": "in none of the zones",
	}
	for n := range 2 * atOnce {
		reasons[fmt.Sprintf("n%d.silent.example", n)] = "does not answer in time"
	}
	states, err := w.Read(ctx, slices.Insert(slices.Sorted(maps.Keys(reasons)), 0, name))
	require.Len(t, states, 1)
	require.Equal(t, name, states[name].Name)
	var unread publisher.Unread
	require.ErrorAs(t, err, &unread)
	require.Len(t, unread, len(reasons))
	for of, says := range reasons {
		require.ErrorContains(t, unread[of], says, of)
	}
	_, err = w.Read(t.Context(), []string{"www.lost.example"})
	require.EqualError(t, err, unread["www.lost.example"].Error())
	require.Equal(t, publisher.Invalid, fault.Of(err))
}

func TestASecondaryIsNotRead(t *testing.T) {
	s := begin(t, func(w dns.ResponseWriter, _, reply *dns.Msg) {
		reply.Authoritative = false
		signed(w, reply)
	})
	err := change(t, s.writer(t, nil))
	require.Equal(t, fault.Refused, fault.Of(err), "%v", err)
	assert.ErrorContains(t, err, "not authoritative")
}

func TestSettingsThatCannotWorkAreRefused(t *testing.T) {
	for reason, c := range map[string]struct {
		parameters externaldns.Parameters
		says       string
	}{
		"no host":  {externaldns.Parameters{"rfc2136-zone": "corp.example", "rfc2136-insecure": true}, "rfc2136-host is missing"},
		"no zone":  {externaldns.Parameters{"rfc2136-host": "192.0.2.1", "rfc2136-insecure": true}, "rfc2136-zone is missing"},
		"no key":   {externaldns.Parameters{"rfc2136-host": "192.0.2.1", "rfc2136-zone": "corp.example"}, "signed updates need both"},
		"kerberos": {externaldns.Parameters{"rfc2136-host": "192.0.2.1", "rfc2136-zone": "corp.example", "rfc2136-gss-tsig": true}, "rfc2136-gss-tsig needs a Deployment"},
	} {
		_, err := Open(publisher.Settings{Provider: "rfc2136", Owner: "one", Parameters: c.parameters})
		require.Equal(t, publisher.Invalid, fault.Of(err), "%s: %v", reason, err)
		assert.ErrorContains(t, err, c.says)
	}
}
