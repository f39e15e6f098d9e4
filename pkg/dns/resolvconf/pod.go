package resolvconf

import (
	"net/netip"
	"strconv"

	"github.com/signpost-dns/signpost/pkg/dns/autopath"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Node is what kubelet knows of the node that it runs pods on.
type Node struct {
	Host          intent.PodDNSConfig // the node's resolv.conf, by Parse
	HostUnknown   bool                // Host is empty because nobody gave it
	ClusterDomain string              // such as cluster.local
	ClusterDNS    []string            // IP addresses of the cluster's DNS; none: policies that need it fall back to Default
	Autopath      string              // the IP address that pods with policy autopath ask
}

// Pod is what a pod's resolv.conf follows from, beside the node.
type Pod struct {
	Namespace   string
	HostNetwork bool                 // it is on the node's network
	Policy      intent.DNSPolicy     // canonical
	Config      *intent.PodDNSConfig // is merged with what the policy gives
}

// NeedsClusterDNS says whether the pod's nameservers are Node.ClusterDNS.
func (p Pod) NeedsClusterDNS() bool {
	switch p.Policy {
	case intent.DNSClusterFirst:
		return !p.HostNetwork
	case intent.DNSClusterFirstWithHostNet:
		return true
	}
	return false
}

// Settings are the lines that kubelet writes into the pod's resolv.conf, and warnings of
// settings that kubelet leaves out or ignores.
func (n Node) Settings(pod Pod) (intent.PodDNSConfig, []string) {
	c, warnings := n.base(pod)
	if pod.Config != nil {
		c = Merge(c, *pod.Config)
	}
	c, cuts := cut(c)
	return c, append(warnings, cuts...)
}

// base is what the policy gives.
func (n Node) base(pod Pod) (intent.PodDNSConfig, []string) {
	switch {
	case pod.Policy == intent.DNSNone:
		return intent.PodDNSConfig{}, nil
	case pod.Policy == intent.DNSAutopath:
		return Autopath(n.Autopath, autopath.SearchDomain(pod.Namespace, n.ClusterDomain)), nil
	case pod.NeedsClusterDNS() && len(n.ClusterDNS) > 0:
		return n.clusterFirst(pod.Namespace), nil
	case pod.NeedsClusterDNS():
		return n.Host, []string{"kubelet does not know the cluster's DNS: it treats " + string(pod.Policy) + " as Default"}
	case pod.Policy == intent.DNSClusterFirst:
		return n.Host, []string{"the pod is on the node's network: kubelet treats ClusterFirst as Default there; ClusterFirstWithHostNet has it ask the cluster's DNS"}
	}
	if pod.HostNetwork {
		return n.Host, nil
	}
	return n.Host, n.loopback()
}

// LoopbackHint says what to do about a nameserver that is on the node's or the
// pod's loopback.
const LoopbackHint = "with systemd-resolved, the node's /run/systemd/resolve/resolv.conf has the nameservers that pods can ask"

// loopback warns of the node's nameservers that its pods cannot ask.
func (n Node) loopback() []string {
	var warnings []string
	for _, text := range n.Host.Nameservers {
		if address, err := netip.ParseAddr(text); err == nil && address.IsLoopback() {
			warnings = append(warnings, "nameserver "+text+" of the node is each pod itself for its pods, where no nameserver listens; "+LoopbackHint+": kubelet's resolvConf should name that file")
		}
	}
	return warnings
}

// clusterFirst is what the policies give that have pods ask the cluster's DNS.
func (n Node) clusterFirst(namespace string) intent.PodDNSConfig {
	return intent.PodDNSConfig{
		Nameservers: n.ClusterDNS,
		Searches:    autopath.Paths(namespace, n.ClusterDomain, n.Host.Searches...),
		Options:     ndots(),
	}
}

// Autopath is what the policy autopath gives to pods whose search paths are
// walked for a search domain: the seed "DNS autopath in PodSpec".
func Autopath(nameserver, searchDomain string) intent.PodDNSConfig {
	return intent.PodDNSConfig{
		Nameservers: []string{nameserver},
		Searches:    []string{searchDomain},
		Options:     ndots(),
	}
}

// ndots is the option of pods that ask the cluster's DNS.
func ndots() []intent.PodDNSOption {
	value := strconv.Itoa(autopath.Ndots)
	return []intent.PodDNSOption{{Name: "ndots", Value: &value}}
}
