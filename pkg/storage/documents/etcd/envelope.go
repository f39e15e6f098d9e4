package etcd

import (
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
	UpdatedAt time.Time       `json:"updatedAt"`
	Write     string          `json:"write"` // identity of the write, to recognise one whose answer was lost
	Refs      []intent.Path   `json:"refs,omitempty"`
	Schema    int             `json:"schema"`
	Body      json.RawMessage `json:"body,omitempty"`
}

func encode(doc intent.Document, write string) ([]byte, error) {
	head, err := json.Marshal(envelope{
		UID:       doc.UID,
		Revision:  doc.Revision,
		CreatedAt: doc.CreatedAt,
		UpdatedAt: doc.UpdatedAt,
		Write:     write,
		Refs:      doc.Refs,
		Schema:    doc.Schema,
	})
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", doc.Path, err)
	}
	// json.Marshal would rewrite the body.
	return slices.Concat(head[:len(head)-1], []byte(`,"body":`), doc.Body, []byte("}")), nil
}

func decode(item kv.Item) (intent.Document, string, error) {
	var e envelope
	path := pathOf(item.Key)
	if err := json.Unmarshal(item.Value, &e); err != nil {
		return intent.Document{}, "", fmt.Errorf("the stored document %s is damaged: %w", path, err)
	}
	return intent.Document{
		Path:      path,
		UID:       e.UID,
		Revision:  e.Revision,
		CreatedAt: e.CreatedAt,
		UpdatedAt: e.UpdatedAt,
		Refs:      e.Refs,
		Body:      e.Body,
		Schema:    e.Schema,
	}, e.Write, nil
}
