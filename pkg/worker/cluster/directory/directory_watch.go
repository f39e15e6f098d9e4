package directory

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/storage/recent"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// ScanInterval is the default time between two scans of a directory for what
// others have done to our files.
const ScanInterval = 5 * time.Second

// directoryWatches is a picture of the files that are ours, from scans. A file
// whose size and time are as they were is not read again.
type directoryWatches struct {
	directory *Directory
	notify    cluster.Notify
	stop      context.CancelFunc
	round     round

	mu      sync.Mutex
	files   map[string]*scanned // not changed any more
	heads   map[string]*head    // by what they say, so that files share them
	texts   recent.Texts
	synced  bool
	trouble error
}

// scanned is a file as it was looked at. There may be very many, so that it has what it says in short.
type scanned struct {
	size    int64
	changed int64        // in Unix nanoseconds
	hash    [hashed]byte // of what it holds
	name    string       // its LabelName; empty for none
	*head
}

// head is what many files have in common. It is not changed any more.
type head struct {
	group, kind string
	ours        bool
	labels      []mark // but for LabelName, in order; none, unless it is ours
	annotations []mark
}

// mark is a label or an annotation.
type mark struct{ key, value string }

// live is the object as the file has it.
func (s *scanned) live(at string) *cluster.Live {
	live := &cluster.Live{
		Version: cluster.Version{UID: hash([]byte(at)), ResourceVersion: hex.EncodeToString(s.hash[:])},
		Labels:  unmarked(s.labels), Annotations: unmarked(s.annotations),
	}
	if s.name != "" {
		live.Labels[bundle.LabelName] = s.name
	}
	return live
}

// mostHeads is how many heads are kept for later files. All are forgotten when there are too many.
const mostHeads = 4096

// shared answers a head that equals this one.
func (w *directoryWatches) shared(h head) *head {
	key := fmt.Sprintf("%q %q %t %q %q", h.group, h.kind, h.ours, h.labels, h.annotations)
	if w.heads[key] == nil {
		if len(w.heads) >= mostHeads {
			clear(w.heads)
		}
		w.heads[key] = &h
	}
	return w.heads[key]
}

// marked are labels or annotations in short, with the texts that many files have in common.
func (w *directoryWatches) marked(all map[string]string) []mark {
	out := make([]mark, 0, len(all))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		out = append(out, mark{w.texts.Shared(key), w.texts.Shared(all[key])})
	}
	return out
}

func unmarked(all []mark) map[string]string {
	if len(all) == 0 {
		return nil
	}
	out := make(map[string]string, len(all))
	for _, one := range all {
		out[one.key] = one.value
	}
	return out
}

// Watch implements Target.
func (d *Directory) Watch(ctx context.Context, notify cluster.Notify) cluster.Watches {
	ctx, stop := context.WithCancel(ctx)
	w := &directoryWatches{directory: d, notify: notify, stop: stop, files: map[string]*scanned{}, heads: map[string]*head{}}
	d.mu.Lock()
	d.watchers[w] = true
	d.mu.Unlock()
	w.scan()
	go w.run(ctx)
	return w
}

func (w *directoryWatches) run(ctx context.Context) {
	ticker := time.NewTicker(cmp.Or(w.directory.options.ScanEvery, ScanInterval))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if w.scan() {
				w.notify.Objects()
			}
		case <-ctx.Done():
			w.directory.mu.Lock()
			delete(w.directory.watchers, w)
			w.directory.mu.Unlock()
			return
		}
	}
}

// refresh takes up one write of our own. The directory is locked.
func (w *directoryWatches) refresh(at string) {
	if w.round.written != nil {
		w.round.written[at] = true
	}
	info, err := w.directory.dir().Lstat(at)
	if _, err := w.look(at, info, err); err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.synced, w.round.folders, w.round.missed = false, nil, err
	}
}

// Follow implements Watches. A scan sees every kind; a directory has no live
// Services, their addresses come from manifests.
func (w *directoryWatches) Follow(cluster.Interest) {}

func (w *directoryWatches) Object(id bundle.ID, _ string) cluster.Sight {
	at, err := place(id)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil || !w.synced {
		return cluster.Sight{}
	}
	file, ok := w.files[at]
	if !ok || !file.ours || file.kind != id.Kind || file.group != id.Group {
		return cluster.Sight{Known: true}
	}
	return cluster.Sight{Known: true, Live: file.live(at)}
}

func (w *directoryWatches) Service(string, string) (address.Observation, bool) {
	return address.Observation{}, false
}

// Deployment implements Watches: whether one runs cannot be seen in a file.
func (w *directoryWatches) Deployment(string, string) (*cluster.Availability, bool) {
	return nil, false
}

// DaemonSet implements Watches, as Deployment.
func (w *directoryWatches) DaemonSet(string, string) (*cluster.Availability, bool) { return nil, false }

// Pods implements Watches: a file runs nothing.
func (w *directoryWatches) Pods(string, map[string]string) ([]cluster.Pod, error) {
	return nil, errNoPods()
}

// Nodes implements Watches: a directory does not say where its manifests run.
func (w *directoryWatches) Nodes() ([]placement.Node, bool) { return nil, false }

func (w *directoryWatches) Trouble() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trouble
}

func (w *directoryWatches) Stop() { w.stop() }
