package tools

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

func TestLockWaitsUntilTheContextEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(t.Context(), path, func() { t.Error("waits for a free lock") })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	// The second waits for the first, and giving up is what ends it.
	if _, err := lock(ctx, path, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want %v", err, context.Canceled)
	}
	unlock()
	again, err := lock(t.Context(), path, func() { t.Error("waits for a lock that was freed") })
	if err != nil {
		t.Fatal(err)
	}
	again()
}
