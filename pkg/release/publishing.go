package release

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/externaldns"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
)

// publishing is what a record's external-dns makes of names.
type publishing struct {
	record    plan.Record
	coverage  externaldns.Coverage
	abilities externaldns.Abilities
}

func publishingOf(r plan.Record) publishing {
	version, err := externaldns.ParseVersion(r.Version)
	if err != nil {
		version = externaldns.DefaultVersion
	}
	return publishing{
		record: r, coverage: externaldns.NewCoverage(r.Spec.Provider, r.Spec.Parameters),
		abilities: externaldns.AbilitiesOf(r.Spec.Provider, version),
	}
}

// noAlias says why a host may be no alias; empty: it may be.
func (p publishing) noAlias(host plan.Host) string {
	if p.coverage.Apex(host.Name) {
		return host.Name + " is the apex of its zone, where DNS allows no alias"
	}
	return ""
}

// services are the SRV records of a host's ports.
func (p publishing) services(host plan.Host, choice address.Choice) []address.Set {
	if !p.abilities.SRV {
		return nil
	}
	return endpoints.Services(host, choice, p.abilities.RootedSRV)
}

// lack is something that a host asks for and its record's external-dns cannot
// publish, with the fields that could be otherwise.
type lack struct {
	intent string // JSON pointer into the intent; empty: the record is wrong
	record string // JSON pointer into the record
	why    string
}

// lacks are those of a host.
func (p publishing) lacks(host plan.Host) []lack {
	var out []lack
	says := func(intent, record, format string, args ...any) {
		out = append(out, lack{intent, record, fmt.Sprintf(format, args...)})
	}
	provider, version := p.record.Spec.Provider, p.record.Version
	if host.Routing.Policy == intent.Weighted && !p.abilities.SetIdentifiers {
		says("/spec/routing/policy", "/spec/provider", "weighted needs a DNS provider with set identifiers, and record %q has provider %s; %s", p.record.Name, provider, externaldns.WeightAdvice())
	}
	managed := externaldns.Managed(p.record.Spec.Parameters)
	switch {
	case !slices.Contains(host.Types, "SRV"):
	case !p.abilities.SRV:
		says("/spec/recordTypes", "/spec/provider", "external-dns %s does not keep SRV records for provider %s of record %q; %s", version, provider, p.record.Name, externaldns.SRVAdvice())
	case !slices.Contains(managed, "SRV"):
		says("", "/spec/external-dns-parameters/managed-record-types", "external-dns of record %q leaves SRV records alone; set managed-record-types to [%s, SRV], and update the record if it is in use", p.record.Name, strings.Join(managed, ", "))
	}
	return out
}

// disable says which names that are published by a record's external-dns ask for
// what it could not publish once the record is updated.
func (s *Service) disable(ctx context.Context, record plan.Record) ([]intent.Field, error) {
	users, err := s.deployed(ctx, record.Path)
	if err != nil {
		return nil, err
	}
	publishing := publishingOf(record)
	var out []intent.Field
	for _, path := range slices.Sorted(maps.Keys(users)) {
		release, err := s.loadRelease(ctx, users[path].ContextID)
		if intent.CodeOf(err) == intent.NotFound {
			continue // many have followed it meanwhile
		}
		if err != nil {
			return nil, err
		}
		for _, b := range release.Group.Bindings {
			if b.Record != record.Name {
				continue
			}
			for _, host := range b.Hosts {
				for _, l := range publishing.lacks(host) {
					out = append(out, intent.Field{Pointer: string(record.Path) + "#" + l.record, Detail: fmt.Sprintf("%s of %s: %s", host.Name, path, l.why)})
				}
			}
		}
	}
	return out, nil
}
