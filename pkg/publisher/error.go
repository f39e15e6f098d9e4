package publisher

import (
	"fmt"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
)

// The faults of a Read or a Write, beside those of all servers.
const (
	Foreign   fault.Kind = "foreign"   // a set of the name belongs to somebody else; it stays as it is
	Forbidden fault.Kind = "forbidden" // the address may not be dialled: see --publisher-servers
	Unlisted  fault.Kind = "unlisted"  // the server cannot be looked through, as its provider is set
	Invalid   fault.Kind = "invalid"   // the provider's parameters or the set cannot be published
)

// Unread is the error of a Read that could not read some of its names, with the reason of each. The states of the others
// are answered beside it.
type Unread map[string]error

// Err is the error; nil if all names were read.
func (u Unread) Err() error {
	if len(u) == 0 {
		return nil
	}
	return u
}

// Error implements error.
func (u Unread) Error() string {
	if left := len(u) - 1; left > 0 {
		return fmt.Sprintf("%v; %d more names cannot be read", u.Unwrap(), left)
	}
	return u.Unwrap().Error()
}

// Unwrap gives the reason of the first name.
func (u Unread) Unwrap() error { return u[slices.Min(slices.Collect(maps.Keys(u)))] }
