package poddns

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/dns/autopath"
	"github.com/signpost-dns/signpost/pkg/dns/resolvconf"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// ShowPodDNSIntent adds the warnings.
func ShowPodDNSIntent(ctx context.Context, g *review.Companions, path intent.Path, in *intent.PodDNSIntent) (*review.Status, error) {
	status := &review.Status{Warnings: append(podDNSWarnings(*in), searchWarnings(*in)...)}
	group, err := g.Group(ctx, path.Parent().Parent())
	if err != nil || group == nil {
		return status, err
	}
	if in.DNSPolicy.Canonical() == intent.DNSAutopath {
		cloud := intent.Join("projects", path.Segment("projects"), "logical-clouds", group.LogicalCloud)
		offered, err := g.Autopath(ctx, cloud)
		if err != nil {
			return status, err
		}
		if !offered {
			status.Warnings = append(status.Warnings, intent.Warning{Parameter: "dnsPolicy", Message: fmt.Sprintf(
				"%s needs a DNS CR intent of logical cloud %s with autopath, which does not exist: until one is deployed, instantiate and update refuse this", in.DNSPolicy, group.LogicalCloud)})
		}
	}
	orchestrated := g.Documents.ExternallyManaged(path.Parent().Parent()) != nil // pods are changed in app contexts
	for _, app := range group.Apps {
		if app.Name == in.App && len(app.Manifests) == 0 && !orchestrated {
			status.Warnings = append(status.Warnings, intent.Warning{Parameter: "app", Message: fmt.Sprintf(
				"%s has no manifests, so Signpost cannot change its pods, and instantiate and update refuse this unless %s deploys the app; give the app manifests, or delete the intent", in.App, intent.Orchestrator)})
		}
	}
	return status, nil
}

// podDNSWarnings tells what of a pod DNS intent does not do what it may seem
// to, in stable order. It is never nil.
func podDNSWarnings(in intent.PodDNSIntent) []intent.Warning {
	w := &review.Oddities{List: []intent.Warning{}}
	if in.DNSConfig == nil {
		return w.List
	}
	warnOfRepeated(w, in.DNSConfig.Options)
	warnOfPodItself(w, in.DNSConfig.Nameservers)
	nameservers := len(in.DNSConfig.Nameservers)
	switch in.DNSPolicy.Canonical() {
	case intent.DNSAutopath:
		warnOfBesideAutopath(w, *in.DNSConfig)
	case intent.DNSClusterFirst, intent.DNSClusterFirstWithHostNet:
		if nameservers >= resolvconf.MaxNameservers {
			w.Warn("nameservers", "come after the nameserver of the cluster's DNS, and kubelet drops all after the third")
		}
	}
	return w.List
}

// searchWarnings tell of searches that some resolvers ignore. The searches of the cluster
// and the node are not known here; a preview tells of all.
func searchWarnings(in intent.PodDNSIntent) []intent.Warning {
	w := &review.Oddities{List: []intent.Warning{}}
	if in.DNSConfig != nil {
		if fault := resolvconf.NotTakenEverywhere(in.DNSConfig.Searches); fault != "" {
			w.Warn("searches", "%s", fault)
		}
	}
	return w.List
}

// warnOfPodItself warns of nameservers that are out of a pod's reach.
func warnOfPodItself(w *review.Oddities, nameservers []string) {
	for _, text := range nameservers {
		if address, err := netip.ParseAddr(text); err == nil && address.IsLoopback() {
			w.Warn(text, "is the pod itself, where no nameserver listens unless the pod has one; %s", resolvconf.LoopbackHint)
		}
	}
}

// warnOfRepeated warns of options that are given more than once.
func warnOfRepeated(w *review.Oddities, options []intent.PodDNSOption) {
	for i, option := range options {
		if slices.ContainsFunc(options[:i], func(o intent.PodDNSOption) bool { return o.Name == option.Name }) {
			w.Warn(option.Name, "is given more than once; the last value counts")
		}
	}
}

// warnOfBesideAutopath warns of what makes pods ask more than autopath alone would.
func warnOfBesideAutopath(w *review.Oddities, config intent.PodDNSConfig) {
	for _, list := range []struct {
		name        string
		given, most int // beside the one that autopath sets
	}{
		{"nameservers", len(config.Nameservers), resolvconf.MaxNameservers - 1},
		{"searches", len(config.Searches), resolvconf.MaxSearches - 1},
	} {
		if list.given > list.most {
			w.Warn(list.name, "are one more than Kubernetes allows beside that of autopath, so a plan refuses them; give at most %d", list.most)
		}
	}
	if len(config.Searches) > 0 {
		w.Warn("searches", "come after that of autopath, which answers first; give them as autopath.searches of the DNS CR intent")
	}
	for _, option := range config.Options {
		if option.Name != "ndots" || option.Value == nil {
			continue
		}
		if dots, err := strconv.Atoi(*option.Value); err == nil && dots < autopath.Ndots {
			w.Warn("ndots", "costs additional queries: names with as many dots are asked for as they are before autopath gets them; remove it to use %d", autopath.Ndots)
		}
	}
}
