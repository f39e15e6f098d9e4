package publisher

import (
	"context"
	"net"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
)

// Settings are what a Writer is opened with.
type Settings struct {
	Provider   string                 // one with a Writer
	Parameters externaldns.Parameters // the provider's, as external-dns names them
	Owner      string                 // the txt-owner-id, unless Parameters set one

	// Environment are the variables of the provider with their values: ETCD_URLS and the
	// like, and those of secret parameters, such as EXTERNAL_DNS_RFC2136_TSIG_SECRET.
	Environment map[string]string

	// Files are the contents of the provider's credentials by their paths, for parameters and
	// variables that name a file. Nothing is read from the disk.
	Files map[string][]byte

	// Now is the clock that requests are signed by. Without it, that is the machine's.
	Now func() time.Time

	// Dial connects to the provider's servers, and to nothing else: guard.Dialer.Dial.
	Dial Dial
}

// Dial connects to an address (HOST:PORT) of a zone; the zone is empty if the connection is
// for several.
type Dial func(ctx context.Context, network, address, zone string) (net.Conn, error)

// String hides the values of secrets, so that no log shows them.
func (s Settings) String() string { return "publisher of " + s.Provider + ", owner " + s.Owner }

// GoString hides the values of secrets, so that no %#v shows them.
func (s Settings) GoString() string { return s.String() }
