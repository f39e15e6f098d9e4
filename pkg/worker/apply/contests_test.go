package apply

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

func TestContests(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	id := bundle.ID{Kind: "ConfigMap", Name: "a"}
	by := func(manager, digest string) action {
		return action{id: id, drift: true, live: &cluster.Live{ChangedBy: manager}, want: &state.Wanted{Digest: digest}}
	}
	full := func(gap time.Duration) contests {
		m := contests{}
		for n := range ContestLimit {
			m.note(outcome{action: by("rival", "1"), repaired: true}, now.Add(time.Duration(n)*gap))
		}
		return m
	}
	for reason, c := range map[string]struct {
		m     contests
		a     action
		at    time.Time
		waits bool
	}{
		"the fourth time":            {m: full(time.Minute), a: by("rival", "1"), at: now.Add(5 * time.Minute), waits: true},
		"somebody else":              {m: full(time.Minute), a: by("other", "1"), at: now.Add(5 * time.Minute)},
		"nobody that is known":       {m: full(time.Minute), a: by("", "1"), at: now.Add(5 * time.Minute)},
		"another content":            {m: full(time.Minute), a: by("rival", "2"), at: now.Add(5 * time.Minute)},
		"slowly":                     {m: full(5 * time.Minute), a: by("rival", "1"), at: now.Add(11 * time.Minute)},
		"when the time is over":      {m: full(time.Minute), a: by("rival", "1"), at: now.Add(ContestWithin)},
		"no drift":                   {m: full(time.Minute), a: action{id: id, live: &cluster.Live{ChangedBy: "rival"}, want: &state.Wanted{Digest: "1"}}, at: now.Add(5 * time.Minute)},
		"the first time, of nothing": {m: contests{}, a: by("rival", "1"), at: now},
	} {
		until := c.m.until(c.a, c.at)
		assert.Equal(t, c.waits, !until.IsZero(), reason)
		if c.waits {
			assert.Equal(t, now.Add(ContestWithin), until, reason)
		}
	}
}
