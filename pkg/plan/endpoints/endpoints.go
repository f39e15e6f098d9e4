// Package endpoints renders DNSEndpoints: what one binding publishes, once its
// addresses are chosen.
package endpoints

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/external-dns/apis/v1alpha1"
	"sigs.k8s.io/external-dns/endpoint"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

const apiVersion = bundle.EndpointGroup + "/v1alpha1"

// longestSlug is how many characters of the app and service go into a name.
const longestSlug = 40

// Name is the name of the binding's DNSEndpoint: {slug of app-service}-{hash}, or of a
// name {slug of the host name}-{hash}.
func Name(g plan.Group, b plan.Binding) string {
	begins := plan.Slug(b.App+"-"+b.Service, longestSlug) + "-"
	if intent.IsName(g.Path) {
		begins = Beginning(g)
	}
	return begins + plan.Hash(string(g.Path), b.App, b.Service, b.Record, string(b.Scope), b.Cluster)
}

// Beginning is how the names of all DNSEndpoints of a name begin, in every home and of every release. DNSEndpoints of
// other names may begin so, too.
func Beginning(name plan.Group) string { return plan.Slug(name.Name, longestSlug) + "-" }

// ID identifies the binding's DNSEndpoint.
func ID(g plan.Group, b plan.Binding) bundle.ID {
	return bundle.EndpointID(b.Cluster, g.Project.Namespace, Name(g, b))
}

// Render makes the DNSEndpoint of a binding with the chosen addresses of each of its hosts, in their order. It is in
// the project's namespace on the binding's cluster, filed under the binding's app. Render answers false when there is
// nothing to publish: external-dns would fill an endpoint without targets with its own defaults.
func Render(g plan.Group, b plan.Binding, choices []address.Choice) (bundle.Object, bool, error) {
	published := &bundle.Published{Record: b.Record, Scope: string(b.Scope)}
	var list []*endpoint.Endpoint
	for n, host := range b.Hosts {
		for _, set := range Sets(host, choices[n]) {
			name := publishedName(host, set)
			published.Names, list = append(published.Names, name), append(list, entry(name))
		}
	}
	if len(list) == 0 {
		return bundle.Object{}, false, nil
	}
	slices.SortStableFunc(published.Names, func(a, b bundle.PublishedName) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(list, func(a, b *endpoint.Endpoint) int { return strings.Compare(a.DNSName, b.DNSName) })
	probes, annotations, err := probesOf(b, choices)
	if err != nil {
		return bundle.Object{}, false, err
	}
	published.Probes = probes
	annotations = markRecords(annotations, published.Names)
	object, err := bundle.New(b.Cluster, b.App, &v1alpha1.DNSEndpoint{
		TypeMeta: metav1.TypeMeta{APIVersion: apiVersion, Kind: bundle.EndpointKind},
		ObjectMeta: metav1.ObjectMeta{
			Name: Name(g, b), Namespace: g.Project.Namespace, Labels: labelsOf(g, b), Annotations: annotations,
		},
		Spec: v1alpha1.DNSEndpointSpec{Endpoints: list},
	})
	object.Published = published
	return object, err == nil, err
}

// markRecords adds to annotations that SRV records stand at the host names themselves, if
// some do.
func markRecords(annotations map[string]string, names []bundle.PublishedName) map[string]string {
	if !slices.ContainsFunc(names, func(n bundle.PublishedName) bool { return n.Type == "SRV" && n.Name == n.Host }) {
		return annotations
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[bundle.AnnotationRecords] = "SRV"
	return annotations
}

func publishedName(host plan.Host, set address.Set) bundle.PublishedName {
	return bundle.PublishedName{
		Name: cmp.Or(set.Name, host.Name), Host: host.Name, Type: set.Type, Targets: set.Targets, TTL: cmp.Or(set.TTL, host.TTL),
		ID: set.ID, Weight: set.Weight, Region: set.Region, Location: set.Location,
	}
}

// entry is what a DNSEndpoint says of one set of a host.
func entry(name bundle.PublishedName) *endpoint.Endpoint {
	e := &endpoint.Endpoint{DNSName: name.Name, RecordType: name.Type, Targets: name.Targets, RecordTTL: endpoint.TTL(name.TTL)}
	e.SetIdentifier = name.ID
	for _, property := range name.Properties() {
		e.SetProviderSpecificProperty(property.Name, property.Value)
	}
	return e
}

// labelsOf are those of the group's objects, with those by which the external-dns
// of the binding finds its DNSEndpoints.
func labelsOf(g plan.Group, b plan.Binding) map[string]string {
	all := g.Labels(b.App)
	record := plan.Record{Installation: g.Installation, Project: g.Project, Name: b.Record}
	maps.Copy(all, record.Labels(b.Scope))
	return all
}

// Services are the SRV records of a host that asks for them. Each named port of its
// Services has a name, "_port._protocol." before the host's, as long as the host itself
// publishes something. If rooted, the host in them has a final dot, as some releases of
// external-dns need it.
func Services(host plan.Host, c address.Choice, rooted bool) []address.Set {
	if !slices.Contains(host.Types, "SRV") || len(Sets(host, c)) == 0 {
		return nil
	}
	at := host.Name
	if rooted {
		at += "."
	}
	targets := map[string][]string{}
	var names []string
	for _, port := range c.Ports {
		name := strings.ToLower(fmt.Sprintf("_%s._%s.%s", port.Name, port.Protocol, host.Name))
		target := fmt.Sprintf("0 0 %d %s", port.Number, at)
		if !slices.Contains(targets[name], target) {
			targets[name] = append(targets[name], target)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	var out []address.Set
	for _, name := range slices.Compact(names) {
		slices.Sort(targets[name])
		out = append(out, address.Set{Name: name, Type: "SRV", Targets: targets[name]})
	}
	return out
}

// Sets are what a host publishes of a choice: only the types that the host
// allows. A host is never an alias of itself.
func Sets(host plan.Host, c address.Choice) []address.Set {
	var out []address.Set
	for _, set := range c.Sets {
		itself := set.Type == "CNAME" && slices.Contains(set.Targets, host.Name)
		if allows(host, set.Type) && !itself {
			out = append(out, set)
		}
	}
	return out
}

// Records are the sets of a host that have other types than those of addresses.
func Records(host plan.Host) []address.Set {
	var out []address.Set
	for _, r := range host.Records {
		out = append(out, address.Set{Type: r.Type, Targets: r.Values, TTL: r.TTL})
	}
	return out
}

// allows tells whether a host has records of a type: all but SRV, where it names
// none. Types other than those of addresses come from the host's own records.
func allows(host plan.Host, kind string) bool {
	if slices.ContainsFunc(host.Records, func(r intent.RecordSet) bool { return r.Type == kind }) {
		return true
	}
	if len(host.Types) == 0 {
		return kind != "SRV"
	}
	return slices.Contains(host.Types, kind)
}
