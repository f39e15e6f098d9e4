// Package architecture holds the house rules about who may know whom, and the
// tests that keep them. It has no code of its own to import.
//
// Arrows point inwards: the domain knows nobody, plans know no client, the API
// knows no store, and only pkg/app knows all. A new rule is a row in one of the
// tables of rules_test.go, with its reason.
package architecture
