package state

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// TestAnEntryTellsSinceWhenItsObjectIsAsItIs: for how long it has been applied
// with this content, or has not.
func TestAnEntryTellsSinceWhenItsObjectIsAsItIs(t *testing.T) {
	t.Parallel()
	id, now := bundle.ID{Cluster: "edge+hub", Kind: "ConfigMap", Name: "a"}, &stopped{}
	entries := NewLedger(&Cluster{Clock: now}, nil)
	for _, c := range []struct {
		entry  ledger.Entry
		turned bool
	}{
		{ledger.Entry{Status: ledger.Pending}, true},
		{ledger.Entry{Status: ledger.Retrying, Message: "no answer in time"}, true},
		{ledger.Entry{Status: ledger.Retrying, Message: "connection refused"}, false},
		{ledger.Entry{Status: ledger.Applied, Digest: "1"}, true},
		{ledger.Entry{Status: ledger.Applied, Digest: "1", Owners: []string{"dig"}}, false},
		{ledger.Entry{Status: ledger.Applied, Digest: "2", Owners: []string{"dig"}}, true},
	} {
		before := entries.Entries()[id].Since
		now.Time = now.Add(time.Minute)
		c.entry.ID, c.entry.Since = id, before
		entries.Set(c.entry)
		if c.turned {
			before = now.UTC()
		}
		assert.Equal(t, before, entries.Entries()[id].Since, "%+v", c.entry)
	}
}

// stopped is a clock that stands still.
type stopped struct{ time.Time }

func (s *stopped) Now() time.Time                       { return s.Time }
func (s *stopped) After(time.Duration) <-chan time.Time { return nil }
