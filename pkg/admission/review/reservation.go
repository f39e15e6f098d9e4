package review

import (
	"context"
	"encoding/json"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Claim is what a project wants.
type Claim struct {
	Candidates []string // namespaces, the best first
	Chosen     func(namespace string)
	Previous   intent.Path // the reservation that is not needed any more, if any
}

// Counting is the body of the document that names the reservation that counts.
type Counting struct {
	Token string `json:"token"`
}

// ReservationPath is the document of a reservation.
func ReservationPath(namespace, token string) intent.Path {
	return intent.Join(intent.NamespaceCollection, namespace, token)
}

// NamespaceHolder is the name of the project whose namespace it is, empty when
// it is none's.
func (a *Checker) NamespaceHolder(ctx context.Context, namespace string) (project string, err error) {
	if a.Rules.NamespaceHolder != nil {
		return a.Rules.NamespaceHolder(ctx, namespace)
	}
	doc, err := a.Store.Get(ctx, intent.Join(intent.NamespaceCollection, namespace))
	if intent.CodeOf(err) == intent.NotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var current Counting
	if err := json.Unmarshal(doc.Body, &current); err != nil {
		return "", err
	}
	by, err := a.Store.Referrers(ctx, ReservationPath(namespace, current.Token))
	if err != nil && intent.CodeOf(err) != intent.NotFound {
		return "", err
	}
	for _, path := range by {
		return path.Name(), nil
	}
	return "", nil
}
