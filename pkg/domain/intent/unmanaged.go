package intent

// UnmanagedSet is the records of a name and type that the zone of a provider has, and that nobody publishes by Signpost.
type UnmanagedSet struct {
	Name   string   `json:"name"` // lower case, in ASCII, without the final dot
	Type   string   `json:"type"`
	Values []string `json:"values"`          // in presentation format, as zone files have them, ordered
	TTL    int64    `json:"ttl"`             // seconds
	Owner  string   `json:"owner,omitempty"` // the owner id of the external-dns that has marked the set; empty: none has
}

// UnmanagedPage is a page of what nobody publishes by Signpost.
type UnmanagedPage struct {
	Items    []UnmanagedSet `json:"items"` // never nil; ordered by name and type
	Continue string         `json:"continue,omitempty"`
}
