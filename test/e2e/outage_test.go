package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

// An edge that is down keeps what it has; when it is back, it is brought in
// line with what was asked for meanwhile, whatever that was.

func TestAnEdgeThatWasDownIsCleanedUpWhenItComesBack(t *testing.T) {
	t.Parallel()
	t.Run("after a terminate", func(t *testing.T) {
		t.Parallel()
		s := begin(t, ownWorld(t), "down1")
		s.deployedOnEdges()
		s.world.Cluster(fixture.Paris).Stop()

		s.terminate(prod)
		s.gone("www.{zone}")
		s.nothingLeft(fixture.Hub, fixture.Berlin) // nobody waits for Paris
		s.tellsUnreachable(fixture.Paris)

		s.must(s.world.Cluster(fixture.Paris).Start(t.Context()))
		s.gone("inner.{zone}")
		s.nothingLeft(fixture.Paris)
		s.becomes(prod, "Terminated")
	})
	t.Run("after an update without it", func(t *testing.T) {
		t.Parallel()
		s := begin(t, ownWorld(t), "down2")
		s.deployedOnEdges()
		s.world.Cluster(fixture.Paris).Stop()

		s.withoutParis()
		s.update(prod)
		s.answers("www.{zone}", berlinAddress)

		s.must(s.world.Cluster(fixture.Paris).Start(t.Context()))
		s.gone("inner.{zone}")
		s.nothingLeft(fixture.Paris)
		s.becomes(prod, "Instantiated")
		s.must(s.answering("www.{zone}", berlinAddress))
		s.must(s.present(fixture.Berlin, configMaps, s.project, "settings"))
	})
	t.Run("after a terminate and another instantiate without it", func(t *testing.T) {
		t.Parallel()
		s := begin(t, ownWorld(t), "down3")
		s.deployedOnEdges()
		s.world.Cluster(fixture.Paris).Stop()

		s.terminate(prod)
		s.gone("www.{zone}")
		s.nothingLeft(fixture.Hub, fixture.Berlin)
		s.withoutParis()
		s.instantiate(prod)
		s.appearsInBerlin()
		s.answers("www.{zone}", berlinAddress)

		s.must(s.world.Cluster(fixture.Paris).Start(t.Context()))
		s.gone("inner.{zone}")
		s.nothingLeft(fixture.Paris)
		s.becomes(prod, "Instantiated")
		s.must(s.answering("www.{zone}", berlinAddress))
		s.must(s.present(fixture.Berlin, configMaps, s.project, "settings"))
	})
}

// longRelease lets an external-dns whose API server was away see again what it
// has to remove: it looks again after up to a minute, and then needs intervals
// of a busy machine.
const longRelease = "100s"

// deployedOnEdges puts something into every cluster: the app's own manifests
// into both edges, a public name through the hub, and a name of its own
// through an external-dns in Paris.
func (s *story) deployedOnEdges() {
	s.Helper()
	s.records("lab")
	s.record("own", longRelease)
	s.cloud(edges(), "lab")
	s.post("/v2/cluster-providers/edge/clusters/paris/kv-pairs", association("{p}/own"))
	s.app()
	s.post("/v2/projects/{p}/composite-apps/store/v1/deployment-intent-groups", `{
		"metadata": {"name": "prod"},
		"spec": {"logicalCloud": "eu", "apps": [{"name": "web", "manifests": [
			{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"colour": "blue"}},
			{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
			 "spec": {"type": "LoadBalancer", "selector": {"app": "web"}, "ports": [{"port": 443}]}}
		]}]}
	}`)
	s.post(prod+"/traffic-group-intents", `{"metadata": {"name": "front"}, "spec": {}}`)
	s.scopedNames("www", "public", "www.{zone}")
	s.scopedNames("inner", "cluster", "inner.{zone}")
	s.instantiate(prod)
	s.appears(fixture.Paris, parisAddress)
	s.appears(fixture.Berlin, berlinAddress)
	s.becomes(prod, "Instantiated")
	s.answers("www.{zone}", parisAddress, berlinAddress)
	s.answers("inner.{zone}", parisAddress)
}

// withoutParis takes Paris out of the intents.
func (s *story) withoutParis() {
	s.Helper()
	s.remove(prod + "/traffic-group-intents/front/dns-intents/inner")
	s.remove("/v2/projects/{p}/logical-clouds/eu/cluster-references/paris")
}

// scopedNames gives a host name to the Service web in one scope.
func (s *story) scopedNames(intent, scope, host string) {
	s.Helper()
	s.post(prod+"/traffic-group-intents/front/dns-intents", fmt.Sprintf(`{
		"metadata": {"name": %q},
		"spec": {"app": "web", "serviceName": "web", "scope": %q, "ttl": 5, "hostnames": [%q]}
	}`, intent, scope, host))
}

// appears waits for the app's Service in a cluster and gives it an address.
func (s *story) appears(cluster, address string) {
	s.Helper()
	s.eventually("the Service web in "+cluster, func() error {
		return s.world.Cluster(cluster).SetLoadBalancer(s.Context(), s.project, "web", address)
	})
}

func (s *story) appearsInBerlin() {
	s.Helper()
	s.appears(fixture.Berlin, berlinAddress)
}

// tellsUnreachable waits until the status says that a cluster cannot be
// reached.
func (s *story) tellsUnreachable(cluster string) {
	s.Helper()
	s.eventually(cluster+" to be told unreachable", func() error {
		var now status
		if err := s.get(prod+"/status", &now); err != nil {
			return err
		}
		for _, c := range now.Clusters {
			if c.Cluster == cluster && !c.Reachable {
				return nil
			}
		}
		return fmt.Errorf("clusters are %+v", now.Clusters)
	})
}

func TestARestartWithAnUnreachableEdgeLosesNoAddress(t *testing.T) {
	t.Parallel()
	s := begin(t, ownWorld(t), "unreachable")
	s.published()

	s.world.Cluster(fixture.Paris).Stop()
	s.must(s.signpost.Restart(t.Context()))
	s.throughout("both addresses are published", func() error {
		return errors.Join(
			s.pointing("www.{zone}", parisAddress, berlinAddress),
			s.answering("www.{zone}", parisAddress, berlinAddress))
	})

	// What can be reached is followed meanwhile, and nothing is forgotten.
	want := []string{parisAddress, otherAddress}
	slices.Sort(want)
	s.must(s.world.Cluster(fixture.Berlin).SetLoadBalancer(t.Context(), s.project, "web", otherAddress))
	s.answers("www.{zone}", want...)

	// Once seen again, Paris says itself what it offers.
	s.must(s.world.Cluster(fixture.Paris).Start(t.Context()))
	s.must(s.world.Cluster(fixture.Paris).SetLoadBalancer(t.Context(), s.project, "web"))
	s.answers("www.{zone}", otherAddress)
}

// TestAnUnreachableEdge is taken out after unreachableAfter, and comes back by
// itself; most edges at once are not taken out, which is reported.
func TestAnUnreachableEdge(t *testing.T) {
	t.Parallel()
	s := begin(t, ownWorld(t), "unreached")
	s.prepared()
	s.intent("www", `"hostnames": ["www.{zone}"], "health": {"unreachableAfter": "10s"}`)
	s.instantiate(prod)
	s.answers("www.{zone}", parisAddress, berlinAddress)

	s.losesParis()
	s.losesMost()
}

// losesParis stops one API server of three, and starts it again.
func (s *story) losesParis() {
	stopped := time.Now()
	s.world.Cluster(fixture.Paris).Stop()
	s.answers("www.{zone}", berlinAddress)
	if waited := time.Since(stopped); waited < 10*time.Second {
		s.Errorf("it was taken out after %s, want 10s at least", waited)
	}
	s.rejects(parisAddress, "the cluster cannot be reached since")

	// A Signpost that was started again has seen nothing of its own yet.
	s.must(s.signpost.Restart(s.Context()))
	wait.Always(s.T, interval, "it stays out", func() error { return s.pointing("www.{zone}", berlinAddress) })
	s.must(s.world.Cluster(fixture.Paris).Start(s.Context()))
	s.answers("www.{zone}", parisAddress, berlinAddress)
}

// losesMost stops two API servers of three, and starts one again.
func (s *story) losesMost() {
	s.world.Cluster(fixture.Paris).Stop()
	s.world.Cluster(fixture.Berlin).Stop()
	s.tellsUnreachable(fixture.Paris)
	s.tellsUnreachable(fixture.Berlin)
	s.eventually("the freeze to be reported", func() error { return s.metric("signpost_health_frozen 1") })
	s.throughout("both addresses are published", func() error {
		return s.pointing("www.{zone}", parisAddress, berlinAddress)
	})

	s.must(s.world.Cluster(fixture.Berlin).Start(s.Context()))
	s.answers("www.{zone}", berlinAddress) // Paris alone may be taken out
	s.must(s.metric("signpost_health_frozen 0"))
}

// metric expects a line to be among the metrics now.
func (s *story) metric(line string) error {
	answer, err := s.signpost.Do(s.Context(), http.MethodGet, "/metrics", "")
	if err == nil && !strings.Contains("\n"+string(answer.Body), "\n"+line+"\n") {
		err = fmt.Errorf("the metrics lack %s", line)
	}
	return err
}
