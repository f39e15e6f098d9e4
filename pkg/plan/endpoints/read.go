package endpoints

import (
	"encoding/json"
	"strconv"

	"sigs.k8s.io/external-dns/apis/v1alpha1"

	"github.com/signpost-dns/signpost/pkg/domain/address"
)

// Named is a set that a DNSEndpoint publishes for a host.
type Named struct {
	Host string
	address.Set
}

// Read takes a rendered DNSEndpoint apart: its labels, and what it publishes, in
// its order. What is none publishes nothing.
func Read(raw []byte) (labels map[string]string, sets []Named) {
	var object v1alpha1.DNSEndpoint
	if len(raw) == 0 || json.Unmarshal(raw, &object) != nil {
		return nil, nil
	}
	for _, e := range object.Spec.Endpoints {
		named := Named{e.DNSName, address.Set{Type: e.RecordType, Targets: e.Targets, ID: e.SetIdentifier}}
		if e.RecordType == "SRV" {
			named.Host, named.Name = hostOfService(e.DNSName), e.DNSName
		}
		if text, weighted := e.GetProviderSpecificProperty(weightProperty); weighted {
			named.Weight, _ = strconv.ParseInt(text, 10, 64) // written by Render
		}
		sets = append(sets, named)
	}
	return object.Labels, sets
}
