package inputs

import (
	"context"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Undeployed reads the documents of a group or of a logical cloud, and returns those that
// differ from a release of it. Parameter namespace is the project's in the release. The
// documents are as they were read, one after the other.
func (s *Reader) Undeployed(ctx context.Context, owner intent.Path, frozen []state.Input, namespace string) ([]intent.UndeployedDocument, error) {
	in, err := s.readInputs(ctx, owner, nil)
	if err != nil {
		return nil, err
	}
	settled := map[intent.Path]bool{in.ProjectPath(): in.Project.Spec.Namespace == namespace}
	for name, doc := range in.Records {
		pinned := in.Pinned[name]
		if settled[doc.Path], err = pinned.Deploys(doc); err != nil {
			return nil, err
		}
	}
	return differences(frozen, in.Inputs(), settled), nil
}

// differences are the documents by which two lists of inputs differ, ordered by path.
// Clusters do not count, because renewals of their credentials change them, nor do internal
// documents. Another revision of a settled document does not count either, because all that
// matters of it is deployed.
func differences(frozen, present []state.Input, settled map[intent.Path]bool) []intent.UndeployedDocument {
	was := map[intent.Path]state.Input{}
	for _, i := range frozen {
		was[i.Path] = i
	}
	var out []intent.UndeployedDocument
	add := func(i state.Input, d intent.UndeployedDocument) {
		switch intent.KindOf(i.Path).One {
		case "", "Cluster":
		default:
			d.Path = i.Path
			out = append(out, d)
		}
	}
	for _, now := range present {
		before, known := was[now.Path]
		delete(was, now.Path)
		switch {
		case !known:
			add(now, intent.UndeployedDocument{Change: intent.InputAdded, Current: now.Revision})
		case before.UID != now.UID, before.Revision != now.Revision && !settled[now.Path]:
			add(now, intent.UndeployedDocument{Change: intent.InputChanged, Revision: before.Revision, Current: now.Revision})
		}
	}
	for _, gone := range was {
		add(gone, intent.UndeployedDocument{Change: intent.InputRemoved, Revision: gone.Revision})
	}
	slices.SortFunc(out, func(a, b intent.UndeployedDocument) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return out
}
