package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/signpost-dns/signpost/internal/sample"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// failure is a test that fails; zero: none does.
type failure struct {
	pkg  string
	test string // empty: the package fails, and none of its tests
}

func (f failure) String() string {
	return strings.TrimSpace(strings.TrimPrefix(f.pkg, product+"/") + " " + f.test)
}

// selection are the flags that select the test.
func (f failure) selection() []string {
	top, _, _ := strings.Cut(f.test, "/")
	if top == "" {
		return nil
	}
	return []string{"-run", "^" + regexp.QuoteMeta(top) + "$"}
}

// event is one of go test -json.
type event struct {
	Action, Package, Test, FailedBuild string
}

// test runs go test as a stage does, with an overlay and programs unless they are
// empty, and returns the first test that fails. What cannot be built is an error.
func (s *search) test(ctx context.Context, in stage, overlay, programs string, args ...string) (failure, error) {
	flags := []string{"test", "-json", "-failfast", "-vet=off", "-timeout=20m"}
	if overlay != "" {
		flags = append(flags, "-overlay", overlay)
	}
	if in.programs {
		flags = append(flags, "-count=1") // go test does not see what the tests run
	}
	command := exec.CommandContext(ctx, "go", append(flags, args...)...)
	command.Dir = filepath.Join(s.root, in.module)
	command.Env = append(os.Environ(), sample.RingVariable+"="+in.ring)
	if in.programs && programs != "" {
		command.Env = append(command.Env, fixture.ProgramsVariable+"="+programs)
	}
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	var out, complaints bytes.Buffer
	command.Stdout, command.Stderr = &out, &complaints
	failed := command.Run()
	found, err := firstFailure(&out)
	if err == nil && failed != nil && found == (failure{}) {
		err = fmt.Errorf("go %s: %w\n%s", strings.Join(command.Args[1:], " "), failed, &complaints)
	}
	return found, err
}

// firstFailure reads what go test -json has written.
func firstFailure(events io.Reader) (first failure, err error) {
	for decoder := json.NewDecoder(events); ; {
		var e event
		if err := decoder.Decode(&e); errors.Is(err, io.EOF) {
			return first, nil
		} else if err != nil {
			return first, err
		}
		switch {
		case e.Action != "fail":
		case e.FailedBuild != "":
			return first, fmt.Errorf("%s does not compile", e.FailedBuild)
		case first == (failure{}):
			first = failure{e.Package, e.Test}
		}
	}
}
