package projects

import (
	"context"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// CheckSet admits a set of documents. Each has to be a document of the project, and in no
// other set of it. Of two sets that are written at once, both may get a document: the next
// write of either tells it.
func CheckSet(ctx context.Context, a *review.Checker, r *review.Review, in, _ *intent.DocumentSet) error {
	const at = review.Spec + "/documents"
	project := intent.Join("projects", r.Project())
	places := map[intent.Path]int{}
	for n, given := range in.Documents {
		path := intent.WithTrafficGroup(given)
		in.Documents[n] = path
		kind := intent.KindOf(path).One
		first, again := places[path]
		switch {
		case kind == "":
			r.Refusef(at.Index(n), "%s is not the path of a document; write it as in projects/shop/dns-update-records/lab", review.Quote(string(path)))
		case !strings.HasPrefix(string(path), string(project)+"/"):
			r.Refusef(at.Index(n), "%s is not a document of project %s; leave it out", review.Quote(string(path)), review.Quote(project.Name()))
		case kind == "DocumentSet":
			r.Refusef(at.Index(n), "%s is a set, and sets hold no sets; leave it out", review.Quote(string(path)))
		case again:
			r.Refusef(at.Index(n), "is the same as %s; leave one out", at.Index(first))
		default:
			places[path] = n
		}
	}
	slices.Sort(in.Documents)
	return a.Each(ctx, r.Path.Collection(), func(doc intent.Document) error {
		if doc.Path == r.Path {
			return nil
		}
		other, err := intent.Of[intent.DocumentSet](doc)
		if err != nil {
			return err
		}
		for _, path := range other.Spec.Documents {
			if n, taken := places[path]; taken {
				r.Conflictf(at.Index(n), "%s is in set %s; a document is in one set, so remove it there first", review.Quote(string(path)), review.Quote(doc.Path.Name()))
			}
		}
		return nil
	})
}
