package api

import (
	"context"
	"net/http"
)

// preflight answers whether a cluster could be managed.
func (e *edge) preflight(ctx context.Context, c *call) (answer, error) {
	report, err := e.Clusters.Preflight(ctx, c.owner())
	report.Checks = orEmpty(report.Checks)
	return answer{status: http.StatusOK, body: report}, err
}
