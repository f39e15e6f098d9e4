package rfc2136

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
)

// sends answers a signed transfer with records, of which next gives one at a time until it gives none.
func sends(next func(n int) string) func(w dns.ResponseWriter, asked, reply *dns.Msg) {
	return func(w dns.ResponseWriter, asked, reply *dns.Msg) {
		if asked.Question[0].Qtype != dns.TypeAXFR || asked.IsTsig() == nil || w.TsigStatus() != nil {
			reply.Rcode = dns.RcodeRefused
			_ = w.WriteMsg(reply)
			return
		}
		parts, left := make(chan *dns.Envelope), make(chan struct{})
		defer close(left) // the reader may go before the last record
		go func() {
			defer close(parts)
			for n := 0; ; n++ {
				text := next(n)
				if text == "" {
					return
				}
				rr, err := dns.NewRR(text)
				if err != nil {
					panic(err)
				}
				select {
				case parts <- &dns.Envelope{RR: []dns.RR{rr}}:
				case <-left:
					return
				}
			}
		}()
		_ = new(dns.Transfer).Out(w, asked, parts)
	}
}

const soa = "corp.example. 60 IN SOA ns.corp.example. x.corp.example. 1 2 3 4 5"

// TestAZoneIsListedWithItsMarks, without what stays with its servers.
func TestAZoneIsListedWithItsMarks(t *testing.T) {
	mark := func(owner string) string {
		return fmt.Sprintf(`TXT "heritage=external-dns,external-dns/owner=%s,external-dns/resource=ingress/web/x"`, owner)
	}
	records := []string{
		soa, "corp.example. 60 NS ns.corp.example.", "ns.corp.example. 60 A 192.0.2.53", "corp.example. 60 MX 10 mail.corp.example.",
		"WWW.corp.example. 60 A 192.0.2.2", "www.corp.example. 30 A 192.0.2.1", "a-www.corp.example. 0 " + mark("legacy"),
		"api.corp.example. 60 CNAME www.corp.example.", "cname-api.own.corp.example. 0 " + mark("other"), "cname-api-own.corp.example. 0 " + mark("mine"),
		`text.corp.example. 60 TXT "a;b"`, "text.corp.example. 60 " + mark("legacy"),
		"sub.corp.example. 60 NS ns.sub.corp.example.", "ns.sub.corp.example. 60 A 192.0.2.54", "sub.corp.example. 60 DS 1 13 2 " + strings.Repeat("00", 32),
		"www.corp.example. 60 NSEC api.corp.example. A", soa,
	}
	s := begin(t, sends(func(n int) string { return append(records, "")[n] }))
	w := s.writer(t, externaldns.Parameters{"txt-suffix": "-own"})
	sets, err := w.List(t.Context(), len(records)-1)
	require.NoError(t, err)
	for _, set := range sets {
		slices.Sort(set.Targets)
	}
	assert.ElementsMatch(t, []publisher.Set{
		{Name: "ns.corp.example", Type: "A", Targets: []string{"192.0.2.53"}, TTL: 60},
		{Name: "corp.example", Type: "MX", Targets: []string{"10 mail.corp.example."}, TTL: 60},
		{Name: "www.corp.example", Type: "A", Targets: []string{"192.0.2.1", "192.0.2.2"}, TTL: 30, Mark: publisher.Mark{Owner: "legacy", Resource: "ingress/web/x"}},
		{Name: "api.corp.example", Type: "CNAME", Targets: []string{"www.corp.example."}, TTL: 60, Mark: publisher.Mark{Owner: "mine", Resource: "ingress/web/x"}},
		{Name: "text.corp.example", Type: "TXT", Targets: []string{`"a;b"`}, TTL: 60},
	}, sets)

	_, err = w.List(t.Context(), 5)
	require.Equal(t, publisher.Invalid, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, "the zones have more than 5 records, or more than 64 MiB")
	require.NotContains(t, err.Error(), "allow-transfer")
}

// TestALargeZoneIsAskedForOnce: a further server would send the same. The limits are those of all zones together.
func TestALargeZoneIsAskedForOnce(t *testing.T) {
	long := `\# 30000 ` + strings.Repeat("00", 30_000)
	const last = 600 // of records that have 34 MiB together
	s := begin(t, sends(func(n int) string {
		switch {
		case n == 0 || n == last:
			return soa
		case n > last:
			return ""
		}
		return "x.corp.example. 60 TYPE65280 " + long
	}))
	hosts := []any{"127.0.0.1", "127.0.0.1"}
	_, err := s.writer(t, externaldns.Parameters{"rfc2136-host": hosts}).List(t.Context(), 100_000)
	require.NoError(t, err)
	s.tcp.Store(0)
	w := s.writer(t, externaldns.Parameters{"rfc2136-host": hosts, "rfc2136-zone": []any{"corp.example", "b.corp.example"}})
	_, err = w.List(t.Context(), 100_000)
	require.Equal(t, publisher.Invalid, fault.Of(err), "%v", err)
	require.EqualError(t, err, "the zones have more than 100000 records, or more than 64 MiB, which is the most that is read; name fewer or smaller zones in rfc2136-zone")
	require.EqualValues(t, 2, s.tcp.Load(), "once for each zone")

	s = begin(t, sends(func(n int) string { return []string{soa, "a.corp.example. 60 A 192.0.2.1", soa, ""}[n] }))
	w = s.writer(t, externaldns.Parameters{"rfc2136-zone": []any{"corp.example", "b.corp.example"}})
	_, err = w.List(t.Context(), 3)
	require.ErrorContains(t, err, "more than 3 records")
	_, err = w.List(t.Context(), 4)
	require.NoError(t, err)
}

// TestFaultsThatMayPassAreUnreachable: SERVFAIL, and a connection that ends midway.
func TestFaultsThatMayPassAreUnreachable(t *testing.T) {
	for what, answer := range map[string]func(w dns.ResponseWriter, asked, reply *dns.Msg){
		"the server answers SERVFAIL": func(w dns.ResponseWriter, _, reply *dns.Msg) { reply.Rcode = dns.RcodeServerFailure; signed(w, reply) },
		"EOF": func(w dns.ResponseWriter, asked, reply *dns.Msg) {
			sends(func(n int) string { return []string{soa, "a.corp.example. 60 A 192.0.2.1", ""}[n] })(w, asked, reply)
			_ = w.Close()
		},
	} {
		_, err := begin(t, answer).writer(t, nil).List(t.Context(), 10)
		require.Equal(t, fault.Unreachable, fault.Of(err), "%s: %v", what, err)
		require.ErrorContains(t, err, what+"; see the log of the server")
	}
}

// TestATransferWithoutEndIsEnded by the number of records, and a silent one by the context.
func TestATransferWithoutEndIsEnded(t *testing.T) {
	s := begin(t, sends(func(n int) string {
		if n == 0 {
			return soa
		}
		return fmt.Sprintf("h%d.corp.example. 60 A 192.0.2.1", n)
	}))
	_, err := s.writer(t, nil).List(t.Context(), 2000)
	require.ErrorContains(t, err, "the zones have more than 2000 records")

	silent := begin(t, func(dns.ResponseWriter, *dns.Msg, *dns.Msg) {})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = silent.writer(t, nil).List(ctx, 2000)
	require.Equal(t, fault.Unreachable, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, "does not send zone corp.example. in time")
}

// TestZonesThatCannotBeListedSayWhy: the server refuses, the address may not be dialled, or nobody is there.
func TestZonesThatCannotBeListedSayWhy(t *testing.T) {
	s := begin(t, func(w dns.ResponseWriter, _, reply *dns.Msg) { reply.Rcode = dns.RcodeRefused; signed(w, reply) })
	_, err := s.writer(t, nil).List(t.Context(), 10)
	require.Equal(t, fault.Refused, fault.Of(err), "%v", err)
	require.ErrorContains(t, err, "allow-transfer in BIND")

	w := s.writer(t, nil)
	w.dial = func(context.Context, string, string, string) (net.Conn, error) {
		return nil, fault.Errorf(publisher.Forbidden, "it is not listed")
	}
	_, err = w.List(t.Context(), 10)
	require.Equal(t, publisher.Forbidden, fault.Of(err))

	w = s.writer(t, nil)
	w.servers = []string{"127.0.0.1:1"}
	_, err = w.List(t.Context(), 10)
	require.Equal(t, fault.Unreachable, fault.Of(err))
	require.EqualError(t, err, "server 127.0.0.1:1: dial: connect: connection refused")
}
