package address

import (
	"net/netip"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Input is everything that the addresses of a host name follow from.
type Input struct {
	Rule     Rule
	Types    []string // of record that the name may have; nil: A, AAAA and CNAME
	Routing  intent.Routing
	Health   *intent.Health // nil: every observed address counts
	Offers   []Offer
	Previous []Set     // what is published now
	SetIDs   bool      // the DNS provider has set identifiers: several sets of one name and type
	NoAlias  string    // why the name may be no alias, as in "it is the apex of its zone"; empty: it may
	Now      time.Time // UTC

	Probed map[string]intent.ProbeStatus // what the probe of Health has found, by address in its shortest form
}

// Rule says which addresses may be published.
type Rule struct {
	Scope        intent.Scope
	AllowPrivate bool     // private addresses in the public scope, too
	Allow, Deny  []string // networks in CIDR form, of the record's targetFilter; no Allow: all; Deny wins
	Passed       []string // likewise, those that external-dns leaves of what it gets; none: all
	Names        []string // the names to publish, canonical; a host name that is one of them is refused
}

// Offer is what a Service on one cluster offers.
type Offer struct {
	Service     Service
	Observation *Observation // nil: never looked at
	Standing    Standing     // of the cluster
	Foreign     bool         // its namespace there is another project's: nothing of it is to be published, or told
}

// Fold decides what is published. It is a function of its arguments alone. due
// is the next time at which the answer may be another though nothing else is;
// zero: never.
//
// What clusters offer is read (collect.go) and judged by scope and class
// (scope.go, class.go) and by health (health.go), routed (route.go), and brought
// into the form that DNS and its provider allow (alias.go).
func Fold(in Input) (c Choice, due time.Time) {
	f := fold{Input: in}
	f.allow = f.networks("targetFilter.allow", in.Rule.Allow)
	f.deny = f.networks("targetFilter.deny", in.Rule.Deny)
	f.passed = f.networks("target-net-filter", in.Rule.Passed)
	f.collect()
	f.choice.Probes = f.probes()
	return f.finish(f.decide()), f.due
}

// fold is a choice in the making.
type fold struct {
	Input
	allow, deny, passed []netip.Prefix
	offered             []entry // what the rule allows, in the order of the offers
	choice              Choice  // but for what is published
	due                 time.Time
}

// before tells whether a target is published now.
func (f *fold) before(kind, target string) bool {
	return slices.ContainsFunc(f.Previous, func(s Set) bool {
		return (kind == "" || s.Type == kind) && slices.Contains(s.Targets, target)
	})
}

// has tells whether the name may have records of a type.
func (f *fold) has(kind string) bool { return f.Types == nil || slices.Contains(f.Types, kind) }
