package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// A name is published by one call, and needs no group.

func TestANameIsPublishedByOneCall(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "single", "--allow-local-verify")
	s.loadBalancers()
	s.post("/v2/projects/{p}/dns-update-records", rfc2136Record(fmt.Sprintf(
		`"verify": {"servers": [%q]}, "deployOn": {"clusterProvider": "edge", "cluster": "hub"}`, s.world.BIND.Address)))

	const path = "/v2/projects/{p}/names/www.{corp}"
	const document = `{"metadata": {"name": "www.{corp}"}, "spec": {"service": "{p}/web", "clusters": ["edge/paris", "edge/berlin"], "provider": "lab"}}`
	s.call(http.MethodPut, path, document, http.StatusCreated)
	s.eventually("the name to be verified", func() error { // external-dns starts first
		answer, err := s.signpost.Do(t.Context(), http.MethodPut, s.words.Replace(path+"?wait=verified&timeout=30s"), s.words.Replace(document))
		if err == nil && answer.Status != http.StatusOK {
			err = answer.Unexpected(http.StatusOK)
		}
		return err
	})
	s.must(s.answering("www.{corp}", parisAddress, berlinAddress)) // as that answer said

	s.must(s.world.Cluster(fixture.Paris).SetLoadBalancer(t.Context(), s.project, "web", otherAddress))
	s.answers("www.{corp}", berlinAddress, otherAddress)
	s.eventually("the name to tell of its new address", func() error {
		now, err := s.name(path)
		if err == nil && (now.Verified != "True" || len(now.Records) != 1 || !slices.Contains(now.Records[0].Targets, otherAddress)) {
			err = fmt.Errorf("it is %+v", now)
		}
		return err
	})

	s.call(http.MethodDelete, path, "", http.StatusAccepted)
	s.signpost.Kill()
	s.must(s.signpost.Start(t.Context()))
	s.gone("www.{corp}")
	s.eventually("the name to be deleted", func() error {
		answer, err := s.signpost.Do(t.Context(), http.MethodGet, s.words.Replace(path), "")
		if err == nil && answer.Status != http.StatusNotFound {
			err = answer.Unexpected(http.StatusNotFound)
		}
		return err
	})
	s.vanishes(fixture.Hub, deployments, s.namespace(), "external-dns-lab")
}

// nameStatus is what a name says of itself.
type nameStatus struct {
	Published, Verified string
	Records             []struct{ Targets []string }
}

func (s *story) name(path string) (nameStatus, error) {
	var now struct{ Status nameStatus }
	err := s.get(path, &now)
	return now.Status, err
}
