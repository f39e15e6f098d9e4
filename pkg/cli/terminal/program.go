// Package terminal holds what all commands share: streams, tables, output formats, and
// errors of usage.
package terminal

import (
	"io"
	"time"
)

// Program is what the commands need of the world outside.
type Program struct {
	Name string        // as which the user calls it; empty for signpost
	Poll time.Duration // between two looks at a status
	In   io.Reader
	Out  io.Writer
	Err  io.Writer
}
