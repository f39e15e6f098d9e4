package release_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

func (w *world) rules(rules intent.SafetyRules) {
	w.Helper()
	require.NoError(w, w.service.PutSafetyRules(context.Background(), rules, "anna"))
}

// TestSafetyRulesRefuseAllAtOnce, and tell who may override each. An override counts for its
// rule alone, and is on record.
func TestSafetyRulesRefuseAllAtOnce(t *testing.T) {
	t.Parallel()
	w := continents(t)
	www := w.everywhere("www.lab.example", ``)
	w.settle(www)
	w.rules(intent.SafetyRules{
		MinClusters: 3, NeverBoth: [][]string{{"edge/berlin", "edge/paris"}, {"edge/berlin", "edge/boston"}},
		Window: &intent.ChangeWindow{Days: []string{"Mon"}, From: "09:00", To: "16:00"},
	})
	spec := intent.FailoverSpec{Drain: europe} // on a Sunday
	var refused []intent.SafetyRule
	for _, one := range w.preview(spec).Refusals {
		refused = append(refused, one.Rule)
		require.Contains(t, one.Allow, "the role admin in all projects, with ?override="+string(one.Rule))
	}
	require.Equal(t, []intent.SafetyRule{intent.MinClusters, intent.NeverBoth, intent.InWindow}, refused)
	_, err := w.failOver(spec, intent.FailoverOptions{Force: true, Override: []intent.SafetyRule{intent.InWindow, intent.NeverBoth}})
	require.Equal(t, intent.Conflict, intent.CodeOf(err), "force overrides no rule")
	require.ErrorContains(t, err, "fewer than 3 clusters would serve www.lab.example (safety rule minClusters of the installation)")
	require.NotContains(t, err.Error(), "window")
	all := []intent.SafetyRule{intent.InWindow, intent.NeverBoth, intent.MinClusters}
	done, err := w.failOver(spec, intent.FailoverOptions{Override: all})
	require.NoError(t, err)
	require.Equal(t, all, done.Overridden)
	w.clock.pass(24*time.Hour - 2*time.Hour) // Monday at ten
	_, err = w.service.Revert(context.Background(), done.ID, intent.FailoverOptions{})
	require.NoError(t, err, "what brings clusters back thins nothing out")
}

// TestADrainOfOneClusterKeepsToTheRules, but an abandonment does not: the cluster is gone.
func TestADrainOfOneClusterKeepsToTheRules(t *testing.T) {
	t.Parallel()
	w := continents(t)
	www := w.everywhere("www.lab.example", ``)
	w.settle(www)
	w.rules(intent.SafetyRules{NeverBoth: [][]string{{"edge/berlin", "edge/paris"}}})
	require.NoError(t, w.drain(berlin, false))
	err := w.drain(paris, true)
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, "edge/berlin and edge/paris would all be drained (safety rule neverBoth of the installation)")
	require.ErrorContains(t, err, "signpost drain --override")
	_, err = w.service.Abandon(context.Background(), clusterPath(t, paris), false, "olga")
	require.NoError(t, err)
}

// TestAProjectsRulesHoldForItsNames alone.
func TestAProjectsRulesHoldForItsNames(t *testing.T) {
	t.Parallel()
	w := continents(t)
	www := w.everywhere("www.lab.example", ``)
	w.settle(www)
	w.put("projects/bank", `{"namespace":"bank","safety":{"minClusters":4}}`)
	require.Empty(t, w.preview(intent.FailoverSpec{Drain: europe}).Refusals, "no name of that project is touched")
	w.put(shop, `{"namespace":"shop-dns","safety":{"minClusters":3}}`)
	refusals := w.preview(intent.FailoverSpec{Drain: europe}).Refusals
	require.Len(t, refusals, 1)
	require.Equal(t, "shop", refusals[0].Project)
	half := shop.Child("names", "half.lab.example")
	w.observe("edge+boston", "shop/half", "203.0.113.77")
	require.NoError(t, w.publish(half, `{"service":"shop/half","clusters":["edge/berlin","edge/boston"],"provider":"lab"}`))
	w.settle(half)
	require.Empty(t, w.preview(intent.FailoverSpec{Drain: intent.ClusterSelection{Clusters: []string{"edge/berlin"}}}).Refusals,
		"three are left for one name, and the other one, which has too few, loses none")
}

func TestRulesThatContradictAreRefusedWhenTheyAreWritten(t *testing.T) {
	t.Parallel()
	w := continents(t)
	w.put("projects/bank", `{"namespace":"bank","safety":{"window":{"from":"09:00","to":"17:00"}}}`)
	err := w.service.PutSafetyRules(context.Background(), intent.SafetyRules{MinClusters: 6, Window: &intent.ChangeWindow{From: "18:00", To: "20:00"}}, "anna")
	require.Equal(t, intent.Invalid, intent.CodeOf(err))
	require.ErrorContains(t, err, "/minClusters: asks for 6 clusters, but only 5 are registered")
	require.ErrorContains(t, err, "/window: project bank: never meets the other window")
	rules, revision, err := w.service.SafetyRules(context.Background())
	require.NoError(t, err)
	require.Zero(t, revision)
	require.Zero(t, rules)
}
