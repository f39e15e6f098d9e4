// Package publisher says how Signpost writes names to DNS servers itself. A Writer is
// open for one provider. Package open opens one, by the provider's kind. A caller reads the
// names that change, compares, and writes one name at a time:
//
//	states, err := writer.Read(ctx, names)
//	// record the intent of names whose state is empty
//	err = writer.Write(ctx, publisher.Change{Before: states[name], After: sets})
//
// All that shows in DNS is as external-dns 0.22 writes it with registry txt. So a provider
// moves between a Deployment of external-dns and a Writer, and nothing changes in its zone.
package publisher

import (
	"context"
	"slices"
	"time"
)

// WriteDeadline is how long one Write may take at most. It lies inside the lease by
// which a worker publishes a provider, as cluster.RequestDeadline does.
const WriteDeadline = 5 * time.Second

// Most is how many names one Read may have.
const Most = 64

// Set is the records of one name and type.
type Set struct {
	Name    string // in DNS: lower case, in ASCII, without a final dot
	Type    string // one of Managed, or a type that the Writer writes, too
	Targets []string
	TTL     int64 // in seconds; 0: the default of the provider
	Mark    Mark  // of whom it is; of a set to be written, its Resource alone is read
}

// Mark is the content of the TXT record beside a set by which external-dns knows its own.
// The zero Mark is none.
type Mark struct {
	Owner    string // the txt-owner-id
	Resource string // crd/NAMESPACE/NAME of the DNSEndpoint
}

// Resource is the label of a DNSEndpoint in marks.
func Resource(namespace, name string) string { return "crd/" + namespace + "/" + name }

// State is what a server holds of one name, at one instant: all its sets with their
// marks. Only the Writer that has read a State understands Version.
type State struct {
	Name    string
	Sets    []Set
	Orphans map[string]Mark // of types that are marked, and have no records
	Version any
}

// Set is the set of a type; ok is false if the name has none.
func (s State) Set(kind string) (set Set, ok bool) {
	at := slices.IndexFunc(s.Sets, func(set Set) bool { return set.Type == kind })
	if at < 0 {
		return Set{}, false
	}
	return s.Sets[at], true
}

// Change is what becomes of one name.
type Change struct {
	// Before is what Read has answered. If the server holds something else by
	// now, nothing is written and the fault is Stale.
	Before State

	// After are all sets that the name is to have of the Writer's owner. A set of
	// Before that is not in After is removed, with its mark. Sets of others stay.
	After []Set

	// Intended are sets that the caller recorded before it wrote them for the first
	// time. A set of Before that has no mark and equals one of them counts as the caller's
	// own: it was left by a crash.
	Intended []Set

	// Adopt is another owner whose sets After may take over, or Unmarked. They get the Writer's
	// mark by the same message. Sets that are not in After stay. Empty: nobody's.
	Adopt string
}

// Unmarked stands in Adopt for sets without a mark.
const Unmarked = "unmarked"

// Writer reads and writes the names of one provider. Its methods are safe for concurrent
// use, obey their context, and fail by *fault.Error. After a failed Write, the state of the name
// is unknown until it is read again.
type Writer interface {
	// Read answers the state of each of the names, at most Most. It never reads
	// names that are not asked for, unless the protocol cannot ask for one. Sets of types
	// other than those of Managed are read if types has them, and the Writer can write them.
	// If only some names cannot be read, the error is an Unread, and the states of the others are answered, too.
	Read(ctx context.Context, names []string, types ...string) (map[string]State, error)

	// Write changes one name by one message to the server, whole or not at all.
	// A resolver that asks meanwhile gets the records of before or of after, never none.
	// A change that leaves all as it is sends nothing.
	Write(ctx context.Context, change Change) error

	// Close closes the connections.
	Close()
}

// Lister is a Writer that can read whole zones, too.
type Lister interface {
	// List returns all sets of the provider's zones, in no order, without what the zones' own servers keep:
	// SOA, NS, delegations and DNSSEC. Targets are in presentation format, with absolute names. Marks are not
	// among the sets; each set has its own. The error is Invalid if there are more than most records, or if their names and
	// values have more than MostListedBytes.
	List(ctx context.Context, most int) ([]Set, error)
}

// Owning is a Writer that can tell all that its owner has.
type Owning interface {
	// Owned lists the sets with the mark of the Writer's owner. It fails by Unlisted if the provider's settings, or its
	// protocol, do not let it.
	Owned(ctx context.Context) ([]Set, error)
}

// ListDeadline is how long Owned may take, and MostListed how many records it reads. Each costs memory beside its own bytes.
const (
	ListDeadline = time.Minute
	MostListed   = 250_000
)

// The names and values that are listed may have MostListedMiB, which are MostListedBytes.
const (
	MostListedMiB   = 64
	MostListedBytes = MostListedMiB << 20
)

// SameRecords tells whether two sets have the same records. Marks are not compared.
func SameRecords(a, b Set) bool {
	return a.Name == b.Name && a.Type == b.Type && a.TTL == b.TTL &&
		slices.Equal(slices.Sorted(slices.Values(a.Targets)), slices.Sorted(slices.Values(b.Targets)))
}
