package resolve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/signpost-dns/signpost/pkg/dns/autopath"
	"github.com/signpost-dns/signpost/pkg/dns/resolvconf"
	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/podspec"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/clusterdns"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// bindPodDNS ties each pod DNS intent to the app whose pods it is for.
func (d *Draft) bindPodDNS() error {
	asked, err := inputs.IntentsOf[intent.PodDNSIntent](d.In, "PodDNSIntent")
	for _, i := range asked {
		at := slices.IndexFunc(d.Group.Apps, func(a plan.App) bool { return a.Name == i.Spec.App })
		if at < 0 {
			d.Fail(i.Path, "/spec/app", "the deployment intent group has no app %q", i.Spec.App)
			continue
		}
		app := &d.Group.Apps[at]
		switch {
		case app.PodDNS != nil:
			d.Fail(i.Path, "/spec/app", "%s is also for the pods of app %q; delete one of the two", app.PodDNS.Intent, app.Name)
		case !d.deploys(*app) && d.In.Orchestration == nil && d.In.ExternallyManaged:
			d.Warn("%s is for the pods of app %q, which %s deploys: they get the settings when it instantiates or updates the group", i.Path, app.Name, intent.Orchestrator)
		case !d.deploys(*app):
			d.Fail(i.Path, "/spec/app", "app %q has no %s, so Signpost cannot set the DNS of its pods; give the app its %[2]s, or delete the intent", app.Name, d.objects())
		default:
			app.PodDNS = &plan.PodDNS{Intent: i.Path, Spec: i.Spec}
		}
	}
	return err
}

// deploys tells whether the app's objects are known, so that the DNS of its pods
// can be set.
func (d *Draft) deploys(app plan.App) bool {
	if d.In.Orchestration != nil {
		return d.In.Orchestration.HasResources(app.Name)
	}
	return len(app.Manifests) > 0
}

// objects is what the objects of apps are called where they come from.
func (d *Draft) objects() string {
	if d.In.Orchestration != nil {
		return "resources"
	}
	return "manifests"
}

// UsesAutopath says whether an app's pods have their search paths walked.
func UsesAutopath(app plan.App) bool {
	return app.PodDNS != nil && app.PodDNS.Spec.DNSPolicy.Canonical() == intent.DNSAutopath
}

// bindAutopath finds what the DNS of the logical cloud offers to pods with
// autopath, as it is released now.
func (s *Resolver) bindAutopath(ctx context.Context, d *Draft) error {
	if !slices.ContainsFunc(d.Group.Apps, UsesAutopath) {
		return nil
	}
	cloud, err := s.Lifecycle(ctx, d.In.CloudPath, d.In.Read[d.In.CloudPath].UID)
	if err != nil {
		return err
	}
	for _, app := range d.Group.Apps {
		if !UsesAutopath(app) {
			continue
		}
		app.PodDNS.Autopath = nil
		for _, cluster := range app.Clusters {
			if err := s.bindOffer(ctx, d, cloud, app.PodDNS, cluster); err != nil {
				return err
			}
		}
	}
	if len(d.Offers) > 0 && !cloud.Settled {
		d.Warn("logical cloud %q is %s: pods with %s may not resolve names until its DNS is deployed", d.Group.LogicalCloud, cloud.State(), intent.DNSAutopath)
	}
	return nil
}

// bindOffer ties an intent to what is offered on one cluster, or says what to
// change.
func (s *Resolver) bindOffer(ctx context.Context, d *Draft, cloud state.Lifecycle, dns *plan.PodDNS, cluster string) error {
	const at = "/spec/dnsPolicy"
	o, offered := cloud.OfferTo(cluster, d.Group.LogicalCloudNamespace)
	if !offered {
		why, err := s.notOffered(ctx, d, cloud, cluster)
		d.Fail(dns.Intent, at, "%s is not offered on cluster %s: %s", intent.DNSAutopath, cluster, why)
		return err
	}
	nameserver, why, err := s.nameserver(ctx, d, o)
	if err != nil {
		return err
	}
	if nameserver == "" {
		d.Fail(dns.Intent, at, "%s", why)
		return nil
	}
	search := autopath.SearchDomain(o.Namespace, o.Domain)
	if len(search) > resolvconf.MaxSearch {
		d.Fail(dns.Intent, at, "%s cannot work on cluster %s: the search domain %s would have %d characters, but Kubernetes allows at most %d; use %s, or give the cluster a shorter dns.domain",
			intent.DNSAutopath, cluster, search, len(search), resolvconf.MaxSearch, intent.DNSClusterFirst)
		return nil
	}
	dns.Autopath = append(dns.Autopath, plan.PodAutopath{Cluster: cluster, Nameserver: nameserver, Search: search})
	if !slices.Contains(d.Offers, o) {
		d.Offers = append(d.Offers, o)
	}
	return nil
}

// nameserver is where pods reach what is offered; empty, with what to do, where
// that is not known.
func (s *Resolver) nameserver(ctx context.Context, d *Draft, o state.Offer) (nameserver, why string, err error) {
	if o.LocalIP != "" {
		return o.LocalIP, "", nil
	}
	service := address.Service{Cluster: o.Cluster, Namespace: o.DNSNamespace, Name: clusterdns.ServiceName}
	subject := fmt.Sprintf("the nameserver of %s on cluster %s is the address of Service %s/%s", intent.DNSAutopath, o.Cluster, service.Namespace, service.Name)
	remedy := fmt.Sprintf("enable nodeLocalDNS in the DNS CR intent and update logical cloud %q", d.Group.LogicalCloud)
	if d.In.Clusters[o.Cluster].Spec.Directory != "" {
		return "", subject + ", which cannot be observed in a directory: " + remedy, nil
	}
	seen, err := s.LookLive(ctx, service)
	if err != nil || seen == nil || len(seen.ClusterIPs) == 0 {
		return "", subject + ", which is not known yet: try again when the Service is there, or " + remedy, err
	}
	return seen.ClusterIPs[0], "", nil
}

// notOffered says why autopath is not offered on a cluster, and what to change.
func (s *Resolver) notOffered(ctx context.Context, d *Draft, cloud state.Lifecycle, cluster string) (string, error) {
	name := d.Group.LogicalCloud
	stored, err := s.Inputs.DNSCRIntents(ctx, d.In.CloudPath)
	if err != nil {
		return "", err
	}
	if !cloud.Deployed() {
		switch {
		case len(stored) == 0:
			return fmt.Sprintf("logical cloud %q has no DNS CR intent; post one with autopath, and instantiate the logical cloud", name), nil
		case slices.ContainsFunc(stored, asksForAutopath):
			return fmt.Sprintf("logical cloud %q is %s; instantiate it", name, cloud.State()), nil
		}
		return fmt.Sprintf("logical cloud %q is %s; set autopath of DNS CR intent %q, and instantiate the logical cloud", name, cloud.State(), stored[0].Path.Name()), nil
	}
	release, err := s.LoadRelease(ctx, cloud.ContextID)
	if err != nil {
		return "", err
	}
	dns, configured := DNSOn(release.Group, cluster)
	_, walks := clusterdns.Offer(dns)
	switch {
	case !configured:
		return fmt.Sprintf("no DNS CR intent of logical cloud %q configures it; post one with autopath, and update the logical cloud", name), nil
	case dns.Spec.Mode == intent.Import:
		return fmt.Sprintf("DNS CR intent %q has mode import, which has no autopath; use mode dedicated with autopath, and update logical cloud %q", dns.Intent, name), nil
	case walks:
		return fmt.Sprintf("DNS CR intent %q offers it to pods of another namespace than %q; update logical cloud %q", dns.Intent, d.Group.LogicalCloudNamespace, name), nil
	}
	if slices.ContainsFunc(stored, func(i inputs.DNSCRIntent) bool { return i.Path.Name() == dns.Intent && asksForAutopath(i) }) {
		return fmt.Sprintf("DNS CR intent %q asks for it since it was released; update logical cloud %q", dns.Intent, name), nil
	}
	return fmt.Sprintf("DNS CR intent %q does not ask for it; set its autopath, and update logical cloud %q", dns.Intent, name), nil
}

// asksForAutopath says whether an intent has search paths walked, as it is now.
func asksForAutopath(i inputs.DNSCRIntent) bool {
	_, walks := clusterdns.Offer(plan.ClusterDNS{Spec: i.Spec})
	return walks
}

// SameAutopath says whether pods are given the same by autopath: the address of
// a Service may be another since.
func SameAutopath(a, b plan.Group) bool {
	given := func(app plan.App) []plan.PodAutopath {
		if app.PodDNS == nil {
			return nil
		}
		return app.PodDNS.Autopath
	}
	return slices.EqualFunc(a.Apps, b.Apps, func(x, y plan.App) bool { return slices.Equal(given(x), given(y)) })
}

// WarnOfPods tells which changes of their DNS do not reach pods that exist.
func WarnOfPods(d *Draft, changes []bundle.Change) {
	for _, c := range changes {
		if c.Action != bundle.Update || bytes.Equal(PodDNS(c.Old), PodDNS(c.New)) {
			continue
		}
		subject := fmt.Sprintf("%s %s/%s on %s", c.ID.Kind, c.ID.Namespace, c.ID.Name, c.ID.Cluster)
		switch c.ID.Group + "/" + c.ID.Kind {
		case "/Pod", "batch/Job":
			d.Warn("%s exists, and Kubernetes does not change the DNS of running pods; delete it to have it created again", subject)
		case "apps/ReplicaSet", "/ReplicationController":
			d.Warn("%s leaves its pods as they are; delete them, and the new ones have the new DNS", subject)
		}
	}
}

// PodDNS are the DNS settings of the pods of an object.
func PodDNS(object []byte) []byte {
	var manifest map[string]any
	if json.Unmarshal(object, &manifest) != nil {
		return nil
	}
	place, _ := podspec.Find(manifest)
	spec := podspec.At(manifest, place.Fields)
	settings, err := json.Marshal([]any{spec["dnsPolicy"], spec["dnsConfig"]})
	if err != nil {
		return nil
	}
	return settings
}
