package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// A cluster has one name, and a name stands for one cluster.

func TestANameStandsForOneCluster(t *testing.T) {
	t.Parallel()
	s := begin(t, ownWorld(t), "names")
	s.cloud([]string{fixture.Paris})
	s.app()
	s.post("/v2/projects/{p}/composite-apps/store/v1/deployment-intent-groups", `{
		"metadata": {"name": "prod"},
		"spec": {"logicalCloud": "eu", "apps": [{"name": "web", "manifests": [
			{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"colour": "blue"}}
		]}]}
	}`)
	s.instantiate(prod)
	s.becomes(prod, "Instantiated")

	// Two registrations of one cluster are refused.
	alias := s.registration("alias", fixture.Paris)
	s.refusesCluster(http.MethodPost, "", alias, "registered as edge+paris already", func() { s.remove(clustersOfEdge + "/alias") })

	// A kubeconfig that points to another cluster than before is refused, and
	// changes nothing.
	s.remove(clustersOfEdge + "/berlin")
	s.refusesCluster(http.MethodPut, "/paris", s.registration(fixture.Paris, fixture.Berlin), "edge+paris is cluster", func() {
		s.call(http.MethodPut, clustersOfEdge+"/paris", s.registration(fixture.Paris, fixture.Paris), http.StatusOK)
	})
	s.post(clustersOfEdge, s.registration(fixture.Berlin, fixture.Berlin))
	s.throughout("Paris is served", func() error { return s.present(fixture.Paris, configMaps, s.project, "settings") })
	s.must(s.absent(fixture.Berlin, configMaps, s.project, "settings"))

	s.rebuild(fixture.Paris)
	s.eventually("the rebuilt cluster to get everything again", func() error {
		return s.present(fixture.Paris, configMaps, s.project, "settings")
	})

	// A second registration that nobody could judge is not served later.
	s.world.Cluster(fixture.Berlin).Stop()
	s.post(clustersOfEdge, s.registration("alias", fixture.Berlin))
	s.must(s.world.Cluster(fixture.Berlin).Start(t.Context()))
	s.post("/v2/projects/{p}/logical-clouds/eu/cluster-references", `{
		"metadata": {"name": "alias"}, "spec": {"clusterProvider": "edge", "cluster": "alias"}
	}`)
	s.update(prod)
	s.eventually("the alias to say why it is not served", func() error { return s.tellsDouble("alias", "registered as edge+berlin already") })
	s.must(s.absent(fixture.Berlin, namespaces, "", s.project))
}

const clustersOfEdge = "/v2/cluster-providers/edge/clusters"

// refusesCluster expects a cluster's document to be refused for its kubeconfig. A
// cluster that is too busy to answer soon is believed: that is undone, and tried again.
func (s *story) refusesCluster(method, path, body, why string, undo func()) {
	s.Helper()
	s.eventually("the cluster to be refused", func() error {
		answer, err := s.signpost.Do(s.Context(), method, clustersOfEdge+path, body)
		if err != nil {
			return err
		}
		if answer.Status < http.StatusMultipleChoices {
			undo()
		}
		if answer.Status != http.StatusConflict {
			return answer.Unexpected(http.StatusConflict)
		}
		if text := string(answer.Body); !strings.Contains(text, why) || !strings.Contains(text, "/spec/kubeconfig") {
			return fmt.Errorf("the refusal does not say %q at /spec/kubeconfig: %s", why, text)
		}
		return nil
	})
}

// rebuild makes a cluster anew, at its old address.
func (s *story) rebuild(cluster string) {
	s.Helper()
	server := s.world.Cluster(cluster)
	server.Stop()
	s.must(s.world.Etcd.DeletePrefix(s.Context(), "/registry/"+server.Name+"/"))
	s.must(server.Start(s.Context()))
	s.must(server.GrantSignpost(s.Context()))
}

// tellsDouble expects the status of a cluster's objects to give the reason why
// it is not served.
func (s *story) tellsDouble(cluster, why string) error {
	var now status
	if err := s.get(prod+"/status", &now); err != nil {
		return err
	}
	for _, c := range now.Clusters {
		if c.Cluster != cluster || c.Reachable {
			continue
		}
		for _, resource := range c.Resources {
			if strings.Contains(resource.Message, why) {
				return nil
			}
		}
	}
	return fmt.Errorf("clusters are %+v", now.Clusters)
}
