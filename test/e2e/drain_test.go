package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

func TestADrainedEdgeLeavesTheAnswerAndComesBack(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "drained")
	s.published()
	clusters := "/v2/cluster-providers/edge/clusters/"
	before, err := s.ours(fixture.Hub, fixture.Paris, fixture.Berlin)
	s.must(err)

	s.call(http.MethodPost, clusters+fixture.Paris+"/drain", "", http.StatusAccepted)
	s.answers("www.{zone}", berlinAddress)
	s.rejects(parisAddress, "the cluster is drained")
	after, err := s.ours(fixture.Hub, fixture.Paris, fixture.Berlin)
	s.must(err)
	if fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("there is %v now, want %v as before", after, before)
	}

	refused := s.call(http.MethodPost, clusters+fixture.Berlin+"/drain", "", http.StatusConflict)
	if !strings.Contains(string(refused.Body), "the last addresses of www.") {
		t.Errorf("the last edge is refused with %s", refused.Body)
	}

	s.must(s.signpost.Restart(t.Context()))
	s.throughout("a restart forgets nothing", func() error { return s.pointing("www.{zone}", berlinAddress) })
	s.call(http.MethodPost, clusters+fixture.Paris+"/undrain", "", http.StatusAccepted)
	s.answers("www.{zone}", parisAddress, berlinAddress)
	s.terminate(prod)
	s.gone("www.{zone}")
	s.becomes(prod, "Terminated")
}

// rejects waits until the status says why an address is not published, in
// words of which these are some.
func (s *story) rejects(target, reason string) {
	s.Helper()
	s.eventually("its status to say why", func() error {
		var status struct {
			Names []struct {
				Rejected []struct{ Target, Reason string }
			}
		}
		if err := s.get(prod+"/status", &status); err != nil {
			return err
		}
		for _, name := range status.Names {
			for _, rejected := range name.Rejected {
				if rejected.Target == target && strings.Contains(rejected.Reason, reason) {
					return nil
				}
			}
		}
		return fmt.Errorf("it says %+v", status)
	})
}
