package actions

import (
	"context"
	"net/http"

	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Clusters answers what is asked of clusters.
type Clusters struct{ Service service.Clusters }

// Preflight answers whether a cluster could be managed.
func (k Clusters) Preflight(ctx context.Context, c *operation.Call) (response.Answer, error) {
	report, err := k.Service.Preflight(ctx, c.Owner())
	report.Checks = orEmpty(report.Checks)
	return response.Answer{Status: http.StatusOK, Body: report}, err
}

// Services answers a page of the Services of a cluster.
func (k Clusters) Services(ctx context.Context, c *operation.Call) (response.Answer, error) {
	page, err := k.Service.Services(ctx, c.Owner(), intent.ServiceQuery{Namespace: c.Query.Get("namespace"), Limit: c.Limit(), After: c.Query.Get("continue")})
	return response.Answer{Status: http.StatusOK, Body: page}, operation.ContinueError(err)
}

// Drain keeps a cluster's addresses out of public names.
func (k Clusters) Drain(ctx context.Context, c *operation.Call) (response.Answer, error) {
	if err := k.Service.Drain(ctx, c.Owner(), drainOptions(c)); err != nil {
		return response.Answer{}, err
	}
	return k.drained(ctx, c)
}

// Undrain lets them in again.
func (k Clusters) Undrain(ctx context.Context, c *operation.Call) (response.Answer, error) {
	if err := k.Service.Undrain(ctx, c.Owner(), drainOptions(c)); err != nil {
		return response.Answer{}, err
	}
	return k.drained(ctx, c)
}

func drainOptions(c *operation.Call) intent.DrainOptions {
	return intent.DrainOptions{Force: c.Query.Get("force") == "true", Reason: c.Query.Get("reason"), Actor: c.Actor.Subject}
}

// Abandon stops serving a cluster, and answers which objects stay there.
func (k Clusters) Abandon(ctx context.Context, c *operation.Call) (response.Answer, error) {
	left, err := k.Service.Abandon(ctx, c.Owner(), c.Query.Get("force") == "true", c.Actor.Subject)
	body := struct {
		Orphans []intent.LeftBehind `json:"leftBehind"`
	}{orEmpty(left)}
	return response.Answer{Status: http.StatusOK, Body: body}, err
}

func (k Clusters) drained(ctx context.Context, c *operation.Call) (response.Answer, error) {
	var body struct {
		Drained *intent.Drained `json:"drained,omitempty"`
	}
	var err error
	body.Drained, err = k.Service.Drained(ctx, c.Owner())
	return response.Answer{Status: http.StatusAccepted, Body: body}, err
}
