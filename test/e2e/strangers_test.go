package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// strangers is what an administrator has put where Signpost wants to put its
// own: the project's namespace, the account of one external-dns, and the whole
// Deployment of another.
const strangers = `
apiVersion: v1
kind: Namespace
metadata: {name: signpost-strangers, labels: {team: platform}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: external-dns-lab, namespace: signpost-strangers, annotations: {team: platform}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: external-dns-taken, namespace: signpost-strangers, labels: {team: platform}}
spec:
  replicas: 1
  selector: {matchLabels: {app: taken}}
  template:
    metadata: {labels: {app: taken}}
    spec: {containers: [{name: main, image: "registry.example/something:v1"}]}
`

func TestStrangersObjectsAreUntouched(t *testing.T) {
	t.Parallel()
	world := fixture.New(t, fixture.Hub, fixture.Paris, fixture.Berlin)
	hub := world.Cluster(fixture.Hub)
	if err := errors.Join(fixture.DefineEndpoints(t.Context(), hub), hub.Apply(t.Context(), strangers)); err != nil {
		t.Fatal(err)
	}
	s := begin(t, world, "strangers")
	before := s.strangersObjects()

	s.loadBalancers()
	s.records("lab", "taken")
	s.cloud(edges(), "lab", "taken")
	s.app()
	s.group("prod")
	s.namesOf("www", "lab", "www.{zone}")
	s.namesOf("lost", "taken", "lost.{zone}")
	s.instantiate(prod)

	// What can go on does; what cannot is told, and by its name.
	s.answers("www.{zone}", parisAddress, berlinAddress)
	s.conflict("lab", "external-dns-lab")
	s.conflict("taken", "external-dns-taken")
	s.same("after instantiate", before)

	s.namesOf("api", "lab", "api.{zone}")
	s.update(prod)
	s.answers("api.{zone}", parisAddress, berlinAddress)
	s.same("after update", before)

	s.terminate(prod)
	s.gone("www.{zone}")
	s.nothingLeft(fixture.Hub)
	s.becomes(prod, "Terminated")
	s.same("after terminate", before)
}

// namesOf gives a host name to the Service web through one record.
func (s *story) namesOf(intent, record, host string) {
	s.Helper()
	s.post(prod+"/traffic-group-intents/front/dns-intents", fmt.Sprintf(`{
		"metadata": {"name": %q},
		"spec": {"app": "web", "serviceName": "web", "ttl": 5, "hostnames": [%q], "records": [%q]}
	}`, intent, host, record))
}

// conflict waits until the status tells that a record's external-dns cannot
// have the object of that name.
func (s *story) conflict(record, object string) {
	s.Helper()
	s.eventually("the conflict over "+object, func() error {
		var now status
		if err := s.get(prod+"/status", &now); err != nil {
			return err
		}
		for _, provider := range now.Providers {
			if provider.Record == record && strings.Contains(provider.Message, object) {
				return nil
			}
		}
		return fmt.Errorf("providers are %+v", now.Providers)
	})
}

// strangersObjects takes the prints of all that is not ours.
func (s *story) strangersObjects() map[string]string {
	s.Helper()
	prints := map[string]string{}
	for _, object := range []struct {
		kind            schema.GroupVersionKind
		namespace, name string
	}{
		{fixture.DefinitionKind(), "", fixture.DefinitionName},
		{namespaces, "", s.namespace()},
		{serviceAccounts, s.namespace(), "external-dns-lab"},
		{deployments, s.namespace(), "external-dns-taken"},
	} {
		prints[object.kind.Kind] = s.print(object.kind, object.namespace, object.name)
	}
	return prints
}

// print is all of an object but its status and what comes with a change of it.
func (s *story) print(kind schema.GroupVersionKind, namespace, name string) string {
	s.Helper()
	object, err := s.world.Cluster(fixture.Hub).Get(s.Context(), kind, namespace, name)
	s.must(err)
	var managers []string
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource == "" {
			managers = append(managers, entry.Manager)
		}
	}
	slices.Sort(managers)
	object.SetManagedFields(nil)
	object.SetResourceVersion("")
	delete(object.Object, "status")
	text, err := json.Marshal(object)
	s.must(err)
	return fmt.Sprintf("%s by %v", text, managers)
}

// same expects all that is not ours to be as it was.
func (s *story) same(when string, before map[string]string) {
	s.Helper()
	for kind, now := range s.strangersObjects() {
		if now != before[kind] {
			s.Errorf("%s the stranger's %s is %s\nit was %s", when, kind, now, before[kind])
		}
	}
}
