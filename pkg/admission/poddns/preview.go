package poddns

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/admission/apps"
	"github.com/signpost-dns/signpost/pkg/admission/clusterdns"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/dns/autopath"
	"github.com/signpost-dns/signpost/pkg/dns/resolvconf"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
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

	Review    *review.Review      `json:"-"`
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
	p := &PodDNSPreview{Review: &review.Review{Path: review.PreviewName, Body: body}}
	if err := json.Unmarshal(body, p); err != nil {
		return nil, review.ErrNoJSON(err)
	}
	return p, nil
}

// Answer answers the question. The error is Invalid with every wrong field.
func (p *PodDNSPreview) Answer() (resolvconf.Preview, error) {
	r := p.Review
	checkPodDNS(r, p.Spec)
	pod := resolvconf.Pod{
		Namespace: cmp.Or(p.Namespace, "default"), HostNetwork: p.HostNetwork,
		Policy: p.Spec.DNSPolicy.Canonical(), Config: p.config(),
	}
	if pod.HostNetwork && pod.Policy == intent.DNSAutopath {
		r.Refusef(review.Spec+"/dnsPolicy", "autopath is only for pods with a network of their own; give %s", intent.DNSClusterFirstWithHostNet)
	}
	if !review.IsDNSLabel(pod.Namespace) {
		r.Refusef("/namespace", "%s is not a namespace; use at most 63 lower-case letters, digits and '-', beginning and ending with a letter or digit", review.Quote(pod.Namespace))
	}
	node := p.node(pod)
	name := p.name()
	if err := r.Verdict(); err != nil {
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

func (p *PodDNSPreview) node(pod resolvconf.Pod) resolvconf.Node {
	r := p.Review
	host, err := resolvconf.Parse(p.HostResolvConf)
	if err != nil {
		r.Refusef("/hostResolvConf", "%s; kubelet does not start such a pod", err)
	}
	if resolvconf.IsOther(p.HostResolvConf) {
		p.warn("no line of hostResolvConf (or --host) is a line of a resolv.conf, such as nameserver 10.1.1.10")
	}
	domain := strings.ToLower(strings.TrimSuffix(cmp.Or(p.ClusterDomain, intent.DefaultClusterDomain), "."))
	if !review.IsSubdomain(domain) {
		r.Refusef("/clusterDomain", "%s is not a DNS domain; give one such as %s", review.Quote(p.ClusterDomain), intent.DefaultClusterDomain)
	}
	clusterDNS := p.clusterDNS(pod)
	nameserver := cmp.Or(p.LocalIP, autopath.LocalIP)
	if p.direct {
		nameserver = clusterDNS[0]
	} else if _, err := clusterdns.LocalIP(nameserver); err != nil {
		r.Refusef("/localIP", "%s %s", review.Quote(nameserver), err)
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
			p.Review.Refusef(at, "is missing, but with dnsPolicy %s pods ask the cluster's DNS; give its IP address, such as %s%s", p.Spec.DNSPolicy, example, differ)
		}
		return nil
	}
	if err := podNameserverFault(p.ClusterDNS, example); err != nil {
		p.Review.Refusef(at, "%s %s", review.Quote(p.ClusterDNS), err)
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
		p.Review.Refusef("/name", "%s %s", review.Quote(p.Name), err)
	}
	if strings.HasSuffix(p.Name, ".") && name != "." {
		name += "."
	}
	return name
}

// CompletePreview finds what a question does not say.
func CompletePreview(ctx context.Context, a *review.Checker, p *PodDNSPreview) error {
	path := p.Review.Path.Parent().Parent()
	group, err := review.Find[intent.DeploymentIntentGroup](ctx, a.Store, path)
	switch {
	case err != nil:
		return err
	case group == nil:
		return intent.ErrNotFound(path)
	}
	cloudPath := intent.Join("projects", p.Review.Project(), "logical-clouds", group.LogicalCloud)
	cloud, err := review.Find[intent.LogicalCloud](ctx, a.Store, cloudPath)
	if err != nil {
		return err
	}
	app := &intent.App{}
	if p.Spec.App != "" {
		if app, err = apps.KnownApp(ctx, a, p.Review, p.Spec.App); err != nil || app == nil {
			return err
		}
		p.read(*app)
	}
	p.place(*app, cmp.Or(cloud, &intent.LogicalCloud{}).Namespace)
	clusters, err := ClustersOf(ctx, a, cloudPath, *app)
	if err != nil {
		return err
	}
	p.domainOf(clusters)
	if p.Spec.DNSPolicy.Canonical() != intent.DNSAutopath {
		p.addressOf(clusters)
		return nil
	}
	checkOwnNetwork(p.Review, *app)
	p.HostNetwork = false // has been refused
	return autopathNameserver(ctx, a, cloudPath, p)
}

// place is the namespace of the app's pods: manifests go to the logical cloud's,
// and nowhere else.
func (p *PodDNSPreview) place(app intent.App, cloud string) {
	if len(app.Manifests) > 0 {
		app.Namespace = ""
	}
	p.Namespace = cmp.Or(p.Namespace, app.Namespace, cloud)
}

// read takes from an app's manifests what its pods' DNS follows from.
func (p *PodDNSPreview) read(app intent.App) {
	var onNode, others []string
	own := map[string][]string{} // by dnsConfig, whose it is
	eachPod(app, func(_ int, name string, pod map[string]any) {
		if pod["hostNetwork"] == true {
			onNode = append(onNode, name)
		} else {
			others = append(others, name)
		}
		config, _ := json.Marshal(pod["dnsConfig"]) // it came from JSON
		own[string(config)] = append(own[string(config)], name)
	})
	p.HostNetwork = len(onNode) > 0 && len(others) == 0
	if len(onNode) > 0 && len(others) > 0 && p.Spec.DNSPolicy == intent.DNSClusterFirst {
		p.warn("the pods of %s are on the node's network, and get the node's settings instead", strings.Join(onNode, " and "))
	}
	p.template(own)
}

// template takes the dnsConfig that the app's pods have already, if it is the
// same in all of them. With autopath it is set aside.
func (p *PodDNSPreview) template(own map[string][]string) {
	for config, names := range own {
		var settings intent.PodDNSConfig
		switch {
		case config == "null" || p.Spec.DNSPolicy.Canonical() == intent.DNSAutopath:
		case len(own) > 1:
			p.warn("%s has a dnsConfig of its own, which this preview ignores; a plan shows the merged result", strings.Join(names, " and "))
		case json.Unmarshal([]byte(config), &settings) == nil:
			p.own = settings
		}
	}
	slices.Sort(p.warnings)
}

// autopathNameserver finds whom pods with autopath ask: the cache on their node,
// else the cluster's DNS.
func autopathNameserver(ctx context.Context, a *review.Checker, cloud intent.Path, p *PodDNSPreview) error {
	static := false
	err := a.Each(ctx, string(cloud)+"/dns-cr-intents", func(doc intent.Document) error {
		stored, err := intent.Of[intent.DNSCRIntent](doc)
		if err != nil {
			return err
		}
		cache, walked := stored.Spec.NodeLocalDNS, stored.Spec.Autopath
		static = static || walked.Static()
		if p.LocalIP == "" && (cache != nil && cache.Enabled || walked != nil && !walked.Static()) {
			p.LocalIP = autopath.LocalIP
			if cache != nil {
				p.LocalIP = cmp.Or(cache.LocalIP, p.LocalIP)
			}
		}
		return nil
	})
	switch {
	case err != nil || p.LocalIP != "":
	case static && p.ClusterDNS != "":
		p.direct = true
	case static:
		p.warn("nameserver %s is a placeholder, because the address of the Service dns-default is unknown; autopath of logical cloud %s is of mode %s without a cache on each node; give that address as clusterDNS",
			autopath.LocalIP, cloud.Name(), intent.AutopathStatic)
	default:
		p.warn("nameserver %s is a guess, because no DNS CR intent of logical cloud %s has a cache on each node", autopath.LocalIP, cloud.Name())
	}
	return err
}
