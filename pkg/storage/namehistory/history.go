package namehistory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// The rhythm and the bounds of a History in one process.
const (
	writeEvery  = time.Second
	lastWrites  = 5 * time.Second // at the end of the process
	mostPending = 20_000          // names that wait to be written
	mostWaiting = 20              // writes of one name that wait
	tries       = 5               // of one write, against other replicas
)

// Options say what a History works with.
type Options struct {
	Documents intent.Store
	// Bytes is how much of each project is kept; 0: no bound.
	Bytes   int
	Lost    func()       // is told of each change that is not kept
	Changes *slog.Logger // gets each change and answer as it is kept, for those who keep them for longer; nil: nobody
	Now     func() time.Time
	Logger  *slog.Logger
}

// History keeps the past of host names. Changes wait in a bounded queue, which Run
// writes. It is safe for concurrent use.
type History struct {
	Options

	mu      sync.Mutex
	pending map[key]*waiting

	sizes sizes
}

// key names a host name of a project.
type key struct{ project, host string }

func (k key) compare(other key) int {
	return cmp.Or(cmp.Compare(k.project, other.project), cmp.Compare(k.host, other.host))
}

// waiting is what is to be written of one name, in order.
type waiting struct{ steps []step }

// step is a change, and what was heard until the next one.
type step struct {
	changes *intent.NameChanges         // nil: they are written already
	heard   map[string]intent.NameHeard // by type, the last
}

// New makes a History.
func New(options Options) *History {
	return &History{Options: options, pending: map[key]*waiting{}, sizes: sizes{bytes: map[string]int{}}}
}

// Changed notes changes of host names. It never waits.
func (h *History) Changed(all ...intent.NameChanges) {
	for _, changes := range all {
		h.mu.Lock()
		at := h.waitingOf(key{changes.Turns[0].Project, changes.Host})
		if at == nil || len(at.steps) >= mostWaiting {
			h.Lost() // the next change shows the gap
		} else {
			at.steps = append(at.steps, step{changes: &changes})
		}
		h.mu.Unlock()
	}
}

// Heard notes what authoritative servers answer. It never waits.
func (h *History) Heard(all ...intent.NameHeard) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, heard := range all {
		if at := h.waitingOf(key{heard.Project, heard.Host}); at != nil {
			at.hear(heard)
		}
	}
}

// hear notes an answer at the last change.
func (w *waiting) hear(heard intent.NameHeard) {
	if len(w.steps) == 0 {
		w.steps = append(w.steps, step{})
	}
	last := &w.steps[len(w.steps)-1]
	if last.heard == nil {
		last.heard = map[string]intent.NameHeard{}
	}
	last.heard[heard.Type] = heard
}

// waitingOf is what waits of a name; nil if there are too many of them.
func (h *History) waitingOf(name key) *waiting {
	at := h.pending[name]
	if at == nil && len(h.pending) < mostPending {
		at = &waiting{}
		h.pending[name] = at
	}
	return at
}

// Run writes what waits, until ctx ends, and then what is left.
func (h *History) Run(ctx context.Context) error {
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			h.finish(ctx)
			return nil
		case <-tick.C:
			h.Flush(ctx)
		}
	}
}

// finish writes what waits at the end of the process.
func (h *History) finish(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWrites)
	defer cancel()
	h.Flush(ctx)
}

// Flush writes what waits. Changes that cannot be written now wait on. Two calls at once
// are not allowed.
func (h *History) Flush(ctx context.Context) {
	defer h.boundGrowth(ctx)
	h.mu.Lock()
	todo := h.pending
	h.pending = map[key]*waiting{}
	h.mu.Unlock()
	uids := map[string]string{}
	for _, name := range slices.SortedFunc(maps.Keys(todo), key.compare) {
		what, err := todo[name], ctx.Err()
		if err == nil {
			err = h.write(ctx, uids, name, what)
		}
		if err != nil {
			h.postpone(name, what)
			h.Logger.WarnContext(ctx, "the history of a name cannot be written yet", "name", name.host, "project", name.project, "error", err)
		}
		if intent.CodeOf(err) == intent.Unavailable || ctx.Err() != nil {
			h.postponeAll(todo, name)
			return
		}
		delete(todo, name)
	}
}

// postponeAll has all wait on but one.
func (h *History) postponeAll(todo map[key]*waiting, but key) {
	for name, what := range todo {
		if name != but {
			h.postpone(name, what)
		}
	}
}

// postpone puts what could not be written before what came since.
func (h *History) postpone(name key, what *waiting) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.waitingOf(name)
	if at == nil {
		h.Lost()
		return
	}
	at.steps = slices.Concat(what.steps, at.steps)
	for len(at.steps) > mostWaiting {
		if at.steps[0].changes != nil {
			h.Lost()
		}
		at.steps = at.steps[1:]
	}
}

// write adds what waits of a name to its document. Without its project, nobody could
// read it.
func (h *History) write(ctx context.Context, uids map[string]string, name key, what *waiting) error {
	uid, known := uids[name.project]
	if !known {
		project, err := h.Documents.Get(ctx, intent.Join("projects", name.project))
		if intent.CodeOf(err) == intent.NotFound {
			return nil
		}
		if err != nil {
			return err
		}
		uid = project.UID
		uids[name.project] = uid
	}
	var err error
	for try := range tries {
		begins := try == 0 && what.begins()
		if err = h.tryWrite(ctx, at(name.host, name.project, uid), what, begins); !lostRace(err) {
			return err
		}
	}
	return err
}

// begins tells whether it is likely that nothing is stored of a name yet: its owner has published nothing before.
func (w *waiting) begins() bool {
	return len(w.steps) > 0 && w.steps[0].changes != nil && w.steps[0].changes.Before == ""
}

// tryWrite writes once. It does not read a document that begins: if there is one, the race is lost.
func (h *History) tryWrite(ctx context.Context, path intent.Path, what *waiting, begins bool) (err error) {
	var stored intent.Document
	var d document
	if !begins {
		if stored, d, err = h.read(ctx, path); err != nil {
			return err
		}
	}
	var turns []intent.NameTurn
	var heard []intent.NameHeard
	for _, next := range what.steps {
		if next.changes != nil {
			turns = append(turns, d.add(*next.changes)...)
		}
		for _, answer := range next.heard {
			if d.hear(answer) {
				heard = append(heard, answer)
			}
		}
	}
	if len(turns)+len(heard) == 0 {
		return nil
	}
	write := intent.Write{Path: path, Condition: intent.IfAbsent()}
	if stored.Revision > 0 {
		write.Condition = intent.IfRevision(stored.Revision)
	}
	if write.Body, err = d.encode(h.Now()); err != nil {
		return err
	}
	if _, err = h.Documents.Put(ctx, write); err == nil {
		host, project, _ := parse(path)
		h.grow(project, len(write.Body)-len(stored.Body))
		h.log(host, turns, heard)
	}
	return err
}

// read reads the document at a path, an empty one of revision 0 for none.
func (h *History) read(ctx context.Context, path intent.Path) (intent.Document, document, error) {
	var d document
	stored, err := h.Documents.Get(ctx, path)
	if intent.CodeOf(err) == intent.NotFound {
		return intent.Document{}, d, nil
	}
	if err == nil {
		err = json.Unmarshal(stored.Body, &d)
	}
	return stored, d, err
}

func lostRace(err error) bool {
	var missing *intent.MissingReference
	code := intent.CodeOf(err)
	return code == intent.PreconditionFailed || code == intent.Conflict && !errors.As(err, &missing)
}

// at is where the history of a host name in a project is.
func at(host, project, uid string) intent.Path {
	return intent.Join(intent.NameHistoryCollection, host, project, uid)
}
