package actions

import (
	"context"
	"fmt"
	"net/http"

	"github.com/signpost-dns/signpost/api/jsonbody"
	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// History answers what has happened.
type History struct{ Service service.History }

// Events lists what happened to a project or a cluster provider, and below it.
func (h History) Events(ctx context.Context, c *operation.Call) (response.Answer, error) {
	page, err := h.Service.Page(ctx, c.Owner(), c.Limit(), c.Query.Get("continue"))
	return response.Answer{Status: http.StatusOK, Body: page}, operation.ContinueError(err)
}

// Name lists how a host name has changed in all projects that the caller may read.
func (h History) Name(ctx context.Context, c *operation.Call) (response.Answer, error) {
	host, err := hostname.CanonicalUnderscored(c.Vars["host"])
	if err != nil {
		return response.Answer{}, &intent.Error{Code: intent.Invalid, Detail: fmt.Sprintf("path parameter host: %q %s", jsonbody.Clip(c.Vars["host"]), err)}
	}
	turns, err := h.Service.OfName(ctx, host, c.Actor.Sees)
	return response.Answer{Status: http.StatusOK, Body: map[string]any{"items": orEmpty(turns)}}, err
}
