package rfc2136

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/miekg/dns"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
)

const (
	udpWait   = time.Second // for an answer by UDP, before TCP is tried
	clockSkew = 300         // seconds that clocks of a signed message may differ
	udpSize   = 1232
)

// outcome is the answer of one server.
type outcome struct {
	reply  *dns.Msg
	server string
}

// ask sends a question to the servers in turn, beginning with the one that answered last, until one answers.
func (w *Writer) ask(ctx context.Context, zone string, question *dns.Msg) (outcome, error) {
	var failed error
	begin := int(w.current.Load())
	for n := range w.servers {
		at := (begin + n) % len(w.servers)
		answer, err := w.query(ctx, w.servers[at], zone, question.Copy())
		if err == nil {
			w.current.Store(int32(at))
			return answer, nil
		}
		if failed == nil || fault.Of(failed) == fault.Unreachable {
			failed = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return outcome{}, failed
}

// query asks one server by UDP, and by TCP if the answer is cut off or does not come.
func (w *Writer) query(ctx context.Context, server, zone string, question *dns.Msg) (outcome, error) {
	question.RecursionDesired = false
	question.SetEdns0(udpSize, false)
	if w.tls == nil {
		waiting, cancel := context.WithTimeout(ctx, udpWait)
		reply, err := w.exchange(waiting, "udp", server, zone, question.Copy())
		cancel()
		var timeout net.Error
		switch {
		case err == nil && !reply.Truncated:
			return w.answered(server, zone, reply)
		case err != nil && (reply != nil || !errors.As(err, &timeout) || !timeout.Timeout()):
			return outcome{}, w.explain(server, zone, reply, err)
		}
	}
	reply, err := w.exchange(ctx, "tcp", server, zone, question)
	if err != nil {
		return outcome{}, w.explain(server, zone, reply, err)
	}
	if reply.Truncated {
		return outcome{}, fault.Errorf(fault.Refused, "server %s cuts its answer for zone %s off by TCP, too, so nobody knows all of it", server, zone)
	}
	return w.answered(server, zone, reply)
}

// answered takes an answer that an authoritative server gives.
func (w *Writer) answered(server, zone string, reply *dns.Msg) (outcome, error) {
	if reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError {
		return outcome{}, w.explain(server, zone, reply, nil)
	}
	if !reply.Authoritative {
		return outcome{}, fault.Errorf(fault.Refused, "server %s is not authoritative for zone %s; rfc2136-host has to name its primary", server, zone)
	}
	return outcome{reply: reply, server: server}, nil
}

// send sends an update to the servers in turn, by TCP, until one takes it or says no. After an update whose outcome
// is not known, no other server is asked.
func (w *Writer) send(ctx context.Context, zone string, update *dns.Msg) (*dns.Msg, error) {
	var failed error
	begin := int(w.current.Load())
	for n := range w.servers {
		at := (begin + n) % len(w.servers)
		reply, err := w.exchange(ctx, "tcp", w.servers[at], zone, update.Copy())
		if err == nil && reply.Rcode != dns.RcodeServerFailure && reply.Rcode != dns.RcodeNotAuth && reply.Rcode != dns.RcodeRefused {
			w.current.Store(int32(at))
			return reply, nil
		}
		explained := w.explain(w.servers[at], zone, reply, err)
		if err != nil && reply == nil && !isDial(err) {
			return nil, explained // it may have happened
		}
		failed = explained
	}
	return nil, failed
}

// notDialled is an error before anything was sent.
type notDialled struct{ error }

func (n notDialled) Unwrap() error { return n.error }

func isDial(err error) bool {
	var n notDialled
	return errors.As(err, &n)
}

// exchange sends a message over a connection of its own and reads the answer. With an error, the
// reply may tell more.
func (w *Writer) exchange(ctx context.Context, network, server, zone string, message *dns.Msg) (*dns.Msg, error) {
	secure, err := w.secure(ctx, network, server, zone)
	if err != nil {
		return nil, notDialled{err}
	}
	defer func() { _ = secure.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = secure.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	raw := secure
	if network == "udp" {
		raw = datagrams{secure}
	}
	client := &dns.Client{Net: network, TsigSecret: w.key.secrets, Timeout: publisher.WriteDeadline, UDPSize: udpSize}
	if w.key.name != "" {
		message.SetTsig(w.key.name, w.key.algorithm, clockSkew, w.now().Unix())
	}
	reply, _, err := client.ExchangeWithConnContext(ctx, message, &dns.Conn{Conn: raw, UDPSize: udpSize, TsigSecret: w.key.secrets})
	if err == nil && reply.Id != message.Id {
		return nil, fmt.Errorf("an answer to another message")
	}
	if err == nil && w.key.name != "" && reply.IsTsig() == nil {
		return nil, fmt.Errorf("the answer is not signed")
	}
	return reply, err
}

// datagrams is a connection that keeps the borders of messages. The library asks for this
// interface, which a Dial that wraps connections would hide.
type datagrams struct{ net.Conn }

// ReadFrom implements net.PacketConn.
func (d datagrams) ReadFrom(b []byte) (int, net.Addr, error) {
	n, err := d.Read(b)
	return n, d.RemoteAddr(), err
}

// WriteTo implements net.PacketConn.
func (d datagrams) WriteTo(b []byte, _ net.Addr) (int, error) { return d.Write(b) }

// explain says why a server did not do what it was asked, in the server's own words.
func (w *Writer) explain(server, zone string, reply *dns.Msg, err error) *fault.Error {
	if reply != nil {
		if failed := w.unsigned(server, reply, err); failed != nil {
			return failed
		}
	}
	if errors.Is(err, dns.ErrAuth) && reply != nil {
		err = nil // the library's word for NOTAUTH, which the code of the reply tells
	}
	switch {
	case err != nil:
		if known, ok := errors.AsType[*fault.Error](err); ok {
			return &fault.Error{Fault: known.Fault, Message: known.Message, Err: err}
		}
		if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded) {
			return &fault.Error{Fault: fault.Unreachable, Message: fmt.Sprintf("server %s does not answer in time", server), Err: err}
		}
		return &fault.Error{Fault: fault.Unreachable, Message: fmt.Sprintf("server %s: %s", server, cause(err)), Err: err}
	case reply.Rcode == dns.RcodeServerFailure:
		return fault.Errorf(fault.Unreachable, "server %s answers SERVFAIL for zone %s%s; see its log", server, zone, words(reply))
	case reply.Rcode == dns.RcodeRefused:
		return fault.Errorf(fault.Refused, "server %s answers REFUSED for zone %s%s; allow %s in its update policy", server, zone, words(reply), w.signer())
	case reply.Rcode == dns.RcodeNotAuth:
		return fault.Errorf(fault.Refused, "server %s answers NOTAUTH: it is not the primary of zone %s%s", server, zone, words(reply))
	default:
		return fault.Errorf(fault.Refused, "server %s answers %s for zone %s%s", server, dns.RcodeToString[reply.Rcode], zone, words(reply))
	}
}

// cause is the reason of a failed connection, without addresses and ports of our side.
func cause(err error) string {
	if operation, ok := errors.AsType[*net.OpError](err); ok && operation.Err != nil {
		return operation.Op + ": " + operation.Err.Error()
	}
	return err.Error()
}

func (w *Writer) signer() string {
	if w.key.name == "" {
		return "the address of Signpost"
	}
	return "key " + w.key.name
}

// unsigned explains what is wrong with the signature; nil if nothing is.
func (w *Writer) unsigned(server string, reply *dns.Msg, err error) *fault.Error {
	signature := reply.IsTsig()
	switch {
	case signature == nil:
		return nil
	case signature.Error == dns.RcodeBadKey:
		return fault.Errorf(fault.Refused, "server %s answers BADKEY: it does not know key %s with algorithm %s", server, w.key.name, w.key.algorithm)
	case signature.Error == dns.RcodeBadSig:
		return fault.Errorf(fault.Refused, "server %s answers BADSIG: its secret of key %s is another one", server, w.key.name)
	case signature.Error == dns.RcodeBadTime || errors.Is(err, dns.ErrTime):
		return fault.Errorf(fault.Refused, "server %s answers BADTIME: its clock is %s, and they may differ by %d seconds; set the clocks", server, w.apart(signature), clockSkew)
	case errors.Is(err, dns.ErrSig) || errors.Is(err, dns.ErrSecret) || errors.Is(err, dns.ErrKeyAlg):
		return fault.Errorf(fault.Refused, "the signature of server %s is wrong: %v", server, err)
	}
	return nil
}

// apart tells how far the clock of a server is from Signpost's, which the server's answer says.
func (w *Writer) apart(signature *dns.TSIG) string {
	const bits = 48
	seconds, err := strconv.ParseInt(signature.OtherData, 16, bits+1)
	if err != nil {
		return "another one than Signpost's"
	}
	ahead := time.Unix(seconds, 0).Sub(w.now()).Round(time.Minute) // so that the text is the same at the next attempt
	if ahead < 0 {
		return fmt.Sprintf("%s behind Signpost's", -ahead)
	}
	return fmt.Sprintf("%s ahead of Signpost's", ahead)
}

// words are the extended errors (RFC 8914) of an answer.
func words(reply *dns.Msg) string {
	options := reply.IsEdns0()
	if options == nil {
		return ""
	}
	for _, option := range options.Option {
		if extended, ok := option.(*dns.EDNS0_EDE); ok {
			if extended.ExtraText != "" {
				return fmt.Sprintf(" (%s: %s)", dns.ExtendedErrorCodeToString[extended.InfoCode], extended.ExtraText)
			}
			return fmt.Sprintf(" (%s)", dns.ExtendedErrorCodeToString[extended.InfoCode])
		}
	}
	return ""
}
