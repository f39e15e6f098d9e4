package app

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// TestStoresWhoseRestoreWasInterruptedAreNotServed checks that Signpost does not
// start on them.
func TestStoresWhoseRestoreWasInterruptedAreNotServed(t *testing.T) {
	t.Parallel()
	store, external := externalEtcd(t)
	_, _, err := store.Txn(t.Context(), nil, kv.Put("/signpost/restoring", []byte(`{}`)))
	require.NoError(t, err)
	config := fits()
	config.DataDir, config.LogLevel = t.TempDir(), "error"
	external(&config)
	const enough = 10 * time.Second // for a start that is not to be
	ctx, cancel := context.WithTimeout(t.Context(), enough)
	defer cancel()
	err = Run(ctx, config)
	require.Equal(t, intent.Conflict, intent.CodeOf(err), "%v", err)
	require.ErrorContains(t, err, "repeat signpost restore")
}
