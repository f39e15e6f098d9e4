package release

import (
	"slices"

	"github.com/signpost-dns/signpost/pkg/externaldns"
	"github.com/signpost-dns/signpost/pkg/plan"
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
	switch {
	case p.coverage.Apex(host.Name):
		return host.Name + " is the apex of its zone, where DNS allows no alias"
	case len(host.Types) > 0 && !slices.Contains(host.Types, "CNAME"):
		return "the intent's recordTypes leave CNAME out"
	}
	return ""
}
