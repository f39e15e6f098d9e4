package actions

import (
	"context"
	"net/http"

	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/api/service"
)

// History answers what has happened.
type History struct{ Service service.History }

// Events lists what happened to a project or a cluster provider, and below it.
func (h History) Events(ctx context.Context, c *operation.Call) (response.Answer, error) {
	page, err := h.Service.Page(ctx, c.Owner(), c.Limit(), c.Query.Get("continue"))
	return response.Answer{Status: http.StatusOK, Body: page}, operation.ContinueError(err)
}
