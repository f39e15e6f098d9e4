package faults

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// TestTwoVersionsServeSideBySide: replicas of the commit in the file previous, and of this
// one, over one etcd. The installation is rolled up, and down again, while names change
// through replicas of both versions. Each time one replica dies by kill -9 as soon as it has
// accepted an update, which the others finish.
func TestTwoVersionsServeSideBySide(t *testing.T) {
	r := newInstallation(t)
	this, previous := r.program, buildPrevious(t)
	replica := func(program string) *fixture.Signpost {
		r.program = program
		return r.start("all")
	}
	old, older := replica(previous), replica(previous)
	r.signpost = old
	r.intents(`{"directory": "hub"}`, deployed, oldHost)
	r.call(http.MethodPost, group+"/instantiate", "", http.StatusAccepted)
	r.eventually("the group to be instantiated", func() error { return r.is("Instantiated") })

	t.Log("up: by the new version beside the old one, and the other way round")
	next := replica(this)
	r.signpost = next
	r.follows("up-new.lab.example")
	r.signpost = old
	r.follows("up-old.lab.example")
	r.dies(old, next, "up-crash.lab.example")
	require.NoError(t, older.Stop(patience))
	r.follows("up.lab.example")

	t.Log("down: nothing new is stored, so the old version goes on")
	old = replica(previous)
	r.signpost = old
	r.follows("down-old.lab.example")
	r.dies(next, old, "down-crash.lab.example")
	r.follows("down.lab.example")
	r.allPosted()
	r.call(http.MethodPost, group+"/terminate", "", http.StatusAccepted)
	r.eventually("the group to be terminated", func() error { return r.is("Terminated") })
}

// dies has a replica accept an update and die. The other one, which is asked from then on,
// brings it to its end.
func (r *rolled) dies(one, other *fixture.Signpost, host string) {
	r.Helper()
	r.signpost = one
	r.rename(host)
	r.call(http.MethodPost, group+"/update", "", http.StatusAccepted)
	one.Kill()
	r.signpost = other
	r.eventually(host, func() error { return r.published(host) })
	r.eventually("the group to be updated", func() error { return r.is("Instantiated") })
}

// buildPrevious builds the program of the commit in the file previous.
func buildPrevious(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("previous")
	require.NoError(t, err)
	commit, dir := strings.TrimSpace(string(text)), filepath.Join(t.TempDir(), "previous")
	run := func(in, name string, args ...string) {
		command := exec.CommandContext(t.Context(), name, args...)
		command.Dir, command.Env = in, append(os.Environ(), "CGO_ENABLED=0")
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%s %s: it takes the whole history of the repository\n%s", name, strings.Join(args, " "), output)
	}
	origin, err := filepath.Abs("../..")
	require.NoError(t, err)
	run(origin, "git", "clone", "--quiet", "--shared", "--no-checkout", origin, dir)
	run(dir, "git", "checkout", "--quiet", commit)
	run(dir, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", "bin/", "./cmd/signpost")
	return filepath.Join(dir, "bin", "signpost")
}
