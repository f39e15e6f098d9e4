package glibc

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/signpost-dns/signpost/internal/sample"
)

// inside tells this program that it is in namespaces of its own.
const inside = "SIGNPOST_GLIBC_INSIDE"

// lookups is how many random names are looked up.
func lookups() string { return strconv.Itoa(sample.Cases(300, 300, 2000)) }

// TestMain runs the tests where /etc and the network are their own.
func TestMain(m *testing.M) {
	if os.Getenv(inside) == "" {
		os.Exit(again())
	}
	if err := errors.Join(furnish(), flag.Set("rapid.checks", lookups())); err != nil {
		fmt.Fprintln(os.Stderr, "the namespaces cannot be furnished:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// again runs this program once more, in a user namespace in which it is root, and
// with mounts, a network and a host name of its own.
func again() (code int) {
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), inside+"=yes")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	var ended *exec.ExitError
	switch err := cmd.Run(); {
	case errors.As(err, &ended):
		return ended.ExitCode()
	case err != nil:
		fmt.Fprintln(os.Stderr, "these tests need user namespaces, for a network and an /etc of their own:", err)
		return 1
	}
	return 0
}

// furnish prepares the namespaces: an /etc that has what a resolver reads, no
// cache of names that could answer in its place, a host name without a domain, and
// loopback.
func furnish() error {
	for _, dir := range []string{"/etc", "/run"} {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, ""); err != nil {
			return fmt.Errorf("mount %s: %w", dir, err)
		}
	}
	for file, text := range map[string]string{"/etc/nsswitch.conf": "hosts: files dns\n", "/etc/hosts": "", resolvConf: ""} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
	}
	if err := syscall.Sethostname([]byte("pod")); err != nil {
		return fmt.Errorf("set the host name: %w", err)
	}
	return loopbackUp()
}

func loopbackUp() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(socket) }()
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("bring loopback up: %w", err)
	}
	return nil
}
