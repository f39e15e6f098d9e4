package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/need"
	"github.com/signpost-dns/signpost/internal/sample"
	"github.com/signpost-dns/signpost/pkg/dns/noderesolver"
)

// mounted makes the program mount this file on itself before it begins, as the
// hosts file of a container is.
const mounted = "SIGNPOST_DNS_TEST_MOUNT"

func mountItself(file string) {
	if file == "" {
		return
	}
	if err := syscall.Mount(file, file, "", syscall.MS_BIND, ""); err != nil {
		exit(fmt.Errorf("mount: %w", err))
	}
}

// kills is how often the node resolver is killed while it writes.
func kills() int { return sample.Cases(5, 20, 200) }

// restless answers another address each time, so that there is something to
// write after each look.
const restless = `template IN AAAA {
        answer "{{ .Name }} 0 IN AAAA fd00::{{ printf \"%x\" .Message.Id }}"
    }
    template IN A {
        rcode NOERROR
    }`

// others are lines that are not the node resolver's, of many pages, so that
// writing takes a while.
func others() string {
	return "127.0.0.1 localhost\n" + strings.Repeat("192.0.2.7 some.other.example\n", 40_000)
}

// stale is an entry of old. It is the first line, so that all others move when
// it goes, and half a change shows.
const stale = "10.9.9.9 registry.images.svc registry.images.svc.cluster.local # signpost-node-resolver\n"

// victim is a node resolver that is going to be killed.
type victim struct {
	hosts, journal, server string
	mount                  bool
}

// run starts the node resolver.
func (v victim) run(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := program(t.Context(), "node-resolver", "--hosts-file="+v.hosts, "--services=images/registry",
		"--nameserver="+v.server, "--interval=1ms", "--journal="+v.journal)
	if v.mount {
		need.Namespaces(t)
		inItsOwnMounts(cmd, v.hosts)
	}
	require.NoError(t, cmd.Start())
	return cmd
}

// killedWhileWriting runs the node resolver until it has begun to write, and
// kills it.
func (v victim) killedWhileWriting(t *testing.T) {
	t.Helper()
	require.NoError(t, os.WriteFile(v.hosts, []byte(stale+others()), 0o644))
	_ = os.Remove(v.hosts + draft)
	before, err := os.Stat(v.hosts)
	require.NoError(t, err)
	begun := func() bool {
		_, err := os.Stat(v.hosts + draft)
		return err == nil
	}
	if v.mount {
		begun = func() bool {
			now, err := os.Stat(v.hosts)
			return err == nil && now.ModTime() != before.ModTime()
		}
	}
	cmd, writes := v.run(t), false
	for deadline := time.Now().Add(patience); !writes && time.Now().Before(deadline); {
		writes = begun() // as fast as can be
	}
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	require.True(t, writes, "nothing was written")
}

// draft is what the file beside the hosts file ends with.
const draft = ".signpost-new"

// inItsOwnMounts gives a process mounts of its own, in which it may mount.
func inItsOwnMounts(cmd *exec.Cmd, file string) {
	cmd.Env = append(cmd.Env, mounted+"="+file)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
}

// whole tells whether the others' lines are there, byte for byte, and at most one
// whole entry.
func whole(content string) bool {
	if content == stale+others() {
		return true
	}
	entry := regexp.MustCompile(`^(fd00::[0-9a-f]{1,4} registry\.images\.svc registry\.images\.svc\.cluster\.local # signpost-node-resolver\n)?$`)
	rest, ours := strings.CutPrefix(content, others())
	return ours && entry.MatchString(rest)
}

// node-resolver against a real DNS server and a real file, killed while
// writing: the file is whole after each kill.
func TestNodeResolverKilledWhileWritingLeavesAWholeFile(t *testing.T) {
	v := victim{hosts: filepath.Join(t.TempDir(), "hosts"), server: startCoreDNS(t, restless).address}
	for n := range kills() {
		v.killedWhileWriting(t)
		require.True(t, whole(read(t, v.hosts)), "kill %d", n)
	}
	requireGoesOn(t, v)
}

// A hosts file that is a mount of its own may be cut by a kill. It is whole
// again as soon as the node resolver is back.
func TestNodeResolverKilledWhileWritingToAMountMakesItWholeAgain(t *testing.T) {
	v := victim{
		hosts: filepath.Join(t.TempDir(), "hosts"), journal: filepath.Join(t.TempDir(), "journal"),
		server: startCoreDNS(t, restless).address, mount: true,
	}
	halves := 0
	for n := range kills() {
		v.killedWhileWriting(t)
		if !whole(read(t, v.hosts)) {
			halves++
		}
		require.NoError(t, noderesolver.File{Path: v.hosts, Journal: v.journal}.Recover())
		require.True(t, whole(read(t, v.hosts)), "kill %d", n)
	}
	t.Logf("%d of %d kills left half a file", halves, kills())
	requireGoesOn(t, v)
}

// requireGoesOn expects that the node resolver goes on where it was killed.
func requireGoesOn(t *testing.T, v victim) {
	t.Helper()
	before := read(t, v.hosts)
	cmd := v.run(t)
	require.Eventually(t, func() bool { return read(t, v.hosts) != before }, patience, tick)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.NoError(t, cmd.Wait())
	require.True(t, whole(read(t, v.hosts)))
}
