package admit

import (
	"cmp"
	"encoding/json"
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
	ClusterDomain  string              `json:"clusterDomain"`  // default cluster.local
	ClusterDNS     string              `json:"clusterDNS"`     // an IP address; needed where the policy has the pod ask it
	Name           string              `json:"name"`           // to be looked up; empty: none

	HostNetwork bool   `json:"-"` // the pod is on its node's network
	LocalIP     string `json:"-"` // what pods with autopath ask; default 169.254.20.10

	review   *review
	own      intent.PodDNSConfig // of the pod's template, before the intent
	warnings []string            // of what the question does not tell
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
	domain := strings.ToLower(strings.TrimSuffix(cmp.Or(p.ClusterDomain, intent.DefaultClusterDomain), "."))
	if !isSubdomain(domain) {
		r.refusef("/clusterDomain", "%s is no DNS domain; give one such as %s", quote(p.ClusterDomain), intent.DefaultClusterDomain)
	}
	nameserver := cmp.Or(p.LocalIP, autopath.LocalIP)
	if _, err := localIP(nameserver); err != nil {
		r.refusef("/localIP", "%s %s", quote(nameserver), err)
	}
	return resolvconf.Node{Host: host, ClusterDomain: domain, ClusterDNS: p.clusterDNS(pod), Autopath: nameserver}
}

// clusterDNS is the address of the cluster's DNS, if there is one.
func (p *PodDNSPreview) clusterDNS(pod resolvconf.Pod) []string {
	const at, example = "/clusterDNS", "10.96.0.10"
	if p.ClusterDNS == "" {
		if pod.NeedsClusterDNS() {
			p.review.refusef(at, "is missing, but with dnsPolicy %s pods ask the cluster's DNS; give its IP address, such as %s", p.Spec.DNSPolicy, example)
		}
		return nil
	}
	address, err := netip.ParseAddr(p.ClusterDNS)
	if err != nil || address.Zone() != "" {
		p.review.refusef(at, "%s is no IP address; give one such as %s", quote(p.ClusterDNS), example)
	}
	return []string{address.String()}
}

// name is the name to be looked up; a dot at its end makes a difference.
func (p *PodDNSPreview) name() string {
	if p.Name == "" {
		return ""
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
