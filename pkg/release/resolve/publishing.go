package resolve

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// WhyNamesStay is why a record's external-dns deletes no name; empty when it
// does.
func WhyNamesStay(r intent.Record) string {
	policy := externaldns.Value(r.Parameters, "policy")
	switch {
	case policy == "upsert-only" || policy == "create-only":
		return fmt.Sprintf("policy %s never deletes names", policy)
	case r.Suspend:
		return "the provider is suspended, so its external-dns deletes nothing"
	}
	return ""
}

// CannotAdopt is why a record's external-dns cannot take over any names; empty:
// it can.
func CannotAdopt(record plan.Record) string {
	settings := externaldns.Record{Provider: record.Spec.Provider, Parameters: record.Spec.Parameters}
	if record.Spec.DeployOn.BuiltIn() {
		return externaldns.UnadoptableBuiltIn(settings)
	}
	version, err := externaldns.ParseVersion(record.Version)
	if err != nil {
		return err.Error()
	}
	return externaldns.Unadoptable(settings, version)
}

// Publishing is what a provider's publisher makes of names: all of the provider that names follow from.
type Publishing struct {
	path      intent.Path
	version   externaldns.Version // of external-dns; for words alone
	provider  string              // its type, as in "aws"
	builtIn   bool
	marksApex bool     // a name that is its zone's own is marked within the zone
	keeps     []string // the types of records besides addresses that it publishes, changes and deletes

	Managed   []string     // the types of records that it looks at
	Rule      address.Rule // of its addresses; of no scope, and of no names yet
	Coverage  externaldns.Coverage
	Abilities externaldns.Abilities
}

// PublishingOf is what a provider's external-dns can publish.
func PublishingOf(r plan.Record) Publishing {
	version, err := externaldns.ParseVersion(r.Version)
	if err != nil {
		version = externaldns.DefaultVersion
	}
	p := Publishing{
		path: r.Path, version: version, provider: r.Spec.Provider, builtIn: r.Spec.DeployOn.BuiltIn(),
		marksApex: externaldns.MarksApex(r.Spec.Parameters), keeps: externaldns.RecordTypes(),
		Managed: externaldns.Managed(r.Spec.Parameters), Rule: ruleOf(r.Spec),
		Coverage: externaldns.NewCoverage(r.Spec.Provider, r.Spec.Parameters), Abilities: externaldns.AbilitiesOf(r.Spec.Provider, version),
	}
	p.keeps = slices.DeleteFunc(p.keeps, func(kind string) bool {
		if p.builtIn {
			return !externaldns.Writes(p.provider, kind)
		}
		return !externaldns.Publishes(p.provider, kind, version)
	})
	if p.builtIn {
		p.Abilities.SRV, p.Abilities.RootedSRV = externaldns.Writes(p.provider, "SRV"), false
		p.Abilities.DualStack = true // it compares the sets of each type
	}
	return p
}

// ruleOf is a provider's rule for addresses, of no scope, and of no names yet.
func ruleOf(r intent.Record) address.Rule {
	rule := address.Rule{AllowPrivate: r.AllowPrivate, Passed: externaldns.Values(r.Parameters, "target-net-filter")}
	if filter := r.TargetFilter; filter != nil {
		rule.Allow, rule.Deny = filter.Allow, filter.Deny
	}
	rule.Deny = slices.Concat(rule.Deny, externaldns.Values(r.Parameters, "exclude-target-net"))
	return rule
}

// PublishAlike tells whether the same names and addresses follow from two versions of a provider.
func PublishAlike(a, b plan.Record) bool {
	was, is := PublishingOf(a), PublishingOf(b)
	was.version = is.version
	return reflect.DeepEqual(was, is)
}

// NoAlias says why a host may be no alias; empty: it may be.
func (p Publishing) NoAlias(host plan.Host) string {
	if p.Coverage.Apex(host.Name) {
		return host.Name + " is the apex of its zone, where DNS allows no alias"
	}
	return ""
}

// Services are the SRV records of a host's ports.
func (p Publishing) Services(host plan.Host, choice address.Choice) []address.Set {
	if !p.Abilities.SRV {
		return nil
	}
	return endpoints.Services(host, choice, p.Abilities.RootedSRV)
}

// lack is something that a host asks for and its record's external-dns cannot
// publish, with the fields that could be otherwise.
type lack struct {
	intent string // JSON pointer into the intent; empty: the record is wrong
	record string // JSON pointer into the record
	why    string
}

// lacks are those of a host.
func (p Publishing) lacks(host plan.Host) []lack {
	var out []lack
	says := func(intent, record, format string, args ...any) {
		out = append(out, lack{intent, record, fmt.Sprintf(format, args...)})
	}
	if host.Routing.Divides() && !p.Abilities.SetIdentifiers {
		says("/spec/routing/policy", "/spec/provider", "%s needs a DNS provider with set identifiers, and provider %q is of type %s; %s", host.Routing.Policy, p.path.Name(), p.provider, externaldns.SetsAdvice())
	}
	switch {
	case !slices.Contains(host.Types, "SRV"):
	case !p.Abilities.SRV && p.builtIn:
		says("/spec/recordTypes", "/spec/deployOn", "the built-in publisher of provider %q (%s) writes no SRV records; %s", p.path.Name(), p.provider, externaldns.TypeAdvice("SRV"))
	case !p.Abilities.SRV:
		says("/spec/recordTypes", "/spec/provider", "external-dns %s does not keep SRV records for %s of provider %q; %s", p.version, p.provider, p.path.Name(), externaldns.TypeAdvice("SRV"))
	case !slices.Contains(p.Managed, "SRV") && !p.builtIn:
		says("", "/spec/external-dns-parameters/managed-record-types", "external-dns of provider %q ignores SRV records; set managed-record-types to [%s, SRV], and update the provider if it is in use", p.path.Name(), strings.Join(p.Managed, ", "))
	}
	return append(out, p.lackingTypes(host)...)
}

// Disable says which names that are published by a record's external-dns ask for
// what it could not publish once the record is updated.
func (s *Resolver) Disable(ctx context.Context, p *RecordProposal) ([]intent.Field, error) {
	if p.PublishesAlike() {
		return nil, nil
	}
	record, publishing := p.Frozen, PublishingOf(p.Frozen)
	var out []intent.Field
	err := s.EachRelease(ctx, p.Users, func(l state.Lifecycle, g plan.Group) {
		if !l.Deployed() {
			return
		}
		for _, b := range g.Bindings {
			if b.Record != record.Name {
				continue
			}
			for _, host := range b.Hosts {
				for _, l := range publishing.lacks(host) {
					out = append(out, intent.Field{Pointer: string(record.Path) + "#" + l.record, Detail: fmt.Sprintf("%s of %s: %s", host.Name, g.Path, l.why)})
				}
			}
		}
	})
	return out, err
}
