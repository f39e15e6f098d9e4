package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// status is what the stories read of a status.
type status struct {
	State      string      `json:"state"`
	ContextID  string      `json:"contextID"`
	Revision   int64       `json:"revision"`
	Conditions []condition `json:"conditions"`
	Clusters   []struct {
		Cluster   string `json:"cluster"`
		Reachable bool   `json:"reachable"`
		Resources []struct {
			Kind, Namespace, Name, Status, Message string
		} `json:"resources"`
	} `json:"clusters"`
	Providers []externalDNS `json:"providers"`
	Names     []struct {
		Name, Type, Record, Scope string
		Targets                   []string
		Conditions                []condition
		Answers                   []answer
	} `json:"names"`
}

// externalDNS is what a status tells of an external-dns.
type externalDNS struct {
	Record, Cluster, Version, Message string
	Available                         *bool
	LastSync                          *time.Time
}

// answer is what a status tells of an authoritative server.
type answer struct {
	Server, Rcode, Message string
	At                     time.Time
	Targets                []string
}

type condition struct {
	Type, Status, Reason, Message string
}

// is expects a condition to have a status.
func (s status) is(conditionType, want string) error {
	for _, c := range s.Conditions {
		if c.Type == conditionType && c.Status == want {
			return nil
		}
	}
	return fmt.Errorf("condition %s is not %s: %+v", conditionType, want, s.Conditions)
}

// becomes waits until a deployment intent group is in a state.
func (s *story) becomes(dig, state string) {
	s.Helper()
	s.eventually(dig+" to be "+state, func() error {
		var now status
		err := s.get(dig+"/status", &now)
		if err == nil && now.State != state {
			err = fmt.Errorf("it is %+v", now)
		}
		return err
	})
}

// server is the address of the server that answers for a name.
func (s *story) server(name string) string {
	if strings.HasSuffix(name, dns.BINDZone) {
		return s.world.BIND.Address
	}
	return s.world.CoreDNS.Address
}

// dig asks for the addresses of a name now.
func (s *story) dig(name string) ([]string, error) {
	name = s.words.Replace(name)
	return dns.Query(s.Context(), s.server(name), name, "A")
}

// answering expects the name to have these addresses now, in their order.
func (s *story) answering(name string, want ...string) error {
	got, err := s.dig(name)
	if err == nil && !slices.Equal(got, want) {
		err = fmt.Errorf("%s is %v, want %v", s.words.Replace(name), got, want)
	}
	return err
}

// answers waits until the name has these addresses and no others.
func (s *story) answers(name string, want ...string) {
	s.Helper()
	s.eventually(name+" to answer", func() error { return s.answering(name, want...) })
}

// gone waits until there is no such name.
func (s *story) gone(name string) {
	s.Helper()
	s.answers(name)
}

// targets are the targets that DNSEndpoints of the project in a cluster have
// for a name, sorted.
func (s *story) targets(cluster, name string) ([]string, error) {
	list, err := s.world.Cluster(cluster).List(s.Context(), fixture.EndpointKind(), s.namespace(), "")
	if err != nil {
		return nil, err
	}
	var targets []string
	for _, object := range list {
		endpoints, _, err := unstructured.NestedSlice(object.Object, "spec", "endpoints")
		if err != nil {
			return nil, err
		}
		for _, e := range endpoints {
			endpoint, _ := e.(map[string]any)
			if endpoint["dnsName"] != s.words.Replace(name) {
				continue
			}
			found, _, err := unstructured.NestedStringSlice(endpoint, "targets")
			if err != nil {
				return nil, err
			}
			targets = append(targets, found...)
		}
	}
	slices.Sort(targets)
	return targets, nil
}

// pointing expects DNSEndpoints in the hub to have these targets now.
func (s *story) pointing(name string, want ...string) error {
	got, err := s.targets(fixture.Hub, name)
	if err == nil && !slices.Equal(got, want) {
		err = fmt.Errorf("targets of %s are %v, want %v", s.words.Replace(name), got, want)
	}
	return err
}

// Kinds that the stories look at.
var (
	deployments     = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	namespaces      = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	services        = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	configMaps      = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	secrets         = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	serviceAccounts = schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}
	roles           = schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}
	roleBindings    = schema.GroupVersionKind{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"}
)

// absent expects an object not to be there now.
func (s *story) absent(cluster string, kind schema.GroupVersionKind, namespace, name string) error {
	_, err := s.world.Cluster(cluster).Get(s.Context(), kind, namespace, name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return errors.Join(fmt.Errorf("%s %s/%s is there", kind.Kind, namespace, name), err)
}

// present expects an object to be there now.
func (s *story) present(cluster string, kind schema.GroupVersionKind, namespace, name string) error {
	_, err := s.world.Cluster(cluster).Get(s.Context(), kind, namespace, name)
	return err
}

// vanishes waits until an object is not there.
func (s *story) vanishes(cluster string, kind schema.GroupVersionKind, namespace, name string) {
	s.Helper()
	s.eventually(fmt.Sprintf("%s %s in %s to go", kind.Kind, name, cluster), func() error {
		return s.absent(cluster, kind, namespace, name)
	})
}

// ours lists what Signpost has in the namespaces of the story, over the
// clusters, as "cluster Kind namespace/name".
func (s *story) ours(clusters ...string) ([]string, error) {
	var found []string
	for _, cluster := range clusters {
		for _, kind := range []schema.GroupVersionKind{
			fixture.EndpointKind(), deployments, services, configMaps, secrets, serviceAccounts, roles, roleBindings,
		} {
			for _, namespace := range []string{s.namespace(), s.project} {
				list, err := s.world.Cluster(cluster).List(s.Context(), kind, namespace, "app.kubernetes.io/managed-by=signpost")
				if err != nil && !apierrors.IsNotFound(err) { // no definition: none of that kind
					return nil, err
				}
				for _, object := range list {
					found = append(found, fmt.Sprintf("%s %s %s/%s", cluster, kind.Kind, namespace, object.GetName()))
				}
			}
		}
	}
	slices.Sort(found)
	return found, nil
}

// nothingLeft waits until nothing of Signpost is in the story's namespaces of
// these clusters.
func (s *story) nothingLeft(clusters ...string) {
	s.Helper()
	s.eventually(fmt.Sprintf("nothing to be left in %v", clusters), func() error {
		found, err := s.ours(clusters...)
		if err == nil && len(found) > 0 {
			err = fmt.Errorf("there is %v", found)
		}
		return err
	})
}
