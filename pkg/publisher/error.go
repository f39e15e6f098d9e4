package publisher

import "github.com/signpost-dns/signpost/pkg/domain/fault"

// The faults of a Read or a Write, beside those of all servers.
const (
	Foreign   fault.Kind = "foreign"   // a set of the name belongs to somebody else; it stays as it is
	Forbidden fault.Kind = "forbidden" // the address may not be dialled: see --publisher-servers
	Unlisted  fault.Kind = "unlisted"  // the server cannot be looked through, as its provider is set
	Invalid   fault.Kind = "invalid"   // the provider's parameters or the set cannot be published
)
