package flagparse

import (
	"testing"

	"sigs.k8s.io/external-dns/registry/mapper"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
)

// TestMarks: ownership records are where external-dns puts them.
func TestMarks(t *testing.T) {
	for _, shown := range []externaldns.InDNS{
		{}, {Prefix: "owner-"}, {Prefix: "owner."}, {Prefix: "%{record_type}-owner."}, {Suffix: "-owner"}, {Suffix: "-%{record_type}-owner"}, {Wildcard: "any"},
	} {
		theirs := mapper.NewAffixNameMapper(shown.Prefix, shown.Suffix, shown.Wildcard)
		for _, name := range []string{"www.lab.example", "lab.example", "*.lab.example", "localhost", "_https._tcp.lab.example"} {
			for _, kind := range []string{"A", "AAAA", "CNAME", "SRV"} {
				if got, want := shown.Mark(name, kind), theirs.ToTXTName(name, kind); got != want {
					t.Errorf("%+v: the mark of %s %s is %s, external-dns' %s", shown, name, kind, got, want)
				}
			}
		}
	}
}
