package address

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestMostClustersFailingAtOnceFreezes: two at least, and more than half.
func TestMostClustersFailingAtOnceFreezes(t *testing.T) {
	for _, c := range []struct {
		unreachable, tried int
		frozen             bool
	}{
		{0, 0, false}, {0, 9, false}, {1, 1, false}, {1, 2, false}, {2, 2, true}, {2, 3, true}, {2, 4, false}, {3, 4, true}, {50, 100, false}, {51, 100, true},
	} {
		assert.Equal(t, c.frozen, Freeze(c.unreachable, c.tried) != "", "%d of %d", c.unreachable, c.tried)
	}
	assert.Contains(t, Freeze(2, 3), "2 of 3 clusters cannot be reached")
}

// lost is an intent's view of a cluster that could not be reached for a while.
func lost(after string, ago time.Duration) Input {
	o := offer("edge+berlin", "8.8.4.4")
	o.Standing.UnreachableSince = dawn().Add(-ago)
	return Input{Health: &intent.Health{UnreachableAfter: after}, Rule: Rule{Scope: intent.Public}, Offers: []Offer{o}, Now: dawn()}
}

func TestUnreachableAfterIsFiveMinutesUnlessTheIntentSaysOtherwise(t *testing.T) {
	for _, c := range []struct {
		after string
		limit time.Duration
	}{{"", 5 * time.Minute}, {"30s", 30 * time.Second}, {"2h", 2 * time.Hour}, {"x", 5 * time.Minute}, {"-1m", 5 * time.Minute}} {
		choice, due := Fold(lost(c.after, c.limit-time.Nanosecond))
		assert.True(t, choice.Some(), c.after)
		assert.Equal(t, dawn().Add(time.Nanosecond), due, "the exact time at which it counts no more")
		choice, due = Fold(lost(c.after, c.limit))
		assert.False(t, choice.Some(), c.after)
		assert.Zero(t, due)
		assert.Contains(t, reasons(choice)[0], "longer than "+c.limit.String())
	}
}

// TestWhoIsOutStaysOutUntilItsClusterAnswers, though nobody counts any more, or a
// new owner of the cluster counts anew; who is not out stays in.
func TestWhoIsOutStaysOutUntilItsClusterAnswers(t *testing.T) {
	in := lost("5m", time.Second)
	in.Offers = append(in.Offers, offer("edge+paris", "9.9.9.9"))
	for _, since := range []time.Time{{}, dawn()} {
		in.Offers[0].Standing = Standing{SilentSince: dawn().Add(-time.Hour), UnreachableSince: since}
		in.Previous = []Set{{Type: "A", Targets: []string{"9.9.9.9"}}}
		choice, _ := Fold(in)
		assert.Equal(t, []string{"9.9.9.9"}, choice.Targets("A"))
		assert.Contains(t, reasons(choice)[0], "the cluster cannot be reached since 2026-11-21T11:00:00Z")
		in.Previous[0].Targets = []string{"8.8.4.4", "9.9.9.9"}
		choice, _ = Fold(in)
		assert.Equal(t, []string{"8.8.4.4", "9.9.9.9"}, choice.Targets("A"))
	}
	in.Offers[0].Standing = Standing{SilentSince: dawn().Add(-time.Minute)}
	in.Previous[0].Targets = []string{"9.9.9.9"}
	choice, _ := Fold(in)
	assert.Equal(t, []string{"8.8.4.4", "9.9.9.9"}, choice.Targets("A"), "it was away for less than unreachableAfter")
}

// TestTheSoonestIsDue of several clusters that cannot be reached.
func TestTheSoonestIsDue(t *testing.T) {
	in := lost("5m", time.Minute)
	other := lost("5m", 3*time.Minute).Offers[0]
	other.Service.Cluster = "edge+paris"
	in.Offers = append(in.Offers, other)
	_, due := Fold(in)
	assert.Equal(t, dawn().Add(2*time.Minute), due)
}

// TestReleasesThatKnowOfNoHealthTakeAllThereIs: they were made before it counted.
func TestReleasesThatKnowOfNoHealthTakeAllThereIs(t *testing.T) {
	in := lost("5m", time.Hour)
	in.Offers[0].Observation.Readiness = &Readiness{Total: 2}
	in.Health = nil
	choice, due := Fold(in)
	assert.Equal(t, []string{"8.8.4.4"}, choice.Targets("A"))
	assert.Zero(t, due)
}

// TestAReasonSaysSinceWhen nothing is ready, where that is known.
func TestAReasonSaysSinceWhen(t *testing.T) {
	in := lost("5m", 0)
	in.Offers[0].Observation.Readiness = &Readiness{Since: dawn()}
	choice, _ := Fold(in)
	assert.Equal(t, []string{"the Service has no ready endpoint since 2026-11-21T12:00:00Z"}, reasons(choice))
}
