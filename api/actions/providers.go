package actions

import (
	"context"
	"net/http"

	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Providers answers what is asked of providers, which the API calls DNS update records.
type Providers struct {
	Store     intent.Store
	Admitter  service.Admitter
	Lifecycle service.Lifecycle
	Statuses  *operation.Remembered
}

// Plan answers what rolling out a provider would do.
func (p Providers) Plan(ctx context.Context, c *operation.Call) (response.Answer, error) {
	return Planned(p.Lifecycle.PlanRecord(ctx, c.Owner(), c.Query.Get("adopt")))
}

// Update begins to roll out a provider, which may take over names of another
// external-dns.
func (p Providers) Update(ctx context.Context, c *operation.Call) (response.Answer, error) {
	return response.Accepted(p.Lifecycle.UpdateRecord(ctx, c.Owner(), c.Query.Get("adopt"), c.Query.Get("confirm"), c.Actor.Subject))
}

// Deploy rolls out a provider that is in use, or answers what that would do.
func (p Providers) Deploy(ctx context.Context, c *operation.Call) (response.Answer, error) {
	if c.Query.Get("dryRun") == "true" {
		return p.Plan(ctx, c)
	}
	return response.Accepted(p.Lifecycle.DeployRecord(ctx, c.Owner(), deployRequest(c)))
}

// Users lists who publishes through a provider.
func (p Providers) Users(ctx context.Context, c *operation.Call) (response.Answer, error) {
	page, err := p.Lifecycle.Users(ctx, c.Owner(), c.Limit(), c.Query.Get("continue"))
	return response.Answer{Status: http.StatusOK, Body: page}, operation.ContinueError(err)
}

// Unmanaged lists what the zones of a provider have that nobody publishes.
func (p Providers) Unmanaged(ctx context.Context, c *operation.Call) (response.Answer, error) {
	page, err := p.Lifecycle.Unmanaged(ctx, c.Owner(), c.Limit(), c.Query.Get("continue"))
	return response.Answer{Status: http.StatusOK, Body: page}, operation.ContinueError(err)
}

// Status answers what is known of a provider's deployments, and what is odd about its
// document.
func (p Providers) Status(ctx context.Context, c *operation.Call) (response.Answer, error) {
	return p.Statuses.Answer(ctx, c, func(ctx context.Context) (any, error) {
		doc, err := p.Store.Get(ctx, c.Owner())
		if err != nil {
			return nil, err
		}
		view, err := p.Admitter.View(ctx, doc)
		if err != nil {
			return nil, err
		}
		status, err := p.Lifecycle.RecordStatus(ctx, doc.Path)
		if err != nil {
			return nil, err
		}
		status.Warnings = append(view.Status.Warnings, status.Warnings...)
		status, err = providerPage(status, c)
		return status, err
	})
}
