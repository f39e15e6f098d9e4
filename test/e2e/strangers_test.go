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

func TestAStrangersNamespaceAndDefinitionAreUsedAndUntouched(t *testing.T) {
	t.Parallel()
	world := ownWorld(t)
	hub := world.Cluster(fixture.Hub)
	if err := errors.Join(fixture.DefineEndpoints(t.Context(), hub), hub.Apply(t.Context(), `
apiVersion: v1
kind: Namespace
metadata: {name: signpost-guest, labels: {team: platform}}
`)); err != nil {
		t.Fatal(err)
	}
	s := begin(t, world, "guest")
	theirs := s.prints(
		object{fixture.DefinitionKind(), "", fixture.DefinitionName},
		object{namespaces, "", "signpost-guest"})

	s.published()
	s.same("after instantiate", theirs)

	s.names(prod, "api", "api.{zone}")
	s.update(prod)
	s.answers("api.{zone}", parisAddress, berlinAddress)
	s.same("after update", theirs)

	s.terminate(prod)
	s.becomes(prod, "Terminated")
	s.nothingLeft(fixture.Hub)
	s.gone("www.{zone}")
	s.same("after terminate", theirs)
}

// takenNames is what somebody has put where Signpost wants to put its own: the
// account of one external-dns, and the whole Deployment of another.
const takenNames = `
apiVersion: v1
kind: Namespace
metadata: {name: signpost-taken}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: external-dns-lab, namespace: signpost-taken, annotations: {team: platform}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: external-dns-lost, namespace: signpost-taken, labels: {team: platform}}
spec:
  replicas: 1
  selector: {matchLabels: {app: taken}}
  template:
    metadata: {labels: {app: taken}}
    spec: {containers: [{name: main, image: "registry.example/something:v1"}]}
`

func TestStrangersObjectsAreUntouched(t *testing.T) {
	t.Parallel()
	world := sharedWorld(t)
	if err := world.Cluster(fixture.Hub).Apply(t.Context(), takenNames); err != nil {
		t.Fatal(err)
	}
	s := begin(t, world, "taken")
	theirs := s.prints(
		object{serviceAccounts, "signpost-taken", "external-dns-lab"},
		object{deployments, "signpost-taken", "external-dns-lost"})

	s.loadBalancers()
	s.records("lab", "lost")
	s.cloud(edges(), "lab", "lost")
	s.app()
	s.group("prod")
	s.namesOf("www", "lab", "www.{zone}")
	s.namesOf("lost", "lost", "lost.{zone}")
	s.instantiate(prod)

	// What can go on does; what cannot is told, and by its name.
	s.answers("www.{zone}", parisAddress, berlinAddress)
	s.conflict("lab", "external-dns-lab")
	s.conflict("lost", "external-dns-lost")
	s.same("after instantiate", theirs)

	s.terminate(prod)
	s.gone("www.{zone}")
	s.nothingLeft(fixture.Hub)
	s.becomes(prod, "Terminated")
	s.same("after terminate", theirs)
}

// TestTwoInstallationsOnOneClusterLeaveEachOtherAlone: staging has the same
// names for everything as production, and comes and goes beside it.
func TestTwoInstallationsOnOneClusterLeaveEachOtherAlone(t *testing.T) {
	t.Parallel()
	world := sharedWorld(t)
	production := begin(t, world, "twins")
	production.published()
	theirs := production.prints(
		object{deployments, "signpost-twins", "external-dns-lab"},
		object{serviceAccounts, "signpost-twins", "external-dns-lab"})

	staging := begin(t, world, "twins")
	staging.records("lab")
	staging.cloud(edges(), "lab")
	staging.app()
	staging.group("prod")
	staging.names(prod, "www", "www.{zone}")
	staging.instantiate(prod)
	staging.conflict("lab", "external-dns-lab")
	production.same("after staging's instantiate", theirs)

	staging.terminate(prod)
	staging.becomes(prod, "Terminated")
	production.same("after staging's terminate", theirs)
	production.throughout("www.{zone} to answer", func() error { return production.answering("www.{zone}", parisAddress, berlinAddress) })

	production.terminate(prod)
	production.gone("www.{zone}")
	production.nothingLeft(fixture.Hub)
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

// object names an object of the hub.
type object struct {
	kind            schema.GroupVersionKind
	namespace, name string
}

// prints takes the prints of objects.
func (s *story) prints(objects ...object) map[object]string {
	s.Helper()
	prints := map[object]string{}
	for _, o := range objects {
		prints[o] = s.print(o)
	}
	return prints
}

// print is all of an object but its status and what comes with a change of it.
func (s *story) print(o object) string {
	s.Helper()
	found, err := s.world.Cluster(fixture.Hub).Get(s.Context(), o.kind, o.namespace, o.name)
	s.must(err)
	var managers []string
	for _, entry := range found.GetManagedFields() {
		if entry.Subresource == "" {
			managers = append(managers, entry.Manager)
		}
	}
	slices.Sort(managers)
	found.SetManagedFields(nil)
	found.SetResourceVersion("")
	delete(found.Object, "status")
	text, err := json.Marshal(found)
	s.must(err)
	return fmt.Sprintf("%s by %v", text, managers)
}

// same expects objects to be as they were.
func (s *story) same(when string, before map[object]string) {
	s.Helper()
	for o, was := range before {
		if now := s.print(o); now != was {
			s.Errorf("%s the stranger's %s is %s\nit was %s", when, o.kind.Kind, now, was)
		}
	}
}
