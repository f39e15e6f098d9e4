package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

func TestASuspendedGroupIsLeftAloneUntilItIsResumed(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "rests")
	s.published()
	s.suspendGroup(true)
	paris := s.world.Cluster(fixture.Paris)
	s.must(paris.SetLoadBalancer(t.Context(), s.project, "web", otherAddress))
	s.throughout("no address is written", func() error { return s.pointing("www.{zone}", parisAddress, berlinAddress) })
	// The workers know by now: a change by hand stays as well.
	s.edit(`[{"op": "replace", "path": "/spec/endpoints/0/targets", "value": ["`+berlinAddress+`"]}]`,
		"externaldns.k8s.io/v1alpha1/namespaces/"+s.namespace()+"/dnsendpoints/"+s.endpointName())
	s.answers("www.{zone}", berlinAddress)
	s.throughout("the edit stays", func() error {
		return errors.Join(s.pointing("www.{zone}", berlinAddress), s.answering("www.{zone}", berlinAddress))
	})

	s.suspendGroup(false)
	s.answers("www.{zone}", berlinAddress, otherAddress)
	s.terminate(prod)
	s.gone("www.{zone}")
	s.becomes(prod, "Terminated")
	s.nothingLeft(fixture.Hub)
}

// suspendGroup writes the group's suspend, and waits until its status says so.
func (s *story) suspendGroup(suspended bool) {
	s.Helper()
	s.put(prod, fmt.Sprintf(`{"metadata": {"name": "prod"}, "spec": {"logicalCloud": "eu", "suspend": %t, "apps": [{"name": "web"}]}}`, suspended))
	s.eventually("its status to tell", func() error {
		var status struct{ State, Message string }
		err := s.get(prod+"/status", &status)
		if err == nil && (status.Message != "") != suspended {
			err = fmt.Errorf("it says %q", status.Message)
		}
		return err
	})
}

func TestASuspendedRecordPublishesAndRemovesNothing(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "frozen")
	s.published()
	s.suspendRecord()
	s.must(s.world.Cluster(fixture.Paris).SetLoadBalancer(t.Context(), s.project, "web", otherAddress))
	s.eventually("the DNSEndpoint to follow", func() error { return s.pointing("www.{zone}", berlinAddress, otherAddress) })
	s.throughout("the answer stays as it was", func() error { return s.answering("www.{zone}", parisAddress, berlinAddress) })

	s.terminate(prod)
	s.becomes(prod, "Terminated")
	s.nothingLeft(fixture.Hub)
	s.must(s.answering("www.{zone}", parisAddress, berlinAddress))
	var status struct {
		Leftovers []struct{ Name, Type, Record, Reason string }
	}
	s.must(s.get(prod+"/status", &status))
	if len(status.Leftovers) != 1 || status.Leftovers[0].Name != s.words.Replace("www.{zone}") {
		t.Fatalf("the leftovers are %+v", status.Leftovers)
	}
}

// suspendRecord suspends the record lab, and waits until nothing of it runs.
func (s *story) suspendRecord() {
	s.Helper()
	const lab = "/v2/projects/{p}/dns-update-records/lab"
	var record map[string]any
	s.must(s.get(lab, &record))
	record["spec"].(map[string]any)["suspend"] = true
	s.putJSON(lab, record)
	s.call(http.MethodPost, lab+"/update", "", http.StatusAccepted)
	s.eventually("external-dns to have ended", func() error {
		deployment, err := s.world.Cluster(fixture.Hub).Client.AppsV1().Deployments(s.namespace()).
			Get(s.Context(), "external-dns-lab", metav1.GetOptions{})
		if err == nil && (*deployment.Spec.Replicas != 0 || deployment.Status.ObservedGeneration != deployment.Generation || deployment.Status.Replicas != 0) {
			err = fmt.Errorf("it has %d replicas", deployment.Status.Replicas)
		}
		return err
	})
}
