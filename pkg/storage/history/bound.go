package history

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// growth counts what was written to each stream since it was last bounded here.
type growth struct {
	mu sync.Mutex
	of map[string]*grown
}

// grown is what is known of a stream.
type grown struct {
	written int
	marks   []mark // as the stream was when it was last bounded; nil: not known
}

// mark is a part of a stream: how many events it has, and the name of the newest of them,
// below the stream.
type mark struct {
	newest string
	events int
}

// note counts an event of a stream. It is true for the last of so many, from where
// the count begins again. The caller that gets the marks of the stream keeps new ones.
func (g *growth) note(stream string, many int) ([]mark, bool) {
	const remembered = 10_000 // streams; beyond that, counts begin again
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.of == nil || len(g.of) >= remembered {
		g.of = map[string]*grown{}
	}
	at := g.of[stream]
	if at == nil {
		at = &grown{}
		g.of[stream] = at
	}
	at.written++
	if at.written < many {
		return nil, false
	}
	marks := at.marks
	*at = grown{}
	return marks, true
}

// keep remembers the marks of a stream.
func (g *growth) keep(stream string, marks []mark) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if at := g.of[stream]; at != nil {
		at.marks = marks
	}
}

// bound removes the oldest events of a stream when a tenth of Count has been written to
// it. The writer waits for it. It reads the events that are new since the last time, and
// those to be removed. It does not see events that a clock which lags puts among older
// ones: these stay until Prune.
func (h *History) bound(ctx context.Context, stream string) {
	const tenth, enough = 10, 5 * time.Second
	part := max(h.Count/tenth, 1)
	if h.Count == 0 {
		return
	}
	marks, due := h.growth.note(stream, part)
	if !due {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), enough)
	defer cancel()
	marks, err := h.count(ctx, stream, marks, part)
	if err == nil {
		marks, err = h.cut(ctx, stream, marks)
	}
	if err != nil {
		h.Logger.WarnContext(ctx, "the history is not bounded, until it is pruned", "of", stream, "error", err)
		return
	}
	h.growth.keep(stream, marks)
}

// errCounted ends a list where the events are counted already.
var errCounted = errors.New("the events are counted from here on")

// count puts marks of the events that are newer than the marks before these. Without any,
// it counts the whole stream.
func (h *History) count(ctx context.Context, stream string, marks []mark, part int) ([]mark, error) {
	var fresh []mark
	limit := batch
	if len(marks) > 0 {
		limit = part + 1 // the new events and the first of the old ones
	}
	err := h.from(ctx, stream, "", limit, func(name string) error {
		switch last := len(fresh) - 1; {
		case len(marks) > 0 && name >= marks[0].newest:
			return errCounted
		case last < 0 || fresh[last].events == part:
			fresh = append(fresh, mark{name, 1})
		default:
			fresh[last].events++
		}
		return nil
	})
	if errors.Is(err, errCounted) {
		err = nil
	}
	return slices.Concat(fresh, marks), err
}

// cut removes the events beyond Count, and answers the marks of the others.
func (h *History) cut(ctx context.Context, stream string, marks []mark) ([]mark, error) {
	left := h.Count
	for n, m := range marks {
		if m.events <= left {
			left -= m.events
			continue
		}
		marks = slices.Clone(marks[:n])
		if left > 0 {
			marks = append(marks, mark{m.newest, left})
		}
		return marks, h.cutFrom(ctx, stream, m.newest, left)
	}
	return marks, nil
}

// cutFrom removes the events of a stream from one of them on, but for so many.
func (h *History) cutFrom(ctx context.Context, stream, newest string, but int) error {
	gone := removal{documents: h.Documents}
	visit := func(name string) error {
		if but > 0 {
			but--
			return nil
		}
		return gone.add(ctx, intent.Join(intent.HistoryCollection, stream+name))
	}
	err := visit(newest)
	if err == nil {
		err = h.from(ctx, stream, newest, batch, visit)
	}
	if err != nil {
		return err
	}
	return gone.finish(ctx)
}

// from visits the names of a stream's events behind one of them, the newest first, and
// reads so many at once.
func (h *History) from(ctx context.Context, stream, after string, limit int, visit func(name string) error) error {
	options := intent.ListOptions{Collection: intent.HistoryCollection, NamePrefix: stream, Limit: limit, PathsOnly: true}
	if after != "" {
		options.After = stream + after
	}
	return intent.Each(ctx, h.Documents, options, func(doc intent.Document) error {
		return visit(strings.TrimPrefix(doc.Path.Name(), stream))
	})
}
