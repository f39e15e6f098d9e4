package endpoints

import (
	"encoding/json"

	"sigs.k8s.io/external-dns/apis/v1alpha1"

	"github.com/signpost-dns/signpost/pkg/address"
)

// Named is a set that a DNSEndpoint publishes under a name.
type Named struct {
	Name string
	address.Set
}

// Read takes a rendered DNSEndpoint apart: its labels, and what it publishes, in
// its order. What is none publishes nothing.
func Read(raw []byte) (labels map[string]string, names []Named) {
	var object v1alpha1.DNSEndpoint
	if len(raw) == 0 || json.Unmarshal(raw, &object) != nil {
		return nil, nil
	}
	for _, e := range object.Spec.Endpoints {
		names = append(names, Named{e.DNSName, address.Set{Type: e.RecordType, Targets: e.Targets, ID: e.SetIdentifier}})
	}
	return object.Labels, names
}
