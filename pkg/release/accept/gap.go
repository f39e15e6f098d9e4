package accept

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// warnOfGap warns of a name that goes to another provider of the same kind. In one zone, the
// new provider may not write the name before the old one has removed it.
func (s *Planner) warnOfGap(ctx context.Context, p *resolve.Proposal, before bundle.Bundle) error {
	g := p.Draft.Group
	if p.Action == intent.Terminate || !intent.IsName(g.Path) {
		return nil
	}
	left := map[string]bool{}
	for _, o := range before {
		if o.Published != nil && p.Draft.Records[o.Published.Record].Frozen.Name == "" {
			left[o.Published.Record] = true
		}
	}
	for _, old := range slices.Sorted(maps.Keys(left)) {
		doc, err := s.Documents.Get(ctx, intent.Join("projects", g.Path.Segment("projects"), "dns-update-records", old))
		if intent.CodeOf(err) == intent.NotFound {
			continue
		}
		var was intent.Resource[intent.Record]
		if err == nil {
			was, err = intent.Of[intent.Record](doc)
		}
		if err != nil {
			return fmt.Errorf("the provider %q that a name leaves: %w", old, err)
		}
		for _, name := range slices.Sorted(maps.Keys(p.Draft.Records)) {
			if is := p.Draft.Records[name].Frozen.Spec; is.Provider == was.Spec.Provider && state.InPlace(is, was.Spec) {
				p.Draft.Warn("the name may leave DNS for a moment: if %q writes to the zone of %q, it waits until %q has removed the name. "+
					"To move the external-dns of a provider without a gap, change its deployOn instead", name, old, old)
			}
		}
	}
	return nil
}
