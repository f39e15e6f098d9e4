package linter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
)

// run has a program lint a Corefile. It answers the findings, or why the
// program did not come to any.
func run(ctx context.Context, program, text string) (findings []corefile.Finding, cause string, err error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	const answer, complaint = 1 << 20, 4 << 10 // bytes
	out, log := head{most: answer}, head{most: complaint}
	cmd := exec.CommandContext(limited, program, "lint")
	cmd.Env = []string{}
	cmd.Dir = "/"
	cmd.Stdin = strings.NewReader(text[:min(len(text), corefile.MaxLinted+1)])
	cmd.Stdout, cmd.Stderr = &out, &log
	cmd.WaitDelay = time.Second // for what the program may have started
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case limited.Err() != nil:
		return nil, fmt.Sprintf("it was not done after %s", limit), nil
	case errors.As(err, &exit):
		return nil, firstLine(log.kept.String(), exit.Error()), nil
	case err != nil:
		return nil, "", conflict(program+" cannot be run", err)
	}
	var told struct {
		Findings []corefile.Finding `json:"findings"`
	}
	if err := json.Unmarshal(out.kept.Bytes(), &told); err != nil || told.Findings == nil {
		return nil, "its answer is not a list of findings", nil
	}
	return told.Findings, "", nil
}

// firstLine is the first line of what a program complained about, without its
// own name; otherwise when it did not.
func firstLine(log, otherwise string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(log), "\n")
	line = strings.TrimPrefix(line, name+": ")
	if line == "" {
		return otherwise
	}
	return strings.ToValidUTF8(line, "�")
}

// head keeps the beginning of what is written to it.
type head struct {
	kept bytes.Buffer
	most int // bytes
}

// Write implements io.Writer. It takes everything.
func (h *head) Write(text []byte) (int, error) {
	_, _ = h.kept.Write(text[:min(len(text), h.most-h.kept.Len())])
	return len(text), nil
}
