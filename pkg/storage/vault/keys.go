package vault

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// batch is how many values are read at once.
const batch = 200

// Check fails when a value was sealed with a key that is not at hand, unless
// lost names that key.
func (v *Vault) Check(ctx context.Context, lost []string) error {
	missing := map[string]int{}
	err := v.each(ctx, func(_ intent.Document, body value) error {
		if id, _, known := v.sealer.KeyOf(body.Sealed); !known && !slices.Contains(lost, id) {
			missing[id]++
		}
		return nil
	})
	if err != nil || len(missing) == 0 {
		return err
	}
	var words []string
	for _, id := range slices.Sorted(maps.Keys(missing)) {
		words = append(words, fmt.Sprintf("%d with key %s", missing[id], id))
	}
	return fmt.Errorf("secrets at rest are sealed with a key that is not here: %s", strings.Join(words, ", "))
}

// Reseal seals with the current key all values that an older one has sealed. It answers how many values
// each key has sealed then, by its id, the current one always. A value keeps its id, so references to
// it stay. Several may run at once. Values that were sealed with a key of inUse are left alone: while
// others seal with it, they would undo the work.
func (v *Vault) Reseal(ctx context.Context, inUse ...string) (sealed map[string]int, err error) {
	sealed = map[string]int{v.sealer.Key(): 0}
	err = v.each(ctx, func(doc intent.Document, body value) error {
		id, current, known := v.sealer.KeyOf(body.Sealed)
		if known && !current && !slices.Contains(inUse, id) {
			next, err := v.reseal(ctx, doc, body)
			switch intent.CodeOf(err) {
			case intent.NotFound:
				return nil
			case intent.PreconditionFailed: // another one has done it
				err = nil
			}
			if err != nil {
				return err
			}
			id, _, _ = v.sealer.KeyOf(next)
		}
		sealed[id]++
		return nil
	})
	return sealed, err
}

// reseal stores a value that the current key has sealed, and answers that.
func (v *Vault) reseal(ctx context.Context, doc intent.Document, body value) (string, error) {
	plain, err := v.sealer.Open(body.Sealed, body.associated())
	if err != nil {
		return "", fmt.Errorf("%s of %s: %w", body.Field, body.Path, err)
	}
	if body.Sealed, err = v.sealer.Seal(plain, body.associated()); err != nil {
		return "", err
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	_, err = v.documents.Put(ctx, intent.Write{Path: doc.Path, Refs: doc.Refs, Body: raw, Condition: intent.IfRevision(doc.Revision)})
	return body.Sealed, err
}

// each visits all values until it fails.
func (v *Vault) each(ctx context.Context, visit func(intent.Document, value) error) error {
	options := intent.ListOptions{Collection: intent.SecretCollection, Limit: batch, Bytes: intent.PageBytes}
	return intent.Each(ctx, v.documents, options, func(doc intent.Document) error {
		var body value
		if err := json.Unmarshal(doc.Body, &body); err != nil {
			return err
		}
		return visit(doc, body)
	})
}
