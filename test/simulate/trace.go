package simulate

import (
	"fmt"
	"hash"
	"hash/fnv"
	"strings"
	"time"
)

// kept is how many lines a trace keeps.
const kept = 120

// trace is what happened: the last lines, and a hash over all of them.
type trace struct {
	began time.Time
	hash  hash.Hash64
	lines []string
	all   func(line string) // told every line, nil for nobody
}

func newTrace(all func(string)) *trace {
	return &trace{began: time.Now(), hash: fnv.New64a(), all: all}
}

func (t *trace) add(what string) {
	line := fmt.Sprintf("%9.3f %s", time.Since(t.began).Seconds(), what)
	_, _ = t.hash.Write([]byte(line + "\n")) // a hash takes everything
	if t.all != nil {
		t.all(line)
	}
	if len(t.lines) == 2*kept {
		t.lines = append(t.lines[:0], t.lines[kept:]...)
	}
	t.lines = append(t.lines, line)
}

// tail is the last lines.
func (t *trace) tail() string {
	return strings.Join(t.lines[max(0, len(t.lines)-kept):], "\n")
}

// Broken is an invariant that did not hold.
type Broken struct {
	Invariant string // "I1" … "I12"
	What      string
}

func (b *Broken) Error() string { return b.Invariant + ": " + b.What }
