package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// Verified is what the zone's authoritative servers were seen to answer.

func TestAZoneThatAnswersLateIsVerifiedOnceItAnswers(t *testing.T) {
	t.Parallel()
	s, late := beginVerified(t, "late")
	s.must(late.Hold(t.Context()))
	s.intent("www", `"hostnames": ["www.{corp}"]`)
	s.instantiate(prod)
	s.answers("www.{corp}", parisAddress, berlinAddress)
	s.verifies("False", late.Address)
	late.Release()
	seen := s.verifies("True", "")
	for _, server := range []string{s.world.BIND.Address, late.Address} {
		if !seen.saw(server, parisAddress, berlinAddress) {
			t.Errorf("of %s it was not seen that it answers: %+v", server, seen)
		}
	}

	// An address moves: the answer follows, and is seen to.
	s.must(s.world.Cluster(fixture.Paris).SetLoadBalancer(t.Context(), s.project, "web", otherAddress))
	s.eventually("the new answer to be verified", func() error {
		now, err := s.verification()
		if err == nil && (now.condition.Status != "True" || !now.saw(late.Address, berlinAddress, otherAddress)) {
			err = fmt.Errorf("it is %+v", now)
		}
		return err
	})

	// The end waits for the servers, not for releaseTimeout, which is an hour.
	s.must(late.Hold(t.Context()))
	s.terminate(prod)
	s.gone("www.{corp}")
	if err := s.present(fixture.Hub, deployments, s.namespace(), "external-dns-lab"); err != nil {
		t.Errorf("while a server answers the name, external-dns is gone: %v", err)
	}
	late.Release()
	s.becomes(prod, "Terminated")
	s.vanishes(fixture.Hub, deployments, s.namespace(), "external-dns-lab")
}

func TestAForeignRecordIsFoundByVerification(t *testing.T) {
	t.Parallel()
	s, _ := beginVerified(t, "foreign")
	s.must(s.world.BIND.Update(t.Context(), "update add www.foreign.corp.example. 1 A 192.0.2.99"))
	s.intent("www", `"hostnames": ["www.{corp}"]`)
	s.instantiate(prod)
	seen := s.verifies("False", "")
	if seen.condition.Reason != "Foreign" || !seen.saw(s.world.BIND.Address, "192.0.2.99") {
		t.Errorf("it says %+v", seen)
	}
	s.must(s.answering("www.{corp}", "192.0.2.99"))

	s.must(s.world.BIND.Update(t.Context(), "update delete www.foreign.corp.example. A"))
	s.answers("www.{corp}", parisAddress, berlinAddress)
	s.verifies("True", "")
}

// beginVerified begins a story whose record is verified by BIND and by a server
// that may be late.
func beginVerified(t *testing.T, project string) (*story, *dns.Late) {
	t.Helper()
	s := begin(t, sharedWorld(t), project, "--allow-local-verify")
	late, err := dns.NewLate(t.Context(), s.world.BIND, s.world.Ports)
	s.must(err)
	t.Cleanup(late.Close)
	s.loadBalancers()
	s.post("/v2/project/{p}/dns-update-records", rfc2136Record(fmt.Sprintf(
		`"verify": {"servers": [%q, %q]}, "releaseTimeout": "1h"`, s.world.BIND.Address, late.Address)))
	s.cloud(edges(), "lab")
	s.app()
	s.group("prod")
	return s, late
}

// verification is what a status tells of the answers for the only name.
type verification struct {
	condition condition
	answers   []answer
}

// saw tells whether a server was seen to answer these addresses.
func (v verification) saw(server string, addresses ...string) bool {
	for _, answer := range v.answers {
		if answer.Server == server && slices.Equal(answer.Targets, addresses) && !answer.At.IsZero() {
			return true
		}
	}
	return false
}

func (s *story) verification() (v verification, err error) {
	var now status
	if err := s.get(prod+"/status", &now); err != nil {
		return v, err
	}
	if len(now.Names) != 1 {
		return v, fmt.Errorf("names are %+v", now.Names)
	}
	at := slices.IndexFunc(now.Names[0].Conditions, func(c condition) bool { return c.Type == "Verified" })
	if at < 0 {
		return v, fmt.Errorf("it is %+v", now)
	}
	v.condition, v.answers = now.Names[0].Conditions[at], now.Names[0].Answers
	return v, nil
}

// verifies waits until the only name is verified, or not, for a reason with a
// word in it.
func (s *story) verifies(status, word string) verification {
	s.Helper()
	var now verification
	s.eventually("Verified to be "+status, func() (err error) {
		now, err = s.verification()
		if err == nil && (now.condition.Status != status || !strings.Contains(now.condition.Message, word)) {
			err = fmt.Errorf("it is %+v", now)
		}
		return err
	})
	return now
}
