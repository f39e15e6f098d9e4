package address

import (
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Choice is what is published of the offers, and why. All lists are sorted,
// without duplicates, and depend on the offers but not on their order.
type Choice struct {
	Sets  []Set  // ordered by type and ID
	Ports []Port // of the Services that are published, ordered
	Ill   bool   // no cluster is healthy: the sets are published all the same
	Kept  bool   // nothing offers a target any more: the sets are those of before, which may not go yet

	Sources  []intent.Source      // where each published target comes from
	Probes   []intent.ProbeStatus // of the addresses that could be published, ordered; nil: no probe is asked for
	Rejected []intent.Rejection   // which candidates are not published, and what to do about it
	Warnings []string             // sentences about what is published all the same
	Health   []string             // sentences about the effects of health; none if all are healthy
	Unknown  []string             // clusters whose Service was never looked at
	Absent   []string             // clusters that were seen to lack the Service
	Foreign  []string             // clusters where the Service's namespace is another project's
}

// Some tells whether there is anything to publish.
func (c Choice) Some() bool { return len(c.Sets) > 0 }

// Targets are those of all sets of a type, ordered.
func (c Choice) Targets(kind string) []string {
	var out []string
	for _, set := range c.Sets {
		if set.Type == kind {
			out = append(out, set.Targets...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Set is the targets of one name and type.
type Set struct {
	Name    string   // of the SRV records of a port; empty: the host name itself
	Type    string   // A, AAAA, CNAME or SRV; Fold makes none of the last
	Targets []string // addresses in their shortest form, or one host name, canonical; sorted, never empty
	ID      string   // set identifier: the cluster, region or location; empty where the name and type have one set
	TTL     int64    // in seconds, of records of other types; 0: that of the host

	// Of a set with an ID, one of these says which clients it answers.
	Weight   int64  // 1 to 255
	Region   string // as in eu-central-1
	Location string // as in continent/EU, country/DE, country/US/CA or default
}
