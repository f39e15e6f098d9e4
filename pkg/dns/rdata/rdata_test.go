package rdata_test

import (
	"testing"

	"github.com/miekg/dns"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/rdata"
)

// TestRecordsAreReadAsNamesGiveThem compares what names give with what a server's message
// says of it.
func TestRecordsAreReadAsNamesGiveThem(t *testing.T) {
	for record, want := range map[string]string{
		"A 192.0.2.7":                    "192.0.2.7",
		"AAAA 2001:DB8:0::1":             "2001:db8::1",
		"CNAME WWW.shop.example.":        "www.shop.example",
		"NS ns.shop.example.":            "ns.shop.example",
		"PTR ptr.shop.example.":          "ptr.shop.example",
		"MX 10 Mail.shop.example.":       "10 mail.shop.example",
		"SRV 1 2 5060 sip.shop.example.": "1 2 5060 sip.shop.example",
		`CAA 128 ISSUE "ca.example"`:     `128 issue "ca.example"`,
		`TXT "a \"b\" \\ c" "; d"`:       `a "b" \ c; d`,
		`TXT "gr\195\188n \ 1\009"`:      "grün  1\t",
		"TXT \"grün\"":                   "grün",
		"HINFO a b":                      "",
	} {
		rr, err := dns.NewRR("x.shop.example. 60 IN " + record)
		require.NoError(t, err, record)
		message := new(dns.Msg)
		message.Answer = []dns.RR{rr}
		wire, err := message.Pack()
		require.NoError(t, err, record)
		require.NoError(t, message.Unpack(wire), record)
		require.Equal(t, want, rdata.Value(message.Answer[0]), record)
	}
}
