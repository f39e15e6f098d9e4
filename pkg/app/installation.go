package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// installation is the identity of one Signpost deployment, generated at its
// first start and kept in its store. Objects in clusters carry it.
func installation(ctx context.Context, documents intent.Store) (string, error) {
	is := struct {
		ID string `json:"id"`
	}{strings.ToLower(rand.Text())}
	path := intent.Join(intent.InstallationCollection, "id")
	doc, err := documents.Get(ctx, path)
	if intent.CodeOf(err) == intent.NotFound {
		var body []byte
		if body, err = json.Marshal(is); err != nil {
			return "", err
		}
		doc, err = documents.Put(ctx, intent.Write{Path: path, Body: body, Condition: intent.IfAbsent()})
		if intent.CodeOf(err) == intent.Conflict {
			doc, err = documents.Get(ctx, path)
		}
	}
	if err != nil {
		return "", err
	}
	err = json.Unmarshal(doc.Body, &is)
	return is.ID, err
}
