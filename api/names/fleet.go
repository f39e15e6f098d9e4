package names

import (
	"context"
	"net/http"
	"strings"

	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Fleet answers how everything does that the caller may read.
func (h *Handlers) Fleet(ctx context.Context, c *operation.Call) (response.Answer, error) {
	fleet, err := h.Names.Fleet(ctx, intent.FleetQuery{Limit: c.Limit(), After: c.Query.Get("continue"), Sees: c.Actor.Sees})
	if err != nil {
		return response.Answer{}, operation.ContinueError(err)
	}
	for n := range fleet.Items {
		fleet.Items[n].Cluster = strings.Replace(fleet.Items[n].Cluster, "+", "/", 1)
	}
	return response.Answer{Status: http.StatusOK, Body: fleet}, nil
}
