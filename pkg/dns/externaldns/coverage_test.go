package externaldns

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestValueIsWhatIsRendered: whoever judges a parameter sees what external-dns is
// given, however it is written.
func TestValueIsWhatIsRendered(t *testing.T) {
	for _, c := range []struct {
		name    string
		written []any
		want    string
	}{
		{"txt-owner-id", []any{"baker", " baker ", []any{"baker"}, []string{"baker"}, []any{nil, " baker"}}, "baker"},
		{"txt-owner-id", []any{json.Number("17"), 17.0, []any{17}, "17"}, "17"},
		{"policy", []any{"upsert-only", "Upsert-Only", []any{"UPSERT-ONLY "}}, "upsert-only"},
		{"registry", []any{"noop", "NoOp", []any{" noop"}}, "noop"},
		{"aws-zone-type", []any{"private", "Private", []any{"private"}}, "private"},
		{"interval", []any{"60s", "1m", []any{"1m0s"}}, "1m0s"},
	} {
		for _, written := range c.written {
			parameters := Parameters{c.name: written}
			arguments, findings := Compile(Options{
				Record:    Record{Provider: "aws", Parameters: parameters, AllowUnownedDeletion: true},
				Namespace: "shop-dns", LabelFilter: "a=b", OwnerID: "sp-1",
			})
			assert.Empty(t, findings)
			assert.Contains(t, arguments.Args, "--"+c.name+"="+c.want, "%#v", written)
			assert.Equal(t, c.want, Value(parameters, c.name), "%#v", written)
		}
	}
	for _, absent := range []any{nil, "", " ", []any{}, []any{""}, map[string]any{}, "not an owner id"} {
		assert.Empty(t, Value(Parameters{"txt-owner-id": absent}, "txt-owner-id"), "%#v", absent)
	}
	assert.Empty(t, Value(Parameters{"ovh-endpoint": "ovh-ca"}, "ovh-endpoint"), "not in the table")
	assert.Equal(t, []string{"Z1", "Z2"}, Values(Parameters{"zone-id-filter": []any{" Z1", "", "Z2"}}, "zone-id-filter"))
}

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		reason     string
		provider   string
		parameters Parameters
		host       string
		want       bool
	}{
		{"no filter covers everything", "coredns", nil, "www.lab.example", true},
		{"below the domain", "coredns", Parameters{"domain-filter": "lab.example"}, "www.lab.example", true},
		{"the domain itself", "coredns", Parameters{"domain-filter": "lab.example"}, "lab.example", true},
		{"not on a label's boundary", "coredns", Parameters{"domain-filter": "lab.example"}, "www.notlab.example", false},
		{"above the domain", "coredns", Parameters{"domain-filter": "lab.example"}, "example", false},
		{"a wildcard name", "coredns", Parameters{"domain-filter": "lab.example"}, "*.lab.example", true},
		{"one of several", "coredns", Parameters{"domain-filter": []any{"a.example", "lab.example"}}, "www.lab.example", true},
		{"a leading dot: subdomains", "coredns", Parameters{"domain-filter": ".lab.example"}, "www.lab.example", true},
		{"a leading dot: not the domain", "coredns", Parameters{"domain-filter": ".lab.example"}, "lab.example", false},
		{"case and final dot do not matter", "coredns", Parameters{"domain-filter": "LAB.example."}, "www.lab.example", true},
		{"excluded", "coredns", Parameters{"domain-filter": "lab.example", "exclude-domains": "in.lab.example"}, "a.in.lab.example", false},
		{"beside the excluded", "coredns", Parameters{"domain-filter": "lab.example", "exclude-domains": "in.lab.example"}, "a.lab.example", true},
		{"excluded alone", "coredns", Parameters{"exclude-domains": "lab.example"}, "a.lab.example", false},
		{"empty text is absent", "coredns", Parameters{"domain-filter": ""}, "a.lab.example", true},
		{"regular expression", "coredns", Parameters{"regex-domain-filter": `^[a-c]\.lab\.`}, "b.lab.example", true},
		{"regular expression, no match", "coredns", Parameters{"regex-domain-filter": `^[a-c]\.lab\.`}, "d.lab.example", false},
		{"it replaces domains", "coredns", Parameters{"regex-domain-filter": "other", "domain-filter": "lab.example"}, "a.lab.example", false},
		{"excluded by a regular expression", "coredns", Parameters{"regex-domain-filter": "lab", "regex-domain-exclusion": "^in"}, "in.lab.example", false},
		{"an exclusion replaces domains, too", "coredns", Parameters{"regex-domain-exclusion": "^in", "domain-filter": "lab.example"}, "a.other.example", true},
		{"in the zone", "rfc2136", Parameters{"rfc2136-zone": "corp.example"}, "www.corp.example", true},
		{"outside the zone", "rfc2136", Parameters{"rfc2136-zone": "corp.example"}, "www.lab.example", false},
		{"the zone needs a label's boundary", "rfc2136", Parameters{"rfc2136-zone": "corp.example"}, "www.mycorp.example", false},
		{"in the zone, but not in the domain", "rfc2136", Parameters{"rfc2136-zone": "corp.example", "domain-filter": "a.corp.example"}, "b.corp.example", false},
		{"the root zone", "rfc2136", Parameters{"rfc2136-zone": "."}, "www.lab.example", true},
		{"another provider's zone does not count", "coredns", Parameters{"rfc2136-zone": "corp.example"}, "www.lab.example", true},
		{"azure's zone by name", "azure-dns", Parameters{"zone-name-filter": "lab.example"}, "www.corp.example", false},
		{"a domain in Unicode", "coredns", Parameters{"domain-filter": "münchen.example"}, "www.xn--mnchen-3ya.example", true},
		{"a domain in ASCII, regular expression in Unicode", "coredns", Parameters{"regex-domain-filter": `\.münchen\.`}, "www.xn--mnchen-3ya.example", true},
	} {
		t.Run(c.reason, func(t *testing.T) {
			assert.Equal(t, c.want, NewCoverage(c.provider, c.parameters).Covers(c.host))
		})
	}
}

func TestTheApexOfAZone(t *testing.T) {
	for _, c := range []struct {
		reason     string
		provider   string
		parameters Parameters
		host       string
		want       bool
	}{
		{"the domain itself", "coredns", Parameters{"domain-filter": "lab.example"}, "lab.example", true},
		{"a name below it", "coredns", Parameters{"domain-filter": "lab.example"}, "www.lab.example", false},
		{"subdomains alone", "coredns", Parameters{"domain-filter": ".lab.example"}, "lab.example", false},
		{"a zone that is given", "rfc2136", Parameters{"rfc2136-zone": []any{"corp.example", "lab.example"}}, "lab.example", true},
		{"a zone decides, not the domain", "rfc2136", Parameters{"rfc2136-zone": "example", "domain-filter": "lab.example"}, "lab.example", false},
		{"azure's zone by name", "azure", Parameters{"zone-name-filter": "lab.example"}, "lab.example", true},
		{"no zone is known", "aws", nil, "lab.example", false},
		{"in Unicode", "aws", Parameters{"domain-filter": "münchen.example"}, "xn--mnchen-3ya.example", true},
	} {
		t.Run(c.reason, func(t *testing.T) {
			assert.Equal(t, c.want, NewCoverage(c.provider, c.parameters).Apex(c.host))
		})
	}
}

func TestInterval(t *testing.T) {
	assert.Equal(t, time.Minute, Interval(nil, 0))
	assert.Equal(t, 5*time.Second, Interval(Parameters{"interval": "5s"}, time.Hour), "what the user sets wins")
	assert.Equal(t, time.Hour, Interval(nil, time.Hour))
	assert.Equal(t, time.Minute, Interval(Parameters{"interval": "never"}, 0), "Check refuses it")
}

func TestToUnicode(t *testing.T) {
	for _, c := range []struct{ reason, ascii, want string }{
		{"plain", "www.lab.example", "www.lab.example"},
		{"one letter", "xn--mnchen-3ya.example", "münchen.example"},
		{"several labels", "xn--bcher-kva.xn--caf-dma.example", "bücher.café.example"},
		{"no ASCII at all", "xn--fsqu00a.xn--0zwm56d", "例子.测试"},
		{"far code points", "xn--ls8h.example", "💩.example"},
		{"not punycode", "xn--!.example", "xn--!.example"},
		{"a number without end", "xn--zzzzzzzzzzzzzz.example", "xn--zzzzzzzzzzzzzz.example"},
	} {
		assert.Equal(t, c.want, toUnicode(c.ascii), c.reason)
	}
}

func BenchmarkCovers(b *testing.B) {
	c := NewCoverage("rfc2136", Parameters{"rfc2136-zone": "corp.example", "domain-filter": []any{"corp.example", "lab.example"}})
	for b.Loop() {
		c.Covers("www.corp.example")
	}
}

func BenchmarkCheck(b *testing.B) {
	record := rfc2136(nil)
	for b.Loop() {
		Check(record)
	}
}
