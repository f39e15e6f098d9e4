package document

import (
	"cmp"
	"math"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// emcoRanks are the collections that EMCO has beside Signpost's, by the rank of their
// documents.
func emcoRanks() [][]string {
	return [][]string{
		{"controllers", "clm-controllers"},
		{},
		{"labels"},
		{"user-permissions", "cluster-quotas"},
		{"apps", "composite-profiles"},
		{"profiles"},                  // of a composite profile, which groups refer to; refer to apps
		{"generic-placement-intents"}, // of a group
		{"app-intents", "intents"},    // refer to placements and controllers
	}
}

// kindOf is the kind of the documents in a collection, by the collection's last segment.
func kindOf(collection intent.Path) (kind intent.Kind, known bool) {
	kinds := intent.Kinds()
	at := slices.IndexFunc(kinds, func(k intent.Kind) bool { return k.Collection() == LastSegment(collection) })
	if at < 0 {
		return intent.Kind{}, false
	}
	return kinds[at], true
}

// IsCollection reports whether Signpost keeps documents in a collection.
func IsCollection(path intent.Path) bool {
	_, known := kindOf(path)
	_, name := path.Split()
	return known && name == ""
}

// emcoRank is the rank of a collection that EMCO has beside Signpost's, -1 if it has none.
func emcoRank(collection intent.Path) int {
	return slices.IndexFunc(emcoRanks(), func(collections []string) bool {
		return slices.Contains(collections, LastSegment(collection))
	})
}

// turn is a document's place in the order. Requests come after all documents.
func turn(d Document) int {
	if d.Action != "" {
		return math.MaxInt
	}
	collection := intent.Path(d.Path.Collection())
	if kind, known := kindOf(collection); known {
		return kind.Rank
	}
	return emcoRank(collection)
}

// Order sorts documents so that parents and references come first, and else
// leaves them, and requests, in the order in which they were written.
func Order(documents []Document) {
	slices.SortStableFunc(documents, func(a, b Document) int {
		return cmp.Compare(turn(a), turn(b))
	})
}
