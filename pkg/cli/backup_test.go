package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/pkg/app"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/storage/backup"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// asProcess is this program as a process of its own.
func asProcess(t *testing.T, args ...string) *exec.Cmd {
	self, err := os.Executable()
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), self, args...)
	command.Env = append(os.Environ(), beSignpost+"=1")
	return command
}

// does runs it and answers what it says, which is why it failed, if it did.
func does(t *testing.T, args ...string) (string, bool) {
	said, err := asProcess(t, args...).CombinedOutput()
	return string(said), err == nil
}

// TestABackupRestoresAnInstallation with its identity, its secrets and what it
// has deployed; and only with its key, into empty stores, while no server runs.
func TestABackupRestoresAnInstallation(t *testing.T) {
	t.Parallel()
	var data string
	service := startService(t, func(c *app.Config) { data = c.DataDir })
	c, err := client.New(service.url, client.Options{})
	require.NoError(t, err)
	send := func(path, body string) {
		_, err := c.Do(t.Context(), "PUT", path, strings.NewReader(body), nil)
		require.NoError(t, err, path)
	}
	const record = "projects/shop/dns-update-records/lab"
	send("projects/shop", `{"metadata":{"name":"shop"}}`)
	send(record, `{"metadata":{"name":"lab"},"spec":{"provider":"cloudflare","credentials":[{"environment":"CF_API_TOKEN","value":"c4n4ry-t0ken"}]}}`)
	file := filepath.Join(t.TempDir(), "backup")
	said, ok := does(t, "backup", "--data-dir", data, file)
	require.False(t, ok)
	require.Contains(t, said, "in use", "by the server that runs")
	require.NoError(t, service.stop())

	said, ok = does(t, "backup", "--data-dir", data, file)
	require.True(t, ok, said)
	require.Contains(t, said, file+": ")
	require.Contains(t, said, "secret values are sealed with key ")
	said, ok = does(t, "backup", "--data-dir", data, file)
	require.False(t, ok)
	require.Contains(t, said, "exists already: give another name")
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "c4n4ry-t0ken")

	empty := t.TempDir()
	said, ok = does(t, "restore", "--data-dir", empty, file)
	require.False(t, ok)
	require.Contains(t, said, "which is not given: give it with --secret-key-file")
	require.NoFileExists(t, filepath.Join(empty, "secret.key"), "none is made up")
	require.NoDirExists(t, filepath.Join(empty, "etcd"), "and no store is left")
	copyFile(t, filepath.Join(data, "secret.key"), filepath.Join(empty, "secret.key"))
	said, ok = does(t, "restore", "--data-dir", empty, file)
	require.True(t, ok, said)
	require.Contains(t, said, "restored ")
	said, ok = does(t, "restore", "--data-dir", empty, file)
	require.False(t, ok)
	require.Contains(t, said, "the stores are not empty")
	require.DirExists(t, filepath.Join(empty, "etcd"), "which stay as they are")
	none := filepath.Join(t.TempDir(), "none")
	said, ok = does(t, "restore", "--data-dir", none, filepath.Join(data, "secret.key"))
	require.False(t, ok, said)
	require.NoDirExists(t, none)

	again := startService(t, func(c *app.Config) { c.DataDir = empty })
	c, err = client.New(again.url, client.Options{})
	require.NoError(t, err)
	answer, err := c.Do(t.Context(), "GET", record, nil, nil)
	require.NoError(t, err)
	require.Contains(t, string(answer.Body), `"CF_API_TOKEN"`)
	send(record, `{"metadata":{"name":"lab"},"spec":{"provider":"cloudflare","credentials":[{"environment":"CF_API_TOKEN"}]}}`)
}

func copyFile(t *testing.T, from, to string) {
	content, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, content, 0o600))
}

// TestARestoreThatIsKilledIsNeverHalfDoneSilently: kill -9 before it writes
// leaves nothing, in its middle what serves nobody until the same command has
// finished it.
func TestARestoreThatIsKilledIsNeverHalfDoneSilently(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "backup")
	keys := writeLargeBackup(t, file)

	checking := t.TempDir()
	require.True(t, killRestore(t, checking, file, 1))
	said, whole := does(t, "backup", "--data-dir", checking, filepath.Join(checking, "again"))
	require.True(t, !whole || strings.Contains(said, "again: 0 keys"), said)

	for range 10 { // it may have ended before it was killed
		data := t.TempDir()
		killed := killRestore(t, data, file, 2)
		said, whole := does(t, "backup", "--data-dir", data, filepath.Join(data, "again"))
		if whole || !killed {
			require.Contains(t, said, fmt.Sprintf("again: %d keys", keys), "neither a part nor all")
			continue
		}
		require.Contains(t, said, "a restore into these stores has not been finished")
		said, served := does(t, "serve", "--data-dir", data, "--listen", "127.0.0.1:0", "--grpc-listen", "127.0.0.1:0")
		require.False(t, served)
		require.Contains(t, said, "repeat signpost restore with the same file")
		said, whole = does(t, "restore", "--data-dir", data, file)
		require.True(t, whole, said)
		said, whole = does(t, "backup", "--data-dir", data, filepath.Join(data, "again"))
		require.True(t, whole, said)
		require.Contains(t, said, fmt.Sprintf("again: %d keys", keys))
		return
	}
	t.Fatal("no restore was met in its middle")
}

// killRestore begins a restore and kills it while it reads the backup: the first time it
// checks it, the second time it writes what it reads. It answers whether it came to that.
func killRestore(t *testing.T, data, file string, reading int) bool {
	restore := asProcess(t, "restore", "--data-dir", data, file)
	require.NoError(t, restore.Start())
	ended := make(chan struct{})
	go func() { _ = restore.Wait(); close(ended) }()
	began, last := 1, int64(0)
	for {
		select {
		case <-ended:
			return false
		case <-time.After(100 * time.Microsecond):
		}
		at := readTo(restore.Process.Pid, file)
		if at < last {
			began++
		}
		if last = at; began == reading && at > 0 {
			_ = restore.Process.Kill()
			<-ended
			return true
		}
	}
}

// readTo is how far a process has read a file, as Linux tells it.
func readTo(pid int, file string) int64 {
	descriptors, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, descriptor := range descriptors {
		if open, err := os.Readlink(descriptor); err != nil || open != file {
			continue
		}
		text, _ := os.ReadFile(strings.Replace(descriptor, "/fd/", "/fdinfo/", 1))
		at, _ := strconv.ParseInt(strings.TrimPrefix(strings.SplitN(string(text), "\n", 2)[0], "pos:\t"), 10, 64)
		return at
	}
	return 0
}

// writeLargeBackup writes one that takes a while to restore, and answers how many
// keys it has.
func writeLargeBackup(t *testing.T, file string) int {
	const keys = 20_000
	from := kvtest.NewFake()
	for n := range keys {
		_, _, err := from.Txn(t.Context(), nil, kv.Put(fmt.Sprintf("/signpost/doc/projects//p%06d", n), bytes.Repeat([]byte("x"), 100)))
		require.NoError(t, err)
	}
	out, err := os.Create(file)
	require.NoError(t, err)
	_, err = backup.Write(t.Context(), backup.Stores{KV: from}, "", time.Now(), out)
	require.NoError(t, err)
	require.NoError(t, out.Close())
	return keys
}

// TestTheJobsOfKubernetesBackUpAndRestore: the commands of deploy/backup run, with directories in
// place of their volumes.
func TestTheJobsOfKubernetesBackUpAndRestore(t *testing.T) {
	t.Parallel()
	var data string
	service := startService(t, func(c *app.Config) { data = c.DataDir })
	require.Equal(t, exitDone, signpost(t, service.url, "apply", "-f", quickstart).code)
	require.NoError(t, service.stop())
	restored, backups, key := t.TempDir(), t.TempDir(), t.TempDir()
	run := func(file, data string) {
		t.Helper()
		args := jobArgs(t, file)
		volumes := strings.NewReplacer("=/data", "="+data, "=/etc/signpost/", "="+key+"/",
			"/backups/$(POD)", backups+"/signpost-backup-x7k2q", "/backups/FILE", backups+"/signpost-backup-x7k2q")
		for n := range args {
			args[n] = volumes.Replace(args[n])
		}
		said, ok := does(t, args...)
		require.True(t, ok, said)
	}
	require.NoError(t, os.Rename(filepath.Join(data, "secret.key"), filepath.Join(key, "secret.key")))
	run("backup.yaml", data)
	run("restore.yaml", restored)
	again := startService(t, func(c *app.Config) {
		c.DataDir, c.SecretKeyFile = restored, filepath.Join(key, "secret.key")
	})
	require.Contains(t, signpost(t, again.url, "get", "projects").out, "shop")
}

// jobArgs are the arguments of the container of a Job of deploy/backup.
func jobArgs(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile("../../deploy/backup/" + file)
	require.NoError(t, err)
	var job struct {
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct {
						Args []string `json:"args"`
					} `json:"containers"`
				} `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	}
	require.NoError(t, yaml.Unmarshal(text, &job))
	require.Len(t, job.Spec.Template.Spec.Containers, 1)
	return job.Spec.Template.Spec.Containers[0].Args
}
