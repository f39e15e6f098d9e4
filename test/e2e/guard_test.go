package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// Of a record's names a quarter may go at once, and five whatever that is. More go
// when somebody has confirmed them, or has terminated what gives them.

func TestNamesOfAServiceThatWasDeletedByHandStayUntilSomebodyLetsThemGo(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "guards")
	names := s.mall(8)
	paris := s.world.Cluster(fixture.Paris)
	s.must(paris.LoadBalancer(t.Context(), s.project, "stays", otherAddress))
	s.intentFor("stays", "stays", `"hostnames": ["stays.{zone}"]`)
	s.instantiate(prod)
	s.allAnswer(names, parisAddress)
	s.answers("stays.{zone}", otherAddress)

	const counted = `signpost_removals_frozen{project="guards",record="lab"} 8`
	s.must(paris.Delete(t.Context(), services, s.project, "web"))
	s.eventually("the freeze to be told", func() error {
		return errors.Join(s.frozen(names), s.metric(counted))
	})
	s.happened(prod, "frozen", `8 names of provider "lab" stay published`)
	s.throughout("the names stay", func() error {
		return errors.Join(s.answering(names[0], parisAddress), s.answering(names[7], parisAddress), s.pointing(names[3], parisAddress))
	})

	s.update(prod) // of what has not changed: nobody confirms anything
	s.must(s.frozen(names))
	s.confirm("update", `8 names of provider \"lab\" stay published`)
	s.allAnswer(names)
	s.happened(prod, "thawed", "")
	s.eventually("nothing to be frozen any more", func() error {
		var now status
		err := s.get(prod+"/status", &now)
		if s.metric(counted) == nil {
			err = errors.Join(err, errors.New("the metric tells of them"))
		}
		return errors.Join(err, now.is("Synced", "True"))
	})
	s.must(s.answering("stays.{zone}", otherAddress))
}

func TestAnUpdateThatTakesManyNamesIsRefusedUntilItIsConfirmed(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "asks")
	names := s.mall(14)
	s.instantiate(prod)
	s.allAnswer(names, parisAddress)
	s.becomes(prod, "Instantiated")

	s.put(prod+"/traffic-group-intents/front/dns-intents/web", dnsIntent("web", names[:8]...))
	const why = `6 of the 14 names of provider \"lab\", more than its maxRemoval of 25 %`
	s.refuses("update", prod, "update would remove "+why)
	s.throughout("all stay", func() error {
		return errors.Join(s.answering(names[0], parisAddress), s.answering(names[13], parisAddress))
	})
	s.confirm("update", "removes "+why)
	s.allAnswer(names[8:])
	s.allAnswer(names[:8], parisAddress)

	s.terminate(prod)
	s.allAnswer(names)
}

// mall is a group with many names of the Service web in Paris.
func (s *story) mall(many int) (names []string) {
	s.Helper()
	s.must(s.world.Cluster(fixture.Paris).LoadBalancer(s.Context(), s.project, "web", parisAddress))
	s.records("lab")
	s.cloud([]string{fixture.Paris}, "lab")
	s.app()
	s.group("prod")
	for n := range many {
		names = append(names, fmt.Sprintf("n%d.{zone}", n))
	}
	s.names(prod, "web", names...)
	return names
}

// allAnswer waits until all names have these addresses and no others.
func (s *story) allAnswer(names []string, want ...string) {
	s.Helper()
	for _, name := range names {
		s.answers(name, want...)
	}
}

// frozen expects the status to tell that these names stay, and no other.
func (s *story) frozen(names []string) error {
	var now status
	if err := s.get(prod+"/status", &now); err != nil {
		return err
	}
	kept := map[string]bool{}
	for _, name := range now.Names {
		for _, c := range name.Conditions {
			if c.Type == "Synced" && c.Status == "False" && c.Reason == "RemovalFrozen" && strings.Contains(c.Message, "maxRemoval") {
				kept[name.Name] = true
			}
		}
	}
	for _, name := range names {
		if !kept[s.words.Replace(name)] {
			return fmt.Errorf("%s is not frozen: %+v", name, now.Names)
		}
	}
	if len(kept) != len(names) {
		return fmt.Errorf("others are frozen, too: %+v", now.Names)
	}
	return now.is("Synced", "False")
}

// confirm plans an action of prod, expects a warning, and acts with the plan's token.
func (s *story) confirm(action, warning string) {
	s.Helper()
	answer := s.call(http.MethodPost, prod+"/plan?for="+action, "", http.StatusOK)
	var plan struct{ Token string }
	s.must(answer.JSON(&plan))
	if !strings.Contains(string(answer.Body), warning) {
		s.Fatalf("the plan does not warn of %s: %s", warning, answer.Body)
	}
	s.call(http.MethodPost, prod+"/"+action+"?confirm="+plan.Token, "", http.StatusAccepted)
}
