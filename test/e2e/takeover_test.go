package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// A name goes from one group of a project to another, and whoever asks for it
// meanwhile gets an answer. To another project it does not go. The names are
// BIND's, for which external-dns replaces addresses at once: for CoreDNS it deletes
// the ones that go before it writes those that come.

func TestANameIsTakenOverWithoutAnUnansweredQuery(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "takes")
	s.loadBalancers()
	s.post("/v2/project/{p}/dns-update-records", rfc2136Record(`"releaseTimeout": "30s"`))
	s.cloud(edges(), "lab")
	s.app()
	s.group("prod")
	s.names(prod, "www", "www.{corp}", "stays.{corp}")
	s.instantiate(prod)
	s.answers("www.{corp}", parisAddress, berlinAddress)
	s.answers("stays.{corp}", parisAddress, berlinAddress)
	s.refusesRivals()

	next := s.group("next")
	s.must(s.world.Cluster(fixture.Paris).LoadBalancer(t.Context(), s.project, "next", otherAddress))
	s.post(next+"/traffic-group-intents/front/dns-intents", document("www", "next", `"hostnames": ["www.{corp}"]`))
	www, stays := s.watch("www.{corp}"), s.watch("stays.{corp}")
	s.call(http.MethodPost, next+"/instantiate?takeover=prod", "", http.StatusAccepted)
	s.answers("www.{corp}", otherAddress)
	s.becomes(next, "Instantiated")
	s.gaveUp(prod, "www.{corp}")
	s.throughout("each has its own", func() error {
		return s.answering("www.{corp}", otherAddress)
	})
	s.onlyAnswered(www, parisAddress, berlinAddress, otherAddress)
	s.onlyAnswered(stays, parisAddress, berlinAddress)
}

// watch asks the name's server for its addresses until the story ends.
func (s *story) watch(name string) *dns.Watch {
	name = s.words.Replace(name)
	watch := dns.NewWatch(s.server(name), name)
	s.Cleanup(watch.Stop)
	return watch
}

// onlyAnswered expects each query of a watch to have had one or more of these
// addresses for an answer.
func (s *story) onlyAnswered(watch *dns.Watch, addresses ...string) {
	s.Helper()
	seen := watch.Seen()
	s.Log(seen)
	for _, a := range seen {
		foreign := slices.ContainsFunc(a.Targets, func(target string) bool { return !slices.Contains(addresses, target) })
		if a.Code != "NOERROR" || len(a.Targets) == 0 || foreign {
			s.Errorf("a query was answered %s", a)
		}
	}
}

// gaveUp expects a group's status and events to tell that it has lost a name, and
// no other.
func (s *story) gaveUp(dig, name string) {
	s.Helper()
	name = s.words.Replace(name)
	s.eventually(dig+" to tell that "+name+" is given up", func() error {
		var now status
		if err := s.get(dig+"/status", &now); err != nil {
			return err
		}
		if len(now.Names) != 1 || now.Names[0].Name == name {
			return fmt.Errorf("its names are %+v", now.Names)
		}
		return now.is("Synced", "True")
	})
	s.happened(dig, "yielded", name+", to ")
}

// happened waits for an event of a group with this outcome, whose message has
// this text.
func (s *story) happened(dig, outcome, text string) {
	s.Helper()
	s.eventually(dig+" to tell of "+outcome, func() error {
		var events struct {
			Items []struct{ Outcome, Message string }
		}
		if err := s.get(dig+"/events", &events); err != nil {
			return err
		}
		for _, e := range events.Items {
			if e.Outcome == outcome && strings.Contains(e.Message, text) {
				return nil
			}
		}
		return fmt.Errorf("its events are %+v", events.Items)
	})
}

// refusesRivals has another project ask for the name, and for its takeover.
func (s *story) refusesRivals() {
	s.Helper()
	rival := s.rival("robs")
	rival.post("/v2/project/{p}/dns-update-records", rfc2136Record(`"releaseTimeout": "30s"`))
	rival.cloud(edges(), "lab")
	rival.app()
	rival.group("prod")
	rival.names(prod, "www", "www.{corp}")
	rival.group("other")
	const taken = `\"www.{corp}\" belongs to project \"takes\"`
	rival.refuses("instantiate", prod, taken)
	rival.refuses("instantiate?takeover=other", prod, taken)
	rival.call(http.MethodPost, prod+"/instantiate?takeover="+strings.TrimPrefix(s.words.Replace(prod), "/v2/"), "", http.StatusBadRequest)
}
