// Package linter has Corefiles judged by CoreDNS itself: by signpost-dns, in a
// process of its own that gets nothing of this one.
package linter

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// name is what the program is called.
const name = "signpost-dns"

const (
	atOnce   = 2                // processes; each may take a quarter of a gigabyte for ten seconds
	patience = 5 * time.Second  // for a turn
	limit    = 15 * time.Second // of a process, which ends by itself sooner
)

// Linter runs signpost-dns, a few at a time. It is safe for concurrent use.
type Linter struct {
	program string
	turns   chan struct{}
}

// New makes a linter that runs this program. Empty: signpost-dns beside the
// running program, else on PATH.
func New(program string) *Linter {
	return &Linter{program: program, turns: make(chan struct{}, atOnce)}
}

// Program answers the absolute path of signpost-dns. It is looked for each time,
// so that it may come later. That there is none is a Conflict which tells what
// to do.
func (l *Linter) Program() (string, error) {
	if l.program != "" {
		found, err := exec.LookPath(l.program)
		if err != nil {
			return "", conflict("--dns-binary names no program", err)
		}
		return filepath.Abs(found)
	}
	if self, err := os.Executable(); err == nil {
		if found, err := exec.LookPath(filepath.Join(filepath.Dir(self), name)); err == nil {
			return found, nil
		}
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return "", conflict("there is no "+name+" to lint with: put it beside signpost (make build leaves both there), on PATH, or name it by --dns-binary", err)
	}
	return found, nil
}

// Lint answers the findings about a Corefile in the order of its lines. That
// CoreDNS does not survive it is a finding. Its errors are *intent.Error values,
// Conflict without a signpost-dns that works and Unavailable when too many
// Corefiles wait already, or that of the context.
func (l *Linter) Lint(ctx context.Context, text string) ([]corefile.Finding, error) {
	program, err := l.Program()
	if err != nil {
		return nil, err
	}
	if err := l.enter(ctx); err != nil {
		return nil, err
	}
	defer func() { <-l.turns }()
	findings, cause, err := run(ctx, program, text)
	if err != nil || cause == "" {
		return findings, err
	}
	switch _, worse, err := run(ctx, program, ordinary); {
	case err != nil:
		return nil, err
	case worse != "":
		return nil, conflict(program+" is no "+name+" that works: "+worse, nil)
	}
	return []corefile.Finding{{Severity: corefile.Error, Message: "CoreDNS does not survive it: " + cause}}, nil
}

// ordinary is a Corefile that every signpost-dns gets through.
const ordinary = ".:53 {\n\terrors\n}\n"

// enter waits for a turn.
func (l *Linter) enter(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case l.turns <- struct{}{}:
		return nil
	case <-waiting.Done():
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &intent.Error{Code: intent.Unavailable, Detail: "others have Corefiles linted that take long; try again"}
}

func conflict(detail string, err error) error {
	return &intent.Error{Code: intent.Conflict, Detail: detail, Err: err}
}
