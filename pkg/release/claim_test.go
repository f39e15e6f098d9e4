package release_test

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// meanwhile does something once, right before the next write whose first key
// contains a text. The test fails when there is none.
func (w *world) meanwhile(text string, do func()) {
	w.Helper()
	done := false
	w.fake.Before = func(op, key string) error {
		if op == "txn" && strings.Contains(key, text) {
			w.fake.Before = nil
			done = true
			do()
		}
		return nil
	}
	w.Cleanup(func() { require.True(w, done, "there was no write of %s", text) })
}

// atOnce instantiates two that want the same: the second comes before a write of
// the first. One of them gets it; by is that one.
func (w *world) atOnce(one, other intent.Path, write string) (by intent.Path, refused error) {
	w.Helper()
	var second error
	w.meanwhile(write, func() { _, second = w.try(intent.Instantiate, other, "") })
	_, first := w.try(intent.Instantiate, one, "")
	require.NotEqual(w, first == nil, second == nil, "%v, %v", first, second)
	by, refused = other, first
	if first == nil {
		by, refused = one, second
	}
	require.Equal(w, intent.Conflict, intent.CodeOf(refused))
	return by, refused
}

// diesBeforeItIsAccepted has the process of one die so. Another that wants the
// same is refused, as long as the release of the first may still be accepted.
func (w *world) diesBeforeItIsAccepted(one, other intent.Path, refusal string) {
	w.Helper()
	w.fake.Before = func(op, key string) error {
		if op == "txn" && strings.HasPrefix(key, "/signpost/release/") {
			return &intent.Error{Code: intent.Unavailable, Detail: "no leader"}
		}
		return nil
	}
	_, err := w.try(intent.Instantiate, one, "")
	require.Error(w, err)
	w.fake.Before = nil
	require.NoError(w, w.rest())
	_, err = w.try(intent.Instantiate, other, "")
	require.ErrorContains(w, err, refusal, "it may be about to be accepted")
	w.clock.pass(time.Hour)
	w.do(intent.Instantiate, other)
}
