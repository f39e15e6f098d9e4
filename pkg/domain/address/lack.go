package address

import (
	"net/netip"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Lack is why a cluster gives no address to a name.
type Lack uint8

// The lacks, in the order in which they are told.
const (
	LacksService Lack = iota + 1 // the cluster was seen not to have the Service
	LacksAddress                 // the Service has no address
	LacksOutward                 // the Service has addresses, and none that public names may have
	LacksPublic                  // the addresses of the Service are private
	LacksDrained                 // the cluster is drained
	Lacks                        // how many there are, and one
)

// LackOf returns what an observation tells; 0: an address, or nothing.
func LackOf(seen *Observation) Lack {
	switch {
	case seen == nil: // unknown is not empty (I11)
		return 0
	case !seen.Found:
		return LacksService
	case seen.hides():
		return 0
	case len(seen.Candidates) == 0:
		return LacksAddress
	case !slices.ContainsFunc(seen.Candidates, func(c Candidate) bool { return c.Outward() }):
		return LacksOutward
	case !slices.ContainsFunc(seen.Candidates, func(c Candidate) bool { return c.Outward() && !c.isPrivate() }):
		return LacksPublic
	}
	return 0
}

// isPrivate tells whether a candidate is a private address, which is no host name.
func (c *Candidate) isPrivate() bool {
	ip, err := netip.ParseAddr(c.Target)
	return err == nil && isPrivate(ip.Unmap())
}

// LackIn returns why a cluster gives no address to a name of a scope, by the choice for the name. It is 0 if that is not
// known, if the cluster gives an address, and if the choice tells the reason address by address.
func (c Choice) LackIn(cluster string, scope intent.Scope) Lack {
	if slices.Contains(c.Absent, cluster) {
		return LacksService
	}
	if slices.Contains(c.Foreign, cluster) || slices.Contains(c.Unknown, cluster) || slices.ContainsFunc(c.Sources, func(s intent.Source) bool { return s.Cluster == cluster }) {
		return 0
	}
	codes := map[string]bool{}
	for _, r := range c.Rejected {
		if r.Cluster == cluster {
			codes[r.Code] = true
		}
	}
	switch {
	case len(codes) == 0:
		return LacksAddress
	case scope == intent.Public && codes[Drained]:
		return LacksDrained
	case scope == intent.Public && len(codes) == 1 && codes[string(insideCluster)]:
		return LacksOutward
	case scope == intent.Public && codes[string(private)] && len(codes) == 1:
		return LacksPublic
	}
	return 0
}

// Tell says a lack of clusters in words, and what to do about it. The clusters are listed in on; several tells that
// there is more than one.
func (l Lack) Tell(service, on string, several bool, scope intent.Scope) string {
	give := "give it a load balancer or external IPs"
	if scope != intent.Public {
		give = "see whether its pods are ready"
	}
	switch l {
	case LacksService:
		return "there is no " + service + " on " + on + ": create it there, or correct the Service or the clusters of the name"
	case LacksAddress:
		return service + " on " + on + " has no address yet: " + give
	case LacksOutward:
		return service + " on " + on + " has only addresses inside its cluster: " + give
	case LacksPublic:
		return service + " on " + on + " has only private addresses, which a public name may have only if its provider has allowPrivate"
	}
	are := " is drained: undrain it"
	if several {
		are = " are drained: undrain one of them"
	}
	return on + are + ", or give the name another cluster"
}
