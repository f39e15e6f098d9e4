package history

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const (
	mostStreams  = 1000 // that a page is merged from
	readAtOnce   = 8    // streams
	aheadOfMerge = 10   // events of each stream
)

// All answers the events of all projects that may be read, and of all cluster providers
// if the empty project may be, the newest first. They are without documents. The
// parameters limit and after are those of Page. Errors: Invalid for a wrong after, and for too many projects.
func (h *History) All(ctx context.Context, reads func(project string) bool, limit int, after string) (intent.EventPage, error) {
	behind, err := base64.RawURLEncoding.DecodeString(after)
	if err != nil || bytes.ContainsRune(behind, '/') {
		return intent.EventPage{}, &intent.Error{Code: intent.Invalid, Detail: "continue is not one that this list has answered: leave it out to begin again"}
	}
	all, err := h.streams(ctx, reads, string(behind))
	if err != nil {
		return intent.EventPage{}, err
	}
	readers, reading := errgroup.WithContext(ctx)
	readers.SetLimit(readAtOnce)
	for _, s := range all {
		readers.Go(func() error { return s.fill(reading) })
	}
	if err := readers.Wait(); err != nil {
		return intent.EventPage{}, err
	}
	return merge(ctx, all, limit)
}

// streams are those of the documents at the top that may be read.
func (h *History) streams(ctx context.Context, reads func(project string) bool, behind string) ([]*reader, error) {
	collections := []string{"projects"}
	if reads("") {
		collections = append(collections, "cluster-providers")
	}
	var all []*reader
	for _, collection := range collections {
		err := intent.Each(ctx, h.Documents, intent.ListOptions{Collection: collection, Limit: batch, Bytes: intent.PageBytes}, func(doc intent.Document) error {
			if collection == "projects" && !reads(doc.Path.Name()) {
				return nil
			}
			if len(all) == mostStreams {
				return &intent.Error{Code: intent.Invalid, Detail: fmt.Sprintf("you may read more than %d projects and cluster providers; list the events of one of them, at /v2/projects/PROJECT/events, or follow=true", mostStreams)}
			}
			all = append(all, &reader{documents: h.Documents, stream: stream(doc.Path, doc.UID), behind: behind, more: true})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// reader reads the events of one stream ahead of a merge.
type reader struct {
	documents intent.Store
	stream    string
	behind    string // the name of the last event that was read, below the stream
	next      []intent.Document
	more      bool
}

// fill reads ahead when nothing is left.
func (r *reader) fill(ctx context.Context) error {
	if len(r.next) > 0 || !r.more {
		return nil
	}
	options := intent.ListOptions{Collection: intent.HistoryCollection, NamePrefix: r.stream, Limit: aheadOfMerge, Bytes: intent.PageBytes}
	if r.behind != "" {
		options.After = r.stream + r.behind
	}
	page, err := r.documents.List(ctx, options)
	if err != nil {
		return err
	}
	r.next, r.more = page.Items, page.Continue != ""
	if len(r.next) > 0 {
		r.behind = r.name(len(r.next) - 1)
	}
	return nil
}

// name is the name of an event that was read, below the stream: later events come first.
func (r *reader) name(n int) string { return strings.TrimPrefix(r.next[n].Path.Name(), r.stream) }

// merge takes the newest event of all streams, again and again.
func merge(ctx context.Context, all []*reader, limit int) (intent.EventPage, error) {
	page := intent.EventPage{Items: []intent.Event{}}
	last := ""
	for {
		all = slices.DeleteFunc(all, func(r *reader) bool { return len(r.next) == 0 })
		if len(all) == 0 {
			return page, nil
		}
		if len(page.Items) == limit {
			page.Continue = base64.RawURLEncoding.EncodeToString([]byte(last))
			return page, nil
		}
		newest := slices.MinFunc(all, func(a, b *reader) int { return cmp.Compare(a.name(0), b.name(0)) })
		var e intent.Event
		if err := json.Unmarshal(newest.next[0].Body, &e); err != nil {
			return page, err
		}
		e.Before, e.After = nil, nil
		page.Items, last = append(page.Items, e), newest.name(0)
		newest.next = newest.next[1:]
		if err := newest.fill(ctx); err != nil {
			return page, err
		}
	}
}
