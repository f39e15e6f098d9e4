package app

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/signpost-dns/signpost/pkg/trail"
)

// newLogger makes the process's logger, whose lines say what they belong to.
func newLogger(c Config, out io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return nil, fmt.Errorf("--log-level: %q is not debug, info, warn or error", c.LogLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	switch c.LogFormat {
	case "text":
		return slog.New(trail.Handler(slog.NewTextHandler(out, options))), nil
	case "json":
		return slog.New(trail.Handler(slog.NewJSONHandler(out, options))), nil
	}
	return nil, fmt.Errorf("--log-format: %q is not text or json", c.LogFormat)
}
