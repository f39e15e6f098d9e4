package address

import (
	"fmt"
	"net/netip"
)

// FixedOffer offers the targets that the document of a name gives: addresses, or one
// host name. The cluster is the one of the external-dns that publishes them.
func FixedOffer(document, cluster string, targets []string) Offer {
	seen := Observation{Found: true}
	for n, target := range targets {
		field := fmt.Sprintf("spec.addresses[%d]", n)
		if _, err := netip.ParseAddr(target); err != nil {
			field = "spec.cname"
		}
		seen.Candidates = append(seen.Candidates, Candidate{Target: target, Field: field, Kind: Fixed, Object: document})
	}
	return Offer{Service: Service{Cluster: cluster}, Observation: &seen}
}
