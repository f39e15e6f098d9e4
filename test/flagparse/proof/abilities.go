package proof

import (
	"strings"
	"testing"

	"sigs.k8s.io/external-dns/endpoint"

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
}
