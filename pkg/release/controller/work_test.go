package controller

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/tracing"
)

// TestLogLinesNameWhomTheWorkIsFor: several Services of an owner may be followed
// at once.
func TestLogLinesNameWhomTheWorkIsFor(t *testing.T) {
	t.Parallel()
	for want, todo := range map[string]work{
		"owner=projects/shop service=shop/web\n": {"projects/shop", "shop/web"},
		"owner=projects/shop\n":                  {owner: "projects/shop"},
	} {
		var log bytes.Buffer
		slog.New(tracing.Handler(slog.NewTextHandler(&log, nil))).InfoContext(todo.trail(t.Context()), "met")
		require.Contains(t, log.String(), "msg=met "+want)
	}
}
