package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/kube"
)

// kills is how often each action is interrupted.
const kills = 3

// longestLife is the longest time that an interrupted server has for its work.
const longestLife = 1500 * time.Millisecond

func TestKill9AnywhereConverges(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "kill")
	s.loadBalancers()
	s.records("lab")
	s.cloud(edges(), "lab")
	s.app()
	s.group("prod")
	s.names(prod, "www", "www.{zone}")

	s.instantiate(prod)
	s.interrupt()
	s.becomes(prod, "Instantiated")
	s.answers("www.{zone}", parisAddress, berlinAddress)
	all := s.mustOurs()
	s.restartsWithoutAWrite(all)

	s.names(prod, "api", "api.{zone}")
	s.update(prod)
	s.interrupt()
	s.becomes(prod, "Instantiated")
	s.answers("api.{zone}", parisAddress, berlinAddress)
	s.must(s.answering("www.{zone}", parisAddress, berlinAddress))
	if now := s.mustOurs(); !slices.Equal(now, all) {
		t.Errorf("after the update there is %v, want %v", now, all)
	}

	s.terminate(prod)
	s.interrupt()
	s.gone("www.{zone}")
	s.gone("api.{zone}")
	s.becomes(prod, "Terminated")
	s.nothingLeft(fixture.Hub, fixture.Paris, fixture.Berlin)
}

// interrupt kills the server at random moments of its work, and leaves it
// running.
func (s *story) interrupt() {
	s.Helper()
	for range kills {
		life := rand.N(longestLife)
		timer := time.AfterFunc(life, s.signpost.Kill)
		<-s.signpost.Done()
		timer.Stop()
		s.Logf("killed after %s", life.Round(time.Millisecond))
		s.must(s.signpost.Start(s.Context()))
	}
}

// mustOurs lists Signpost's objects of the story in all clusters.
func (s *story) mustOurs() []string {
	s.Helper()
	found, err := s.ours(fixture.Hub, fixture.Paris, fixture.Berlin)
	s.must(err)
	return found
}

// restartsWithoutAWrite restarts the server once more: everything is as it
// should be, so that there is nothing to write.
func (s *story) restartsWithoutAWrite(all []string) {
	s.Helper()
	before := s.writes()
	s.must(s.signpost.Restart(s.Context()))
	s.becomes(prod, "Instantiated")
	s.throughout("the same objects, and no writes", func() error {
		now, err := s.ours(fixture.Hub, fixture.Paris, fixture.Berlin)
		if err == nil && !slices.Equal(now, all) {
			err = fmt.Errorf("there is %v, want %v", now, all)
		}
		if written := s.writes(); err == nil && len(written) != len(before) {
			err = fmt.Errorf("written again: %+v", written[len(before):])
		}
		return err
	})
}

// writes lists what Signpost wrote in the story's namespaces of the hub.
func (s *story) writes() []kube.Write {
	s.Helper()
	all, err := s.world.Cluster(fixture.Hub).Writes(kube.Signpost)
	s.must(err)
	return slices.DeleteFunc(all, func(w kube.Write) bool {
		return w.Namespace != s.namespace() && w.Name != s.namespace()
	})
}
