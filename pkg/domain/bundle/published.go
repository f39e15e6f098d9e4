package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// The names of a DNSEndpoint in Kubernetes.
const (
	EndpointGroup = "externaldns.k8s.io"
	EndpointKind  = "DNSEndpoint"
)

// Published is what one DNSEndpoint of Signpost's publishes.
type Published struct {
	Record string // the provider's name in its project
	Scope  string
	Names  []PublishedName // in the order of the DNSEndpoint
	Probes []Probe         // of the addresses that its names could have
}

// AnnotationProbes has the probes of a DNSEndpoint, as JSON.
const AnnotationProbes = "signpost.dev/probes"

// AnnotationRecords marks a DNSEndpoint whose SRV records stand at the host names themselves.
// Others have those of a Service's ports, at names that are made of them.
const AnnotationRecords = "signpost.dev/records"

// Probe is how some addresses are asked whether they serve.
type Probe struct {
	Spec    json.RawMessage `json:"probe"`   // an intent.Probe with its defaults
	Targets []string        `json:"targets"` // addresses, ordered
}

// Key tells probes of a DNSEndpoint apart.
func (p Probe) Key() string {
	const enough = 8
	sum := sha256.Sum256(p.Spec)
	return hex.EncodeToString(sum[:enough])
}

// PublishedName is one set of targets that a DNSEndpoint publishes for a host.
type PublishedName struct {
	Name    string // in DNS
	Host    string // the host name: Name, but for an SRV record, whose name has more labels
	Type    string
	Targets []string
	ID      string // set identifier; empty if the name and type have one set
	TTL     int64  // seconds; 0: the DNS provider decides

	// Of a set with an ID, one of these says which clients it answers.
	Weight   int64
	Region   string // as in eu-central-1
	Location string // as in continent/EU, country/DE, country/US/CA or default
}

// IsEndpoint tells DNSEndpoints from other objects.
func (id ID) IsEndpoint() bool { return id.Kind == EndpointKind && id.Group == EndpointGroup }

// EndpointID is the ID of a DNSEndpoint.
func EndpointID(cluster, namespace, name string) ID {
	return ID{Cluster: cluster, Group: EndpointGroup, Kind: EndpointKind, Namespace: namespace, Name: name}
}

// PublishesAs is what a DNSEndpoint of Signpost's publishes, also if Published was left out. Its head has these labels and
// annotations. It is nil for another object.
func (o Object) PublishesAs(head Head) *Published {
	if o.Published != nil {
		return o.Published
	}
	return publishedIn(o.ID, head, o.JSON)
}

// publishedIn reads what a stored DNSEndpoint publishes; nil for an object that is
// none of Signpost's DNSEndpoints. Stores keep what is published as the object
// alone, and this is the only place that reads it (ADR 0048).
func publishedIn(id ID, head Head, canonical []byte) *Published {
	record := head.Labels[LabelRecord]
	if !id.IsEndpoint() || record == "" {
		return nil
	}
	var object struct {
		Spec struct {
			Endpoints []struct {
				Name       string     `json:"dnsName"`
				Type       string     `json:"recordType"`
				Targets    []string   `json:"targets"`
				ID         string     `json:"setIdentifier"`
				TTL        int64      `json:"recordTTL"`
				Properties []Property `json:"providerSpecific"`
			} `json:"endpoints"`
		} `json:"spec"`
	}
	if json.Unmarshal(canonical, &object) != nil {
		return nil // nothing that Signpost rendered
	}
	out := &Published{Record: record, Scope: head.Labels[LabelScope]}
	if text := head.Annotations[AnnotationProbes]; text != "" && json.Unmarshal([]byte(text), &out.Probes) != nil {
		out.Probes = nil // nothing that Signpost rendered
	}
	out.Names = make([]PublishedName, 0, len(object.Spec.Endpoints))
	for _, e := range object.Spec.Endpoints {
		name := PublishedName{Name: e.Name, Host: e.Name, Type: e.Type, Targets: e.Targets, ID: e.ID, TTL: e.TTL}
		if e.Type == "SRV" && head.Annotations[AnnotationRecords] == "" {
			name.Host = hostOfService(e.Name)
		}
		out.Names = append(out.Names, name.with(e.Properties))
	}
	return out
}

// hostOfService is the name that an SRV record's own was made of.
func hostOfService(name string) string {
	_, rest, _ := strings.Cut(name, ".")
	_, host, _ := strings.Cut(rest, ".")
	return host
}
