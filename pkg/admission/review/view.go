package review

import (
	"context"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
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
	Home        *intent.Home        `json:"home,omitempty"`
	OwnerID     string              `json:"ownerID,omitempty"`
	Version     string              `json:"version,omitempty"`
	Deployments []intent.Deployment `json:"deployments,omitempty"`
	Drained     *intent.Drained     `json:"drained,omitempty"`           // of a cluster
	Abandoned   *intent.Abandoned   `json:"abandoned,omitempty"`         // of a cluster
	Expires     *time.Time          `json:"credentialsExpire,omitempty"` // of a cluster
}

// Companions looks up what documents are shown with, each other document once. There may
// be a thousand on a page, and one megabyte that all of them name.
type Companions struct {
	Documents *Checker
	groups    map[intent.Path]*intent.DeploymentIntentGroup
	walked    map[intent.Path]bool // logical clouds with autopath
}

// Companions makes Companions without any document yet.
func (a *Checker) Companions() *Companions {
	return &Companions{Documents: a, groups: map[intent.Path]*intent.DeploymentIntentGroup{}, walked: map[intent.Path]bool{}}
}

// Group is a deployment intent group, nil when there is none.
func (g *Companions) Group(ctx context.Context, path intent.Path) (*intent.DeploymentIntentGroup, error) {
	if group, known := g.groups[path]; known {
		return group, nil
	}
	group, err := Find[intent.DeploymentIntentGroup](ctx, g.Documents.Store, path)
	if err == nil {
		g.groups[path] = group
	}
	return group, err
}

// Autopath tells whether a DNS CR intent of a logical cloud asks for it.
func (g *Companions) Autopath(ctx context.Context, cloud intent.Path) (bool, error) {
	if walked, known := g.walked[cloud]; known {
		return walked, nil
	}
	walked := false
	err := g.Documents.Each(ctx, string(cloud)+"/dns-cr-intents", func(doc intent.Document) error {
		stored, err := intent.Of[intent.DNSCRIntent](doc)
		walked = walked || err == nil && stored.Spec.Autopath != nil
		return err
	})
	if err == nil {
		g.walked[cloud] = walked
	}
	return walked, err
}
