package e2e

import (
	"net/http"
	"testing"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

func TestARecordMovesAndItsNamesNeverStopToAnswer(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "moves")
	s.published()
	s.movesToParis()
	s.vanishes(fixture.Hub, deployments, s.namespace(), "external-dns-lab")
	s.nothingLeft(fixture.Hub)
	s.throughout("the name stays", func() error { return s.answering("www.{zone}", parisAddress, berlinAddress) })

	s.must(s.world.Cluster(fixture.Berlin).SetLoadBalancer(t.Context(), s.project, "web", otherAddress))
	s.answers("www.{zone}", parisAddress, otherAddress)
	s.terminate(prod)
	s.gone("www.{zone}")
	s.becomes(prod, "Terminated")
	s.nothingLeft(fixture.Paris)
}

// movesToParis moves the record lab, and the name www stays all the while.
func (s *story) movesToParis() {
	s.Helper()
	const lab = "/v2/projects/{p}/dns-update-records/lab"
	var record map[string]any
	s.must(s.get(lab, &record))
	record["spec"].(map[string]any)["deployOn"] = map[string]any{"clusterProvider": "edge", "cluster": fixture.Paris}
	s.putJSON(lab, record)
	s.call(http.MethodPost, lab+"/update", "", http.StatusAccepted)
	s.eventually("external-dns to live in the new home", func() error {
		if err := s.answering("www.{zone}", parisAddress, berlinAddress); err != nil {
			s.Fatalf("the name has gone: %v", err)
		}
		return s.present(fixture.Paris, deployments, s.namespace(), "external-dns-lab")
	})
}
