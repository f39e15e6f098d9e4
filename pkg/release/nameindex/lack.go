package nameindex

import (
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// lack is why a cluster gives no address to a name. Services that give public addresses have none, and
// take no memory.
type lack uint8

// The lacks, in the order in which they are told.
const (
	absent  lack = iota + 1 // the cluster was seen not to have the Service
	empty                   // the Service has no address
	inside                  // the Service has addresses, and none that public names may have
	drained                 // the cluster is drained
	lacks
)

// serviceName is a Service, in whichever cluster.
type serviceName struct{ namespace, name string }

// lackOf is what an observation tells; 0: an address, or nothing.
func lackOf(seen *address.Observation) lack {
	switch {
	case seen == nil: // unknown is not empty (I11)
		return 0
	case !seen.Found:
		return absent
	case seen.Hides():
		return 0
	case len(seen.Candidates) == 0:
		return empty
	case !slices.ContainsFunc(seen.Candidates, func(c address.Candidate) bool { return c.Outward() }):
		return inside
	}
	return 0
}

// seeService takes up an observation of a Service; nil: it is observed no more.
func (t *tables) seeService(service address.Service, seen *address.Observation) {
	why := lackOf(seen)
	if why == 0 {
		delete(t.lacks, service)
		return
	}
	if _, known := t.lacks[service]; !known {
		service = address.Service{Cluster: t.word(service.Cluster), Namespace: t.word(service.Namespace), Name: strings.Clone(service.Name)}
	}
	t.lacks[service] = why
}

// lackOn is why a cluster gives no address to the names of a DNSEndpoint; 0: that is not known.
func (h hit) lackOn(cluster string, e *endpoint) lack {
	why := h.in.lacks[address.Service{Cluster: cluster, Namespace: e.service.namespace, Name: e.service.name}]
	switch {
	case slices.Contains(h.of.foreign, cluster): // nothing of another project's Service is told
		return 0
	case why == absent, why == empty:
		return why
	case h.scope != intent.Public:
		return 0
	case slices.Contains(h.of.drained, cluster):
		return drained
	}
	return why
}

// whyNoAddress tells of each cluster why it gives the name no address, and what to do. It is empty unless that
// is known of all: else an address may be on the way, or may not be published.
func (h hit) whyNoAddress(e *endpoint) string {
	if h.fixed || e.service.name == "" || len(h.sources) == 0 {
		return ""
	}
	var on [lacks][]string
	for _, cluster := range h.sources {
		why := h.lackOn(cluster, e)
		if why == 0 {
			return ""
		}
		on[why] = append(on[why], strings.Replace(cluster, "+", "/", 1))
	}
	var all []string
	for why, clusters := range on {
		if len(clusters) > 0 {
			all = append(all, lack(why).tell("Service "+e.service.namespace+"/"+e.service.name, clusters, h.scope))
		}
	}
	return strings.Join(all, "; ")
}

// tell says a lack in words, and what to do about it.
func (l lack) tell(service string, clusters []string, scope intent.Scope) string {
	on, give := state.Few(clusters), "give it a load balancer or external IPs"
	if scope != intent.Public {
		give = "see whether its pods are ready"
	}
	switch l {
	case absent:
		return "there is no " + service + " on " + on + ": create it there, or correct the Service or the clusters of the name"
	case empty:
		return service + " on " + on + " has no address yet: " + give
	case inside:
		return service + " on " + on + " has only addresses inside its cluster: " + give
	}
	are := " is drained: undrain it"
	if len(clusters) > 1 {
		are = " are drained: undrain one of them"
	}
	return on + are + ", or give the name another cluster"
}
