package clusterdns

import (
	"net/netip"
	"strconv"

	"github.com/signpost-dns/signpost/pkg/dns/autopath"
	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/dns/resolvconf"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const atAutopath = "/spec/autopath"

// searchDomains judges those that the domain of the cluster makes.
func (r *reader) searchDomains() {
	if r.Spec.Mode == intent.Import || r.Spec.Autopath == nil {
		return
	}
	const remedy = ": give the cluster another dns.domain, or leave autopath out"
	if within(r.domain, autopath.Zone) {
		r.wrong(atAutopath, "the cluster's own domain "+r.domain+" lies in "+autopath.Zone+", the zone of autopath's search domains"+remedy)
	}
	if !r.Spec.Autopath.Static() {
		return
	}
	for _, namespace := range r.Spec.Autopath.Namespaces {
		if n := len(autopath.SearchDomain(namespace, r.domain)); n > resolvconf.MaxSearch {
			r.wrong(atAutopath, "the search domain of namespace "+namespace+" would have "+strconv.Itoa(n)+" characters, but a domain has at most "+strconv.Itoa(resolvconf.MaxSearch)+remedy)
		}
	}
}

// expand is how DNS pods walk the search paths that come in an option.
func (r *reader) expand() *corefile.Expand {
	if !Expands(r.ClusterDNS) {
		return nil
	}
	choose(r, atAutopath+"/mode", string(r.Spec.Autopath.Mode), intent.AutopathEDNS0, intent.AutopathStatic)
	e := &corefile.Expand{Option: r.option(), Suffixes: r.suffixes()}
	for i, text := range r.Spec.Autopath.Clients {
		client, err := netip.ParsePrefix(text)
		if err != nil {
			r.wrong(atAutopath+"/clients/"+strconv.Itoa(i), strconv.Quote(text)+" is not a CIDR: write one as in 10.0.0.0/8")
		}
		e.Clients = append(e.Clients, client.Masked())
	}
	return e
}

// static are the search domains of stock CoreDNS.
func (r *reader) static() *corefile.Static {
	if r.Spec.Mode == intent.Import || !r.Spec.Autopath.Static() {
		return nil
	}
	return &corefile.Static{Namespaces: r.Spec.Autopath.Namespaces, Suffixes: r.suffixes(), Directory: configDirectory}
}

// option is the code of the EDNS0 option.
func (r *reader) option() uint16 {
	code := r.Spec.Autopath.Option
	if code == 0 {
		return autopath.Option
	}
	if code < int(autopath.Option) || code > int(autopath.OptionMax) {
		r.wrong(atAutopath+"/option", strconv.Itoa(code)+" is not a code for local use: give "+strconv.Itoa(int(autopath.Option))+" to "+strconv.Itoa(int(autopath.OptionMax)))
	}
	return uint16(code) //nolint:gosec // judged above
}

// suffixes are the search paths behind the cluster's own.
func (r *reader) suffixes() []string {
	var all []string
	for i, text := range r.Spec.Autopath.Searches {
		domain := canonical(text)
		if within(domain, autopath.Zone) {
			r.wrong(atAutopath+"/searches/"+strconv.Itoa(i), text+" lies in "+autopath.Zone+", where search paths would lead to search paths: name another domain")
		}
		all = append(all, domain)
	}
	return all
}

// nodeCache is the DNS cache on each node.
func (r *reader) nodeCache() *corefile.NodeCache {
	if !HasNodeCache(r.ClusterDNS) {
		return nil
	}
	address, err := netip.ParseAddr(LocalIP(r.ClusterDNS))
	if err != nil || address.Zone() != "" {
		r.wrong("/spec/nodeLocalDNS/localIP", strconv.Quote(LocalIP(r.ClusterDNS))+" is not an IP address: write one as in "+autopath.LocalIP)
	}
	c := &corefile.NodeCache{LocalIP: address, ClusterDomain: r.domain, Upstream: variable(ServiceName), LogLevel: r.logLevel()}
	if Expands(r.ClusterDNS) {
		c.SearchPath = &corefile.SearchPath{Option: r.option(), Suffixes: r.suffixes()}
	}
	return c
}
