package etcd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// envelope is the value of a document's key. The body comes last and as it
// was given, byte by byte.
type envelope struct {
	UID       string          `json:"uid"`
	Revision  int64           `json:"revision"`
	CreatedAt time.Time       `json:"createdAt"`
	Updated   int64           `json:"updatedAfter,omitempty"` // milliseconds behind CreatedAt
	Write     string          `json:"write"`                  // identity of the write, to recognise one whose answer was lost
	Refs      refs            `json:"refs,omitempty"`
	Schema    int             `json:"schema,omitempty"` // none: 1
	Body      json.RawMessage `json:"body,omitempty"`
}

func encode(doc intent.Document, write string) ([]byte, error) {
	e := envelope{
		UID: doc.UID, Revision: doc.Revision, CreatedAt: doc.CreatedAt, Updated: doc.UpdatedAt.Sub(doc.CreatedAt).Milliseconds(),
		Write: write, Refs: refsOf(doc.Refs),
	}
	if doc.Schema > 1 {
		e.Schema = doc.Schema
	}
	head, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", doc.Path, err)
	}
	// json.Marshal would rewrite the body.
	return slices.Concat(head[:len(head)-1], []byte(`,"body":`), doc.Body, []byte("}")), nil
}

func decode(item kv.Item) (intent.Document, string, error) {
	path := pathOf(item.Key)
	e, err := open(item.Value)
	if err != nil {
		return intent.Document{}, "", fmt.Errorf("the stored document %s is damaged: %w", path, err)
	}
	return intent.Document{
		Path:      path,
		UID:       e.UID,
		Revision:  e.Revision,
		CreatedAt: e.CreatedAt,
		UpdatedAt: e.CreatedAt.Add(time.Duration(e.Updated) * time.Millisecond),
		Refs:      e.Refs.paths(),
		Body:      e.Body,
		Schema:    max(e.Schema, 1),
	}, e.Write, nil
}

// open is the envelope of encode. The body, most of it, is checked and not decoded.
func open(value []byte) (e envelope, err error) {
	if head, rest, found := bytes.Cut(value, []byte(`,"body":`)); found && len(head) > 1 && bytes.HasSuffix(rest, []byte("}")) {
		body := bytes.Trim(rest[:len(rest)-1], " \t\r\n")
		if json.Unmarshal(append(slices.Clip(head), '}'), &e) == nil && json.Valid(body) {
			e.Body = slices.Clone(body)
			return e, nil
		}
	}
	err = json.Unmarshal(value, &e)
	return e, err
}

// refs are the documents that a document refers to: names by their collections.
type refs map[string][]string

func refsOf(paths []intent.Path) refs {
	if len(paths) == 0 {
		return nil
	}
	all := refs{}
	for _, path := range paths {
		collection, name := path.Split()
		all[collection] = append(all[collection], name)
	}
	return all
}

// paths are the references in order.
func (r refs) paths() []intent.Path {
	var all []intent.Path
	for collection, names := range r {
		for _, name := range names {
			all = append(all, intent.Join(collection, name))
		}
	}
	slices.Sort(all)
	return slices.Clip(all) // several readers share them
}
