package clusterdns

import (
	"cmp"
	"net/netip"

	"github.com/signpost-dns/signpost/pkg/dns/autopath"
	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// AutopathOffer is what a cluster's DNS offers to pods whose search paths it
// walks.
type AutopathOffer struct {
	LocalIP    string   // the nameserver on every node; empty: the address of Service ServiceName in the intent's namespace
	Domain     string   // of the cluster, canonical
	Static     bool     // to the pods of Namespaces alone; else to those of every namespace
	Namespaces []string // with Static; a release's hold the logical cloud's own
}

// Offer tells what the DNS of one cluster offers to pods with the policy
// autopath; not ok where it walks no search paths.
func Offer(d plan.ClusterDNS) (o AutopathOffer, ok bool) {
	asked := d.Spec.Autopath
	if asked == nil || d.Spec.Mode == intent.Import {
		return AutopathOffer{}, false
	}
	o = AutopathOffer{Domain: domainOf(d), Static: asked.Static()}
	if o.Static {
		o.Namespaces = asked.Namespaces
	}
	if HasNodeCache(d) {
		o.LocalIP = LocalIP(d)
	}
	return o, true
}

// Expands tells whether search paths come in an EDNS0 option, which takes
// signpost-dns both as the cluster's DNS and on the nodes.
func Expands(d plan.ClusterDNS) bool {
	return d.Spec.Mode != intent.Import && d.Spec.Autopath != nil && !d.Spec.Autopath.Static()
}

// HasNodeCache tells whether a DNS cache runs on each node. It does if it is asked for,
// and if search paths come in an option, which only the cache adds.
func HasNodeCache(d plan.ClusterDNS) bool {
	asked := d.Spec.NodeLocalDNS
	return d.Spec.Mode != intent.Import && asked != nil && asked.Enabled || Expands(d)
}

// LocalIP is where the nodes' caches listen, where there are any: an IP address,
// in its canonical form.
func LocalIP(d plan.ClusterDNS) string {
	asked := d.Spec.NodeLocalDNS
	if asked == nil || asked.LocalIP == "" {
		return autopath.LocalIP
	}
	if address, err := netip.ParseAddr(asked.LocalIP); err == nil {
		return address.String()
	}
	return asked.LocalIP // Configure says what is wrong with it
}

// domainOf is the domain of the cluster, canonical.
func domainOf(d plan.ClusterDNS) string {
	return canonical(cmp.Or(d.Domain, corefile.DefaultDomain))
}
