package release

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// reading is what was read of the documents, and what was not there.
type reading struct {
	store  intent.Store
	read   map[intent.Path]Input
	asked  []intent.Path      // for documents that may be missing
	listed map[string][]Input // what collections held
}

// inputs is what was read, ordered by path.
func (r *reading) inputs() []Input {
	out := make([]Input, 0, len(r.read))
	for _, i := range r.read {
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b Input) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return out
}

// get reads and decodes a document, and notes it as an input.
func get[Spec any](ctx context.Context, in *inputs, path intent.Path) (intent.Resource[Spec], error) {
	doc, err := in.store.Get(ctx, path)
	if err != nil {
		return intent.Resource[Spec]{}, err
	}
	return note[Spec](in, doc)
}

func note[Spec any](in *inputs, doc intent.Document) (intent.Resource[Spec], error) {
	in.read[doc.Path] = inputOf(doc)
	return intent.Of[Spec](doc)
}

func inputOf(doc intent.Document) Input {
	input := Input{Path: doc.Path, UID: doc.UID, Revision: doc.Revision}
	if doc.Schema > 1 {
		input.Schema = doc.Schema
	}
	return input
}

func inputsOf(docs []intent.Document) []Input {
	out := make([]Input, len(docs))
	for n, doc := range docs {
		out[n] = inputOf(doc)
	}
	return out
}

// all reads those of the documents that exist.
func (r *reading) all(ctx context.Context, paths []intent.Path) ([]intent.Document, error) {
	r.asked = append(r.asked, paths...)
	return r.store.GetAll(ctx, paths)
}

// list reads a collection.
func (r *reading) list(ctx context.Context, collection string) ([]intent.Document, error) {
	page, err := r.store.List(ctx, intent.ListOptions{Collection: collection})
	if r.listed == nil {
		r.listed = map[string][]Input{}
	}
	r.listed[collection] = inputsOf(page.Items)
	return page.Items, err
}

// repeated reads all of it once more, and tells whether it is the same: then
// there was a time between the readings at which all of it was so.
func (r *reading) repeated(ctx context.Context) (bool, error) {
	single, found := slices.Clone(r.asked), 0
	for path := range r.read {
		if _, listed := r.listed[path.Collection()]; !listed {
			single, found = append(single, path), found+1
		}
	}
	slices.Sort(single)
	docs, err := r.store.GetAll(ctx, slices.Compact(single))
	if err != nil {
		return false, err
	}
	if len(docs) != found || slices.ContainsFunc(docs, func(doc intent.Document) bool { return r.read[doc.Path] != inputOf(doc) }) {
		return false, nil
	}
	for _, collection := range slices.Sorted(maps.Keys(r.listed)) {
		page, err := r.store.List(ctx, intent.ListOptions{Collection: collection})
		if err != nil || !slices.Equal(inputsOf(page.Items), r.listed[collection]) {
			return false, err
		}
	}
	return true, nil
}
