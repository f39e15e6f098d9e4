package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// How answers are chosen among the clusters is what the intent's routing says;
// names by a template have those of one cluster each.

func TestFailoverGoesToTheNextClusterInOrderAndBack(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "failover")
	s.pods(fixture.Paris, true)
	s.pods(fixture.Berlin, true)
	s.prepared()
	s.intent("www", `"hostnames": ["www.{zone}"], "routing": {"policy": "failover", "order": ["edge+paris", "edge+berlin"]}`)
	s.intent("each", `"hostnames": ["{{.Cluster}}.{{.ClusterProvider | lower}}.{zone}"]`)
	s.instantiate(prod)
	s.answers("www.{zone}", parisAddress)
	s.rejects(berlinAddress, "edge+paris is first in order")

	s.pods(fixture.Paris, false)
	s.answers("www.{zone}", berlinAddress)
	s.rejects(parisAddress, "no ready endpoint")
	s.answers("paris.edge.{zone}", parisAddress) // it has no other cluster to go to
	s.answers("berlin.edge.{zone}", berlinAddress)

	s.pods(fixture.Paris, true)
	s.answers("www.{zone}", parisAddress)

	s.call(http.MethodPost, clustersOfEdge+"/paris/drain?force=true", "", http.StatusAccepted)
	s.answers("www.{zone}", berlinAddress)
	s.call(http.MethodPost, clustersOfEdge+"/paris/undrain", "", http.StatusAccepted)
	s.answers("www.{zone}", parisAddress)
}

func TestWeightsAreRefusedWhereTheProviderHasNoneAndTheRefusalSaysWhichCan(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "weightless")
	s.prepared()
	refusal := string(s.call(http.MethodPost, prod+"/traffic-group-intents/front/dns-intents", document("www", "web",
		`"hostnames": ["www.{zone}"], "routing": {"policy": "weighted", "weights": {"edge+paris": 90, "edge+berlin": 10}}`), http.StatusBadRequest).Body)
	for _, word := range []string{"/spec/routing/policy", "coredns", "aws"} {
		if !strings.Contains(refusal, word) {
			t.Errorf("the refusal does not say %q: %s", word, refusal)
		}
	}
}
