package address

import (
	"time"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// Input is everything that the addresses of a host name follow from.
type Input struct {
	Rule     Rule
	Routing  intent.Routing
	Health   *intent.Health // nil: every observed address counts
	Offers   []Offer
	Previous []Set     // what is published now
	SetIDs   bool      // the DNS provider has set identifiers: several sets of one name and type
	NoAlias  string    // why the name may be no alias, as in "it is the apex of its zone"; empty: it may
	Now      time.Time // UTC
}

// Offer is what a Service on one cluster offers.
type Offer struct {
	Service     Service
	Observation *Observation // nil: never looked at
	Standing    Standing     // of the cluster
}

// Standing is what is known of a cluster as a whole.
type Standing struct {
	Drained          bool      // nothing of it is to be published
	UnreachableSince time.Time // UTC: since when its worker has seen for itself, without a break, that it cannot be reached; zero: it is reachable, or nobody knows
	Frozen           string    // why nobody is taken out for being unreachable; empty: they may be
}

// Set is the targets of one name and type.
type Set struct {
	Type    string   // A, AAAA or CNAME
	Targets []string // addresses in their shortest form, or one host name, canonical; sorted, never empty
	ID      string   // set identifier; empty where the name and type have one set
	Weight  int64    // of a set with an ID
}

// Fold decides what is published. It is a function of its arguments alone. due
// is the next time at which the answer may be another though nothing else is;
// zero: never.
func Fold(in Input) (c Choice, due time.Time) {
	return choose(in.Rule, in.Offers), time.Time{}
}

// withheld says why nothing of a cluster is published; empty: it may be.
func withheld(s Standing) string {
	if s.Drained {
		return "the cluster is drained"
	}
	return ""
}
