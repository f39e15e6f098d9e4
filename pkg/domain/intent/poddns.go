package intent

import (
	"encoding/json"
	"strings"
)

// PodDNSIntent says what /etc/resolv.conf the pods of an app get: seed
// "configurable pod DNS". It is stored as it was written.
type PodDNSIntent struct {
	App       string        `json:"app"`
	DNSPolicy DNSPolicy     `json:"dnsPolicy"`
	DNSConfig *PodDNSConfig `json:"dnsConfig,omitempty"` // is merged with what the policy gives
}

// DNSPolicy is where the settings of a pod come from, before its DNSConfig.
type DNSPolicy string

// The policies, but for Autopath Kubernetes' own.
const (
	DNSDefault                 DNSPolicy = "Default"                  // the node's settings
	DNSClusterFirst            DNSPolicy = "ClusterFirst"             // the cluster's DNS; on the node's network as Default
	DNSClusterFirstWithHostNet DNSPolicy = "ClusterFirstWithHostNet"  // the cluster's DNS, on the node's network too
	DNSNone                    DNSPolicy = "None"                     // nothing; the seed calls it Custom
	DNSAutopath                DNSPolicy = "clusterFirstWithAutopath" // the cluster's DNS, which walks the search paths: seed "DNS autopath in PodSpec"
)

// Canonical is the policy as spelled above: Custom is None, and autopath may be
// written in any letter case of ASCII. Every other text stays as it is.
func (p DNSPolicy) Canonical() DNSPolicy {
	switch {
	case p == "Custom":
		return DNSNone
	case len(p) == len(DNSAutopath) && strings.EqualFold(string(p), string(DNSAutopath)): // what is no ASCII is longer
		return DNSAutopath
	}
	return p
}

// PodDNSConfig are settings of a resolver. In an intent they are added to those
// of the policy: nameservers and searches are appended, options override by
// name, duplicates are dropped.
type PodDNSConfig struct {
	Nameservers []string       `json:"nameservers,omitempty"` // IP addresses, 3 at most
	Searches    []string       `json:"searches,omitempty"`    // domains, 32 and 2048 characters at most; also spelled search
	Options     []PodDNSOption `json:"options,omitempty"`
}

// UnmarshalJSON also takes the seed's other spelling, search.
func (c *PodDNSConfig) UnmarshalJSON(raw []byte) error {
	type plain PodDNSConfig
	both := struct {
		*plain
		Search []string `json:"search"`
	}{plain: (*plain)(c)}
	if err := json.Unmarshal(raw, &both); err != nil {
		return err
	}
	c.Searches = append(c.Searches, both.Search...)
	return nil
}

// PodDNSOption is an option of resolv.conf, as in "ndots:2" or "edns0".
type PodDNSOption struct {
	Name  string  `json:"name"`
	Value *string `json:"value,omitempty"` // nil: the option has none; a number is taken too
}

// UnmarshalJSON also takes a number as value.
func (o *PodDNSOption) UnmarshalJSON(raw []byte) error {
	var in struct {
		Name  string          `json:"name"`
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return err
	}
	o.Name, o.Value = in.Name, nil
	text := string(in.Value)
	switch {
	case text == "" || text == "null":
		return nil
	case text[0] == '"':
		return json.Unmarshal(in.Value, &o.Value)
	}
	var number json.Number
	if err := json.Unmarshal(in.Value, &number); err != nil {
		return err
	}
	text = number.String()
	o.Value = &text
	return nil
}
