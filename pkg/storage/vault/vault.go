// Package vault keeps the secret values of documents, encrypted, as documents of their
// own. All other objects hold only a value's id: the document that was written, the
// release that froze it, the Secret that a plan renders. So a release keeps the value
// that it was made with, and no digest covers a value (I9).
package vault

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Sealer encrypts and decrypts. A text that was sealed with associated data opens only
// with the same data.
type Sealer interface {
	Seal(plain []byte, associated string) (string, error)
	Open(sealed, associated string) ([]byte, error)
	// Key is the id of the key that seals.
	Key() string
	// KeyOf names the key of a sealed text, and says whether it is the one that
	// seals, and one that opens.
	KeyOf(sealed string) (id string, current, known bool)
}

// Vault keeps sealed values in a document store.
type Vault struct {
	documents intent.Store
	sealer    Sealer
	now       func() time.Time
}

// New makes a Vault over a document store.
func New(documents intent.Store, sealer Sealer, now func() time.Time) *Vault {
	return &Vault{documents: documents, sealer: sealer, now: now}
}

// value is the body of a sealed document. Path and field are bound to the ciphertext:
// under another path or field, it does not open.
type value struct {
	Path   intent.Path `json:"path"`
	Field  string      `json:"field"`
	Sealed string      `json:"sealed"`
}

func (v value) associated() string { return string(v.Path) + "#" + v.Field }

// Store seals the value of a document's field and answers its id. Until a
// document refers to it, the value is swept after a while.
func (v *Vault) Store(ctx context.Context, path intent.Path, field string, plain []byte) (id string, err error) {
	id = rand.Text()
	return id, v.put(ctx, id, value{Path: path, Field: field}, plain, intent.IfAbsent())
}

// put seals a value into its body and stores that.
func (v *Vault) put(ctx context.Context, id string, body value, plain []byte, condition intent.Condition) (err error) {
	if body.Sealed, err = v.sealer.Seal(plain, body.associated()); err != nil {
		return err
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	_, err = v.documents.Put(ctx, intent.Write{Path: at(id), Body: raw, Condition: condition})
	return err
}

// Secret opens a value. The error has the code NotFound when there is none.
func (v *Vault) Secret(ctx context.Context, id string) ([]byte, error) {
	doc, err := v.documents.Get(ctx, at(id))
	if err != nil {
		return nil, err
	}
	var body value
	if err := json.Unmarshal(doc.Body, &body); err != nil {
		return nil, err
	}
	return v.sealer.Open(body.Sealed, body.associated())
}

// Sweep removes the values that are older than age and that no document refers to:
// replaced values, and values whose document was never stored.
func (v *Vault) Sweep(ctx context.Context, age time.Duration) error {
	page, err := v.documents.List(ctx, intent.ListOptions{Collection: intent.SecretCollection})
	if err != nil {
		return err
	}
	for _, doc := range page.Items {
		if v.now().Sub(doc.CreatedAt) < age || doc.Path == at(digestKeyID) {
			continue
		}
		err := v.documents.Delete(ctx, doc.Path, intent.Always())
		var referenced *intent.Referenced
		if err != nil && !errors.As(err, &referenced) && intent.CodeOf(err) != intent.NotFound {
			return err
		}
	}
	return nil
}

func at(id string) intent.Path { return intent.Join(intent.SecretCollection, id) }
