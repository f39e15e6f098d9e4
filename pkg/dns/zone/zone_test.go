package zone

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"
)

func TestParseReadsRecordsAsTheyAre(t *testing.T) {
	t.Parallel()
	z, err := Parse(strings.NewReader(`$ORIGIN Shop.Example.
$TTL 300
@ IN SOA ns admin 1 2 3 4 5
WWW A 192.0.2.1
 60 AAAA 2001:db8::1
mail MX 10 mx
txt TXT "a \"b\"; c" "d"
`), "", "f")
	require.NoError(t, err)
	require.Equal(t, Zone{Name: "shop.example", Records: []Record{
		{"shop.example", "SOA", 300, "ns.Shop.Example. admin.Shop.Example. 1 2 3 4 5"},
		{"www.shop.example", "A", 300, "192.0.2.1"},
		{"www.shop.example", "AAAA", 60, "2001:db8::1"},
		{"mail.shop.example", "MX", 300, "10 mx.Shop.Example."},
		{"txt.shop.example", "TXT", 300, `"a \"b\"; c" "d"`},
	}}, z)
}

// TestParseRefusesBadFiles, and says where they are wrong and what to do.
func TestParseRefusesBadFiles(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"$ORIGIN a.example.\nwww A 1.2.3\n":              `f: bad A A: "1.2.3" at line: 2:11`,
		"$ORIGIN a.example.\n$INCLUDE /etc/passwd\n":     "$INCLUDE",
		"www A 192.0.2.1\n":                              "give the zone's name by --origin",
		"":                                               "f has no records",
		"a.example. CH TXT \"x\"\n":                      "is of class CH; only zones of class IN",
		"a.example. MX 10\n":                             "at line: 1:",
		"a.example. TXT \"open\n":                        "at line:",
		"a.example. 60 IN A 192.0.2.1 )\n":               "at line: 1:",
		strings.Repeat("a", 300) + ". A 192.0.2.1\n":     "at line: 1:",
		"$ORIGIN a.example.\n$GENERATE 1-0 h$ A 1.1.1.1": "at line: 2:",
	} {
		_, err := Parse(strings.NewReader(text), "", "f")
		require.ErrorContains(t, err, want, text)
	}
	_, err := Parse(strings.NewReader("www A 192.0.2.1\n"), "a..example", "f")
	require.ErrorContains(t, err, `"a..example" is not the name of a zone`)
}

// TestParseEndsWithManyRecords: a few lines of $GENERATE make more than are read.
func TestParseEndsWithManyRecords(t *testing.T) {
	t.Parallel()
	_, err := Parse(strings.NewReader("$ORIGIN a.example.\n"+strings.Repeat("$GENERATE 0-65535 h$ A 192.0.2.1\n", 10)), "", "f")
	require.ErrorContains(t, err, "the zone has more than 500000 records")
}

func TestQuoteIsReadBack(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", `a "b" \ c;`, strings.Repeat("x", 600), "ü\x00\n"} {
		rr, err := dns.NewRR("a.example. TXT " + Quote(text))
		require.NoError(t, err, text)
		again := Quote(text)
		require.Equal(t, again, strings.TrimPrefix(rr.String(), rr.Header().String()))
		back, err := Unquote(again)
		require.NoError(t, err)
		require.Equal(t, text, back)
	}
}

// server answers AXFR of a zone on loopback.
func server(t *testing.T, answer func(dns.ResponseWriter, *dns.Msg)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &dns.Server{Listener: listener, Handler: dns.HandlerFunc(answer), TsigSecret: map[string]string{"k.": "c2VjcmV0"}}
	go func() { _ = s.ActivateAndServe() }()
	t.Cleanup(func() { _ = s.Shutdown() })
	return listener.Addr().String()
}

func TestTransferGetsTheWholeZone(t *testing.T) {
	t.Parallel()
	at := server(t, func(w dns.ResponseWriter, q *dns.Msg) {
		soa, _ := dns.NewRR("a.example. 60 IN SOA ns.a.example. x.a.example. 1 2 3 4 5")
		m := new(dns.Msg).SetReply(q)
		if q.IsTsig() == nil || w.TsigStatus() != nil {
			m.Rcode = dns.RcodeRefused
			_ = w.WriteMsg(m)
			return
		}
		parts := make(chan *dns.Envelope)
		go func() {
			defer close(parts)
			parts <- &dns.Envelope{RR: []dns.RR{soa}}
			for n := range 1000 {
				rr, _ := dns.NewRR(fmt.Sprintf("h%d.a.example. 60 IN A 192.0.2.%d", n, n%250))
				parts <- &dns.Envelope{RR: []dns.RR{rr}}
			}
			parts <- &dns.Envelope{RR: []dns.RR{soa}}
		}()
		_ = new(dns.Transfer).Out(w, q, parts)
	})
	from := Server{Address: at, Dial: (&net.Dialer{}).DialContext, Key: &Key{"k", "hmac-sha256", "c2VjcmV0"}}
	z, err := from.Transfer(t.Context(), "A.example")
	require.NoError(t, err)
	require.Equal(t, "a.example", z.Name)
	require.Len(t, z.Records, 1001)

	from.Most = 1000
	_, err = from.Transfer(t.Context(), "a.example")
	require.ErrorIs(t, err, ErrTooLarge)
	require.ErrorContains(t, err, "the zone has more than 1000 records")
	require.NotContains(t, err.Error(), "allow-transfer")

	from.Most, from.Bytes = 0, 0
	for _, r := range z.Records {
		from.Bytes += r.Size()
	}
	_, err = from.Transfer(t.Context(), "a.example")
	require.NoError(t, err)
	from.Bytes--
	_, err = from.Transfer(t.Context(), "a.example")
	require.ErrorIs(t, err, ErrTooLarge)
	require.ErrorContains(t, err, fmt.Sprintf("the zone has more than %d bytes", from.Bytes))

	_, err = Server{Address: at, Dial: from.Dial}.Transfer(t.Context(), "a.example")
	require.ErrorContains(t, err, "the server answers REFUSED; let the server transfer the zone to this host")
	require.False(t, Interrupted(err))
}

// TestTransferEndsWithItsContext, although the server says nothing.
func TestTransferEndsWithItsContext(t *testing.T) {
	t.Parallel()
	asked := make(chan bool, 1)
	at := server(t, func(dns.ResponseWriter, *dns.Msg) { asked <- true })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	go func() { <-asked; cancel() }()
	_, err := Server{Address: at, Dial: (&net.Dialer{}).DialContext}.Transfer(ctx, "a.example")
	require.ErrorIs(t, err, context.Canceled)
}

func TestKeysAreChecked(t *testing.T) {
	t.Parallel()
	require.NoError(t, Key{"k", "HMAC-SHA256", "c2VjcmV0"}.Check())
	require.ErrorContains(t, Key{"k", "md5", "c2VjcmV0"}.Check(), "not an algorithm")
	require.ErrorContains(t, Key{"k", "hmac-sha1", "!"}.Check(), "not in base64")
	require.ErrorContains(t, Key{"k", "hmac-sha1", ""}.Check(), "not in base64")
}

// FuzzParse: each text gives a zone, or an error, and names without upper case.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"$ORIGIN a.\nb A 1.1.1.1", "a. TXT \"", "$INCLUDE x", "a. 1 IN SOA b. c. 1 2 3 4 5", "$GENERATE 1-3 x$. A 1.1.1.1", "a. TYPE999 \\# 1 00", "$TTL x"} {
		f.Add(text, "a.example")
	}
	f.Fuzz(func(t *testing.T, text, origin string) {
		if strings.Contains(text, "GENERATE") {
			return // many records, and tested above
		}
		z, err := Parse(strings.NewReader(text), origin, "f")
		if err != nil {
			return
		}
		require.NotEmpty(t, z.Records)
		for _, r := range z.Records {
			require.Equal(t, strings.ToLower(r.Name), r.Name)
			require.NotContains(t, r.Value, "\n")
		}
	})
}
