package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// installation is the identity of one Signpost deployment, generated at its
// first start and kept in its store. Objects in clusters carry it.
func installation(ctx context.Context, documents intent.Store) (string, error) {
	path := intent.Join(intent.InstallationCollection, "id")
	body, err := json.Marshal(strings.ToLower(rand.Text()))
	if err != nil {
		return "", err
	}
	doc, err := documents.Put(ctx, intent.Write{Path: path, Body: body, Condition: intent.IfAbsent()})
	if intent.CodeOf(err) == intent.Conflict {
		doc, err = documents.Get(ctx, path)
	}
	if err != nil {
		return "", err
	}
	var id string
	err = json.Unmarshal(doc.Body, &id)
	return id, err
}
