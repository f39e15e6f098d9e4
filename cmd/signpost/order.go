package main

import (
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// ranks gives the order in which documents can be applied: whatever a document
// belongs or refers to is of an earlier rank.
func ranks() [][]string {
	return [][]string{
		{"projects", "cluster-providers"},
		{"clusters"},                             // of a provider; may list projects
		{"dns-update-records", "logical-clouds"}, // of a project; refer to clusters
		{"cluster-references", "composite-apps"},
		{"kv-pairs"},                                   // of a logical cloud or a cluster; refer to records
		{"dns-cr-intents", "deployment-intent-groups"}, // refer to logical clouds and their clusters
		{"traffic-group-intents"},
		{"dns-intents", "pod-dns-intents"}, // refer to records
	}
}

// rank is the place of a collection in the order, and whether it has one.
func rank(collection intent.Path) (place int, known bool) {
	last := string(collection[strings.LastIndexByte(string(collection), '/')+1:])
	for place, collections := range ranks() {
		if slices.Contains(collections, last) {
			return place, true
		}
	}
	return 0, false
}

// collections are the last segments of all collections.
func collections() []string { return slices.Concat(ranks()...) }

// order sorts documents so that parents and references come first, and else
// leaves them in the order in which they were written.
func order(documents []document) {
	slices.SortStableFunc(documents, func(a, b document) int {
		first, _ := rank(intent.Path(a.Path.Collection()))
		second, _ := rank(intent.Path(b.Path.Collection()))
		return first - second
	})
}
