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
	return a.glance().view(ctx, doc)
}

// Views is [Admitter.View] of several documents, in their order.
func (a *Admitter) Views(ctx context.Context, docs []intent.Document) ([]View, error) {
	views, g := make([]View, len(docs)), a.glance()
	for i, doc := range docs {
		var err error
		if views[i], err = g.view(ctx, doc); err != nil {
			return nil, err
		}
	}
	return views, nil
}

// glance looks up what documents are shown with, each other document once: there
// may be a thousand on a page, and one megabyte that all of them name.
type glance struct {
	documents *Admitter
	groups    map[intent.Path]*intent.DeploymentIntentGroup
	walked    map[intent.Path]bool // logical clouds with autopath
}

func (a *Admitter) glance() *glance {
	return &glance{documents: a, groups: map[intent.Path]*intent.DeploymentIntentGroup{}, walked: map[intent.Path]bool{}}
}

func (g *glance) view(ctx context.Context, doc intent.Document) (View, error) {
	k, ok := kindOf(doc.Path)
	if !ok {
		return View{}, errNoResource(doc.Path)
	}
	return k.view(ctx, g, doc)
}

// group is a deployment intent group, nil when there is none.
func (g *glance) group(ctx context.Context, path intent.Path) (*intent.DeploymentIntentGroup, error) {
	if group, known := g.groups[path]; known {
		return group, nil
	}
	group, err := find[intent.DeploymentIntentGroup](ctx, g.documents.store, path)
	if err == nil {
		g.groups[path] = group
	}
	return group, err
}

// autopath tells whether a DNS CR intent of a logical cloud asks for it.
func (g *glance) autopath(ctx context.Context, cloud intent.Path) (bool, error) {
	if walked, known := g.walked[cloud]; known {
		return walked, nil
	}
	walked := false
	err := g.documents.each(ctx, string(cloud)+"/dns-cr-intents", func(doc intent.Document) error {
		stored, err := intent.Of[intent.DNSCRIntent](doc)
		walked = walked || err == nil && stored.Spec.Autopath != nil
		return err
	})
	if err == nil {
		g.walked[cloud] = walked
	}
	return walked, err
}
