package api

import (
	"context"
	"net/http"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// preflight answers whether a cluster could be managed.
func (e *edge) preflight(ctx context.Context, c *call) (answer, error) {
	report, err := e.Clusters.Preflight(ctx, c.owner())
	report.Checks = orEmpty(report.Checks)
	return answer{status: http.StatusOK, body: report}, err
}

// drain keeps a cluster's addresses out of public names.
func (e *edge) drain(ctx context.Context, c *call) (answer, error) {
	if err := e.Clusters.Drain(ctx, c.owner(), c.query.Get("force") == "true", c.actor.Subject); err != nil {
		return answer{}, err
	}
	return e.drained(ctx, c)
}

// undrain lets them in again.
func (e *edge) undrain(ctx context.Context, c *call) (answer, error) {
	if err := e.Clusters.Undrain(ctx, c.owner(), c.actor.Subject); err != nil {
		return answer{}, err
	}
	return e.drained(ctx, c)
}

// abandon lets go of a cluster, and answers what is left behind there.
func (e *edge) abandon(ctx context.Context, c *call) (answer, error) {
	left, err := e.Clusters.Abandon(ctx, c.owner(), c.query.Get("force") == "true", c.actor.Subject)
	body := struct {
		LeftBehind []intent.LeftBehind `json:"leftBehind"`
	}{orEmpty(left)}
	return answer{status: http.StatusOK, body: body}, err
}

// drained answers whether a cluster is drained now.
func (e *edge) drained(ctx context.Context, c *call) (answer, error) {
	var body struct {
		Drained *intent.Drained `json:"drained,omitempty"`
	}
	var err error
	body.Drained, err = e.Clusters.Drained(ctx, c.owner())
	return answer{status: http.StatusAccepted, body: body}, err
}
