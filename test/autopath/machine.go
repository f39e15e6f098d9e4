package autopath

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/tools"
)

// inside holds, on a machine of its own, the directory with signpost-dns and
// the files that the machine has in /etc.
const inside = "SIGNPOST_AUTOPATH_MACHINE"

// Enter runs a test binary on a machine of its own: a network that nobody else
// is in, where it may have any address and port, and its own resolv.conf. What
// tests run is built before, for there is no way out. It answers the exit code
// of run, which is called on that machine.
func Enter(run func() int) int {
	if dir := os.Getenv(inside); dir != "" {
		if err := settle(dir); err != nil {
			return failed(err)
		}
		return run()
	}
	dir, err := os.MkdirTemp("", "autopath-")
	if err != nil {
		return failed(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := build(context.Background(), dir); err != nil {
		return failed(err)
	}
	again := exec.Command("/proc/self/exe", os.Args[1:]...)
	again.Env = append(os.Environ(), inside+"="+dir)
	again.Stdin, again.Stdout, again.Stderr = os.Stdin, os.Stdout, os.Stderr
	again.SysProcAttr = &syscall.SysProcAttr{
		Pdeathsig:   syscall.SIGKILL,
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	err = again.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		return failed(fmt.Errorf("a machine of its own: %w (are user namespaces allowed?)", err))
	}
	return 0
}

func failed(err error) int {
	fmt.Fprintln(os.Stderr, "autopath:", err)
	return 1
}

// build builds what needs the network to be built.
func build(ctx context.Context, dir string) error {
	for _, tool := range []string{tools.CoreDNSFull, tools.Etcd, tools.KubeAPIServer} {
		if _, err := tools.Path(ctx, tool); err != nil {
			return err
		}
	}
	return fixture.BuildDNS(ctx, dir)
}

// Program is signpost-dns: on a machine of its own it is there, elsewhere it is
// built into dir.
func Program(ctx context.Context, dir string) (string, error) {
	if machine := os.Getenv(inside); machine != "" {
		dir = machine
	} else if err := fixture.BuildDNS(ctx, dir); err != nil {
		return "", err
	}
	return filepath.Join(dir, "signpost-dns"), nil
}

// settle makes the machine's own etc, and turns its loopback on.
func settle(dir string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("own mounts: %w", err)
	}
	for name, content := range map[string]string{
		"hosts": "127.0.0.1 localhost\n", "nsswitch.conf": "hosts: files dns\n", "resolv.conf": "",
	} {
		own := filepath.Join(dir, name)
		if err := os.WriteFile(own, []byte(content), 0o644); err != nil {
			return err
		}
		if err := unix.Mount(own, filepath.Join("/etc", name), "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("own /etc/%s: %w", name, err)
		}
	}
	return up("lo")
}

// up turns a network interface on.
func up(name string) error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(socket) }()
	request, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request); err != nil {
		return fmt.Errorf("turn %s on: %w", name, err)
	}
	return nil
}

// SetResolvConf makes a text the machine's /etc/resolv.conf.
func SetResolvConf(text string) error {
	return os.WriteFile("/etc/resolv.conf", []byte(text), 0o644)
}
