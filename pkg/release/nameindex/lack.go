package nameindex

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/source"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// serviceName is a Service, in whichever cluster.
type serviceName struct{ namespace, name string }

// seeService takes up an observation of a Service; nil: it is observed no more.
func (t *tables) seeService(service address.Service, seen *address.Observation) {
	why := address.LackOf(seen)
	if why == 0 {
		delete(t.lacks, service)
		return
	}
	if _, known := t.lacks[service]; !known {
		service = address.Service{Cluster: t.texts.Shared(service.Cluster), Namespace: t.texts.Shared(service.Namespace), Name: strings.Clone(service.Name)}
	}
	t.lacks[service] = why
}

// writtenIn is the Service of a DNSEndpoint in a cluster that is a directory. Nobody observes it: it is as the manifests of its app say.
type writtenIn struct {
	e       *endpoint
	cluster string
}

// readLacks notes why the clusters of a binding that are directories give no address to its names.
func (o *owner) readLacks(g plan.Group, b plan.Binding, e *endpoint, sources []string) {
	if b.Service == "" {
		return
	}
	why := address.Lacks // not read yet
	for _, cluster := range sources {
		if !slices.ContainsFunc(g.Clusters, func(c plan.Cluster) bool { return c.Name == cluster && c.Directory != "" }) {
			continue
		}
		if why == address.Lacks {
			app := slices.IndexFunc(g.Apps, func(a plan.App) bool { return a.Name == b.App })
			var manifests []json.RawMessage
			if app >= 0 {
				manifests = g.Apps[app].Manifests
			}
			why = address.LackOf(source.FromManifests(manifests, b.Namespace, b.Service))
		}
		if why == 0 {
			return
		}
		if o.written == nil {
			o.written = map[writtenIn]address.Lack{}
		}
		o.written[writtenIn{e, cluster}] = why
	}
}

// lackOn is why a cluster gives no address to the names of a DNSEndpoint; 0: that is not known.
func (h hit) lackOn(cluster string, e *endpoint) address.Lack {
	why, known := h.of.written[writtenIn{e, cluster}]
	if !known {
		why = h.in.lacks[address.Service{Cluster: cluster, Namespace: e.service.namespace, Name: e.service.name}]
	}
	switch {
	case slices.Contains(h.of.foreign, cluster): // nothing of another project's Service is told
		return 0
	case why == address.LacksService, why == address.LacksAddress:
		return why
	case h.scope != intent.Public:
		return 0
	case slices.Contains(h.of.drained, cluster):
		return address.LacksDrained
	}
	return why
}

// whyNoAddress tells of each cluster why it gives the name no address, and what to do. Of a cluster that cannot be
// reached, it tells that. It is empty unless something is known of all: else an address may be on the way, or may
// not be published.
func (h hit) whyNoAddress(e *endpoint) string {
	if h.fixed || e.service.name == "" || len(h.sources) == 0 {
		return ""
	}
	service := "Service " + e.service.namespace + "/" + e.service.name
	var on [address.Lacks][]string
	var lost []string
	cause := ""
	for _, cluster := range h.sources {
		shown := intent.ClusterWord(cluster)
		why := h.lackOn(cluster, e)
		if why == address.LacksPublic && e.applied != 0 { // its provider may have allowPrivate
			return ""
		}
		if why != 0 {
			on[why] = append(on[why], shown)
			continue
		}
		at := h.in.clusters[cluster]
		if e.applied != 0 || at == nil || !at.known || at.reachable || slices.Contains(h.of.foreign, cluster) {
			return ""
		}
		lost, cause = append(lost, shown), cmp.Or(cause, at.why)
	}
	var all []string
	for why, clusters := range on {
		if len(clusters) > 0 {
			all = append(all, address.Lack(why).Tell(service, state.Few(clusters), len(clusters) > 1, h.scope))
		}
	}
	if len(lost) > 0 {
		all = append(all, withCause(state.Few(lost)+" cannot be reached", cause)+"; whether "+service+" has an address there is not known")
	}
	return strings.Join(all, "; ")
}
