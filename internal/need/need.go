// Package need says which programs and rights a test needs beside Go. If one is missing,
// the test is skipped with a reason that "make test" repeats at its end. With
// SIGNPOST_REQUIRE_ALL set, as in continuous integration, the test fails instead.
package need

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// RequireVariable is the environment variable that lets nothing be skipped.
const RequireVariable = "SIGNPOST_REQUIRE_ALL"

// Namespaces needs user namespaces: the test starts processes with a network or
// mounts of their own.
func Namespaces(t testing.TB) {
	t.Helper()
	probe := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	probe.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	if err := probe.Run(); err != nil {
		missing(t, "user namespaces (sysctl kernel.unprivileged_userns_clone=1): "+err.Error())
	}
}

func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv(RequireVariable) != "" {
		t.Fatalf("%s lets no test be skipped, and this one needs %s", RequireVariable, what)
	}
	t.Skipf("NOT RUN: it needs %s", what) //nolint:forbidigo // this is where it is asked
}

// Program needs a program of a Debian package.
func Program(t testing.TB, name, debian string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		missing(t, name+" (Debian: "+debian+")")
	}
}
