package document

import (
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// ranks gives the order in which documents can be applied. A document has a later rank
// than all that it belongs or refers to.
func ranks() [][]string {
	return [][]string{
		{"projects", "cluster-providers"},
		{"clusters"},       // of a provider; may list projects
		{"logical-clouds"}, // of a project; refer to clusters
		{"dns-update-records", "cluster-references", "composite-apps"}, // providers may list logical clouds and clusters
		{"kv-pairs", "names"},                          // of a logical cloud or a cluster, or of a project; refer to providers
		{"dns-cr-intents", "deployment-intent-groups"}, // refer to logical clouds and their clusters
		{"traffic-group-intents"},
		{"dns-intents", "pod-dns-intents"}, // refer to records
	}
}

// emcoRanks are the collections that EMCO has beside those of ranks, in the same
// order.
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

// isSignposts tells whether EMCO has no such collection, or, of traffic groups,
// leaves it to controllers.
func isSignposts(collection string) bool {
	return slices.Contains([]string{"dns-update-records", "names", "dns-cr-intents", "traffic-group-intents", "dns-intents", "pod-dns-intents"}, collection)
}

// rank is the place of a collection in the order, and whether it has one.
func rank(collection intent.Path) (place int, known bool) { return find(ranks(), collection) }

// IsCollection reports whether Signpost keeps documents in a collection.
func IsCollection(path intent.Path) bool {
	_, known := rank(path)
	_, name := path.Split()
	return known && name == ""
}

// find is the place of a collection's last segment, and whether it has one.
func find(ranks [][]string, collection intent.Path) (place int, known bool) {
	place = slices.IndexFunc(ranks, func(collections []string) bool {
		return slices.Contains(collections, LastSegment(collection))
	})
	return place, place >= 0
}

// turn is a document's place in the order. Requests come after all documents.
func turn(d Document) int {
	if d.Action != "" {
		return len(ranks())
	}
	collection := intent.Path(d.Path.Collection())
	if first, known := rank(collection); known {
		return first
	}
	first, _ := find(emcoRanks(), collection)
	return first
}

// collections are the last segments of all collections.
func collections() []string { return slices.Concat(ranks()...) }

// Order sorts documents so that parents and references come first, and else
// leaves them, and requests, in the order in which they were written.
func Order(documents []Document) {
	slices.SortStableFunc(documents, func(a, b Document) int {
		return turn(a) - turn(b)
	})
}
