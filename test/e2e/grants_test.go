package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// TestANamespaceThatSomebodyMadeTakesAGrant on real API servers: one that is
// there when it is planned, and one that came while its cluster was away.
func TestANamespaceThatSomebodyMadeTakesAGrant(t *testing.T) {
	t.Parallel()
	s := begin(t, ownWorld(t), "grants")
	s.must(s.world.Cluster(fixture.Paris).LoadBalancer(t.Context(), s.project, "theirs", parisAddress))
	s.cloud([]string{fixture.Paris})
	s.deployedWeb()
	s.refuses("instantiate", prod, `namespace \"grants\" of cluster edge+paris was not made by Signpost`, "spec.namespaces of projects/grants")
	s.must(s.absent(fixture.Paris, deployments, s.project, "web"))

	// Berlin is away when the release is accepted, and has the namespace when it
	// is back.
	s.remove(prod + "/traffic-group-intents/front")
	s.remove(prod)
	s.remove("/v2/projects/{p}/logical-clouds/eu/cluster-references/paris")
	s.post("/v2/projects/{p}/logical-clouds/eu/cluster-references", `{"metadata": {"name": "berlin"}, "spec": {"clusterProvider": "edge", "cluster": "berlin"}}`)
	s.must(s.world.Cluster(fixture.Berlin).LoadBalancer(t.Context(), s.project, "theirs", berlinAddress))
	s.world.Cluster(fixture.Berlin).Stop()
	s.post("/v2/projects/{p}/composite-apps/store/v1/deployment-intent-groups", `{
		"metadata": {"name": "prod"},
		"spec": {"logicalCloud": "eu", "apps": [{"name": "web", "manifests": [
			{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"colour": "blue"}}
		]}]}
	}`)
	s.instantiate(prod)
	s.must(s.world.Cluster(fixture.Berlin).Start(t.Context()))
	s.eventually("the conflict to be told", func() error {
		answer := s.call(http.MethodGet, prod+"/status", "", http.StatusOK)
		if !strings.Contains(string(answer.Body), "conflict: the namespace was not made by Signpost") {
			return fmt.Errorf("the status is %s", answer.Body)
		}
		return nil
	})
	s.must(s.absent(fixture.Berlin, configMaps, s.project, "settings"))

	s.call(http.MethodPut, "/v2/projects/{p}", `{"metadata": {"name": "{p}"}, "spec": {"namespaces": ["{p}"]}}`, http.StatusOK)
	s.becomes(prod, "Instantiated")
	s.must(s.present(fixture.Berlin, configMaps, s.project, "settings"))
}
