package imports

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/dns/zone"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

func parse(t *testing.T, text string) zone.Zone {
	t.Helper()
	z, err := zone.Parse(strings.NewReader("$ORIGIN shop.example.\n$TTL 300\n"+text), "", "f")
	require.NoError(t, err)
	return z
}

func reasons(r Result) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s %s %s: %s\n", f.Outcome, f.Name, f.Type, f.Reason)
	}
	return b.String()
}

// TestZonesBecomeNames: addresses and aliases are taken, and all that belongs to the zone
// is reported and left.
func TestZonesBecomeNames(t *testing.T) {
	t.Parallel()
	r := FromZone("f", parse(t, `
@ SOA ns x 1 2 3 4 5
@ NS ns
@ A 192.0.2.9
ns A 192.0.2.53
www A 192.0.2.2
www A 192.0.2.1
www A 192.0.2.1
www 60 AAAA 2001:db8::1
alias CNAME WWW
self CNAME self
two CNAME a
two CNAME b
two TXT "x"
* A 192.0.2.7
zero 0 A 192.0.2.8
sub NS ns.sub
sub A 192.0.2.11
sub DS 1 8 2 aa
ns.sub A 192.0.2.54
loc LOC 52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m
under_score A 192.0.2.55
mail MX 20 mx2
mail 900 MX 10 mx
mail TXT "v=spf1 " "-all; \"q\" \\ \; x"
wide TXT "\195\188"
caa CAA 0 issue "ca.example"
www RRSIG A 8 3 300 20300101000000 20200101000000 1 shop.example. YQ==
out.example. A 192.0.2.1
`))
	want := []Name{
		{"*.shop.example", intent.Name{Addresses: []string{"192.0.2.7"}, TTL: 300}},
		{"alias.shop.example", intent.Name{CNAME: "www.shop.example", TTL: 300}},
		{"caa.shop.example", intent.Name{Records: []intent.RecordSet{{Type: "CAA", TTL: 300, Values: []string{`0 issue "ca.example"`}}}}},
		{"mail.shop.example", intent.Name{Records: []intent.RecordSet{
			{Type: "MX", TTL: 300, Values: []string{"10 mx.shop.example", "20 mx2.shop.example"}}, {Type: "TXT", TTL: 300, Values: []string{`v=spf1 -all; "q" \ ; x`}},
		}}},
		{"ns.shop.example", intent.Name{Addresses: []string{"192.0.2.53"}, TTL: 300}},
		{"shop.example", intent.Name{Addresses: []string{"192.0.2.9"}, TTL: 300}},
		{"www.shop.example", intent.Name{Addresses: []string{"192.0.2.1", "192.0.2.2", "2001:db8::1"}, TTL: 60}},
		{"zero.shop.example", intent.Name{Addresses: []string{"192.0.2.8"}, TTL: 1}},
	}
	require.Equal(t, want, r.Names)
	told := reasons(r)
	for _, line := range []string{
		"left shop.example SOA: stays with the zone", "left shop.example NS: stays with the zone", "left sub.shop.example NS: delegates", "left sub.shop.example DS: belongs to the delegation",
		"left sub.shop.example A: belongs to the nameservers", "left ns.sub.shop.example A: lies in sub.shop.example", "left self.shop.example CNAME: leads to itself",
		"left two.shop.example CNAME: has 2 targets", "left two.shop.example TXT: stands beside a CNAME", "left loc.shop.example LOC: ", "left under_score.shop.example A: has a label",
		"changed mail.shop.example MX: has records with TTLs of 300 and 900 seconds; all get the shorter one", "left wide.shop.example TXT: has the value", "left loc.shop.example LOC: records of type LOC cannot be published", "left www.shop.example RRSIG: belongs to DNSSEC", "left out.example : lies outside of the zone", "changed www.shop.example AAAA: the types have TTLs of 300 and 60", "changed zero.shop.example A: has a TTL of 0",
	} {
		require.Contains(t, told, line)
	}
	require.Len(t, r.Findings, 17)
}

// TestEveryRecordIsTakenOrTold: the import of a zone of 100,000 names ends soon, and
// nothing of it is lost silently.
func TestEveryRecordIsTakenOrTold(t *testing.T) {
	t.Parallel()
	z := zone.Zone{Name: "shop.example"}
	for n := range 50_000 {
		z.Records = append(z.Records,
			zone.Record{Name: fmt.Sprintf("h%d.shop.example", n), Type: "A", TTL: 60, Value: "192.0.2.1"},
			zone.Record{Name: fmt.Sprintf("l%d.shop.example", n), Type: "LOC", TTL: 60, Value: "x"})
	}
	began := time.Now()
	r := FromZone("f", z)
	require.Less(t, time.Since(began), 20*time.Second)
	require.Len(t, r.Names, 50_000)
	require.Len(t, r.Findings, 50_000)
}

func TestMarksTellWhoOwnsWhat(t *testing.T) {
	t.Parallel()
	z := parse(t, `
www A 192.0.2.1
x-a-www TXT "heritage=external-dns,external-dns/owner=eu,external-dns/resource=service/web/frontend"
api CNAME www
x-cname-api TXT "heritage=external-dns,external-dns/owner=us"
by-hand A 192.0.2.3
by-hand TXT "heritage=somebody"
old A 192.0.2.4
x-old TXT "heritage=external-dns,external-dns/owner=eu"
`)
	affixes := externaldns.InDNS{Prefix: "x-"}
	r := FromMarks("f", z, affixes, "eu")
	require.Equal(t, []Owner{{"eu", 2}, {"us", 1}}, r.Owners)
	require.Equal(t, []string{"old.shop.example", "www.shop.example"}, hosts(r))
	require.Contains(t, reasons(r), `left api.shop.example : belongs to the external-dns with owner id "us"`)
	require.Contains(t, reasons(r), "left by-hand.shop.example : no external-dns has marked it")
	require.Equal(t, []string{"api.shop.example", "old.shop.example", "www.shop.example"}, hosts(FromMarks("f", z, affixes, "")))
	require.Empty(t, FromMarks("f", z, externaldns.InDNS{}, "eu").Names)
}

func hosts(r Result) []string {
	var all []string
	for _, name := range r.Names {
		all = append(all, name.Host)
	}
	return all
}

func TestOctoDNSIsReadAsAZone(t *testing.T) {
	t.Parallel()
	z, findings, err := ReadOctoDNS([]byte(`
? ''
: - type: A
    value: 192.0.2.1
  - type: MX
    ttl: 60
    values:
      - {preference: 10, exchange: mx.shop.example.}
      - priority: 20
        value: mx2.shop.example.
  - {type: CAA, values: [{flags: 128, tag: issue, value: ca.example}, {tag: iodef, value: 'mailto:ca@shop.example'}]}
www: {type: CNAME, value: shop.example.}
txt: {type: TXT, values: ['v=1\; a "b"', '"v=DKIM1\; p=one" "two"']}
_sip._tcp: {type: SRV, value: {priority: 1, weight: 2, port: 5060, target: sip.shop.example.}}
geo:
  type: A
  value: 192.0.2.7
  geo: {NA-US: [192.0.2.8]}
other: {type: URLFWD, value: {path: /}}
sub: {type: DS, values: [{key_tag: 1, algorithm: 8, digest_type: 2, digest: aa}, {flags: 1, protocol: 8, algorithm: 2, public_key: aa}]}
`), "shop.yaml", "shop.example.")
	require.NoError(t, err)
	require.Equal(t, []zone.Record{
		{Name: "shop.example", Type: "A", TTL: 3600, Value: "192.0.2.1"},
		{Name: "shop.example", Type: "MX", TTL: 60, Value: "10 mx.shop.example."},
		{Name: "shop.example", Type: "MX", TTL: 60, Value: "20 mx2.shop.example."},
		{Name: "shop.example", Type: "CAA", TTL: 3600, Value: `128 issue "ca.example"`},
		{Name: "shop.example", Type: "CAA", TTL: 3600, Value: `0 iodef "mailto:ca@shop.example"`},
		{Name: "www.shop.example", Type: "CNAME", TTL: 3600, Value: "shop.example."},
		{Name: "txt.shop.example", Type: "TXT", TTL: 3600, Value: `"v=1; a \"b\""`},
		{Name: "txt.shop.example", Type: "TXT", TTL: 3600, Value: `"v=DKIM1; p=onetwo"`},
		{Name: "_sip._tcp.shop.example", Type: "SRV", TTL: 3600, Value: "1 2 5060 sip.shop.example."},
		{Name: "other.shop.example", Type: "URLFWD", TTL: 3600},
		{Name: "sub.shop.example", Type: "DS", TTL: 3600},
		{Name: "sub.shop.example", Type: "DS", TTL: 3600},
	}, z.Records)
	require.Len(t, findings, 1)
	require.Equal(t, "shop.yaml:18:8", findings[0].Where)
	require.Equal(t, []string{"_sip._tcp.shop.example", "shop.example", "txt.shop.example", "www.shop.example"}, hosts(FromZone("f", z)))
}

// TestBadOctoDNSSaysWhere, by line and column.
func TestBadOctoDNSSaysWhere(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"www: {type: A}":                         "f:1:6: the record of www.a.example has neither value nor values",
		"www: {value: 1.1.1.1}":                  "f:1:6: the record of www.a.example has no type",
		"www: 7":                                 "f:1:6: the record of www.a.example is no object",
		"www: {type: A, ttl: x, value: 1.1.1.1}": "f:1:21: the ttl of",
		"www: {type: MX, value: {exchange: a.}}": "f:1:24: a value of type MX has no preference",
		"a: {type: CAA, value: {value: ca.b}}":   "f:1:23: a value of type CAA has no tag",
		"www: {type: A, values: [[1]]}":          "f:1:25: a value of type A is a text or an object",
		"- a":                                    "f:1:1: is not a zone of OctoDNS",
		"a: [\n":                                 "f: yaml: line",
		"":                                       "f has 0 documents",
		"a: {type: A, value: 1.1.1.1}\n---\nb: 1": "f has 2 documents",
		"a: &x [*x]": "contains itself by an alias",
		"b: &b {type: TXT, value: x}\na: [[" + "*b]]": "is no object",
	} {
		_, _, err := ReadOctoDNS([]byte(text), "f", "a.example")
		require.ErrorContains(t, err, want, text)
	}
}

// FuzzReadOctoDNS: each text becomes names and findings, or an error.
func FuzzReadOctoDNS(f *testing.F) {
	f.Add([]byte("'': [{type: A, values: [192.0.2.1]}]"))
	f.Add([]byte("a: &a {type: MX, value: {preference: 1, exchange: b.}}\nb: *a"))
	f.Add([]byte("a: {type: CAA, values: {flags: {}, tag: 1, value: \"\\\"\"}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		z, _, err := ReadOctoDNS(text, "f", "a.example")
		if err != nil {
			return
		}
		result := FromZone("f", z)
		require.LessOrEqual(t, len(result.Names), len(z.Records))
		var out bytes.Buffer
		require.NoError(t, (&task{project: "p"}).documents(&out, result.Names))
	})
}
