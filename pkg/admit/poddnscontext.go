package admit

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/autopath"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/resolvconf"
)

// PreviewPodDNS answers the question that a body asks about pods of a
// deployment intent group; path is where it was asked. What it does not say
// follows from the app, its clusters, the logical cloud and its DNS CR intents. Errors: NotFound
// when what the path belongs to does not exist; Invalid with every wrong field;
// what the store answers.
func (a *Admitter) PreviewPodDNS(ctx context.Context, path intent.Path, body []byte) (resolvconf.Preview, error) {
	if err := a.parents(ctx, path); err != nil {
		return resolvconf.Preview{}, err
	}
	p, err := ReadPodDNSPreview(body)
	if err != nil {
		return resolvconf.Preview{}, err
	}
	p.review.path = path
	if err := a.completePreview(ctx, p); err != nil {
		return resolvconf.Preview{}, err
	}
	return p.Answer()
}

// completePreview finds what a question does not say.
func (a *Admitter) completePreview(ctx context.Context, p *PodDNSPreview) error {
	path := p.review.path.Parent().Parent()
	group, err := find[intent.DeploymentIntentGroup](ctx, a.store, path)
	switch {
	case err != nil:
		return err
	case group == nil:
		return intent.ErrNotFound(path)
	}
	cloudPath := intent.Join("projects", p.review.project(), "logical-clouds", group.LogicalCloud)
	cloud, err := find[intent.LogicalCloud](ctx, a.store, cloudPath)
	if err != nil {
		return err
	}
	app := &intent.App{}
	if p.Spec.App != "" {
		if app, err = a.knownApp(ctx, p.review, p.Spec.App); err != nil || app == nil {
			return err
		}
		p.heed(*app)
	}
	p.place(*app, cmp.Or(cloud, &intent.LogicalCloud{}).Namespace)
	clusters, err := a.clustersOf(ctx, cloudPath, *app)
	if err != nil {
		return err
	}
	p.domainOf(clusters)
	if p.Spec.DNSPolicy.Canonical() != intent.DNSAutopath {
		p.addressOf(clusters)
		return nil
	}
	p.review.ownNetwork(*app)
	p.HostNetwork = false // has been refused
	return a.autopathNameserver(ctx, cloudPath, p)
}

// place is the namespace of the app's pods: manifests go to the logical cloud's,
// and nowhere else.
func (p *PodDNSPreview) place(app intent.App, cloud string) {
	if len(app.Manifests) > 0 {
		app.Namespace = ""
	}
	p.Namespace = cmp.Or(p.Namespace, app.Namespace, cloud)
}

// heed takes from an app's manifests what its pods' DNS follows from.
func (p *PodDNSPreview) heed(app intent.App) {
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
			p.warn("%s has a dnsConfig of its own, which this preview leaves out; a plan shows what comes of both", strings.Join(names, " and "))
		case json.Unmarshal([]byte(config), &settings) == nil:
			p.own = settings
		}
	}
	slices.Sort(p.warnings)
}

// autopathNameserver finds whom pods with autopath ask: the cache on their node,
// else the cluster's DNS.
func (a *Admitter) autopathNameserver(ctx context.Context, cloud intent.Path, p *PodDNSPreview) error {
	static := false
	err := a.each(ctx, string(cloud)+"/dns-cr-intents", func(doc intent.Document) error {
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
		p.warn("nameserver %s stands for the address of the Service dns-default, which is not known here: autopath of logical cloud %s is of mode %s without a cache on each node; give that address as clusterDNS",
			autopath.LocalIP, cloud.Name(), intent.AutopathStatic)
	default:
		p.warn("nameserver %s is a guess: no DNS CR intent of logical cloud %s has a cache on each node", autopath.LocalIP, cloud.Name())
	}
	return err
}
