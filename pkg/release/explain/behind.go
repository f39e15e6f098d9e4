package explain

import (
	"context"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/query"
)

// behind returns the documents behind a host name of a snapshot: the name document, or the
// DNS intents for the same Service. Intents that list the host name come before templates.
func (e *Explainer) behind(ctx context.Context, snap query.Snapshot, host string) ([]intent.NameSource, error) {
	owner := intent.Path(snap.Owner)
	frozen := map[intent.Path]int64{}
	var paths []intent.Path
	for _, input := range snap.Inputs {
		if input.Path == owner && intent.IsName(owner) || strings.HasSuffix(input.Path.Collection(), "/dns-intents") {
			frozen[input.Path] = input.Revision
			paths = append(paths, input.Path)
		}
	}
	docs, err := e.Reader.Documents.GetAll(ctx, paths)
	if err != nil {
		return nil, err
	}
	exact, others := []intent.NameSource{}, []intent.NameSource{}
	for _, doc := range docs {
		source := intent.NameSource{Path: doc.Path, Revision: frozen[doc.Path], Current: doc.Revision}
		if intent.IsName(doc.Path) {
			return []intent.NameSource{source}, nil
		}
		resource, err := intent.Of[intent.DNSIntent](doc)
		if err != nil {
			return nil, err
		}
		switch spec := resource.Spec; {
		case !slices.ContainsFunc(snap.Group.Bindings, func(b plan.Binding) bool {
			return b.App == spec.App && b.Service == spec.ServiceName && slices.ContainsFunc(b.Hosts, func(h plan.Host) bool { return h.Name == host })
		}):
		case slices.Contains(spec.Hostnames, host):
			exact = append(exact, source)
		default:
			others = append(others, source)
		}
	}
	if len(exact) > 0 {
		return exact, nil
	}
	return others, nil
}
