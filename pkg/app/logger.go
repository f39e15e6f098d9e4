package app

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/signpost-dns/signpost/pkg/tracing"
)

// newLogger makes the process's logger, whose lines say what they belong to.
func newLogger(c Config, out io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return nil, fmt.Errorf("--log-level: %q is unknown; give debug, info, warn or error", c.LogLevel)
	}
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		a.Value = shortened(a.Value)
		return a
	}}
	switch c.LogFormat {
	case "text":
		return slog.New(tracing.Handler(slog.NewTextHandler(out, options))), nil
	case "json":
		return slog.New(tracing.Handler(slog.NewJSONHandler(out, options))), nil
	}
	return nil, fmt.Errorf("--log-format: %q is unknown; give text or json", c.LogFormat)
}

// longestText is how many bytes of a text are logged: what clusters and callers say
// must not fill a disk.
const longestText = 4 << 10

// shortened is a value whose text is not longer than what is logged.
func shortened(value slog.Value) slog.Value {
	switch value.Kind() {
	case slog.KindString, slog.KindAny:
	default:
		return value // is short
	}
	text := value.String()
	if len(text) <= longestText {
		return value
	}
	return slog.StringValue(fmt.Sprintf("%s… (%d bytes more)", strings.ToValidUTF8(text[:longestText], ""), len(text)-longestText))
}
