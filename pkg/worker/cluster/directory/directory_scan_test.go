package directory

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

const installation = "k7wq2m9xhdr4"

func manifest(n int, label string) []byte {
	return fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c%05d\n  namespace: shop\n  labels:\n"+
		"    signpost.dev/installation: %s\n    label: %s\n", n, installation, label)
}

func fileName(n int) string { return fmt.Sprintf("configmap_c%05d.yaml", n) }

// scanning is a folder with so many files that was left alone for an hour, and its watches after a scan.
func scanning(t *testing.T, files int) (w *directoryWatches, folder string) {
	root := t.TempDir()
	d, err := NewDirectory(root, "hub", cluster.Options{Installation: installation, ScanEvery: time.Hour})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	folder = filepath.Join(root, "hub", "shop")
	require.NoError(t, os.Mkdir(folder, 0o755))
	for n := range files {
		require.NoError(t, os.WriteFile(filepath.Join(folder, fileName(n)), manifest(n, "old"), 0o600))
	}
	leaveAlone(t, folder)
	w = d.Watch(t.Context(), cluster.Notify{}).(*directoryWatches)
	t.Cleanup(w.Stop)
	return w, folder
}

func leaveAlone(t *testing.T, folder string) {
	hour := time.Now().Add(-time.Hour).Truncate(time.Second)
	require.NoError(t, os.Chtimes(folder, hour, hour))
}

// label is that of an object, "none" if there is no such object.
func (w *directoryWatches) label(n int) string {
	sight := w.Object(bundle.ID{Cluster: "hub", Kind: "ConfigMap", Namespace: "shop", Name: fmt.Sprintf("c%05d", n)}, "")
	if sight.Live == nil {
		return "none"
	}
	return sight.Live.Labels["label"]
}

// TestAScanAtRestCostsTheSameBesideManyFiles by its allocations, of which each look at a file makes some.
func TestAScanAtRestCostsTheSameBesideManyFiles(t *testing.T) {
	costs := map[int]float64{}
	for _, files := range []int{1500, 4500} {
		w, _ := scanning(t, files)
		costs[files] = testing.AllocsPerRun(5, func() { require.False(t, w.scan()) })
	}
	t.Logf("%v", costs)
	require.InEpsilon(t, costs[1500], costs[4500], 0.05)
}

// TestAScanOfManyFilesLetsWritesIn: what is to be written does not wait until all of them were looked at, and is in the picture.
func TestAScanOfManyFilesLetsWritesIn(t *testing.T) {
	t.Parallel()
	const files = 1500
	w, _ := scanning(t, files)
	written, between := 0, false
	for end := time.Now().Add(10 * time.Second); !between && time.Now().Before(end); {
		scanned := make(chan struct{})
		go func() { defer close(scanned); w.scan() }()
		for going := true; going; written++ {
			o, err := bundle.Parse("hub", "", fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%05d","namespace":"shop","labels":{"label":"new"}}}`, files+written))
			require.NoError(t, err)
			_, err = w.directory.Create(t.Context(), o)
			require.NoError(t, err)
			w.directory.mu.Lock()
			between = between || w.round.written != nil
			w.directory.mu.Unlock()
			select {
			case <-scanned:
				going = false
			default:
			}
		}
	}
	require.True(t, between)
	for n := range written {
		require.Equal(t, "new", w.label(files+n))
	}
	require.Equal(t, "old", w.label(0))
	w.scan()
	require.Len(t, w.files, files+written)
}

// TestAFolderThatComesBackDuringAScanIsInThePicture: it was gone when the folders were listed.
func TestAFolderThatComesBackDuringAScanIsInThePicture(t *testing.T) {
	t.Parallel()
	for _, listed := range []bool{false, true} {
		w, folder := scanning(t, 2)
		require.NoError(t, os.RemoveAll(folder))
		if listed {
			require.NoError(t, os.Mkdir(folder, 0o755))
		}
		w.round.written = map[string]bool{"shop/" + fileName(1): true}
		_, err := w.walk()
		require.NoError(t, err)
		require.Equal(t, "none", w.label(0))
		require.Equal(t, "old", w.label(1))
	}
}

// TestAFolderMayGoWhileItIsRead: a write of our own was let in, and has removed its last file.
func TestAFolderMayGoWhileItIsRead(t *testing.T) {
	t.Parallel()
	_, folder := scanning(t, 300)
	root, err := os.OpenRoot(folder)
	require.NoError(t, err)
	defer func() { _ = root.Close() }()
	seen := 0
	err = eachName(root, func() { require.NoError(t, os.RemoveAll(folder)) }, func(string) error { seen++; return nil })
	require.NoError(t, err)
	require.GreaterOrEqual(t, seen, 256)
}

// TestAFileThatIsChangedInItsPlaceIsFoundInItsTurn, though its folder is as it was.
func TestAFileThatIsChangedInItsPlaceIsFoundInItsTurn(t *testing.T) {
	t.Parallel()
	const files, last = 2500, 2400
	w, folder := scanning(t, files)
	require.NoError(t, os.WriteFile(filepath.Join(folder, fileName(last)), manifest(last, "newer"), 0o600))
	require.False(t, w.scan(), "it looks at the second thousand")
	require.Equal(t, "old", w.label(last))
	require.True(t, w.scan())
	require.Equal(t, "newer", w.label(last))
	require.NoError(t, os.Remove(filepath.Join(folder, fileName(1))))
	leaveAlone(t, folder) // as rsync does
	for range files/mostStill + 1 {
		w.scan()
	}
	require.Equal(t, "none", w.label(1))
}

// TestAFolderThatHasChangedIsLookedThrough at once.
func TestAFolderThatHasChangedIsLookedThrough(t *testing.T) {
	t.Parallel()
	const files, last = 2500, 2400
	w, folder := scanning(t, files)
	temporary := filepath.Join(folder, ".new")
	for _, change := range []struct {
		do   func() error
		want string
	}{
		{func() error { return os.Remove(filepath.Join(folder, fileName(last))) }, "none"},
		{func() error {
			return os.WriteFile(filepath.Join(folder, fileName(last)), manifest(last, "back"), 0o600)
		}, "back"},
		{func() error {
			if err := os.WriteFile(temporary, manifest(last, "newer"), 0o600); err != nil {
				return err
			}
			return os.Rename(temporary, filepath.Join(folder, fileName(last)))
		}, "newer"},
		{func() error { return os.Rename(folder, folder+"-away") }, "none"},
		{func() error { return os.Rename(folder+"-away", folder) }, "newer"},
	} {
		require.NoError(t, change.do())
		require.True(t, w.scan())
		require.Equal(t, change.want, w.label(last))
	}
}

// TestAFolderThatHasJustChangedIsLookedThroughAgain, because its time may not tell of the next change.
func TestAFolderThatHasJustChangedIsLookedThroughAgain(t *testing.T) {
	t.Parallel()
	const files, last = 1500, 1400
	w, folder := scanning(t, files)
	now := time.Now()
	require.NoError(t, os.Chtimes(folder, now, now))
	require.False(t, w.scan())
	require.NoError(t, os.WriteFile(filepath.Join(folder, fileName(last)), manifest(last, "newer"), 0o600))
	require.NoError(t, os.Chtimes(folder, now, now))
	require.True(t, w.scan())
	require.Equal(t, "newer", w.label(last))
}

// TestAFileThatIsWrittenAnewDuringAScanIsThere: a folder need not list a file that another program replaces meanwhile.
func TestAFileThatIsWrittenAnewDuringAScanIsThere(t *testing.T) {
	t.Parallel()
	const files = 2000
	w, folder := scanning(t, files)
	now := time.Now()
	require.NoError(t, os.Chtimes(folder, now, now))
	ctx, end := context.WithCancel(t.Context())
	replaced := make(chan error, 1)
	go func() {
		var err error
		for n := 0; ctx.Err() == nil && err == nil; n = (n + 1) % files {
			err = os.WriteFile(filepath.Join(folder, ".new"), manifest(n, "old"), 0o600)
			err = errors.Join(err, os.Rename(filepath.Join(folder, ".new"), filepath.Join(folder, fileName(n))))
		}
		replaced <- err
	}()
	for range 3 {
		w.scan()
		for n := range files {
			require.Equal(t, "old", w.label(n))
		}
	}
	end()
	require.NoError(t, <-replaced)
}
