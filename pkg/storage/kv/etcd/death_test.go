package etcd

import (
	"context"
	"log/slog"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

// TestAServerThatCannotGoOnSaysWhyAndLetsTheProcessLive: etcd exits the process
// when it cannot write its log, as on a full disk.
func TestAServerThatCannotGoOnSaysWhyAndLetsTheProcessLive(t *testing.T) {
	t.Parallel()
	for name, give := range map[string]func(log *zap.Logger, reason string, fields ...zap.Field){
		"exit": (*zap.Logger).Fatal, "panic": (*zap.Logger).Panic,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, err := StartEmbedded(t.Context(), EmbeddedOptions{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
			require.NoError(t, err)
			go give(server.server.GetLogger(), "failed to save entries", zap.Int("n", 1), zap.Error(syscall.ENOSPC))
			err = server.Run(t.Context())
			require.EqualError(t, err, "the embedded etcd cannot go on: failed to save entries: no space left on device")
			require.NoError(t, server.Close())
		})
	}
}

// TestAServerRunsUntilItIsToldToEnd: that is no error.
func TestAServerRunsUntilItIsToldToEnd(t *testing.T) {
	t.Parallel()
	server, err := StartEmbedded(t.Context(), EmbeddedOptions{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.NoError(t, server.Run(ctx))
	require.NoError(t, server.Close())
}
