// Package backup writes all that Signpost keeps into one file, and makes empty
// stores of such a file what the others were. Secret values stay sealed, and
// the key is not in it.
//
// Keys are read at one revision of etcd. Documents that MongoDB keeps are read
// before them: what a document points to among the keys was written earlier, and
// is kept longer.
package backup

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Records are the documents of a store that keeps them apart from the keys, as
// MongoDB does.
type Records interface {
	// Dump answers all records by id, each with what it refers to.
	Dump(ctx context.Context) (map[string][]byte, error)
	// Load stores a record that Dump has answered, over any existing one.
	Load(ctx context.Context, id string, raw []byte) error
	// Empty tells whether there is no record.
	Empty(ctx context.Context) (bool, error)
}

// Stores are what is backed up and restored.
type Stores struct {
	KV      kv.KV
	Records Records // nil: documents are among the keys
	// Named answers the ids of the app contexts that a key of Signpost's names, and
	// which are Signpost's for that. nil: there are none.
	Named func(kv.Item) ([]string, error)
}

// Header tells what a backup is of.
type Header struct {
	Format  int       `json:"format"`  // of the file
	Schema  int       `json:"schema"`  // the newest schema version that the program knew which wrote it
	Version string    `json:"version"` // of that program
	Time    time.Time `json:"time"`    // UTC, when it began
	MongoDB bool      `json:"mongodb"` // documents are records, not keys
}

// Summary tells how much a backup holds.
type Summary struct {
	Keys    int      `json:"keys"`
	Records int      `json:"records"`
	Sealed  []string `json:"sealed"` // the ids of the keys that its values are sealed with, ordered
}

// The prefixes of Signpost's keys, and of app contexts, which an orchestrator may have
// contexts of its own below.
const (
	ownPrefix     = "/signpost/"
	contextPrefix = "/context/"
)

// pageSize is how many keys are read at once.
const pageSize = 500

// fleeting are keys that say who lives, or what has just been asked for. They
// hold nothing for the stores to come.
func fleeting() []string {
	return []string{"/signpost/members/", "/signpost/replicas/", "/signpost/workers/", "/signpost/nudge/", restoringKey}
}

// Write writes a backup. Its errors are those of the stores and of out; a
// Conflict where a restore into them has not been finished.
func Write(ctx context.Context, s Stores, version string, now time.Time, out io.Writer) (Summary, error) {
	if err := Unfinished(ctx, s.KV); err != nil {
		return Summary{}, err
	}
	w := newWriter(out)
	w.add(line{Header: &Header{Format: format, Schema: intent.Schema, Version: version, Time: now.UTC(), MongoDB: s.Records != nil}})
	if s.Records != nil {
		records, err := s.Records.Dump(ctx)
		if err != nil {
			return w.Summary, err
		}
		for _, id := range slices.Sorted(maps.Keys(records)) {
			w.add(line{Record: id, Value: records[id]})
		}
	}
	_, revision, err := s.KV.Get(ctx, restoringKey)
	if err != nil {
		return w.Summary, err
	}
	contexts := map[string]bool{}
	err = eachKey(ctx, s.KV, ownPrefix, revision, func(item kv.Item) error {
		w.add(line{Key: item.Key, Value: item.Value})
		ids, unreadable := s.named(item)
		for _, id := range ids {
			contexts[id] = true
		}
		return unreadable
	})
	for _, id := range slices.Sorted(maps.Keys(contexts)) {
		if err == nil {
			err = eachKey(ctx, s.KV, contextPrefix+id+"/", revision, func(item kv.Item) error {
				w.add(line{Key: item.Key, Value: item.Value})
				return nil
			})
		}
	}
	if errors.Is(err, kv.ErrCompacted) {
		err = &intent.Error{Code: intent.Unavailable, Detail: "etcd was compacted meanwhile: back it up again"}
	}
	if err != nil {
		return w.Summary, err
	}
	return w.finish()
}

// eachKey gives all lasting keys below a prefix as they were at a revision.
func eachKey(ctx context.Context, store kv.KV, prefix string, revision int64, give func(kv.Item) error) error {
	for after := ""; ; {
		items, _, err := store.Range(ctx, kv.Range{Prefix: prefix, After: after, Limit: pageSize, Revision: revision})
		if err != nil {
			return err
		}
		for _, item := range items {
			if slices.ContainsFunc(fleeting(), func(prefix string) bool { return strings.HasPrefix(item.Key, prefix) }) {
				continue
			}
			if err := give(item); err != nil {
				return err
			}
		}
		if len(items) < pageSize {
			return nil
		}
		after = items[len(items)-1].Key
	}
}

func (s Stores) named(item kv.Item) ([]string, error) {
	if s.Named == nil {
		return nil, nil
	}
	return s.Named(item)
}
