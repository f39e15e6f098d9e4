package namehistory

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
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

// Prune removes histories in which nothing has happened for 30 days. Of projects with
// more than Bytes, the oldest turns of the names with most turns go, until there is room
// for a quarter of Bytes. So the next pruning, which reads all histories, is not due soon.
// Several may do so at once.
func (h *History) Prune(ctx context.Context) error {
	projects, old := map[string][]kept{}, []intent.Path(nil)
	options := intent.ListOptions{Collection: intent.NameHistoryCollection, Limit: intent.PageItems, Bytes: intent.PageBytes}
	err := intent.Each(ctx, h.Documents, options, func(doc intent.Document) error {
		if h.Now().Sub(doc.UpdatedAt) > mostAge {
			if old = append(old, doc.Path); len(old) < batch {
				return nil
			}
			gone := old
			old = nil
			return h.Documents.DeleteAll(ctx, gone)
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
	if err == nil {
		err = h.Documents.DeleteAll(ctx, old)
	}
	if err != nil || h.Bytes == 0 {
		return err
	}
	found := sizes{counted: true, bytes: make(map[string]int, len(projects))}
	for _, project := range slices.Sorted(maps.Keys(projects)) {
		if found.bytes[project], err = h.fit(ctx, projects[project]); err != nil {
			return err
		}
	}
	h.count(found)
	return nil
}

// fit brings the histories of a project that is beyond the bound below it, and answers
// about how many bytes are left.
func (h *History) fit(ctx context.Context, all []kept) (int, error) {
	const part = 4
	if bytes := sum(all, mostTurns); bytes <= h.Bytes {
		return bytes, nil
	}
	most, room := mostTurns, h.Bytes-h.Bytes/part
	for most > 1 && sum(all, most) > room {
		most--
	}
	slices.SortFunc(all, func(a, b kept) int { return cmp.Or(a.updated.Compare(b.updated), cmp.Compare(a.path, b.path)) })
	left := sum(all, most)
	var gone []intent.Path
	for len(gone) < len(all) && left > room {
		k := all[len(gone)]
		gone, left = append(gone, k.path), left-k.at(most)
	}
	if err := h.Documents.DeleteAll(ctx, gone); err != nil {
		return 0, err
	}
	for _, k := range all[len(gone):] {
		if k.turns <= most {
			continue
		}
		if err := h.shorten(ctx, k.path, most); err != nil {
			return 0, err
		}
	}
	return left, nil
}

// sum is about how many bytes histories take with so many turns at most.
func sum(all []kept, most int) int {
	bytes := 0
	for _, k := range all {
		bytes += k.at(most)
	}
	return bytes
}

func (k kept) at(most int) int { return k.bytes * min(k.turns, most) / max(k.turns, 1) }

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
