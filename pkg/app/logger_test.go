package app

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestALineOfTheLogIsBounded, whatever is in it: its message, texts, errors and lists.
func TestALineOfTheLogIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 1<<20)
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		log, err := newLogger(Config{Telemetry: Telemetry{LogLevel: "info", LogFormat: format}}, &out)
		require.NoError(t, err)
		log.Info(long, "text", long, slog.Any("error", errors.New(long)), "list", []string{long, long}, slog.Group("group", "text", long), "number", 7, "short", []string{"a"}) //nolint:sloglint // the message may be what somebody else said
		require.Less(t, out.Len(), 6*longestText)
		require.Contains(t, out.String(), "bytes more)")
		require.Equal(t, 1, strings.Count(out.String(), "\n"))
		out.Reset()
		log.With("text", long).Info("short", "error", errors.New("short"))
		require.Less(t, out.Len(), 2*longestText)
		require.Contains(t, out.String(), "short")
	}
}
