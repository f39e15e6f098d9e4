package intent

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// NamesCollection is the last segment of the collections of names.
const NamesCollection = "names"

// IsName reports whether a path is that of a name: "projects/P/names/HOST".
func IsName(p Path) bool {
	return strings.HasSuffix(p.Collection(), "/"+NamesCollection) && strings.Count(p.Collection(), "/") == 2
}

// Name publishes one host name, which is the name of its document. Service, Addresses or
// CNAME says what the name leads to. A name with Records may have none of them.
type Name struct {
	Service     string         `json:"service,omitempty"`   // "namespace/name" of a Service, looked up in each of Clusters
	Addresses   []string       `json:"addresses,omitempty"` // fixed IP addresses
	CNAME       string         `json:"cname,omitempty"`     // a fixed host name, canonical once stored
	Clusters    *ClusterChoice `json:"clusters,omitempty"`  // with Service: where it runs
	Provider    string         `json:"provider,omitempty"`  // of the project; completed if exactly one serves the name
	Scope       Scope          `json:"scope,omitempty"`     // none: public
	TTL         int64          `json:"ttl,omitempty"`       // seconds; 0: the DNS provider's default, at most 60 with Failover or Health other than the default
	RecordTypes []string       `json:"recordTypes,omitempty"`
	Routing     *Routing       `json:"routing,omitempty"`
	Health      *Health        `json:"health,omitempty"`
	Records     []RecordSet    `json:"records,omitempty"` // of other types than those of addresses
}

// RecordSet is the records that a name has of a type beside those of addresses.
type RecordSet struct {
	Type   string   `json:"type"`          // CAA, MX, NS, PTR, SRV or TXT
	Values []string `json:"values"`        // in presentation format, host names without the final dot; of TXT the text itself
	TTL    int64    `json:"ttl,omitempty"` // seconds; 0: that of the name
}

// Fixed are the targets that do not come from a Service.
func (n Name) Fixed() []string {
	if n.CNAME != "" {
		return []string{n.CNAME}
	}
	return n.Addresses
}

// ServiceRef splits Service into namespace and name.
func (n Name) ServiceRef() (namespace, name string) {
	namespace, name, _ = strings.Cut(n.Service, "/")
	return namespace, name
}

// ClusterChoice names clusters, or selects them by labels. In JSON it is a list of
// "provider/cluster", or {"selector":{…}}.
type ClusterChoice struct {
	Names    []string          // "provider/cluster"
	Selector map[string]string // labels that a cluster has to have; nil: Names count
}

// Refs are the clusters of Names.
func (c *ClusterChoice) Refs() []ClusterRef {
	if c == nil {
		return nil
	}
	return ClusterRefs(c.Names)
}

type clusterSelector struct {
	Selector map[string]string `json:"selector"`
}

// MarshalJSON writes a list, or an object with a selector.
func (c *ClusterChoice) MarshalJSON() ([]byte, error) {
	if c.Selector != nil {
		return json.Marshal(clusterSelector{c.Selector})
	}
	return json.Marshal(append([]string{}, c.Names...))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *ClusterChoice) UnmarshalJSON(raw []byte) error {
	*c = ClusterChoice{}
	if strings.HasPrefix(strings.TrimSpace(string(raw)), "{") {
		var selector clusterSelector
		err := json.Unmarshal(raw, &selector)
		c.Selector = selector.Selector
		return err
	}
	return json.Unmarshal(raw, &c.Names)
}

// NameDocument is the document of a name as its lifecycle keeps it.
type NameDocument struct {
	UID       string          `json:"uid"`
	Revision  int64           `json:"revision,omitempty"` // of the document, 1 at creation, which is not stored
	CreatedAt time.Time       `json:"createdAt"`
	UpdatedAt time.Time       `json:"updatedAt,omitzero"` // zero: as CreatedAt
	Body      json.RawMessage `json:"body"`               // metadata and spec; as stored, without metadata that are the name alone
	Clusters  []string        `json:"clusters,omitempty"` // "provider+cluster" that its selector chose for the release; none without a selector
}

// bareName begins the body of a document whose metadata are its name alone.
func bareName(path Path) []byte { return []byte(`{"metadata":{"name":"` + path.Name() + `"},`) }

// Stored is the document as its lifecycle holds it: without what At knows.
func (d NameDocument) Stored(path Path) NameDocument {
	if d.UpdatedAt.Equal(d.CreatedAt) {
		d.UpdatedAt = time.Time{}
	}
	if d.Revision == 1 {
		d.Revision = 0
	}
	if spec, bare := bytes.CutPrefix(d.Body, bareName(path)); bare {
		d.Body = slices.Concat([]byte("{"), spec)
	}
	return d
}

// At is the document under its path.
func (d NameDocument) At(path Path) Document {
	if d.UpdatedAt.IsZero() {
		d.UpdatedAt = d.CreatedAt
	}
	d.Revision = max(d.Revision, 1)
	if spec, bare := bytes.CutPrefix(d.Body, []byte(`{"spec":`)); bare {
		d.Body = slices.Concat(bareName(path), []byte(`"spec":`), spec)
	}
	return Document{Path: path, UID: d.UID, Revision: d.Revision, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt, Body: d.Body, Schema: 1}
}

// NameReport is what is known of a name. It claims nothing that was not observed (I6).
type NameReport struct {
	State     State        `json:"state"`
	Published string       `json:"published"` // True, False, Unknown: seen to be published by external-dns
	Verified  string       `json:"verified"`  // likewise: answered by the authoritative servers
	Message   string       `json:"message"`   // what is missing, or what stands in the way; else empty
	Records   []NameStatus `json:"records"`   // each type of record, with the reasons for its targets
	Changes   []NameChange `json:"changes,omitempty"`
	Warnings  []string     `json:"warnings"`
}

// Is tells whether the name is "instantiated", "published" or "verified". The latter two are
// of the newest release: while it is not instantiated, the answers may be those to an older
// one. A name is not verified if its publisher has not put it through: then the answers are somebody else's.
func (r NameReport) Is(what string) bool {
	switch {
	case r.State != Instantiated:
		return false
	case what == "published":
		return r.Published == "True"
	case what == "verified":
		return r.Verified == "True" && r.Published != "False"
	}
	return true
}

// NameRequest asks for a name to be as its document says.
type NameRequest struct {
	Next     NameDocument // as it is to be; not for a deletion
	Was      *Document    // as it was read; nil: there was none
	Takeover string       // who gives the host name now and is to give it up: app/version/group, or a path; empty: nobody
	Restores int64        // the release whose document Next is, as the caller says; 0: none
	Confirm  string       // the token of a plan; empty: none
	Actor    string
}

// NamePublished is what has come of a request for a name.
type NamePublished struct {
	Accepted
	Document Document
	Changes  []NameChange // what the release changes; none where it is the same
	Warnings []string
}
