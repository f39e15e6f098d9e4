package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// boston is a fourth cluster, which only this story has.
const boston = "boston"

const (
	bostonAddress = "203.0.113.30"
	hubAddress    = "203.0.113.40"
)

// TestARegionOfTwoOfFourClustersFailsOver with a preview, is waited for, and comes back:
// what the preview says of a name is what CoreDNS and BIND answer.
func TestARegionOfTwoOfFourClustersFailsOver(t *testing.T) {
	t.Parallel()
	world, err := fixture.Start(t.Context(), fixture.Hub, fixture.Paris, fixture.Berlin, boston)
	t.Cleanup(world.Close)
	if err != nil {
		t.Fatal(err)
	}
	s := begin(t, world, "moving", "--allow-local-verify")
	s.regions()
	names := s.namesOnBothServers()
	s.verified(names...)

	before := s.move("/v2/failovers?dryRun=true", `{"drain": {"labels": {"region": "eu"}}}`, http.StatusOK)
	if len(before.Names) != len(names) {
		t.Fatalf("the preview has %d names, want %d: %+v", len(before.Names), len(names), before)
	}
	for _, name := range names {
		s.must(s.answering(name, parisAddress, berlinAddress, bostonAddress, hubAddress))
	}

	began := time.Now()
	done := s.move("/v2/failovers?confirm="+before.Token, `{"drain": {"labels": {"region": "eu"}}, "reason": "flood"}`, http.StatusAccepted)
	s.ends(done.ID)
	t.Logf("all %d names were answered within %s", len(names), time.Since(began).Round(time.Millisecond))
	for _, row := range before.Names {
		s.must(s.answering(row.Name, row.After...))
	}

	back := s.move("/v2/failovers/"+done.ID+"/revert", "", http.StatusAccepted)
	s.ends(back.ID)
	for _, row := range before.Names {
		s.must(s.answering(row.Name, row.Before...))
	}
}

// regions registers a fourth cluster, labels all of them, and gives each an address.
func (s *story) regions() {
	s.Helper()
	s.post(clustersOfEdge, s.registration(boston, boston))
	for name, region := range map[string]string{fixture.Paris: "eu", fixture.Berlin: "eu", boston: "us", fixture.Hub: "us"} {
		document := s.registration(name, name)
		document = strings.Replace(document, `"spec": {`, fmt.Sprintf(`"spec": {"labels": {"region": %q}, `, region), 1)
		s.call(http.MethodPut, clustersOfEdge+"/"+name, document, http.StatusOK)
	}
	s.loadBalancers()
	s.must(s.world.Cluster(boston).LoadBalancer(s.Context(), s.project, "web", bostonAddress))
	s.must(s.world.Cluster(fixture.Hub).LoadBalancer(s.Context(), s.project, "web", hubAddress))
}

// namesOnBothServers publishes a name on CoreDNS and one on BIND.
func (s *story) namesOnBothServers() []string {
	s.Helper()
	home := `"deployOn": {"clusterProvider": "edge", "cluster": "hub"}`
	s.post("/v2/projects/{p}/dns-update-records", rfc2136Record(fmt.Sprintf(`"verify": {"servers": [%q]}, %s`, s.world.BIND.Address, home)))
	s.post("/v2/projects/{p}/dns-update-records", fmt.Sprintf(`{"metadata": {"name": "keys"}, "spec": {"provider": "coredns",
		"external-dns-parameters": {"domain-filter": ["{zone}"], "interval": "5s", "policy": "sync"},
		"environment": {"ETCD_URLS": "{etcd}"}, "verify": {"servers": [%q]}, %s}}`, s.world.CoreDNS.Address, home))
	var names []string
	for host, provider := range map[string]string{"www.{corp}": "lab", "www.{zone}": "keys"} {
		s.call(http.MethodPut, "/v2/projects/{p}/names/"+host, fmt.Sprintf(`{"metadata": {"name": %q}, "spec": {"service": "{p}/web", "ttl": 5,
			"clusters": ["edge/paris", "edge/berlin", "edge/boston", "edge/hub"], "provider": %q}}`, host, provider), http.StatusCreated)
		names = append(names, s.words.Replace(host))
	}
	slices.Sort(names)
	return names
}

// verified waits until names are answered with the addresses of all clusters.
func (s *story) verified(names ...string) {
	s.Helper()
	for _, name := range names {
		s.eventually(name+" to be verified", func() error {
			now, err := s.name("/v2/projects/{p}/names/" + name)
			if err == nil && (now.Verified != "True" || len(now.Records) != 1 || len(now.Records[0].Targets) != 4) {
				err = fmt.Errorf("it is %+v", now)
			}
			return err
		})
	}
}

// moved is what a preview, or the record of a failover, says.
type moved struct {
	Token, ID, State, Message string
	Ended                     *time.Time
	Names                     []struct {
		Name, Message string
		Before, After []string
		CachesUntil   *time.Time
	}
}

func (s *story) move(path, body string, status int) moved {
	s.Helper()
	answer := s.call(http.MethodPost, path, body, status)
	var out moved
	s.must(json.Unmarshal(answer.Body, &out))
	return out
}

// ends waits until all names of a failover are answered.
func (s *story) ends(id string) {
	s.Helper()
	s.eventually("failover "+id+" to be done", func() error {
		var now moved
		err := s.get("/v2/failovers/"+id, &now)
		if err == nil && now.State != "Done" {
			err = fmt.Errorf("it is %+v", now)
		}
		return err
	})
}
