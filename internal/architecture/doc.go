// Package architecture holds the rules of the house: which package may import which, how
// large a package may be, and how texts are written. It contains only tests.
//
// Arrows point inwards: the domain imports no other package, plans import no client, the
// API imports no store, and only pkg/app imports all. A new rule is a row in one of the
// tables of rules_test.go, with its reason.
package architecture
