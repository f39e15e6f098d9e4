package namehistory

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// kept is what a pruning has to know of a document.
type kept struct {
	path    intent.Path
	updated time.Time
	bytes   int
	turns   int
}

// Prune removes histories in which nothing has happened for MostAge. Of projects with
// more than Bytes, the oldest turns of the names with most turns go. Several may do so at
// once.
func (h *History) Prune(ctx context.Context) error {
	projects := map[string][]kept{}
	options := intent.ListOptions{Collection: intent.NameHistoryCollection, Limit: batch, Bytes: intent.PageBytes}
	err := intent.Each(ctx, h.Documents, options, func(doc intent.Document) error {
		if h.Now().Sub(doc.UpdatedAt) > MostAge {
			return h.remove(ctx, doc.Path)
		}
		turns := 1 // of a damaged document, which is removed whole
		var d document
		if json.Unmarshal(doc.Body, &d) == nil {
			turns = len(d.Turns)
		}
		_, project, _ := parse(doc.Path)
		projects[project] = append(projects[project], kept{path: doc.Path, updated: doc.UpdatedAt, bytes: len(doc.Body), turns: turns})
		return nil
	})
	if err != nil || h.Bytes == 0 {
		return err
	}
	for _, all := range projects {
		if err := h.fit(ctx, all); err != nil {
			return err
		}
	}
	return nil
}

// fit brings the histories of a project below the bound.
func (h *History) fit(ctx context.Context, all []kept) error {
	most := MostTurns
	for most > 1 && size(all, most) > h.Bytes {
		most--
	}
	slices.SortFunc(all, func(a, b kept) int { return cmp.Or(a.updated.Compare(b.updated), cmp.Compare(a.path, b.path)) })
	excess := size(all, most) - h.Bytes
	for _, k := range all {
		var err error
		switch {
		case excess > 0:
			excess -= k.at(most)
			err = h.remove(ctx, k.path)
		case k.turns > most:
			err = h.shorten(ctx, k.path, most)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// size is about how many bytes histories take with so many turns at most.
func size(all []kept, most int) int {
	sum := 0
	for _, k := range all {
		sum += k.at(most)
	}
	return sum
}

func (k kept) at(most int) int { return k.bytes * min(k.turns, most) / max(k.turns, 1) }

func (h *History) remove(ctx context.Context, path intent.Path) error {
	if err := h.Documents.Delete(ctx, path, intent.Always()); intent.CodeOf(err) != intent.NotFound {
		return err
	}
	return nil
}

// shorten keeps so many of the newest turns, unless somebody else writes the document.
func (h *History) shorten(ctx context.Context, path intent.Path, most int) error {
	stored, d, err := h.read(ctx, path)
	if err != nil || stored.Revision == 0 {
		return err
	}
	d.keep(most)
	body, err := d.encode(h.Now())
	if err != nil {
		return err
	}
	if _, err := h.Documents.Put(ctx, intent.Write{Path: path, Body: body, Condition: intent.IfRevision(stored.Revision)}); !lostRace(err) {
		return err
	}
	return nil
}
