package app

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/replicas"
	"github.com/signpost-dns/signpost/pkg/storage/seal"
)

// aKey is one of the keys of the stories.
func aKey(fill byte) seal.Key {
	key, err := seal.NewKey(bytes.Repeat([]byte{fill}, 32))
	if err != nil {
		panic(err)
	}
	return key
}

// keyFile is a file with one of these keys.
func keyFile(t *testing.T, fill byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{fill}, 32))+"\n"), 0o600))
	return file
}

// sealedBy tells how many values each key has sealed, as the metrics say.
func (s *server) sealedBy() map[string]string {
	s.t.Helper()
	response, err := http.Get("http://" + s.http + "/metrics")
	require.NoError(s.t, err)
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	found := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		if rest, is := strings.CutPrefix(line, `signpost_sealed_values{key="`); is {
			key, count, _ := strings.Cut(strings.TrimSpace(rest), `"} `)
			found[key] = count
		}
	}
	return found
}

// TestTheKeyOfSecretsIsReplaced: the new key takes over what the old one has
// sealed, which is not needed any more then; a start without the key that is
// needed is refused, with what would do.
func TestTheKeyOfSecretsIsReplaced(t *testing.T) {
	t.Parallel()
	dir, old, current := t.TempDir(), keyFile(t, 1), keyFile(t, 2)
	run := func(change func(c *Config)) *server { return serve(t, dir, change) }
	s := run(func(c *Config) { c.SecretKeyFile = old })
	s.ask("PUT", "projects/shop", `{"metadata":{"name":"shop"},"spec":{}}`, "r1", http.StatusCreated)
	s.ask("PUT", "projects/shop/dns-update-records/lab", `{"metadata":{"name":"lab"},"spec":{
		"provider":"cloudflare","credentials":[{"environment":"CF_API_TOKEN","value":"hunter2"}]}}`, "r2", http.StatusCreated)
	s.stop()

	refuses := func(change func(c *Config), words ...string) {
		t.Helper()
		config := fits()
		config.DataDir, config.LogLevel = dir, "error"
		change(&config)
		err := Run(t.Context(), config)
		for _, word := range words {
			require.ErrorContains(t, err, word)
		}
	}
	refuses(func(c *Config) { c.SecretKeyFile = current },
		"1 with key "+aKey(1).ID(), "here is key "+aKey(2).ID(), "--secret-key-file", "SIGNPOST_SECRET_KEY", "--old-secret-key-file", "--lost-secret-key")
	refuses(func(c *Config) {}, "1 with key "+aKey(1).ID())
	refuses(func(c *Config) { c.SecretKeyFile, c.OldSecretKeyFile = old, "missing" }, "--old-secret-key-file: open")

	s = run(func(c *Config) { c.SecretKeyFile, c.OldSecretKeyFile = current, old })
	require.Eventually(t, func() bool { return s.sealedBy()[aKey(2).ID()] == "1" }, patience, 20*time.Millisecond)
	require.Len(t, s.sealedBy(), 1, "nothing is the old key's any more")
	s.stop()
	refuses(func(c *Config) { c.SecretKeyFile = old }, "1 with key "+aKey(2).ID())

	s = run(func(c *Config) { c.SecretKey = aKey(2) })
	s.stop()
	s = run(func(c *Config) { c.SecretKey, c.LostSecretKeys = aKey(3), []string{aKey(2).ID()} })
	require.Eventually(t, func() bool { return s.sealedBy()[aKey(2).ID()] == "1" }, patience, 20*time.Millisecond, "what is lost is counted")
	s.stop()
}

// revisionsOfSecrets are how often each value was written.
func revisionsOfSecrets(t *testing.T, documents intent.Store) map[intent.Path]int64 {
	t.Helper()
	page, err := documents.List(t.Context(), intent.ListOptions{Collection: intent.SecretCollection})
	require.NoError(t, err)
	found := map[intent.Path]int64{}
	for _, doc := range page.Items {
		found[doc.Path] = doc.Revision
	}
	return found
}

// TestKeysAreReplacedOnceAllSealWithTheNewOne: while replicas are rolled, each of
// the two keys is the old one for somebody, and none takes back what another has
// done. It makes no difference in which order they come and go.
func TestKeysAreReplacedOnceAllSealWithTheNewOne(t *testing.T) {
	t.Parallel()
	store, external := externalEtcd(t)
	documents, a, b := etcd.New(store), keyFile(t, 1), keyFile(t, 2)
	run := func(current, old string) *server {
		return serve(t, t.TempDir(), external, func(c *Config) { c.SecretKeyFile, c.OldSecretKeyFile = current, old })
	}
	before := run(a, b)
	before.ask("PUT", "projects/shop", `{"metadata":{"name":"shop"},"spec":{}}`, "r1", http.StatusCreated)
	before.ask("PUT", "projects/shop/dns-update-records/lab", `{"metadata":{"name":"lab"},"spec":{
		"provider":"cloudflare","credentials":[{"environment":"CF_API_TOKEN","value":"hunter2"}]}}`, "r2", http.StatusCreated)
	require.Eventually(t, func() bool {
		live, err := replicas.Live(t.Context(), store)
		return err == nil && len(live) == 1 && live[0].Key == aKey(1).ID()
	}, patience, 20*time.Millisecond)

	was := revisionsOfSecrets(t, documents)
	for range 2 { // the first job of the garbage collection is to look at the keys
		after := run(b, a)
		require.Eventually(t, func() bool { return after.sealedBy()[aKey(1).ID()] == "1" }, patience, 20*time.Millisecond)
		after.stop()
	}
	require.Equal(t, was, revisionsOfSecrets(t, documents), "one still seals with the first key")

	before.stop()
	after := run(b, a)
	require.Eventually(t, func() bool { return after.sealedBy()[aKey(2).ID()] == "1" }, patience, 20*time.Millisecond)
	require.Len(t, after.sealedBy(), 1)
	was = revisionsOfSecrets(t, documents)
	late := run(a, b)
	require.Eventually(t, func() bool { return late.sealedBy()[aKey(2).ID()] == "1" }, patience, 20*time.Millisecond)
	require.Equal(t, was, revisionsOfSecrets(t, documents), "it does not go back, either")
	late.stop()
	after.stop()
}

// TestAServerWithAKeyNeedsNoRoomForAnother, as when the disk is full: nothing is
// written, not even for a moment.
func TestAServerWithAKeyNeedsNoRoomForAnother(t *testing.T) {
	t.Parallel()
	config := fits()
	config.DataDir = t.TempDir()
	made, err := config.secretKey()
	require.NoError(t, err)
	long := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(config.DataDir, long, long))
	found, err := config.secretKey()
	require.NoError(t, err)
	require.Equal(t, made.ID(), found.ID())
	info, err := os.Stat(config.DataDir)
	require.NoError(t, err)
	require.WithinDuration(t, long, info.ModTime(), time.Second)
}

// TestAKeyThatCannotBeMadeIsNotMissed: who starts for the first time has no backup.
func TestAKeyThatCannotBeMadeIsNotMissed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	config := fits()
	config.DataDir = filepath.Join(file, "data")
	_, err := config.secretKey()
	require.ErrorContains(t, err, "--data-dir: ")
	require.NotContains(t, err.Error(), "backup")
}
