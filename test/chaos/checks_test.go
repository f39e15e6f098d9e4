package chaos

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// strangers is what others have in each cluster, beside what Signpost makes and
// where it makes it.
const strangers = `
apiVersion: v1
kind: ConfigMap
metadata: {name: theirs, namespace: shop, labels: {app.kubernetes.io/managed-by: signpost}}
data: {of: others}
---
apiVersion: v1
kind: Secret
metadata: {name: theirs, namespace: shop}
stringData: {of: others}
---
apiVersion: v1
kind: Namespace
metadata: {name: theirs}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: external-dns-lab, namespace: theirs}
---
apiVersion: externaldns.k8s.io/v1alpha1
kind: DNSEndpoint
metadata: {name: theirs, namespace: shop}
spec: {endpoints: [{dnsName: www.theirs.example, recordType: A, targets: [192.0.2.1]}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: external-dns-theirs, namespace: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: theirs}}
  template:
    metadata: {labels: {app: theirs}}
    spec: {containers: [{name: main, image: "registry.example/something:v1"}]}
`

// prints are the identities and versions of what others have in the clusters.
func (s *site) prints() map[string]string {
	s.Helper()
	prints := map[string]string{}
	for _, c := range s.clusters {
		for _, o := range []struct {
			kind            schema.GroupVersionKind
			namespace, name string
		}{
			{schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, "shop", "theirs"},
			{schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, "shop", "theirs"},
			{schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, "", "theirs"},
			{schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, "", "shop"},
			{schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}, "theirs", "external-dns-lab"},
			{fixture.EndpointKind(), "shop", "theirs"},
			{fixture.DefinitionKind(), "", fixture.DefinitionName},
			{schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, "shop", "external-dns-theirs"},
		} {
			object, err := c.Get(s.Context(), o.kind, o.namespace, o.name)
			require.NoError(s, err, "%s %s in %s", o.kind.Kind, o.name, c.Name)
			prints[c.Name+" "+o.kind.Kind+" "+o.name] = string(object.GetUID()) + " " + object.GetResourceVersion()
		}
	}
	return prints
}

// published lists the names in the DNSEndpoints of the hub that are ours, with
// their targets.
func (s *site) published() (map[string][]string, error) {
	list, err := s.clusters[0].List(s.Context(), fixture.EndpointKind(), "", "")
	if err != nil {
		return nil, err
	}
	hosts := map[string][]string{}
	for _, object := range list {
		endpoints, _, err := unstructured.NestedSlice(object.Object, "spec", "endpoints")
		if err != nil {
			return nil, err
		}
		for _, e := range endpoints {
			endpoint, _ := e.(map[string]any)
			host := fmt.Sprint(endpoint["dnsName"])
			targets, _, err := unstructured.NestedStringSlice(endpoint, "targets")
			if err != nil {
				return nil, err
			}
			if strings.HasSuffix(host, ".lab.example") {
				slices.Sort(targets)
				hosts[host] = append(hosts[host], targets...)
			}
		}
	}
	return hosts, nil
}

// converged tells whether the clusters are what was asked for: one name of each
// group, with the addresses of both clusters, and all of it in the ledger as applied.
func (s *site) converged(groups []*renamer, addresses []string) error {
	hosts, err := s.published()
	if err != nil {
		return err
	}
	if len(hosts) != len(groups) {
		return fmt.Errorf("names are %v, want one of each of %d groups", hosts, len(groups))
	}
	for _, g := range groups {
		now := slices.DeleteFunc(slices.Clone(g.may), func(host string) bool { return !slices.Equal(hosts[host], addresses) })
		if len(now) != 1 {
			return fmt.Errorf("names are %v, want one of %v with %v", hosts, g.may, addresses)
		}
		if err := s.settled(g); err != nil {
			return err
		}
	}
	for _, c := range s.clusters[1:] {
		for _, g := range groups {
			if _, err := c.Get(s.Context(), schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, "shop", g.group); err != nil {
				return err
			}
		}
	}
	return nil
}

// settled tells whether every API replica says that a group is as it should be.
func (s *site) settled(g *renamer) error {
	for _, api := range s.with("api") {
		answer, err := api.Do(s.Context(), http.MethodGet, g.path()+"/status", "")
		if err != nil {
			return err
		}
		var now struct{ State string }
		if err := answer.JSON(&now); err != nil {
			return err
		}
		if now.State != "Instantiated" {
			return errors.New(g.group + " is " + now.State)
		}
	}
	return nil
}

// kept requires that what was acknowledged is there.
func (s *site) kept(paths []string) {
	s.Helper()
	api := s.with("api")[0]
	for _, path := range paths {
		answer, err := api.Do(s.Context(), http.MethodGet, path, "")
		require.NoError(s, err)
		require.Equal(s, http.StatusOK, answer.Status, "%s was acknowledged", path)
	}
}
