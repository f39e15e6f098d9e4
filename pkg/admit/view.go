package admit

import (
	"context"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// View is a document as users see it: without the ids of sealed values.
type View struct {
	Metadata intent.Metadata `json:"metadata"`
	Spec     any             `json:"spec"`
	Status   *Status         `json:"status,omitempty"`
}

// Status is what the server adds to a record or a cluster. [Admitter.View] knows the
// warnings; the rest is known once the record is used.
type Status struct {
	Warnings    []intent.Warning    `json:"warnings"`
	Home        *intent.ClusterRef  `json:"home,omitempty"`
	OwnerID     string              `json:"ownerID,omitempty"`
	Version     string              `json:"version,omitempty"`
	Deployments []intent.Deployment `json:"deployments,omitempty"`
	Drained     *intent.Drained     `json:"drained,omitempty"`   // of a cluster
	Abandoned   *intent.Abandoned   `json:"abandoned,omitempty"` // of a cluster
}

// View answers a stored document as users see it. Errors: NotFound when the
// path is no resource's; one without a code when the body cannot be read; what
// the store answers.
func (a *Admitter) View(ctx context.Context, doc intent.Document) (View, error) {
	k, ok := kindOf(doc.Path)
	if !ok {
		return View{}, errNoResource(doc.Path)
	}
	return k.view(ctx, a, doc)
}
