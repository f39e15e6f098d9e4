package resolve

import (
	"context"
	"fmt"
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

// Publishing is what a record's external-dns makes of names.
type Publishing struct {
	record    plan.Record
	version   externaldns.Version // of external-dns
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
		record: r, version: version, Coverage: externaldns.NewCoverage(r.Spec.Provider, r.Spec.Parameters),
		Abilities: externaldns.AbilitiesOf(r.Spec.Provider, version),
	}
	if r.Spec.DeployOn.BuiltIn() {
		p.Abilities.SRV, p.Abilities.RootedSRV = externaldns.Writes(r.Spec.Provider, "SRV"), false
		p.Abilities.DualStack = true // it compares the sets of each type
	}
	return p
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
	provider, version := p.record.Spec.Provider, p.record.Version
	if host.Routing.Divides() && !p.Abilities.SetIdentifiers {
		says("/spec/routing/policy", "/spec/provider", "%s needs a DNS provider with set identifiers, and provider %q is of type %s; %s", host.Routing.Policy, p.record.Name, provider, externaldns.SetsAdvice())
	}
	managed := externaldns.Managed(p.record.Spec.Parameters)
	switch {
	case !slices.Contains(host.Types, "SRV"):
	case !p.Abilities.SRV && p.record.Spec.DeployOn.BuiltIn():
		says("/spec/recordTypes", "/spec/deployOn", "the built-in publisher of provider %q (%s) writes no SRV records; %s", p.record.Name, provider, externaldns.TypeAdvice("SRV"))
	case !p.Abilities.SRV:
		says("/spec/recordTypes", "/spec/provider", "external-dns %s does not keep SRV records for %s of provider %q; %s", version, provider, p.record.Name, externaldns.TypeAdvice("SRV"))
	case !slices.Contains(managed, "SRV") && !p.record.Spec.DeployOn.BuiltIn():
		says("", "/spec/external-dns-parameters/managed-record-types", "external-dns of provider %q ignores SRV records; set managed-record-types to [%s, SRV], and update the provider if it is in use", p.record.Name, strings.Join(managed, ", "))
	}
	return append(out, p.lackingTypes(host, managed)...)
}

// Disable says which names that are published by a record's external-dns ask for
// what it could not publish once the record is updated.
func (s *Resolver) Disable(ctx context.Context, record plan.Record) ([]intent.Field, error) {
	users, err := s.Deployed(ctx, record.Path)
	if err != nil {
		return nil, err
	}
	publishing := PublishingOf(record)
	var out []intent.Field
	err = s.EachRelease(ctx, users, func(_ state.Lifecycle, g plan.Group) {
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
