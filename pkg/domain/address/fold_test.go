package address

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// offer makes the Service shop/web of a cluster that offers targets.
func offer(cluster string, targets ...string) Offer {
	o := Offer{Service: Service{Cluster: cluster, Namespace: "shop", Name: "web"}, Observation: &Observation{Found: true}}
	for n, target := range targets {
		o.Observation.Candidates = append(o.Observation.Candidates, Candidate{Target: target, Field: fmt.Sprintf("spec.externalIPs[%d]", n)})
	}
	return o
}

// choose is what is published of the offers of which nothing but their targets
// is known.
func choose(rule Rule, offers []Offer) Choice {
	c, _ := Fold(Input{Rule: rule, Offers: offers})
	return c
}

func codes(c Choice) []code {
	var out []code
	for _, r := range c.Rejected {
		out = append(out, code(r.Code))
	}
	return out
}

func reasons(c Choice) []string {
	var out []string
	for _, r := range c.Rejected {
		out = append(out, r.Reason)
	}
	return out
}

func TestDuplicatesAreMergedWithAllTheirSources(t *testing.T) {
	c := choose(Rule{Scope: intent.Public}, []Offer{offer("edge+paris", "8.8.4.4"), offer("edge+berlin", "8.8.4.4", "::ffff:8.8.4.4", "10.0.0.1", "10.0.0.1")})
	assert.Equal(t, []string{"8.8.4.4"}, c.Targets("A"))
	assert.Equal(t, []intent.Source{
		{Target: "8.8.4.4", Cluster: "edge+berlin", Object: "Service shop/web", Field: "spec.externalIPs[0]", Kind: "external"},
		{Target: "8.8.4.4", Cluster: "edge+berlin", Object: "Service shop/web", Field: "spec.externalIPs[1]", Kind: "external"},
		{Target: "8.8.4.4", Cluster: "edge+paris", Object: "Service shop/web", Field: "spec.externalIPs[0]", Kind: "external"},
	}, c.Sources)
	assert.Len(t, c.Rejected, 2, "one for each field")
}

// TestUnknownIsNotEmpty is I11's share of a choice: who was never looked at is
// told apart from who offers nothing.
func TestUnknownIsNotEmpty(t *testing.T) {
	absent := offer("edge+rome")
	absent.Observation.Found = false
	c := choose(Rule{Scope: intent.Public}, []Offer{
		{Service: Service{Cluster: "edge+paris"}}, absent, offer("edge+oslo"), {Service: Service{Cluster: "edge+berlin"}}, offer("edge+kyiv", "8.8.4.4"),
	})
	assert.Equal(t, []string{"edge+berlin", "edge+paris"}, c.Unknown)
	assert.Equal(t, []string{"edge+rome"}, c.Absent)
	assert.Equal(t, []string{"8.8.4.4"}, c.Targets("A"))
	assert.False(t, choose(Rule{}, nil).Some())
}

// TestChoosingTwiceGivesTheSame is I8 for choices: the order of the offers does
// not show.
func TestChoosingTwiceGivesTheSame(t *testing.T) {
	offers := []Offer{
		offer("edge+berlin", "z.cloud.example", "a.cloud.example", "10.0.0.1"), offer("edge+paris", "a.cloud.example", "127.0.0.1"),
		{Service: Service{Cluster: "edge+rome"}}, offer("edge+oslo", "b.cloud.example", "x"), offer("edge+kyiv", "localhost"),
	}
	rule := Rule{Scope: intent.Public, Deny: []string{"10.0.0.0/8", "bad"}}
	want, err := json.Marshal(choose(rule, offers))
	require.NoError(t, err)
	for range 200 {
		rand.Shuffle(len(offers), func(i, j int) { offers[i], offers[j] = offers[j], offers[i] })
		got, err := json.Marshal(choose(rule, offers))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	}
}

func TestLongNonsenseIsClipped(t *testing.T) {
	c := choose(Rule{}, []Offer{offer("edge+berlin", strings.Repeat("é", 5000)+"\xff")})
	require.Len(t, c.Rejected, 1)
	assert.LessOrEqual(t, len([]rune(c.Rejected[0].Target)), longestName+1)
}
