package backup

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// restoringKey is there from the first write of a restore until its last.
const restoringKey = "/signpost/restoring"

// restoring is its value.
type restoring struct {
	SHA256 string `json:"sha256"` // of the backup
}

// Unfinished is a Conflict where a restore has begun and not ended: nobody may
// work on what is there.
func Unfinished(ctx context.Context, store kv.KV) error {
	item, _, err := store.Get(ctx, restoringKey)
	if err == nil && item != nil {
		err = &intent.Error{Code: intent.Conflict, Detail: "a restore into these stores has not been finished: repeat signpost restore with the same file, or empty the stores"}
	}
	return err
}

// Restore makes empty stores of a backup. The whole file is checked before anything is
// written. It answers Invalid for a torn or damaged file. It answers Conflict for a file
// of a newer program, or whose documents belong to other stores. It does so, too, if
// knows has no key of sealed values by its id. Stores that are not empty are a Conflict
// too, unless an earlier Restore of the same backup was interrupted there: this one
// finishes it.
func Restore(ctx context.Context, s Stores, file io.ReadSeeker, knows func(key string) bool) (Header, Summary, error) {
	head, end, err := read(file, func(line) error { return nil })
	if err != nil {
		return head, end.Summary, err
	}
	if err := s.fit(head, end, knows); err != nil {
		return head, end.Summary, err
	}
	mark, err := s.begin(ctx, end)
	if err != nil {
		return head, end.Summary, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return head, end.Summary, err
	}
	l := loader{stores: s, mark: mark}
	if _, again, err := read(file, func(one line) error { return l.take(ctx, one) }); err != nil || again.SHA256 != end.SHA256 {
		if err == nil {
			err = errTorn("it has changed meanwhile")
		}
		return head, end.Summary, fmt.Errorf("%w; the stores hold a part of it, and serve nobody until it was restored", err)
	}
	if err := l.flush(ctx); err != nil {
		return head, end.Summary, err
	}
	return head, end.Summary, s.end(ctx, mark)
}

// fit says whether a backup can be restored into such stores.
func (s Stores) fit(head Header, end trailer, knows func(key string) bool) error {
	if head.MongoDB && s.Records == nil {
		return &intent.Error{Code: intent.Conflict, Detail: "the backup is of an installation with its documents in MongoDB: give --mongo-uri"}
	}
	if !head.MongoDB && s.Records != nil {
		return &intent.Error{Code: intent.Conflict, Detail: "the backup is of an installation with its documents in etcd: leave --mongo-uri out"}
	}
	for _, key := range end.Sealed {
		if !knows(key) {
			return &intent.Error{Code: intent.Conflict, Detail: "values of the backup are sealed with key " + key + ", which is not given: give it with --secret-key-file"}
		}
	}
	return nil
}

// begin marks the stores, which are empty, or marked for the same backup. It
// answers the comparison that holds as long as nobody else begins.
func (s Stores) begin(ctx context.Context, end trailer) (kv.Compare, error) {
	item, _, err := s.KV.Get(ctx, restoringKey)
	if err != nil {
		return kv.Compare{}, err
	}
	raw, err := json.Marshal(restoring{SHA256: end.SHA256})
	if err != nil {
		return kv.Compare{}, err
	}
	when := kv.Compare{Key: ownPrefix, Prefix: true}
	switch {
	case item != nil && bytes.Equal(item.Value, raw):
		when = kv.Unchanged(restoringKey, item)
	case item != nil:
		return when, &intent.Error{Code: intent.Conflict, Detail: "the stores hold an unfinished restore of another backup: repeat that one, or empty them"}
	case s.Records != nil:
		if empty, err := s.Records.Empty(ctx); err != nil || !empty {
			return when, notEmpty(err, "MongoDB holds documents")
		}
	}
	done, revision, err := s.KV.Txn(ctx, []kv.Compare{when}, kv.Put(restoringKey, raw))
	if err == nil && !done {
		err = s.occupied(ctx)
	}
	return kv.Compare{Key: restoringKey, ModRevision: revision}, err
}

func notEmpty(err error, what string) error {
	if err != nil {
		return err
	}
	return &intent.Error{Code: intent.Conflict, Detail: "the stores are not empty (" + what + "): a restore needs empty ones, and changes nothing here"}
}

// occupied tells what is in stores that are not empty.
func (s Stores) occupied(ctx context.Context) error {
	items, _, err := s.KV.Range(ctx, kv.Range{Prefix: ownPrefix, Limit: 1, KeysOnly: true})
	if err == nil && len(items) == 0 {
		return &intent.Error{Code: intent.Unavailable, Detail: "somebody else writes to the stores: try again"}
	}
	if err != nil {
		return err
	}
	return notEmpty(s.served(ctx), "etcd holds "+items[0].Key)
}

// served is a Conflict while a Signpost runs on the stores.
func (s Stores) served(ctx context.Context) error {
	for _, prefix := range fleeting()[:2] {
		items, _, err := s.KV.Range(ctx, kv.Range{Prefix: prefix, Limit: 1, KeysOnly: true})
		if err != nil {
			return err
		}
		if len(items) > 0 {
			return &intent.Error{Code: intent.Conflict, Detail: "a Signpost runs on these stores (" + strings.TrimPrefix(items[0].Key, prefix) + "): stop it first"}
		}
	}
	return nil
}

// end takes the mark away, unless a program that does not know it has been
// started on the stores.
func (s Stores) end(ctx context.Context, mark kv.Compare) error {
	when := []kv.Compare{mark}
	for _, prefix := range fleeting()[:2] {
		when = append(when, kv.Compare{Key: prefix, Prefix: true})
	}
	done, _, err := s.KV.Txn(ctx, when, kv.Delete(restoringKey))
	if err != nil || done {
		return err
	}
	if err := s.served(ctx); err != nil {
		return err
	}
	return errOvertaken()
}

func errOvertaken() error {
	return &intent.Error{Code: intent.Conflict, Detail: "another restore into these stores has begun meanwhile"}
}

// loader stores what it takes, keys many at a time, as long as the mark is its
// own.
type loader struct {
	stores Stores
	mark   kv.Compare
	ops    []kv.Op
	size   int
}

func (l *loader) take(ctx context.Context, one line) error {
	if one.Record != "" {
		return l.stores.Records.Load(ctx, one.Record, one.Value)
	}
	size := len(one.Key) + len(one.Value)
	if len(l.ops) == kv.MaxOps || len(l.ops) > 0 && l.size+size > kv.MaxBytes {
		if err := l.flush(ctx); err != nil {
			return err
		}
	}
	l.ops, l.size = append(l.ops, kv.Put(one.Key, one.Value)), l.size+size
	return nil
}

func (l *loader) flush(ctx context.Context) error {
	done, _, err := l.stores.KV.Txn(ctx, []kv.Compare{l.mark}, l.ops...)
	if err == nil && !done {
		err = errOvertaken()
	}
	l.ops, l.size = nil, 0
	return err
}
