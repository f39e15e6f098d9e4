package apply

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

func TestSinceWhenTheOldestActionWaits(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	at := func(minute int) time.Time { return now.Add(time.Duration(minute) * time.Minute) }
	id := func(name string) action {
		return action{operation: create, id: bundle.ID{Kind: "ConfigMap", Name: name}}
	}
	wants := func(a action, digest string, since time.Time) action {
		a.want = &state.Wanted{Digest: digest, Stages: ledger.DecisionOf(intent.Stages{Decided: since})}
		return a
	}
	w, oldest := waiting(nil).after(nil, now)
	assert.Zero(t, oldest, "nothing waits")
	w, oldest = w.after([]action{wants(id("a"), "1", at(-3)), wants(id("b"), "1", time.Time{})}, at(0))
	assert.Equal(t, at(-3), oldest, "since its context was made current")
	w, oldest = w.after([]action{wants(id("b"), "1", time.Time{}), id("c")}, at(1))
	assert.Equal(t, at(0), oldest, "since it was first seen")
	w, oldest = w.after([]action{wants(id("b"), "2", at(2)), id("c")}, at(3))
	assert.Equal(t, at(1), oldest, "other content is another action")
	drifted := wants(id("d"), "1", at(-60))
	drifted.drift = true
	w, oldest = w.after([]action{drifted}, at(4))
	assert.Equal(t, at(4), oldest, "its context was there long ago")
	_, oldest = w.after(nil, at(5))
	assert.Zero(t, oldest)
}
