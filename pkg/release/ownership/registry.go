// Package ownership decides which project may have a name: by claims, domains and
// the servers that providers share.
package ownership

import (
	"context"
	"net/netip"
	"sync"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Registry checks claims, and makes and frees them.
type Registry struct {
	*state.Store

	RequireDomains bool // only names in domains that are granted to a project are published

	// LookupExisting tells what a name has at its authoritative servers; nil: they are not asked.
	LookupExisting func(ctx context.Context, name string, marks externaldns.InDNS, servers []netip.AddrPort) (verify.Holding, error)

	sweepingClaims sync.Mutex
	sweptTo        nameclaim.Key // of the claims
}
