package clusterdns

import (
	"cmp"
	"strings"

	"github.com/signpost-dns/signpost/pkg/autopath"
	"github.com/signpost-dns/signpost/pkg/corefile"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// AutopathOffer is what a cluster's DNS offers to pods whose search paths it
// walks.
type AutopathOffer struct {
	LocalIP    string   // the nameserver on every node; empty: the address of Service ServiceName in the intent's namespace
	Domain     string   // of the cluster, canonical
	Static     bool     // to the pods of Namespaces and of the logical cloud's namespace; else to those of every namespace
	Namespaces []string // as the intent names them
}

// Offer tells what the DNS of one cluster offers to pods with the policy
// autopath; not ok where it walks no search paths.
func Offer(d plan.ClusterDNS) (o AutopathOffer, ok bool) {
	asked := d.Spec.Autopath
	if asked == nil || d.Spec.Mode == intent.Import {
		return AutopathOffer{}, false
	}
	o = AutopathOffer{Domain: domainOf(d), Static: static(asked)}
	if o.Static {
		o.Namespaces = asked.Namespaces
	}
	if hasNodeCache(d) {
		o.LocalIP = localIP(d)
	}
	return o, true
}

// static tells whether search domains are server blocks of stock CoreDNS.
func static(a *intent.Autopath) bool {
	return strings.EqualFold(string(a.Mode), string(intent.AutopathStatic))
}

// hasNodeCache tells whether a DNS cache runs on each node: where it is asked
// for, and where search paths come in an option, which it alone adds.
func hasNodeCache(d plan.ClusterDNS) bool {
	if d.Spec.Mode == intent.Import {
		return false
	}
	asked, walked := d.Spec.NodeLocalDNS, d.Spec.Autopath
	return asked != nil && asked.Enabled || walked != nil && !static(walked)
}

// localIP is where the nodes' caches listen.
func localIP(d plan.ClusterDNS) string {
	if asked := d.Spec.NodeLocalDNS; asked != nil {
		return cmp.Or(asked.LocalIP, autopath.LocalIP)
	}
	return autopath.LocalIP
}

// domainOf is the domain of the cluster, canonical.
func domainOf(d plan.ClusterDNS) string {
	return canonical(cmp.Or(d.Domain, corefile.DefaultDomain))
}
