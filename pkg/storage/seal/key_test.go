package seal_test

import (
	"bytes"
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/seal"
)

func TestGeneratedKeyFileLoads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	generated, err := seal.GenerateKeyFile(path)
	require.NoError(t, err)
	loaded, err := seal.LoadKeyFile(path)
	require.NoError(t, err)
	require.Equal(t, generated, loaded)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1, "no draft is left")
}

func TestGenerateNeverReplacesAKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	var made atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			_, err := seal.GenerateKeyFile(path)
			if err == nil {
				made.Add(1)
				return
			}
			require.ErrorIs(t, err, fs.ErrExist)
		})
	}
	group.Wait()
	require.EqualValues(t, 1, made.Load())
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

func TestGenerateTellsOfAMissingDirectory(t *testing.T) {
	_, err := seal.GenerateKeyFile(filepath.Join(t.TempDir(), "none", "key"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestLoadKeyFileRefuses(t *testing.T) {
	good := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
	for _, one := range []struct {
		reason, text string
		mode         fs.FileMode
		want         string
	}{
		{"writable by the group", good, 0o660, "chmod 600"},
		{"readable by others", good, 0o604, "chmod 600"},
		{"empty", "", 0o600, "base64 of 32 bytes"},
		{"too short", base64.StdEncoding.EncodeToString([]byte("k")), 0o600, "base64 of 32 bytes"},
		{"too long", good + good, 0o600, "base64 of 32 bytes"},
		{"not base64", "my secret passphrase", 0o600, "base64 of 32 bytes"},
		{"huge", strings.Repeat("k", 1<<20), 0o600, "base64 of 32 bytes"},
	} {
		path := filepath.Join(t.TempDir(), "key")
		require.NoError(t, os.WriteFile(path, []byte(one.text), one.mode))
		require.NoError(t, os.Chmod(path, one.mode))
		_, err := seal.LoadKeyFile(path)
		require.ErrorContains(t, err, one.want, one.reason)
		require.NotContains(t, err.Error(), "passphrase", one.reason)
	}
	_, err := seal.LoadKeyFile(t.TempDir())
	require.ErrorContains(t, err, "base64", "a directory")
	_, err = seal.LoadKeyFile(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// A Secret's file in a Kubernetes volume belongs to root and to the group of
// the pod that reads it.
func TestLoadKeyFileTakesASecretVolume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	_, err := seal.GenerateKeyFile(path)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(path, 0o440))
	_, err = seal.LoadKeyFile(path)
	require.NoError(t, err)
}

func TestLoadKeyFileIgnoresWhiteSpace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	text := "\n " + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))) + " \r\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o400))
	_, err := seal.LoadKeyFile(path)
	require.NoError(t, err)
}

// FuzzKeyFiles: a file holds a key of 32 bytes or is refused, without quoting it.
func FuzzKeyFiles(f *testing.F) {
	good := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	for _, text := range []string{good, good + "\n", " " + good, good[:40], good + good, "", "=", "hush-this-is-no-base64-at-all", strings.Repeat("A", 5000)} {
		f.Add(text)
	}
	file := filepath.Join(f.TempDir(), "key")
	f.Fuzz(func(t *testing.T, text string) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		k, err := seal.LoadKeyFile(file)
		if err != nil {
			const tell = 16
			require.True(t, len(text) < tell || !strings.Contains(err.Error(), text), "%v", err)
			return
		}
		require.Len(t, k.ID(), 8)
		secret, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
		require.NoError(t, err)
		require.Len(t, secret, 32)
	})
}

// TestAKeyIsReadFromText, and an error does not quote it.
func TestAKeyIsReadFromText(t *testing.T) {
	text := "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
	parsed, err := seal.ParseKey(" " + text + "\n")
	require.NoError(t, err)
	require.Equal(t, key(t, 1).ID(), parsed.ID())
	for _, wrong := range []string{"", "hunter2", text[4:], text + "AAAA", strings.ReplaceAll(text, "A", "!")} {
		_, err := seal.ParseKey(wrong)
		require.ErrorContains(t, err, "base64 of 32 bytes")
		if wrong != "" {
			require.NotContains(t, err.Error(), wrong)
		}
	}
}

// TestASealedTextNamesItsKey: so that it is known which one opens it.
func TestASealedTextNamesItsKey(t *testing.T) {
	old, err := sealer(t, key(t, 1)).Seal([]byte("x"), place)
	require.NoError(t, err)
	for _, c := range []struct {
		by             *seal.Sealer
		current, known bool
	}{{sealer(t, key(t, 1)), true, true}, {sealer(t, key(t, 2), key(t, 1)), false, true}, {sealer(t, key(t, 2)), false, false}} {
		id, current, known := c.by.KeyOf(old)
		require.Equal(t, key(t, 1).ID(), id)
		require.Equal(t, c.current, current)
		require.Equal(t, c.known, known)
	}
	id, current, known := sealer(t, key(t, 1)).KeyOf("plain")
	require.Empty(t, id)
	require.False(t, current || known)
}
