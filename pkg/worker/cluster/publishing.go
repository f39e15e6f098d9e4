package cluster

import (
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
)

// BuiltIn is implemented by the Watches of a cluster that is a built-in publisher. It
// tells what was written, as the metrics of an external-dns do.
type BuiltIn interface {
	Publishing() Publishing
	// Published answers the state of a DNSEndpoint whose names are all written; false: they are not, or nobody knows.
	Published(endpoint bundle.ID) (Published, bool)
	// Removed tells whether a DNSEndpoint was deleted, and the publisher, which knows it, has nothing of these
	// names any more but what other DNSEndpoints give. False also means that this is not known. It is
	// no longer known some time after it was told, and RemovedFor after the deletion.
	Removed(endpoint bundle.ID, names []string) bool
}

// RemovedFor is how long somebody waits to hear that the names of a deleted DNSEndpoint are removed.
const RemovedFor = 24 * time.Hour

// Publishing is what a built-in publisher has done.
type Publishing struct {
	Version      string    // of the Signpost that writes
	Synced       time.Time // when all was last seen to be written; zero: never
	Names        int       // that are wanted
	Adopted      string    // the owner id whose marks were replaced by then, as the settings say; empty: nobody's
	AdoptedSince time.Time // when that adoption was accepted, as the settings say
	Failing      string    // what went wrong since, in the words of the DNS server; empty: nothing
	Down         time.Time // since when it can neither read nor write, and so does not work; zero: it works
	Zone         string    // what looks through the whole zone have found, and why the last one failed; empty: nothing wrong
	Strays       *int      // names with the mark of the provider that nobody gives, by the last look that succeeded; nil: not known
	Waiting      string    // why it does not write yet; empty: it does
}

// Published is a state of a DNSEndpoint.
type Published struct {
	UID        string
	Generation int64
	At         time.Time
}
