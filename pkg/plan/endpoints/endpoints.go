// Package endpoints renders DNSEndpoints: what one binding publishes, once its
// addresses are chosen.
package endpoints

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
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
	about := b.App + "-" + b.Service
	if intent.IsName(g.Path) {
		about = g.Name
	}
	return plan.Slug(about, longestSlug) + "-" +
		plan.Hash(string(g.Path), b.App, b.Service, b.Record, string(b.Scope), b.Cluster)
}

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
	object, err := bundle.New(b.Cluster, b.App, &v1alpha1.DNSEndpoint{
		TypeMeta: metav1.TypeMeta{APIVersion: apiVersion, Kind: bundle.EndpointKind},
		ObjectMeta: metav1.ObjectMeta{
			Name: Name(g, b), Namespace: g.Project.Namespace, Labels: labelsOf(g, b),
		},
		Spec: v1alpha1.DNSEndpointSpec{Endpoints: list},
	})
	object.Published = published
	return object, err == nil, err
}

func publishedName(host plan.Host, set address.Set) bundle.PublishedName {
	return bundle.PublishedName{
		Name: cmp.Or(set.Name, host.Name), Host: host.Name, Type: set.Type, Targets: set.Targets, ID: set.ID, Weight: set.Weight, TTL: cmp.Or(set.TTL, host.TTL),
	}
}

// entry is what a DNSEndpoint says of one set of a host.
func entry(name bundle.PublishedName) *endpoint.Endpoint {
	e := &endpoint.Endpoint{DNSName: name.Name, RecordType: name.Type, Targets: name.Targets, RecordTTL: endpoint.TTL(name.TTL)}
	if name.ID != "" {
		e.SetIdentifier = name.ID
		e.SetProviderSpecificProperty(bundle.WeightProperty, strconv.FormatInt(name.Weight, 10))
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
