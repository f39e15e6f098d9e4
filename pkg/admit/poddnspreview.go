package admit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"

	"github.com/signpost-dns/signpost/pkg/autopath"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/resolvconf"
)

// PodDNSPreview asks what a pod DNS intent would give to a pod.
type PodDNSPreview struct {
	Spec           intent.PodDNSIntent `json:"spec"`           // its app may be empty
	HostResolvConf string              `json:"hostResolvConf"` // of the pod's node; default empty
	Namespace      string              `json:"namespace"`      // of the pod; default "default"
	ClusterDomain  string              `json:"clusterDomain"`  // default cluster.local; a server knows that of the app's clusters
	ClusterDNS     string              `json:"clusterDNS"`     // an IP address; needed where the policy has the pod ask it; a server may know that of the app's clusters
	Name           string              `json:"name"`           // to be looked up; empty: none

	HostNetwork bool   `json:"-"` // the pod is on its node's network
	LocalIP     string `json:"-"` // what pods with autopath ask; default 169.254.20.10

	review    *review
	own       intent.PodDNSConfig // of the pod's template, before the intent
	direct    bool                // pods with autopath ask ClusterDNS, for want of a cache on their node
	addresses string              // of the clusters' DNS, where they differ: for people
	warnings  []string            // of what the question does not tell
}

func (p *PodDNSPreview) warn(format string, args ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf(format, args...))
}

// ReadPodDNSPreview reads the question from JSON whose shape is right.
func ReadPodDNSPreview(body []byte) (*PodDNSPreview, error) {
	p := &PodDNSPreview{review: &review{path: previewName, body: body}}
	if err := json.Unmarshal(body, p); err != nil {
		return nil, errNoJSON(err)
	}
	return p, nil
}

// Answer answers the question. The error is Invalid with every wrong field.
func (p *PodDNSPreview) Answer() (resolvconf.Preview, error) {
	r := p.review
	r.podDNS(p.Spec)
	pod := resolvconf.Pod{
		Namespace: cmp.Or(p.Namespace, "default"), HostNetwork: p.HostNetwork,
		Policy: p.Spec.DNSPolicy.Canonical(), Config: p.config(),
	}
	if pod.HostNetwork && pod.Policy == intent.DNSAutopath {
		r.refusef(spec+"/dnsPolicy", "autopath is for pods with a network of their own; give %s", intent.DNSClusterFirstWithHostNet)
	}
	if !isDNSLabel(pod.Namespace) {
		r.refusef("/namespace", "%s is no namespace; use at most 63 lower-case letters, digits and '-', beginning and ending with a letter or digit", quote(pod.Namespace))
	}
	node := p.node(pod)
	name := p.name()
	if err := r.verdict(); err != nil {
		return resolvconf.Preview{}, err
	}
	preview := node.Preview(pod, name)
	for _, warning := range podDNSWarnings(p.Spec) {
		preview.Warnings = append(preview.Warnings, warning.Parameter+" "+warning.Message)
	}
	preview.Warnings = append(preview.Warnings, p.warnings...)
	return preview, nil
}

// config is the pod's dnsConfig, nil where nothing is in it: a plan leaves it out
// then.
func (p *PodDNSPreview) config() *intent.PodDNSConfig {
	merged := resolvconf.Merge(p.own, *cmp.Or(p.Spec.DNSConfig, &intent.PodDNSConfig{}))
	if len(merged.Nameservers)+len(merged.Searches)+len(merged.Options) == 0 {
		return nil
	}
	return &merged
}

// node is the node that the pod is on.
func (p *PodDNSPreview) node(pod resolvconf.Pod) resolvconf.Node {
	r := p.review
	host, err := resolvconf.Parse(p.HostResolvConf)
	if err != nil {
		r.refusef("/hostResolvConf", "%s; kubelet starts no pod then", err)
	}
	if resolvconf.IsOther(p.HostResolvConf) {
		p.warn("no line of hostResolvConf (or --host) is one of a resolv.conf, such as nameserver 10.1.1.10")
	}
	domain := strings.ToLower(strings.TrimSuffix(cmp.Or(p.ClusterDomain, intent.DefaultClusterDomain), "."))
	if !isSubdomain(domain) {
		r.refusef("/clusterDomain", "%s is no DNS domain; give one such as %s", quote(p.ClusterDomain), intent.DefaultClusterDomain)
	}
	clusterDNS := p.clusterDNS(pod)
	nameserver := cmp.Or(p.LocalIP, autopath.LocalIP)
	if p.direct {
		nameserver = clusterDNS[0]
	} else if _, err := localIP(nameserver); err != nil {
		r.refusef("/localIP", "%s %s", quote(nameserver), err)
	}
	return resolvconf.Node{Host: host, HostUnknown: p.HostResolvConf == "", ClusterDomain: domain, ClusterDNS: clusterDNS, Autopath: nameserver}
}

// clusterDNS is the address of the cluster's DNS, if there is one.
func (p *PodDNSPreview) clusterDNS(pod resolvconf.Pod) []string {
	const at, example = "/clusterDNS", "10.96.0.10"
	if p.ClusterDNS == "" {
		if pod.NeedsClusterDNS() {
			differ := ""
			if p.addresses != "" {
				differ = "; the clusters have different ones (" + p.addresses + ")"
			}
			p.review.refusef(at, "is missing, but with dnsPolicy %s pods ask the cluster's DNS; give its IP address, such as %s%s", p.Spec.DNSPolicy, example, differ)
		}
		return nil
	}
	if err := podNameserverFault(p.ClusterDNS, example); err != nil {
		p.review.refusef(at, "%s %s", quote(p.ClusterDNS), err)
	}
	address, _ := netip.ParseAddr(p.ClusterDNS) // what is none has been refused
	return []string{address.String()}
}

// name is the name to be looked up; a dot at its end makes a difference.
func (p *PodDNSPreview) name() string {
	if p.Name == "" {
		return ""
	}
	if _, err := netip.ParseAddr(p.Name); err == nil {
		p.warn("name %s is an IP address, which is not looked up: it costs no query", p.Name)
		return p.Name
	}
	name, err := QueryName(p.Name)
	if err != nil {
		p.review.refusef("/name", "%s %s", quote(p.Name), err)
	}
	if strings.HasSuffix(p.Name, ".") && name != "." {
		name += "."
	}
	return name
}
