package intent_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

func TestAWindowContainsItsTimes(t *testing.T) {
	t.Parallel()
	office := intent.ChangeWindow{Days: []string{"Mon", "Tue"}, From: "09:00", To: "17:00", TimeZone: "Europe/Berlin"}
	night := intent.ChangeWindow{Days: []string{"Fri"}, From: "22:00", To: "04:00"}
	for at, in := range map[string]struct {
		window intent.ChangeWindow
		is     bool
	}{
		"2026-11-02T07:59:00Z": {office, false}, // Monday, 08:59 in Berlin
		"2026-11-02T08:00:00Z": {office, true},
		"2026-11-02T15:59:59Z": {office, true},
		"2026-11-02T16:00:00Z": {office, false},
		"2026-11-04T09:00:00Z": {office, false}, // Wednesday
		"2026-07-06T07:00:00Z": {office, true},  // summer time
		"2026-11-06T21:59:00Z": {night, false},
		"2026-11-06T22:00:00Z": {night, true},
		"2026-11-07T03:59:00Z": {night, true}, // Saturday, of Friday's window
		"2026-11-07T04:00:00Z": {night, false},
		"2026-11-07T22:00:00Z": {night, false},
	} {
		when, err := time.Parse(time.RFC3339, at)
		require.NoError(t, err)
		require.Equal(t, in.is, in.window.Contains(when), at)
	}
}

func TestRulesThatCannotHoldAreAllTold(t *testing.T) {
	t.Parallel()
	rules := intent.SafetyRules{
		MinClusters: 3, NeverBoth: [][]string{{"edge/berlin"}, {"edge/berlin", "edge/berlin"}, {"edge+paris", "edge/rome"}},
		Window: &intent.ChangeWindow{Days: []string{"Monday"}, From: "9", To: "9", TimeZone: "Mars/Olympus"},
	}
	var at []string
	for _, fault := range rules.Check(2) {
		at = append(at, fault.Pointer)
	}
	require.Equal(t, []string{"/minClusters", "/neverBoth/0", "/neverBoth/1/1", "/neverBoth/2/0", "/window/days/0", "/window/from", "/window/to", "/window/to", "/window/timeZone"}, at)
	require.Empty(t, intent.SafetyRules{MinClusters: 2, NeverBoth: [][]string{{"edge/berlin", "edge/paris"}}}.Check(2))
}

func TestWindowsThatNeverMeetContradict(t *testing.T) {
	t.Parallel()
	rules := func(days []string, from, to, zone string) intent.SafetyRules {
		return intent.SafetyRules{Window: &intent.ChangeWindow{Days: days, From: from, To: to, TimeZone: zone}}
	}
	day, night := rules(nil, "09:00", "17:00", ""), rules(nil, "17:00", "09:00", "")
	require.Contains(t, day.Check(2, night)[0].Detail, "never meets the other window that holds too, every day from 17:00 to 09:00 (UTC)")
	require.Empty(t, day.Check(2, rules(nil, "16:59", "17:30", "")), "a minute is enough")
	require.NotEmpty(t, rules([]string{"Sat"}, "09:00", "17:00", "").Check(2, rules([]string{"Sun"}, "09:00", "17:00", "")))
	require.Empty(t, rules([]string{"Sat"}, "22:00", "02:00", "").Check(2, rules([]string{"Sun"}, "00:00", "01:00", "")))
	require.Empty(t, day.Check(2, intent.SafetyRules{}))
}
