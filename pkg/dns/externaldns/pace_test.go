package externaldns

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEventsWakeExternalDNSWhereAReadIsCheap(t *testing.T) {
	for provider, want := range map[string]bool{
		"coredns": true, "skydns": true, "rfc2136": true, "pdns": true, "webhook": true,
		"aws": false, "cloudflare": false, "google": false, "azure": false, "ovh": false,
	} {
		assert.Equal(t, want, PaceOf(provider, nil, 0).Events, provider)
	}
}

func TestTheIntervalFollowsTheLimitAndTheSizeOfTheZone(t *testing.T) {
	for reason, c := range map[string]struct {
		provider string
		size     int
		want     time.Duration
	}{
		"a small zone":                             {"aws", 100, 15 * time.Second},
		"one of a few thousand names":              {"aws", 2000, time.Minute}, // 2+14 requests, of 30 in a minute
		"a large one":                              {"aws", 20_000, 5 * time.Minute},
		"one that no interval suits":               {"aws", 1_000_000, 10 * time.Minute},
		"a provider with small pages":              {"cloudflare", 2000, 2 * time.Minute},
		"a zone that nobody has read yet":          {"aws", 0, 0},
		"a provider whose limits are not known":    {"ovh", 100, 0},
		"a read that costs nothing, of any length": {"rfc2136", 1_000_000, 0},
	} {
		assert.Equal(t, c.want, PaceOf(c.provider, nil, c.size).Interval, reason)
	}
}

// TestWhatTheUserSetsWins: as a parameter in either form, in the environment, or
// as an extra argument, which external-dns would take but once.
func TestWhatTheUserSetsWins(t *testing.T) {
	for reason, c := range map[string]struct {
		parameters  Parameters
		environment []string
		extra       []string
		want        []string
	}{
		"nothing":             {want: []string{"--events", "--interval=2m0s"}},
		"no events":           {parameters: Parameters{"events": false}, want: []string{"--no-events", "--interval=2m0s"}},
		"no events, as no":    {parameters: Parameters{"no-events": true}, want: []string{"--no-events", "--interval=2m0s"}},
		"an interval":         {parameters: Parameters{"interval": "9s"}, want: []string{"--events", "--interval=9s"}},
		"a variable":          {environment: []string{"EXTERNAL_DNS_EVENTS"}, want: []string{"--interval=2m0s"}},
		"an extra argument":   {extra: []string{"--events"}, want: []string{"--interval=2m0s"}},
		"an extra no-events":  {extra: []string{"--no-events"}, want: []string{"--interval=2m0s"}},
		"events, less often":  {parameters: Parameters{"min-event-sync-interval": "9s"}, want: []string{"--events", "--interval=2m0s", "--min-event-sync-interval=9s"}},
		"others of the extra": {extra: []string{"--events-emit=RecordError"}, want: []string{"--events", "--interval=2m0s"}},
	} {
		t.Run(reason, func(t *testing.T) {
			pace := PaceOf("coredns", c.extra, 0)
			pace.Interval = 2 * time.Minute
			record := Record{Provider: "coredns", Parameters: c.parameters, Environment: c.environment, Pace: pace}
			options := Options{Record: record, Namespace: "shop-dns", LabelFilter: "signpost.dev/record=lab", OwnerID: "sp-1"}
			args := compiled(t, options)
			assert.Subset(t, args, c.want)
			for _, other := range []string{"--events", "--no-events"} {
				if !slices.Contains(c.want, other) {
					assert.NotContains(t, args, other)
				}
			}
			assert.Empty(t, options.CheckExtraArgs(c.extra, args))
		})
	}
}

func TestWithoutAPaceExternalDNSHasItsOwnDefaults(t *testing.T) {
	args := compiled(t, Options{Record: Record{Provider: "coredns"}, Namespace: "shop-dns", LabelFilter: "signpost.dev/record=lab", OwnerID: "sp-1"})
	assert.NotContains(t, args, "--events")
	for _, arg := range args {
		assert.NotContains(t, arg, "--interval")
	}
}

func TestAGapBetweenEventsHasAnEffectWhereEventsAreTheDefault(t *testing.T) {
	record := Record{Provider: "aws", Parameters: Parameters{"min-event-sync-interval": "9s", "domain-filter": "lab.example"}}
	_, warnings := Check(record)
	require.Len(t, warnings, 1)
	assert.Contains(t, warnings[0].Detail, "has no effect without events")
	record.Pace.Events = true
	_, warnings = Check(record)
	assert.Empty(t, warnings)
}

func TestHowSoonTheProviderIsTold(t *testing.T) {
	for reason, c := range map[string]struct {
		args []string
		want time.Duration
	}{
		"by external-dns' defaults":            {nil, 61 * time.Second},
		"by its interval":                      {[]string{"--interval=15s"}, 16 * time.Second},
		"by events":                            {[]string{"--events", "--interval=1m0s"}, 6 * time.Second},
		"by events, with a gap of their own":   {[]string{"--events", "--min-event-sync-interval=1s"}, 2 * time.Second},
		"by the interval that ends before":     {[]string{"--events", "--interval=2s"}, 3 * time.Second},
		"by the interval, for want of events":  {[]string{"--no-events", "--min-event-sync-interval=1s"}, 61 * time.Second},
		"by the default, where one is not one": {[]string{"--events", "--min-event-sync-interval=soon"}, 6 * time.Second},
	} {
		assert.Equal(t, c.want, AnswerWithin(c.args), reason)
	}
}
