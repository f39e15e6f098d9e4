package directory

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
)

// mostStill is how many files a scan looks at whose folders are as they were. Git and others write a file anew,
// which changes its folder. A file that is changed in its place is found when its turn comes.
const mostStill = 1000

// coarse is the longest step of a file system's clock. Two changes of a folder within it have the same time.
const coarse = 2 * time.Second

// round is how far scans are that look at a part of the files each. The directory is locked.
type round struct {
	folders map[string]folder // as they were looked through as a whole
	paths   []string          // of all files, in order; nil: they are to be collected
	after   string            // the file that was looked at last
	written map[string]bool   // files that we have written since the scan began; nil: there is no scan
	missed  error             // why one of these could not be taken up
}

// folder is a folder as it was when all of its files were looked at.
type folder struct {
	is     fs.FileInfo
	looked time.Time
}

// still tells whether a folder has the same files as it had then, each written at its time or changed in its place.
func (f folder) still(is fs.FileInfo) bool {
	return f.is != nil && os.SameFile(f.is, is) && f.is.ModTime().Equal(is.ModTime()) && f.looked.Sub(is.ModTime()) > coarse
}

// scan brings the picture up to date and tells whether it changed. Writes of our own come in between if there are very many files:
// they are taken up at once.
func (w *directoryWatches) scan() bool {
	w.directory.mu.Lock()
	defer w.directory.mu.Unlock()
	w.round.written, w.round.missed = map[string]bool{}, nil
	changed, err := w.walk()
	err = cmp.Or(err, w.round.missed)
	w.round.written = nil
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		changed = w.synced || w.trouble == nil
		w.synced, w.trouble = false, fileError("look through directory "+w.directory.name, err)
		w.round.folders = nil
		return changed
	}
	changed = changed || !w.synced
	w.synced, w.trouble = true, nil
	return changed
}

// walk looks at all files of the folders that have changed, and at some of the others.
func (w *directoryWatches) walk() (changed bool, err error) {
	entries, err := fs.ReadDir(w.directory.dir().FS(), ".")
	if err != nil {
		return false, err
	}
	looked, still, before := map[string]folder{}, map[string]bool{}, w.known()
	for _, entry := range entries {
		name := entry.Name()
		if !entry.IsDir() || strings.HasPrefix(name, ".") {
			continue
		}
		is, err := w.directory.dir().Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return false, err
		}
		if was := w.round.folders[name]; was.still(is) {
			looked[name], still[name] = was, true
			continue
		}
		looked[name] = folder{is, time.Now()}
		others, err := w.through(name, before)
		if err != nil {
			return false, err
		}
		changed = changed || others
	}
	for len(before) > 0 {
		name := path.Dir(before[0])
		here := within(before, name)
		before = before[len(here):]
		if _, there := looked[name]; there {
			continue
		}
		for _, at := range here {
			if !w.round.written[at] { // since the folders were listed
				changed = w.gone(at) || changed
			}
		}
	}
	w.round.folders = looked
	others, err := w.someOf(still)
	return changed || others, err
}

// through looks at all files of a folder, which had some of those before.
func (w *directoryWatches) through(name string, before []string) (changed bool, err error) {
	root, err := w.directory.dir().OpenRoot(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = root.Close() }()
	here := within(before, name)
	seen := make([]bool, len(here))
	err = eachName(root, w.letWrite, func(file string) error {
		at := path.Join(name, file)
		if path.Ext(at) != ".yaml" || w.round.written[at] { // it may be in another folder of this name by now
			return nil
		}
		info, err := root.Lstat(file)
		other, err := w.look(at, info, err)
		if n, known := slices.BinarySearch(here, at); known {
			seen[n] = true
		}
		changed = changed || other
		return err
	})
	if err != nil {
		return false, err
	}
	for n, at := range here {
		if seen[n] || w.round.written[at] {
			continue
		}
		info, err := root.Lstat(path.Base(at)) // one that is written anew meanwhile may be in no list
		other, err := w.look(at, info, err)
		if err != nil {
			return false, err
		}
		changed = changed || other
	}
	return changed, nil
}

// letWrite has writes of our own happen that wait. The directory is locked.
func (w *directoryWatches) letWrite() {
	w.directory.mu.Unlock()
	w.directory.mu.Lock()
}

// eachName calls do with the names of all files of a folder. It reads some of them at a time, because there may be very many, and
// calls between before it reads more.
func eachName(folder *os.Root, between func(), do func(name string) error) error {
	const some = 256
	list, err := folder.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = list.Close() }()
	for {
		names, err := list.Readdirnames(some)
		for _, name := range names {
			if err := do(name); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, fs.ErrNotExist): // what was written last has emptied the folder, and it is gone
			return nil
		case err != nil:
			return err
		case len(names) == some:
			between()
		}
	}
}

// within are those of the paths, in order, that are of files of a folder.
func within(paths []string, folder string) []string {
	from, _ := slices.BinarySearch(paths, folder+"/")
	to, _ := slices.BinarySearch(paths, folder+"0") // the first text behind all that begin with the folder and a slash
	return paths[from:to]
}

// someOf looks at the next files of the folders that are as they were.
func (w *directoryWatches) someOf(still map[string]bool) (changed bool, err error) {
	paths := w.known()
	from, found := slices.BinarySearch(paths, w.round.after)
	if found {
		from++
	}
	roots := map[string]*os.Root{}
	defer func() {
		for _, root := range roots {
			_ = root.Close()
		}
	}()
	for n := range min(mostStill, len(paths)) {
		at := paths[(from+n)%len(paths)]
		name := path.Dir(at)
		w.round.after = at
		if !still[name] {
			continue
		}
		if roots[name] == nil {
			root, err := w.directory.dir().OpenRoot(name)
			if errors.Is(err, fs.ErrNotExist) {
				still[name] = false // the next scan sees to it
				continue
			}
			if err != nil {
				return changed, err
			}
			roots[name] = root
		}
		info, err := roots[name].Lstat(path.Base(at))
		other, err := w.look(at, info, err)
		if err != nil {
			return false, err
		}
		changed = changed || other
	}
	return changed, nil
}

// known are the paths of all files of the picture, in order.
func (w *directoryWatches) known() []string {
	if w.round.paths == nil {
		w.mu.Lock()
		w.round.paths = slices.Sorted(maps.Keys(w.files))
		w.mu.Unlock()
	}
	return w.round.paths
}

// gone takes a file out of the picture, and tells whether it was there.
func (w *directoryWatches) gone(at string) bool {
	w.mu.Lock()
	file, there := w.files[at]
	delete(w.files, at)
	w.mu.Unlock()
	if !there {
		return false
	}
	w.round.paths = nil
	if file.ours {
		w.directory.vacated(path.Dir(at))
	}
	return true
}

// look takes up a file as it is now, and tells whether it is another one than before.
func (w *directoryWatches) look(at string, info fs.FileInfo, err error) (changed bool, _ error) {
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return w.gone(at), nil
	}
	if err != nil {
		return false, err
	}
	w.mu.Lock()
	before, known := w.files[at]
	w.mu.Unlock()
	if known && before.size == info.Size() && before.changed == info.ModTime().UnixNano() {
		return false, nil
	}
	raw, err := w.directory.slurp(at)
	if errors.Is(err, fs.ErrNotExist) {
		return w.gone(at), nil
	}
	if err != nil {
		return false, err
	}
	file := w.scanned(at, info, raw)
	w.mu.Lock()
	w.files[at] = file
	w.mu.Unlock()
	if !known {
		w.round.paths = nil
	}
	return !known || before.hash != file.hash, nil
}

// scanned is what a file says, in short.
func (w *directoryWatches) scanned(at string, info fs.FileInfo, raw []byte) *scanned {
	live, id, err := contentOf(at, raw)
	if err != nil {
		id = bundle.ID{} // broken by hand, perhaps: nobody's, hence not in sight
	}
	file, is := &scanned{size: info.Size(), changed: info.ModTime().UnixNano(), hash: sum(raw)}, head{group: w.texts.Shared(id.Group), kind: w.texts.Shared(id.Kind)}
	if live.Ours(w.directory.options.Installation) {
		file.name = live.Labels[bundle.LabelName]
		delete(live.Labels, bundle.LabelName)
		is.ours, is.labels, is.annotations = true, w.marked(live.Labels), w.marked(live.Annotations)
	}
	file.head = w.shared(is)
	return file
}
