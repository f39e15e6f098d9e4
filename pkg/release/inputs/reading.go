package inputs

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Reading is what was read of the documents, and what was not there.
type Reading struct {
	Store intent.Store
	Read  map[intent.Path]state.Input

	Accepting state.Input              // the document of a name, which is stored with its release alone; zero of other owners
	asked     []intent.Path            // for documents that may be missing
	listed    map[string][]state.Input // what collections held
}

// Inputs is what was read, ordered by path.
func (r *Reading) Inputs() []state.Input {
	out := make([]state.Input, 0, len(r.Read)+1)
	if r.Accepting.Path != "" {
		out = append(out, r.Accepting)
	}
	out = slices.AppendSeq(out, maps.Values(r.Read))
	slices.SortFunc(out, func(a, b state.Input) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return out
}

// Get reads and decodes a document, and notes it as an input.
func Get[Spec any](ctx context.Context, in *Inputs, path intent.Path) (intent.Resource[Spec], error) {
	doc, err := in.Store.Get(ctx, path)
	if err != nil {
		return intent.Resource[Spec]{}, err
	}
	return note[Spec](in, doc)
}

func note[Spec any](in *Inputs, doc intent.Document) (intent.Resource[Spec], error) {
	in.Read[doc.Path] = inputOf(doc)
	return intent.Of[Spec](doc)
}

func inputOf(doc intent.Document) state.Input {
	input := state.Input{Path: doc.Path, UID: doc.UID, Revision: doc.Revision}
	if doc.Schema > 1 {
		input.Schema = doc.Schema
	}
	return input
}

// InputsOf notes documents with their revisions.
func InputsOf(docs []intent.Document) []state.Input {
	out := make([]state.Input, len(docs))
	for n, doc := range docs {
		out[n] = inputOf(doc)
	}
	return out
}

// all reads those of the documents that exist.
func (r *Reading) all(ctx context.Context, paths []intent.Path) ([]intent.Document, error) {
	r.asked = append(r.asked, paths...)
	return r.Store.GetAll(ctx, paths)
}

func (r *Reading) list(ctx context.Context, collection string) ([]intent.Document, error) {
	page, err := r.Store.List(ctx, intent.ListOptions{Collection: collection})
	if r.listed == nil {
		r.listed = map[string][]state.Input{}
	}
	r.listed[collection] = InputsOf(page.Items)
	return page.Items, err
}

// noted reads a collection whose documents are inputs.
func (r *Reading) noted(ctx context.Context, collection string) ([]intent.Document, error) {
	docs, err := r.list(ctx, collection)
	for _, doc := range docs {
		r.Read[doc.Path] = inputOf(doc)
	}
	return docs, err
}

// repeated reads all of it once more, and tells whether it is the same. If so, all of it
// was valid at one time between the readings.
func (r *Reading) repeated(ctx context.Context) (bool, error) {
	single := slices.Clone(r.asked)
	for path := range r.Read {
		if _, listed := r.listed[path.Collection()]; !listed {
			single = append(single, path)
		}
	}
	slices.Sort(single)
	single = slices.Compact(single)
	found := 0
	for _, path := range single {
		if _, there := r.Read[path]; there {
			found++
		}
	}
	docs, err := r.Store.GetAll(ctx, single)
	if err != nil {
		return false, err
	}
	if len(docs) != found || slices.ContainsFunc(docs, func(doc intent.Document) bool { return r.Read[doc.Path] != inputOf(doc) }) {
		return false, nil
	}
	for _, collection := range slices.Sorted(maps.Keys(r.listed)) {
		page, err := r.Store.List(ctx, intent.ListOptions{Collection: collection})
		if err != nil || !slices.Equal(InputsOf(page.Items), r.listed[collection]) {
			return false, err
		}
	}
	return true, nil
}

// Keep files a record or a cluster among the inputs.
func (in *Inputs) Keep(doc intent.Document) error {
	switch {
	case state.IsRecord(doc.Path):
		in.Records[doc.Path.Name()] = doc
	case doc.Path.Segment("clusters") != "":
		cluster, err := intent.Of[intent.Cluster](doc)
		in.Clusters[intent.ClusterRef{ClusterProvider: doc.Path.Segment("cluster-providers"), Cluster: doc.Path.Name()}.String()] = cluster
		return err
	}
	return nil
}
