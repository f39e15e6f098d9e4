package schema

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// memberPrefix is where workers register, under leases.
const memberPrefix = "/signpost/members/"

// member is what a worker registers with: the schema version that its program
// knows. Programs from before schema versions tell none.
type member struct {
	Schema int `json:"schema"`
}

// Installation is the document about the installation, which every program
// reads when it starts. Programs from before schema versions take a JSON text,
// the identity alone, and end at anything else: so they do not begin to work on
// what they would lose something of.
type Installation struct {
	ID string `json:"id"` // generated at the first start; objects in clusters carry it
}

// InstallationPath is where the document about the installation is.
func InstallationPath() intent.Path { return intent.Join(intent.InstallationCollection, "id") }

// installationOf makes today's form of an installation's document.
func installationOf(body []byte) ([]byte, error) {
	if !bytes.HasPrefix(body, []byte(`"`)) {
		return body, nil
	}
	var id string
	if err := json.Unmarshal(body, &id); err != nil {
		return nil, err
	}
	return json.Marshal(Installation{ID: id})
}

// begin has a field used from now on that programs from before schema versions
// would lose. It is a Conflict while one of them runs.
func (s *Store) begin(ctx context.Context, path intent.Path, field string) error {
	if err := s.alone(ctx, path, field); err != nil {
		return err
	}
	if done, err := s.shut(ctx); err != nil || !done {
		return err
	}
	return s.alone(ctx, path, field) // one may have started before the door was shut
}

// alone refuses while a program from before schema versions runs.
func (s *Store) alone(ctx context.Context, path intent.Path, field string) error {
	members, _, err := s.replicas.Range(ctx, kv.Range{Prefix: memberPrefix})
	if err != nil {
		return err
	}
	for _, item := range members {
		var is member
		if json.Unmarshal(item.Value, &is) == nil && is.Schema > 0 {
			continue
		}
		return &intent.Error{Code: intent.Conflict, Detail: fmt.Sprintf(
			"%s cannot have %s yet: replica %s is of an older Signpost, which would lose it; upgrade all replicas first", path, field, strings.TrimPrefix(item.Key, memberPrefix))}
	}
	return nil
}

// shut keeps programs from before schema versions from starting, and answers
// whether they could until now.
func (s *Store) shut(ctx context.Context) (bool, error) {
	doc, err := s.Store.Get(ctx, InstallationPath())
	if intent.CodeOf(err) == intent.NotFound {
		return false, nil
	}
	if err != nil || doc.Schema > 1 {
		return false, err
	}
	body, err := installationOf(doc.Body)
	if err != nil {
		return false, err
	}
	_, err = s.Store.Put(ctx, intent.Write{Path: doc.Path, Body: body, Refs: doc.Refs, Schema: intent.Schema, Condition: intent.IfRevision(doc.Revision)})
	if intent.CodeOf(err) == intent.PreconditionFailed {
		err = nil // another replica has done it
	}
	return true, err
}
