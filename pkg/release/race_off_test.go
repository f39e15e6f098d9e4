//go:build !race

package release_test

// everyWrite is at which writes processes die: at each.
const everyWrite = 1
