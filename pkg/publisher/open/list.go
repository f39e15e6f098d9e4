package open

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
)

// listable are the kinds of Writers that are publisher.Listers.
func listable() []string { return []string{"coredns", "rfc2136", "webhook"} }

// Unlistable is why the zones of a provider cannot be read; empty if they can.
func Unlistable(provider string) string {
	if slices.Contains(listable(), externaldns.WriterOf(provider)) {
		return ""
	}
	return "Signpost cannot read the zones of provider " + provider + "; it can with " + strings.Join(listable(), ", ") +
		". Export the zone at the DNS provider as a zone file, and make documents of it by signpost import zone FILE"
}

// List returns all sets of a provider's zones, as [publisher.Lister] does, ordered by name and type. Their
// targets are in order, too.
func List(ctx context.Context, s publisher.Settings, most int, metrics *Metrics) ([]publisher.Set, error) {
	if why := Unlistable(s.Provider); why != "" {
		return nil, fault.Errorf(publisher.Invalid, "%s", why)
	}
	writer, err := kind(s)
	if err != nil {
		return nil, err
	}
	defer writer.Close()
	lister, _ := writer.(publisher.Lister) // Unlistable has no reason otherwise
	begun := time.Now()
	sets, err := lister.List(ctx, most)
	metrics.observe(s.Provider, "list", time.Since(begun), err)
	for _, set := range sets {
		slices.Sort(set.Targets)
	}
	slices.SortFunc(sets, func(a, b publisher.Set) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return strings.Compare(a.Type, b.Type)
	})
	return sets, err
}
