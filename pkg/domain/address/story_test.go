package address

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/story"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// scene is what a story is about: rows of what is offered, each in each scope.
type scene struct {
	Scopes  []string // public (default), public with allowPrivate, cluster
	History bool     // each row follows on the one before, whose sets are published
	Rule    struct{ Allow, Deny []string }
	Types   []string
	NoAlias string
	Routing intent.Routing
	Health  *intent.Health
	SetIDs  bool
	Rows    []row
}

type row struct {
	Row       string
	After     string // since the first row
	Published []string
	Failing   []string // addresses whose probes fail
	Offers    []offering
}

// offering is what the Service shop/web of a cluster offers.
type offering struct {
	Cluster     string
	Kind        Kind
	Object      string
	Field       string
	Targets     []string
	Resolved    []string // addresses of each host name
	More        []Candidate
	Ports       []Port
	Ready       *int
	Unreachable string // since when, after the first row
	Frozen      string
	Drained     bool
	Unknown     bool
	Absent      bool
}

// dawn is when the first row of a story is.
func dawn() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

// later is a time of a story.
func later(t *testing.T, after string) time.Time {
	t.Helper()
	d, err := time.ParseDuration(cmp.Or(after, "0s"))
	require.NoError(t, err)
	return dawn().Add(d)
}

func (o offering) offer(t *testing.T) Offer {
	t.Helper()
	out := Offer{Service: Service{Cluster: cmp.Or(o.Cluster, "edge+berlin"), Namespace: "shop", Name: "web"}}
	out.Standing = Standing{Drained: o.Drained, Frozen: o.Frozen}
	if o.Unreachable != "" {
		out.Standing.UnreachableSince = later(t, o.Unreachable)
	}
	if o.Unknown {
		return out
	}
	out.Observation = &Observation{Found: !o.Absent, Ports: o.Ports}
	if o.Ready != nil {
		out.Observation.Readiness = &Readiness{Ready: *o.Ready, Total: 2}
	}
	for n, target := range o.Targets {
		c := Candidate{Target: target, Kind: o.Kind, Object: o.Object, Field: fmt.Sprintf(cmp.Or(o.Field, "status.loadBalancer.ingress[%d]"), n)}
		if strings.HasSuffix(target, "example") {
			c.Resolved = o.Resolved
		}
		out.Observation.Candidates = append(out.Observation.Candidates, c)
	}
	out.Observation.Candidates = append(out.Observation.Candidates, o.More...)
	return out
}

// TestStories tells, for each kind of source in each scope and family, and for
// what health, routing and aliases do to it, what is published and why.
func TestStories(t *testing.T) { story.Check(t, tell) }

func tell(t *testing.T, s scene) string {
	t.Helper()
	var out strings.Builder
	for _, scope := range append(s.Scopes, map[bool][]string{true: {"public"}}[len(s.Scopes) == 0]...) {
		in := Input{Types: s.Types, NoAlias: s.NoAlias, Routing: s.Routing, Health: s.Health, SetIDs: s.SetIDs}
		in.Rule = Rule{Scope: intent.Public, AllowPrivate: strings.HasSuffix(scope, "allowPrivate"), Allow: s.Rule.Allow, Deny: s.Rule.Deny, Names: []string{"www.lab.example"}}
		if scope == "cluster" {
			in.Rule.Scope = intent.ClusterScope
		}
		for _, row := range s.Rows {
			in.Now, in.Offers = later(t, row.After), nil
			for _, o := range row.Offers {
				in.Offers = append(in.Offers, o.offer(t))
			}
			for _, target := range row.Published {
				kind := map[bool]string{true: "CNAME", false: "A"}[strings.HasSuffix(target, "example")]
				in.Previous = append(in.Previous, Set{Type: kind, Targets: []string{target}})
			}
			in.Probed = map[string]intent.ProbeStatus{}
			for _, target := range row.Failing {
				in.Probed[target] = intent.ProbeStatus{Target: target, Healthy: "False", Since: in.Now, From: "replica-1", Message: "connection refused"}
			}
			c, due := Fold(in)
			fmt.Fprintf(&out, "%s, %s:\n%s", scope, row.Row, words(c, due))
			in.Previous = nil
			if s.History {
				in.Previous = c.Sets
			}
			again, _ := Fold(Input{in.Rule, in.Types, in.Routing, in.Health, in.Offers, c.Sets, in.SetIDs, in.NoAlias, in.Now, in.Probed})
			assert.Equal(t, c.Sets, again.Sets, "%s, %s: what is published does not move by itself", scope, row.Row)
		}
	}
	return out.String()
}

// setWords says which clients a set answers.
func setWords(set Set) string {
	switch {
	case set.ID == "":
		return ""
	case set.Region != "":
		return fmt.Sprintf(" (set %s, region %s)", set.ID, set.Region)
	case set.Location != "":
		return fmt.Sprintf(" (set %s, location %s)", set.ID, set.Location)
	}
	return fmt.Sprintf(" (set %s, weight %d)", set.ID, set.Weight)
}

// words writes a choice for people.
func words(c Choice, due time.Time) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, "  "+format+"\n", args...) }
	for _, set := range c.Sets {
		line("%s %s%s", set.Type, strings.Join(set.Targets, " "), setWords(set))
	}
	if !c.Some() {
		line("nothing")
	}
	for _, p := range c.Ports {
		line("port %s %d/%s", p.Name, p.Number, p.Protocol)
	}
	for _, s := range c.Sources {
		line("%s is of %s, %s %s: %s%s", s.Target, s.Cluster, s.Object, s.Field, s.Kind, map[bool]string{false: ", an address of " + s.Via}[s.Via == ""])
	}
	for _, r := range c.Rejected {
		line("not %s of %s, %s %s: %s: %s: %s", r.Target, r.Cluster, r.Object, r.Field, r.Kind, r.Code, r.Reason)
	}
	for _, w := range c.Warnings {
		line("warning: %s", w)
	}
	for _, h := range c.Health {
		line("health: %s", h)
	}
	for _, p := range c.Probes {
		line("probe of %s: %s", p.Target, p.Healthy)
	}
	for _, cluster := range c.Unknown {
		line("nothing is known of %s", cluster)
	}
	for _, cluster := range c.Absent {
		line("%s has no such Service", cluster)
	}
	if !due.IsZero() {
		line("to be looked at again %s later", due.Sub(dawn()))
	}
	return out.String()
}
