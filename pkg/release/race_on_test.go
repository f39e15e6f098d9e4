//go:build race

package release_test

// everyWrite is at which writes processes die. The race detector has nothing
// to find there and makes it slow.
const everyWrite = 5
