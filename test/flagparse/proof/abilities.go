package proof

import (
	"strings"
	"testing"

	"sigs.k8s.io/external-dns/endpoint"
	"sigs.k8s.io/external-dns/provider"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
)

// abilities compares how SRV records are to be written with what external-dns
// takes of them: its source of DNSEndpoints refuses a final dot before v0.22, and
// its plan drops what is no SRV record to it.
func (p prover) abilities(t *testing.T) {
	takes := func(target string) bool {
		e := endpoint.NewEndpoint("_https._tcp.www.lab.example", "SRV", target)
		sourced := p.version >= externaldns.V022 || !strings.HasSuffix(target, ".")
		return e != nil && sourced && e.CheckEndpoint()
	}
	can := externaldns.AbilitiesOf("aws", p.version)
	if bare, rooted := takes("0 0 443 www.lab.example"), takes("0 0 443 www.lab.example."); can.SRV != (bare || rooted) || can.RootedSRV != rooted {
		t.Errorf("%+v, but external-dns takes SRV records without a final dot: %t, with one: %t", can, bare, rooted)
	}
	p.recordTypes(t)
}

// recordTypes compares the types that names may have with what external-dns takes of
// them, and with the types that it keeps for a provider without a list of its own. For
// MX, aws has one.
func (p prover) recordTypes(t *testing.T) {
	samples := map[string]string{
		"SRV": "10 50 443 www.lab.example", "MX": "10 mail.lab.example", "NS": "ns.lab.example", "PTR": "www.lab.example",
		"TXT": externaldns.WriteText("aws", `v=spf1 "x"; -all`),
	}
	if can := externaldns.AbilitiesOf("aws", p.version); can.RootedSRV {
		samples["SRV"] += "."
	}
	for _, kind := range externaldns.RecordTypes() {
		if kind == "CAA" {
			continue // see below
		}
		name := "www.lab.example"
		if kind == "PTR" {
			name = "7.2.0.192.in-addr.arpa"
		}
		e := endpoint.NewEndpoint(name, kind, samples[kind])
		if kind == "SRV" && !externaldns.Publishes("aws", kind, p.version) {
			continue // abilities has compared what it takes
		}
		if e == nil || !e.CheckEndpoint() || len(e.Targets) != 1 || e.Targets[0] != samples[kind] {
			t.Errorf("external-dns %s does not take %s %q as it is", p.version, kind, samples[kind])
		}
		keeps := provider.SupportedRecordType(kind) || kind == "MX"
		if has := externaldns.Publishes("aws", kind, p.version); has != keeps {
			t.Errorf("aws publishes %s: %t in the table, %t in external-dns %s", kind, has, keeps, p.version)
		}
	}
	if provider.SupportedRecordType("CAA") {
		t.Errorf("external-dns %s has come to know CAA: give names such records", p.version)
	}
}
