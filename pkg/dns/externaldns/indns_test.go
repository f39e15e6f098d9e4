package externaldns

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhatOfAnExternalDNSShowsInDNS(t *testing.T) {
	for _, c := range []struct {
		reason string
		record Record
		want   InDNS
	}{
		{"by default names are marked", Record{Provider: "rfc2136"}, InDNS{Owner: "sp-1"}},
		{
			"with affixes", Record{Provider: "coredns", Parameters: Parameters{"txt-prefix": "Owner-", "txt-wildcard-replacement": "any"}},
			InDNS{Owner: "sp-1", Prefix: "owner-", Wildcard: "any"},
		},
		{"with a suffix", Record{Provider: "coredns", Parameters: Parameters{"txt-suffix": "-%{record_type}-owner"}}, InDNS{Owner: "sp-1", Suffix: "-%{record_type}-owner"}},
		{"without a registry nothing is marked", Record{Provider: "coredns", Parameters: Parameters{"registry": "noop"}}, InDNS{}},
		{"marks that nobody can read", Record{Provider: "coredns", Parameters: Parameters{"txt-encrypt-enabled": true}}, InDNS{}},
		{"Route 53 may answer addresses", Record{Provider: "aws"}, InDNS{Owner: "sp-1", Aliases: true}},
		{"unless it is told not to", Record{Provider: "aws", Parameters: Parameters{"aws-prefer-cname": true}}, InDNS{Owner: "sp-1"}},
		{
			"a private zone of AWS", Record{Provider: "aws", Parameters: Parameters{"aws-zone-type": "private"}},
			InDNS{Owner: "sp-1", Aliases: true, Private: "the record's zones are private"},
		},
		{"a private zone of Google", Record{Provider: "google", Parameters: Parameters{"google-zone-visibility": "private"}}, InDNS{Owner: "sp-1", Private: "the record's zones are private"}},
		{"a private zone of Azure", Record{Provider: "azure-private-dns"}, InDNS{Owner: "sp-1", Private: "the record's zones are private"}},
		{
			"a proxy", Record{Provider: "cloudflare", Parameters: Parameters{"cloudflare-proxied": true}},
			InDNS{Owner: "sp-1", Hidden: "Cloudflare answers its own addresses for names that it proxies (cloudflare-proxied)"},
		},
		{"no server at all", Record{Provider: "inmemory"}, InDNS{Owner: "sp-1", Hidden: "provider inmemory keeps names in its own memory"}},
	} {
		t.Run(c.reason, func(t *testing.T) { assert.Equal(t, c.want, Shown(c.record, "sp-1")) })
	}
}

// TestNamesOfMarks has what test/flagparse compares with external-dns' own code.
func TestNamesOfMarks(t *testing.T) {
	for _, c := range []struct {
		shown            InDNS
		name, kind, want string
	}{
		{InDNS{}, "www.lab.example", "A", "a-www.lab.example"},
		{InDNS{}, "*.lab.example", "AAAA", "aaaa-*.lab.example"},
		{InDNS{Wildcard: "any"}, "*.lab.example", "A", "a-any.lab.example"},
		{InDNS{Prefix: "owner."}, "www.lab.example", "CNAME", "owner.cname-www.lab.example"},
		{InDNS{Prefix: "%{record_type}-owner."}, "lab.example", "A", "a-owner.lab.example"},
		{InDNS{Suffix: "-owner"}, "www.lab.example", "A", "a-www-owner.lab.example"},
		{InDNS{Suffix: "-%{record_type}"}, "localhost", "A", "localhost-a"},
	} {
		assert.Equal(t, c.want, c.shown.Mark(c.name, c.kind))
	}
}

func TestOwnerOfAMark(t *testing.T) {
	for _, c := range []struct {
		text, owner string
		ok          bool
	}{
		{`heritage=external-dns,external-dns/owner=sp-1,external-dns/resource=crd/shop/web`, "sp-1", true},
		{`"heritage=external-dns,external-dns/owner=sp-1"`, "sp-1", true},
		{`external-dns/owner=sp-1`, "sp-1", false},
		{`heritage=mate,external-dns/owner=sp-1`, "sp-1", false},
		{`heritage=external-dns`, "", false},
		{`v=spf1 -all`, "", false},
		{``, "", false},
	} {
		owner, ok := OwnerOf(c.text)
		assert.Equal(t, c.ok, ok, c.text)
		assert.Equal(t, c.owner, owner, c.text)
	}
}
