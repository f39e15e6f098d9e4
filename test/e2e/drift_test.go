package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

func TestDriftByHandIsPutBack(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "drift")
	s.published()
	hub := s.world.Cluster(fixture.Hub)
	endpoint := s.endpointName()
	args := s.externalDNSArgs()

	// Somebody deletes an object of ours.
	s.must(hub.Delete(t.Context(), fixture.EndpointKind(), s.namespace(), endpoint))
	s.eventually("the deleted DNSEndpoint to be back", func() error {
		return s.pointing("www.{zone}", parisAddress, berlinAddress)
	})
	s.must(hub.Delete(t.Context(), roleBindings, s.namespace(), "external-dns-lab"))
	s.eventually("the deleted RoleBinding to be back", func() error {
		return s.present(fixture.Hub, roleBindings, s.namespace(), "external-dns-lab")
	})

	// Somebody edits others.
	s.edit(`[{"op": "replace", "path": "/spec/endpoints/0/targets", "value": ["192.0.2.66"]}]`,
		"externaldns.k8s.io/v1alpha1/namespaces/"+s.namespace()+"/dnsendpoints/"+endpoint)
	s.eventually("the edited DNSEndpoint to be as it was", func() error {
		return s.pointing("www.{zone}", parisAddress, berlinAddress)
	})
	s.edit(`[{"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": "--dry-run"}]`,
		"apps/v1/namespaces/"+s.namespace()+"/deployments/external-dns-lab")
	s.eventually("the edited Deployment to be as it was", func() error {
		if now := s.externalDNSArgs(); !slices.Equal(now, args) {
			return fmt.Errorf("arguments are %v, want %v", now, args)
		}
		return nil
	})
	s.answers("www.{zone}", parisAddress, berlinAddress)
}

// endpointName is the name of the project's only DNSEndpoint in the hub.
func (s *story) endpointName() string {
	s.Helper()
	list, err := s.world.Cluster(fixture.Hub).List(s.Context(), fixture.EndpointKind(), s.namespace(), "")
	s.must(err)
	if len(list) != 1 {
		s.Fatalf("there are %d DNSEndpoints", len(list))
	}
	return list[0].GetName()
}

// externalDNSArgs are the arguments of the record lab's external-dns.
func (s *story) externalDNSArgs() []string {
	s.Helper()
	deployment, err := s.world.Cluster(fixture.Hub).Client.AppsV1().Deployments(s.namespace()).
		Get(s.Context(), "external-dns-lab", metav1.GetOptions{})
	s.must(err)
	return deployment.Spec.Template.Spec.Containers[0].Args
}

// edit applies a JSON patch to an object of the hub, as kubectl edit does.
func (s *story) edit(patch, path string) {
	s.Helper()
	if !json.Valid([]byte(patch)) {
		s.Fatalf("not JSON: %s", patch)
	}
	s.must(s.world.Cluster(fixture.Hub).Client.CoreV1().RESTClient().Patch(types.JSONPatchType).
		AbsPath("/apis/" + path).Body([]byte(patch)).Do(s.Context()).Error())
}
