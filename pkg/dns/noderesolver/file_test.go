package noderesolver_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/need"
	"github.com/signpost-dns/signpost/pkg/dns/noderesolver"
)

func hosts(t *testing.T, content string) noderesolver.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hosts")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return noderesolver.File{Path: path}
}

func to(content string) func([]byte) []byte {
	return func([]byte) []byte { return []byte(content) }
}

func requireContent(t *testing.T, path, want string) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(content))
}

func TestUpdateKeepsModeAndOwner(t *testing.T) {
	f := hosts(t, "old\n")
	require.NoError(t, os.Chmod(f.Path, 0o640))
	owner := os.Getuid()
	if owner == 0 {
		owner = 12345
		require.NoError(t, os.Chown(f.Path, owner, owner))
	}
	change, err := f.Update(t.Context(), to("new\n"))
	require.NoError(t, err)
	require.Equal(t, noderesolver.Replaced, change)
	requireContent(t, f.Path, "new\n")
	info, err := os.Stat(f.Path)
	require.NoError(t, err)
	require.Equal(t, "-rw-r-----", info.Mode().String())
	require.EqualValues(t, owner, info.Sys().(*syscall.Stat_t).Uid)
	requireAlone(t, f.Path)
}

// requireAlone says that no draft was left beside the file.
func requireAlone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

func TestUpdateOfWhatIsRightTouchesNothing(t *testing.T) {
	f := hosts(t, "same\n")
	before, err := os.Stat(f.Path)
	require.NoError(t, err)
	change, err := f.Update(t.Context(), to("same\n"))
	require.NoError(t, err)
	require.Equal(t, noderesolver.Unchanged, change)
	after, err := os.Stat(f.Path)
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after))
}

func TestUpdateFollowsALink(t *testing.T) {
	f := hosts(t, "old\n")
	link := filepath.Join(t.TempDir(), "hosts")
	require.NoError(t, os.Symlink(f.Path, link))
	_, err := noderesolver.File{Path: link}.Update(t.Context(), to("new\n"))
	require.NoError(t, err)
	requireContent(t, f.Path, "new\n")
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink, "the link is still one")
}

func TestUpdateLosesNoEditOfOthers(t *testing.T) {
	f := hosts(t, "old\n")
	_, err := f.Update(t.Context(), func([]byte) []byte {
		require.NoError(t, os.WriteFile(f.Path, []byte("somebody else's\n"), 0o600))
		return []byte("new\n")
	})
	require.ErrorContains(t, err, "somebody else has edited the file")
	requireContent(t, f.Path, "somebody else's\n")
	requireAlone(t, f.Path)
}

// Several node resolvers of a node lose no line of each other.
func TestUpdatesOfSeveralOwnersAllCount(t *testing.T) {
	f := hosts(t, "127.0.0.1 localhost\n")
	const owners, changes = 4, 50
	failures := make(chan error, owners)
	for n := range owners {
		owner := noderesolver.Owner(strconv.Itoa(n))
		go func() {
			var err error
			for change := 1; change <= changes && err == nil; change++ {
				_, err = f.Update(t.Context(), func(content []byte) []byte {
					return owner.Replace(content, []noderesolver.Entry{registry("10.0.0." + strconv.Itoa(change))})
				})
			}
			failures <- err
		}()
	}
	for range owners {
		require.NoError(t, <-failures)
	}
	content, err := os.ReadFile(f.Path)
	require.NoError(t, err)
	require.Equal(t, 1+owners, bytes.Count(content, []byte("\n")), "%s", content)
	for n := range owners {
		require.Equal(t, []noderesolver.Entry{registry("10.0.0." + strconv.Itoa(changes))}, noderesolver.Owner(strconv.Itoa(n)).Entries(content))
	}
}

// TestUpdateDoesNotWaitForEver for a lock that another program does not give
// back.
func TestUpdateDoesNotWaitForEver(t *testing.T) {
	f := hosts(t, "old\n")
	directory, err := os.Open(filepath.Dir(f.Path))
	require.NoError(t, err)
	require.NoError(t, syscall.Flock(int(directory.Fd()), syscall.LOCK_EX))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = f.Update(ctx, to("new\n"))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "another program keeps locked")
	requireContent(t, f.Path, "old\n")

	require.NoError(t, directory.Close())
	_, err = f.Update(t.Context(), to("new\n"))
	require.NoError(t, err)
	requireContent(t, f.Path, "new\n")
}

func TestUpdateOfNoFile(t *testing.T) {
	_, err := noderesolver.File{Path: filepath.Join(t.TempDir(), "none")}.Update(t.Context(), to("new\n"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// What a crash left of a rewriting is finished, whatever it had come to.
func TestRecoverFinishesARewriting(t *testing.T) {
	for _, half := range []string{"old and long\n", "new\nand long\n", "ne", "new\n", ""} {
		f := hosts(t, half)
		f.Journal = filepath.Join(t.TempDir(), "journal")
		require.NoError(t, os.WriteFile(f.Journal, []byte("new\n"), 0o600))
		require.NoError(t, f.Recover())
		requireContent(t, f.Path, "new\n")
		require.NoFileExists(t, f.Journal)
		require.NoError(t, f.Recover(), "there is nothing left to do")
	}
}

// Two contents of many pages, so that a writer is often in their middle.
func contents() [2]string {
	return [2]string{strings.Repeat("10.0.0.1 some.where\n", 20_000), strings.Repeat("10.0.0.2 else.where\n", 30_000)}
}

const (
	writerFile    = "NODERESOLVER_TEST_FILE"    // makes this program write the file for ever
	writerJournal = "NODERESOLVER_TEST_JOURNAL" // with this journal
	writerMount   = "NODERESOLVER_TEST_MOUNT"   // with the file mounted on itself
)

// TestMain is also the program that gets killed.
func TestMain(m *testing.M) {
	if os.Getenv(writerFile) == "" {
		os.Exit(m.Run())
	}
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write changes the file between two contents until it is killed, and says
// after each time how it did it.
func write() error {
	f := noderesolver.File{Path: os.Getenv(writerFile), Journal: os.Getenv(writerJournal)}
	if os.Getenv(writerMount) != "" {
		if err := syscall.Mount(f.Path, f.Path, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount: %w", err)
		}
	}
	if err := f.Recover(); err != nil {
		return err
	}
	for n := 0; ; n++ {
		change, err := f.Update(context.Background(), to(contents()[n%2]))
		if err != nil {
			return err
		}
		fmt.Println(change == noderesolver.Rewritten)
	}
}

// killWriter starts the program and kills it as it goes on after so many
// changes, the first of which may have found the file right already. It writes
// in place if the file is a mount of its own.
func killWriter(t *testing.T, f noderesolver.File, changes int, mounted bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{writerFile + "=" + f.Path, writerJournal + "=" + f.Journal}
	if mounted {
		need.Namespaces(t)
		cmd.Env = append(cmd.Env, writerMount+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		}
	}
	output, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var trouble bytes.Buffer
	cmd.Stderr = &trouble
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(output)
	for n := range changes {
		require.True(t, lines.Scan(), "%s", &trouble)
		if n > 0 {
			require.Equal(t, strconv.FormatBool(mounted), lines.Text())
		}
	}
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
}

const kills = 20

func TestKilledAtAnyMomentTheFileIsWhole(t *testing.T) {
	f := hosts(t, contents()[0])
	for n := range kills {
		killWriter(t, f, n+2, false)
		content, err := os.ReadFile(f.Path)
		require.NoError(t, err)
		require.Contains(t, contents(), string(content))
	}
}

// A file that is a mount of its own may be half-written when the program is
// killed; it is whole again as soon as the program starts.
func TestKilledAtAnyMomentAMountIsWholeAgain(t *testing.T) {
	f := hosts(t, contents()[0])
	f.Journal = filepath.Join(t.TempDir(), "journal")
	for n := range kills {
		killWriter(t, f, n+2, true)
		require.NoError(t, f.Recover())
		content, err := os.ReadFile(f.Path)
		require.NoError(t, err)
		require.Contains(t, contents(), string(content))
	}
}
