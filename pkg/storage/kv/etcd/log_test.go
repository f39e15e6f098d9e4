package etcd

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// TestADatabaseWithoutItsLogIsRefusedAtOnce, and one that was never written to is
// begun anew, as after a kill in the first start.
func TestADatabaseWithoutItsLogIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(string) error{
		"no directory": os.RemoveAll,
		"no files": func(log string) error {
			return os.Rename(log, log+".away") // and an empty one below
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := EmbeddedOptions{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)}
			server, err := StartEmbedded(t.Context(), options)
			require.NoError(t, err)
			_, _, err = server.KV().Txn(t.Context(), nil, kv.Put("/signpost/k", []byte("v")))
			require.NoError(t, err)
			require.NoError(t, server.Close())
			log := filepath.Join(options.Dir, "member", "wal")
			require.NoError(t, lose(log))
			require.NoError(t, os.MkdirAll(log, 0o700))

			began := time.Now()
			_, err = StartEmbedded(t.Context(), options)
			require.ErrorContains(t, err, "its log of writes is missing")
			require.ErrorContains(t, err, "from a backup")
			require.Less(t, time.Since(began), startTimeout/2)
		})
	}
	dir := t.TempDir()
	database := filepath.Join(dir, "member", "snap", "db")
	require.NoError(t, os.MkdirAll(filepath.Dir(database), 0o700))
	require.NoError(t, checkLog(dir))
	require.NoError(t, os.WriteFile(database, []byte("no database"), 0o600))
	require.NoError(t, checkLog(dir), "etcd says better what is wrong with it")
}

// TestADiskThatIsNearlyFullLeavesRoomForTheLog: 256 MiB, or a quarter of a small one.
func TestADiskThatIsNearlyFullLeavesRoomForTheLog(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size Size
		want bool
	}{
		"a disk that is not told":   {Size{Free: 0}, false},
		"room":                      {Size{Free: 256 << 20, Disk: 100 << 30}, false},
		"none":                      {Size{Free: 256<<20 - 1, Disk: 100 << 30}, true},
		"a small disk with room":    {Size{Free: 100 << 20, Disk: 400 << 20}, false},
		"a small disk without room": {Size{Free: 99 << 20, Disk: 400 << 20}, true},
	} {
		require.Equal(t, c.want, c.size.NearlyFull(), name)
	}
	require.True(t, Size{InUse: 1, Free: 2, Disk: 9}.movable())
	require.False(t, Size{InUse: 2, Free: 2, Disk: 9}.movable(), "there is no room for the second file")
	server, err := StartEmbedded(t.Context(), EmbeddedOptions{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Close()) }()
	size := server.Size()
	require.Positive(t, size.Disk)
	require.Positive(t, size.Free)
	require.LessOrEqual(t, size.Free, size.Disk)
}
