package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// An edge that never comes back holds nobody up once it is abandoned.

const parisDocument = clustersOfEdge + "/" + fixture.Paris

func TestADeadEdgeIsAbandoned(t *testing.T) {
	t.Parallel()
	s := begin(t, ownWorld(t), "abandoned")
	s.deployedOnEdges()
	s.world.Cluster(fixture.Paris).Stop()
	s.terminate(prod)
	s.gone("www.{zone}")
	s.nothingLeft(fixture.Hub, fixture.Berlin)
	s.must(s.inState("Terminating"))

	left := s.abandons(parisDocument)
	for _, want := range []string{"ConfigMap " + s.project + "/settings", "Deployment " + s.namespace() + "/external-dns-own-cluster", "Namespace /" + s.namespace()} {
		if !slices.Contains(left, want) {
			t.Errorf("%s is not among what is left behind: %v", want, left)
		}
	}
	s.becomes(prod, "Terminated")
	s.leaves("inner.{zone}", "the home of its external-dns, edge+paris, is abandoned")

	// It is as it was after a crash, and nothing can be placed there.
	s.must(s.signpost.Restart(t.Context()))
	if again := s.abandons(parisDocument); !slices.Equal(left, again) {
		t.Errorf("asked again, %v is left behind, and not %v", again, left)
	}
	s.call(http.MethodPost, prod+"/instantiate", "", http.StatusConflict)

	// Nothing holds its document that only stood there.
	s.withoutParis()
	s.remove(parisDocument + "/kv-pairs/dns-update-record-list")
	s.remove(parisDocument)

	// Registered again it starts over, here with all that was left behind.
	s.must(s.world.Cluster(fixture.Paris).Start(t.Context()))
	s.post(clustersOfEdge, s.registration(fixture.Paris, fixture.Paris))
	s.post(parisDocument+"/kv-pairs", association("{p}/own"))
	s.post("/v2/projects/{p}/logical-clouds/eu/cluster-references", `{
		"metadata": {"name": "paris"}, "spec": {"clusterProvider": "edge", "cluster": "paris"}
	}`)
	s.scopedNames("inner", "cluster", "inner.{zone}")
	s.instantiate(prod)
	s.appearsInBerlin()
	s.becomes(prod, "Instantiated")
	s.answers("www.{zone}", parisAddress, berlinAddress)
	s.answers("inner.{zone}", parisAddress)
	s.terminate(prod)
	s.gone("inner.{zone}")
	s.becomes(prod, "Terminated")
	s.nothingLeft(fixture.Hub, fixture.Paris, fixture.Berlin)
}

// TestARecordLeavesADeadHome: its names stay meanwhile, and are taken over.
func TestARecordLeavesADeadHome(t *testing.T) {
	t.Parallel()
	s := begin(t, ownWorld(t), "deadhome")
	s.published()
	s.says("True", "")
	s.world.Cluster(fixture.Hub).Stop()
	left := s.abandons(clustersOfEdge + "/" + fixture.Hub)
	if !slices.Contains(left, "Deployment "+s.namespace()+"/external-dns-lab") {
		t.Errorf("external-dns is not among what is left behind: %v", left)
	}
	s.says("Unknown", "its cluster is abandoned")
	s.movesToParis()
	s.says("True", "")
	s.becomes(prod, "Instantiated")
	s.must(s.answering("www.{zone}", parisAddress, berlinAddress))
}

// inState fails unless the group prod is in a state.
func (s *story) inState(state string) error {
	var now status
	err := s.get(prod+"/status", &now)
	if err == nil && now.State != state {
		err = fmt.Errorf("it is %+v, not %s", now, state)
	}
	return err
}

// abandons abandons a cluster and answers what is left behind, as "Kind
// namespace/name".
func (s *story) abandons(cluster string) []string {
	s.Helper()
	var body struct {
		LeftBehind []struct{ Kind, Namespace, Name string }
	}
	s.must(s.call(http.MethodPost, cluster+"/abandon", "", http.StatusOK).JSON(&body))
	var out []string
	for _, object := range body.LeftBehind {
		out = append(out, object.Kind+" "+object.Namespace+"/"+object.Name)
	}
	return out
}

// leaves expects the status to list a name that nobody removes, and why.
func (s *story) leaves(name, reason string) {
	s.Helper()
	var body struct {
		Leftovers []struct{ Name, Reason string }
	}
	s.must(s.get(prod+"/status", &body))
	for _, leftover := range body.Leftovers {
		if leftover.Name == s.words.Replace(name) && leftover.Reason == reason {
			return
		}
	}
	s.Errorf("%s is not left over because %q: %+v", name, reason, body.Leftovers)
}
