package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/otlp"
)

// TestADayIsToldBackByTheHistory: a release, a changed address, an outage, a drain, a
// mistake and a rollback, cause by cause, in the API and in the records that a collector
// gets.
func TestADayIsToldBackByTheHistory(t *testing.T) {
	t.Parallel()
	collector := otlp.Start(t)
	s := begin(t, ownWorld(t), "day", "--allow-local-verify", "--publisher-servers=127.0.0.1", "--name-history-log", "--otlp-endpoint="+collector.URL)
	s.post("/v2/projects/{p}/dns-update-records", rfc2136Record(fmt.Sprintf(
		`"verify": {"servers": [%q]}, "deployOn": {"publisher": "built-in"}`, s.world.BIND.Address)))
	s.cloud(edges(), "lab")
	s.app()
	s.group("prod")
	s.intent("www", `"hostnames": ["www.{corp}"], "health": {"unreachableAfter": "10s"}`)

	s.instantiate(prod)
	s.toldOf(1)
	s.must(s.world.Cluster(fixture.Paris).LoadBalancer(t.Context(), s.project, "web", parisAddress))
	s.answered(2)
	s.must(s.world.Cluster(fixture.Berlin).LoadBalancer(t.Context(), s.project, "web", berlinAddress))
	s.answered(3)
	s.must(s.world.Cluster(fixture.Paris).SetLoadBalancer(t.Context(), s.project, "web", otherAddress))
	s.answered(4)
	s.world.Cluster(fixture.Berlin).Stop()
	s.answered(5)
	s.must(s.world.Cluster(fixture.Berlin).Start(t.Context()))
	s.answers("www.{corp}", berlinAddress, otherAddress)
	s.call(http.MethodPost, clustersOfEdge+"/paris/drain", "", http.StatusAccepted)
	s.answered(6)
	s.call(http.MethodPost, clustersOfEdge+"/paris/undrain", "", http.StatusAccepted)
	s.answered(7)
	s.put(prod+"/traffic-group-intents/front/dns-intents/www", document("www", "web", `"hostnames": ["wrong.{corp}"]`))
	s.update(prod)
	s.toldOf(8)
	s.gone("www.{corp}")
	s.call(http.MethodPost, prod+"/rollback?to=1", "", http.StatusAccepted)
	history := s.answered(9)
	s.must(s.answering("www.{corp}", berlinAddress, otherAddress))

	outage := []string{"Cluster edge+berlin: -" + berlinAddress, "Cluster edge+berlin: +" + berlinAddress}
	want := []string{
		"Release 1 instantiate by anonymous:",
		"Address edge+paris: +" + parisAddress,
		"Address edge+berlin: +" + berlinAddress,
		"Address edge+paris: -" + parisAddress + " +" + otherAddress,
		"Cluster edge+berlin: 2 times", // the outage has ended within five minutes
		"Drain edge+paris by anonymous: -" + otherAddress,
		"Undrain edge+paris by anonymous: +" + otherAddress,
		"Release 2 update by anonymous: -" + berlinAddress + " -" + otherAddress,
		"Release 3 rollback by anonymous: +" + berlinAddress + " +" + otherAddress,
	}
	if !slices.Equal(history, want) {
		t.Errorf("the history tells\n%s\nwant\n%s", strings.Join(history, "\n"), strings.Join(want, "\n"))
	}
	s.eventually("the collector to have each change", func() error { return s.exported(collector, slices.Replace(want, 4, 5, outage...)) })
}

// turn is a change as the history tells of it.
type turn struct {
	Cause struct {
		Reason, Cluster, Actor, Action string
		Release                        int64
	}
	Changes []struct {
		Type           string
		Added, Removed []string
		Answered       time.Time
	}
	Times int
	Gap   bool
}

// String is a turn in a line.
func (t turn) String() string {
	line := t.Cause.Reason
	if t.Cause.Release > 0 {
		line += fmt.Sprintf(" %d %s", t.Cause.Release, t.Cause.Action)
	}
	if t.Cause.Cluster != "" {
		line += " " + t.Cause.Cluster
	}
	if t.Cause.Actor != "" {
		line += " by " + t.Cause.Actor
	}
	line += ":"
	for _, c := range t.Changes {
		for _, target := range c.Removed {
			line += " -" + target
		}
		for _, target := range c.Added {
			line += " +" + target
		}
	}
	if t.Times > 1 {
		line += fmt.Sprintf(" %d times", t.Times)
	}
	if t.Gap {
		line += " after a gap"
	}
	return line
}

// answered waits until the history has so many changes of www, and until the servers were
// seen to answer the last. It returns them in a line each, the oldest first.
func (s *story) answered(count int) []string {
	s.Helper()
	return s.told(count, func(last turn) bool { return len(last.Changes) == 1 && !last.Changes[0].Answered.IsZero() })
}

// toldOf waits until the history has so many changes of www.
func (s *story) toldOf(count int) {
	s.Helper()
	s.told(count, func(turn) bool { return true })
}

func (s *story) told(count int, as func(last turn) bool) (lines []string) {
	s.Helper()
	s.eventually(fmt.Sprintf("change %d to be told", count), func() error {
		var now struct{ Items []turn }
		if err := s.get("/v2/names/www.{corp}/history", &now); err != nil {
			return err
		}
		lines = lines[:0]
		for _, turn := range slices.Backward(now.Items) {
			lines = append(lines, turn.String())
		}
		if len(lines) != count || !as(now.Items[0]) {
			return fmt.Errorf("it tells\n%s", strings.Join(lines, "\n"))
		}
		return nil
	})
	return lines
}

// exported compares the records of www at a collector with its history.
func (s *story) exported(collector *otlp.Receiver, want []string) error {
	var got []string
	answers := 0
	for _, record := range collector.Records() {
		if record.About["name"] != s.words.Replace("www.{corp}") || record.About["project"] != s.project {
			continue
		}
		switch record.Text {
		case "the servers answer a host name":
			answers++
		case "a host name has changed":
			var t turn
			if err := reread(map[string]any{"cause": record.About["cause"], "changes": record.About["changes"]}, &t); err != nil {
				return err
			}
			got = append(got, t.String())
		}
	}
	if !slices.Equal(got, want) || answers < len(want)-3 { // not of the first release, nor of the name that has left, and the drain overtakes one
		return errors.New("there are " + strings.Join(got, "\n") + fmt.Sprintf("\nand %d answers", answers))
	}
	return nil
}

// reread reads a value as another type, by way of JSON.
func reread(from, to any) error {
	raw, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(raw, to)
	}
	return err
}
