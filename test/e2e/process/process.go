// Package process runs programs for tests: it starts them, waits until they
// are ready, keeps their logs, and ends them politely or not.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/signpost-dns/signpost/test/e2e/wait"
)

// Process is a program that can be started again after it ended. The fields
// may be changed while it does not run.
type Process struct {
	// Name is what errors and logs call it.
	Name string
	// Path of the program.
	Path string
	Args []string
	// Env is the whole environment; nothing is inherited.
	Env []string
	// Dir is the working directory; empty for that of the test.
	Dir string
	// Log is the file that gets both outputs, appended to at each start.
	Log string
	// Ready succeeds once the program serves. Without it the program counts
	// as ready at once.
	Ready func(context.Context) error

	mu  sync.Mutex
	run *run
}

// run is one life of a process.
type run struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the program has ended
	err  error         // how it ended; read after done
}

// errEnded is why a program that ended never gets ready.
var errEnded = errors.New("it ended")

// Start starts the program and waits until it is ready. It fails when the
// program ends instead, or ctx does; nothing is left running then.
func (p *Process) Start(ctx context.Context) error {
	if err := p.Launch(); err != nil {
		return err
	}
	if err := p.awaitReady(ctx); err != nil {
		p.Kill()
		return fmt.Errorf("start %s: %w\n%s", p.Name, err, p.Tail(20))
	}
	return nil
}

// Launch starts the program without waiting for it to be ready.
func (p *Process) Launch() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run != nil && !p.run.ended() {
		return fmt.Errorf("%s runs already", p.Name)
	}
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("log of %s: %w", p.Name, err)
	}
	cmd := exec.Command(p.Path, p.Args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = p.environment(), p.Dir, log, log
	// A test binary that is killed takes its children along.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := cmd.Start(); err != nil {
		_ = log.Close()
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	life := &run{cmd: cmd, done: make(chan struct{})}
	p.run = life
	go life.reap(log)
	return nil
}

// environment is never nil, which would mean to inherit.
func (p *Process) environment() []string {
	return append([]string{}, p.Env...)
}

// reap waits for the program to end.
func (r *run) reap(log io.Closer) {
	r.err = r.cmd.Wait()
	_ = log.Close()
	close(r.done)
}

func (r *run) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// awaitReady polls Ready until it succeeds or the program ends.
func (p *Process) awaitReady(ctx context.Context) error {
	if p.Ready == nil {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-p.Done():
			cancel(errors.Join(errEnded, p.Err()))
		case <-ctx.Done():
		}
	}()
	err := wait.Until(ctx, func() error { return p.Ready(ctx) })
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errEnded) {
		return cause
	}
	return err
}

// Kill ends the program as kill -9 does, and returns when it is gone.
func (p *Process) Kill() {
	if life := p.life(); life != nil {
		_ = life.cmd.Process.Signal(syscall.SIGKILL)
		<-life.done
	}
}

// Stop ends the program with SIGTERM, and with SIGKILL if it has not ended
// within the grace. It returns how the program ended: nil for exit code 0.
func (p *Process) Stop(grace time.Duration) error {
	life := p.life()
	if life == nil {
		return nil
	}
	_ = life.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-life.done:
		return life.err
	case <-timer.C:
		p.Kill()
		return fmt.Errorf("%s did not end within %s", p.Name, grace)
	}
}

// Running tells whether the program runs.
func (p *Process) Running() bool {
	life := p.life()
	return life != nil && !life.ended()
}

// Done is closed when the program has ended. It is of the present life.
func (p *Process) Done() <-chan struct{} {
	if life := p.life(); life != nil {
		return life.done
	}
	closed := make(chan struct{})
	close(closed)
	return closed
}

// Err tells how the program ended, after Done; nil for exit code 0.
func (p *Process) Err() error {
	if life := p.life(); life != nil && life.ended() {
		return life.err
	}
	return nil
}

// PID is the process id of the present life, 0 before the first.
func (p *Process) PID() int {
	if life := p.life(); life != nil {
		return life.cmd.Process.Pid
	}
	return 0
}

// Resident is how much memory the process has now, in bytes.
func (p *Process) Resident() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.PID()))
	if err != nil {
		return 0, err
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(text), &size, &pages); err != nil {
		return 0, fmt.Errorf("/proc/%d/statm: %w", p.PID(), err)
	}
	return pages * int64(os.Getpagesize()), nil
}

// Anonymous is how much of that no file backs, in bytes.
func (p *Process) Anonymous() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "RssAnon:")
	var kilobytes int64
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		return 0, fmt.Errorf("/proc/%d/status: RssAnon: %w", p.PID(), err)
	}
	return kilobytes << 10, nil
}

// ProcessorTime is how long the process has kept processors busy so far.
func (p *Process) ProcessorTime() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
	if err != nil {
		return 0, err
	}
	const tick = 10 * time.Millisecond // Linux counts in hundredths of a second
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	const user, system = 11, 12 // behind the name, see proc(5)
	if len(fields) <= system {
		return 0, fmt.Errorf("process %d tells no times", p.PID())
	}
	var total time.Duration
	for _, field := range []string{fields[user], fields[system]} {
		ticks, err := strconv.Atoi(field)
		if err != nil {
			return 0, err
		}
		total += time.Duration(ticks) * tick
	}
	return total, nil
}

func (p *Process) life() *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run
}

// Tail returns the last lines of the log, for a failure's message.
func (p *Process) Tail(lines int) string {
	text, err := os.ReadFile(p.Log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	if len(all) > lines {
		all = all[len(all)-lines:]
	}
	return "--- " + p.Log + "\n" + strings.Join(all, "\n")
}

// shown is how many lines of a log a failed test shows.
const shown = 40

// EndWith kills the process when the test ends, and shows the end of its log if the test
// has failed.
func (p *Process) EndWith(t testing.TB) {
	t.Helper()
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("=== %s\n%s", p.Name, p.Tail(shown))
		}
	})
}
