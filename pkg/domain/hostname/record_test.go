package hostname

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNamesOfRecordsMayHaveUnderscores(t *testing.T) {
	for text, want := range map[string]string{
		"_dmarc.Shop.example.":                "_dmarc.shop.example",
		"_sip._tcp.shop.example":              "_sip._tcp.shop.example",
		"s1._domainkey.shop.example":          "s1._domainkey.shop.example",
		"*._domainkey.shop.example":           "*._domainkey.shop.example",
		"_acme-challenge.www.münchen.example": "_acme-challenge.www.xn--mnchen-3ya.example",
		"www.shop.example":                    "www.shop.example",
	} {
		got, err := CanonicalUnderscored(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got)
	}
	for text, want := range map[string]string{
		"_.shop.example": "empty label", "a_b.shop.example": "other characters", "__x.shop.example": "other characters",
		"_tcp.example": "not a full host name", "_" + strings.Repeat("a", 63) + ".shop.example": "longer than 63", "_dmarc": "not a full host name", "_x." + strings.Repeat("abcdefgh.", 28) + "example": "",
		"_abcdef." + strings.Repeat("abcdefgh.", 27) + "example": "253 characters", "x.*._tcp.shop.example": "whole first label",
	} {
		_, err := CanonicalUnderscored(text)
		require.ErrorContains(t, err, want, text)
	}
	assert.True(t, HasUnderscore("s1._domainkey.shop.example"))
	assert.False(t, HasUnderscore("a_b.shop.example"))
	assert.Equal(t, "shop.example", OfService("_sip._tcp.shop.example"))
	assert.Empty(t, OfService("_dmarc.shop.example"))
}

func TestValuesOfRecordsBecomeCanonical(t *testing.T) {
	for _, c := range []struct{ kind, value, want string }{
		{"MX", " 010  Mail.shop.example. ", "10 mail.shop.example"},
		{"SRV", "10 50 5060 SIP.shop.example.", "10 50 5060 sip.shop.example"},
		{"CAA", "0 ISSUE letsencrypt.org", `0 issue "letsencrypt.org"`},
		{"CAA", `128 issue ";"`, `128 issue ";"`},
		{"NS", "ns.shop.example.", "ns.shop.example"},
	} {
		got, err := Value(c.kind, c.value)
		require.NoError(t, err, c.value)
		assert.Equal(t, c.want, got)
	}
	for _, c := range []struct{ kind, value, want string }{
		{"MX", "mail.shop.example", "no MX record"}, {"MX", "10 mail.shop.example x", "no MX record"}, {"MX", "10 x", "full host name"}, {"SRV", "10 5060 sip.shop.example", "no SRV record"},
		{"SRV", "a 1 5060 sip.shop.example", "from 0 to 65535"}, {"SRV", "1 1 65536 sip.shop.example", "from 0 to 65535"}, {"SRV", "0 0 0 .", "full host name"},
		{"CAA", "issue letsencrypt.org", "no CAA record"}, {"CAA", `0 issue "a"b"`, "no CAA record"}, {"CAA", "0 issue", "no CAA record"}, {"CAA", "0 issue a b", "no CAA record"}, {"CAA", "256 issue x.org", "no CAA record"}, {"CAA", `0 issue "`, "no CAA record"}, {"CAA", "0 issue " + strings.Repeat("a", 256), "longer than 255"},
		{"PTR", "*.shop.example", "wildcard"},
	} {
		_, err := Value(c.kind, c.value)
		require.ErrorContains(t, err, c.want, c.value)
	}
}
