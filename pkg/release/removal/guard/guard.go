// Package guard says when more of a record's names would go at once than anybody
// may have meant.
package guard

// Few is how many names may always go.
const Few = 5

// Default is the share of a record's names that may go at once, in percent,
// where the record says nothing.
const Default = 25

// Over says whether it is too much that so many names go of all that there were,
// where percent of them may.
func Over(gone, all, percent int) bool { return gone > Few && gone*100 > all*percent }
