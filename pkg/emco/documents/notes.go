package documents

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/draft"
)

// note is what is remembered of one of EMCO's documents: not what it says, but
// whether it says the same as before. The note's own identity, revision and
// times are the document's.
type note struct {
	Digest string `json:"digest"` // of the body, SHA-256 in hexadecimal digits
}

func notePath(path intent.Path) intent.Path {
	return intent.Join(intent.NoteCollection, string(path))
}

// noted is one of EMCO's documents with the identity and revision of its note.
func (s *Store) noted(ctx context.Context, path intent.Path, body []byte) (intent.Document, error) {
	if len(body) > intent.MaxBody {
		return intent.Document{}, &intent.Error{Code: intent.Unavailable, Detail: "EMCO's " + string(path) + " is too large to be read"}
	}
	sum := sha256.Sum256(body)
	raw, err := json.Marshal(note{Digest: hex.EncodeToString(sum[:])})
	if err != nil {
		return intent.Document{}, err
	}
	doc, err := s.own.Get(ctx, notePath(path))
	if intent.CodeOf(err) == intent.NotFound || err == nil && !bytes.Equal(doc.Body, raw) {
		doc, err = s.own.Put(ctx, intent.Write{Path: notePath(path), Body: raw})
	}
	if err != nil {
		return intent.Document{}, err
	}
	doc.Path, doc.Body = path, body
	return doc, nil
}

// forget removes the note of a document that has gone. While documents of
// Signpost's refer to it, it stays, and so does its identity.
func (s *Store) forget(ctx context.Context, path intent.Path) error {
	if _, err := s.own.Get(ctx, notePath(path)); err != nil {
		return ignore(err, intent.NotFound)
	}
	return ignore(s.own.Delete(ctx, notePath(path), intent.Always()), intent.NotFound, intent.Conflict)
}

func ignore(err error, codes ...intent.Code) error {
	for _, code := range codes {
		if intent.CodeOf(err) == code {
			return nil
		}
	}
	return err
}

// toNotes puts notes in the place of EMCO's documents. References of a user's document
// must exist now. References of internal documents were read before, and have notes. So a
// lifecycle goes on when EMCO is down, and when what it relied on is gone.
func (s *Store) toNotes(ctx context.Context, from intent.Path, refs []intent.Path) ([]intent.Path, error) {
	var rewritten []intent.Path
	for _, to := range refs {
		if _, theirs := s.kindOf(to.Collection()); theirs {
			_, err := s.existing(ctx, from, to)
			if intent.CodeOf(err) == intent.NotFound {
				err = draft.MissingReference(from, to)
			}
			if err != nil {
				return nil, err
			}
			to = notePath(to)
		}
		rewritten = append(rewritten, to)
	}
	return rewritten, nil
}

// existing is a document of EMCO's that another is to refer to, or its note.
func (s *Store) existing(ctx context.Context, from, to intent.Path) (intent.Document, error) {
	if intent.Internal(from) {
		if known, err := s.own.Get(ctx, notePath(to)); intent.CodeOf(err) != intent.NotFound {
			return known, err
		}
	}
	return s.Get(ctx, to)
}

// withoutNotes is a stored document with the references that it was written
// with.
func withoutNotes(doc intent.Document) intent.Document {
	refs := slices.Clone(doc.Refs)
	for i, ref := range refs {
		refs[i] = noteOf(ref)
	}
	slices.Sort(refs)
	doc.Refs = refs
	return doc
}

// noteOf is the document that a note is about, and every other path itself.
func noteOf(path intent.Path) intent.Path {
	about, _ := strings.CutPrefix(string(path), intent.NoteCollection+"/")
	return intent.Path(about)
}

// missingNote names the document in the place of its note.
func missingNote(err error) error {
	if missing, ok := errors.AsType[*intent.MissingReference](err); ok {
		missing.To = noteOf(missing.To)
	}
	return err
}
