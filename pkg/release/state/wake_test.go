package state_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// TestNewsOfOwnWritesWakeNobody: also if the news of many writes come late, and in the order
// of the writes.
func TestNewsOfOwnWritesWakeNobody(t *testing.T) {
	t.Parallel()
	const owners, writes = 10_000, 3
	var w state.Wakeups
	name := func(n int) intent.Path { return intent.Path(fmt.Sprintf("projects/shop/names/n%d.lab.example", n)) }
	for revision := range int64(writes) {
		for n := range owners {
			w.Expect(name(n), revision+1)
		}
	}
	woken := 0
	for revision := range int64(writes) {
		for n := range owners {
			if !w.Expects(name(n), revision+1) {
				woken++
			}
		}
	}
	assert.Zero(t, woken)
	assert.False(t, w.Expects(name(0), writes+1), "somebody else has written it")
	assert.False(t, w.Expects(name(0), 0), "it was deleted")
	w.Expect(name(0), 0)
	assert.False(t, w.Expects(name(0), 1))
}
