// Package actions answers what is asked about documents beyond their content: plans,
// actions, status and events.
package actions

import (
	"context"
	"net/http"
	"strconv"

	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Lifecycle answers what is asked of deployment intent groups and logical clouds.
type Lifecycle struct {
	Service  service.Lifecycle
	Statuses *operation.Remembered
}

// Begin begins to deploy an owner, or to bring it to what its documents say now. A
// deployment intent group may take over the names of another group.
func (l Lifecycle) Begin(action intent.Action) operation.Handler {
	do := l.Service.Instantiate
	if action == intent.Update {
		do = l.Service.Update
	}
	return func(ctx context.Context, c *operation.Call) (response.Answer, error) {
		if c.Query.Has("takeover") {
			return response.Accepted(l.Service.TakeOver(ctx, c.Owner(), action, c.Query.Get("takeover"), c.Query.Get("confirm"), c.Actor.Subject))
		}
		return response.Accepted(do(ctx, c.Owner(), c.Query.Get("confirm"), c.Actor.Subject))
	}
}

// Deploy instantiates or updates an owner, as needed, or answers what that would do.
func (l Lifecycle) Deploy(ctx context.Context, c *operation.Call) (response.Answer, error) {
	if c.Query.Get("dryRun") == "true" {
		return l.plan(ctx, c, intent.Deploy)
	}
	return response.Accepted(l.Service.Deploy(ctx, c.Owner(), deployRequest(c)))
}

func deployRequest(c *operation.Call) intent.DeployRequest {
	return intent.DeployRequest{Takeover: c.Query.Get("takeover"), Adopt: c.Query.Get("adopt"), Confirm: c.Query.Get("confirm"), Actor: c.Actor.Subject}
}

// Terminate begins to take back what an owner has in the clusters.
func (l Lifecycle) Terminate(ctx context.Context, c *operation.Call) (response.Answer, error) {
	return response.Accepted(l.Service.Terminate(ctx, c.Owner(), c.Query.Get("force") == "true", c.Query.Get("confirm"), c.Actor.Subject))
}

// Rollback begins to make an earlier revision current again.
func (l Lifecycle) Rollback(ctx context.Context, c *operation.Call) (response.Answer, error) {
	to, err := revision(c)
	if err != nil {
		return response.Answer{}, err
	}
	return response.Accepted(l.Service.Rollback(ctx, c.Owner(), to, c.Query.Get("confirm"), c.Actor.Subject))
}

// Plan answers what an action would do.
func (l Lifecycle) Plan(ctx context.Context, c *operation.Call) (response.Answer, error) {
	return l.plan(ctx, c, intent.Action(c.Query.Get("for")))
}

func (l Lifecycle) plan(ctx context.Context, c *operation.Call, action intent.Action) (response.Answer, error) {
	if action == intent.Deploy {
		action = "" // the service knows which one that is
	}
	if c.Query.Has("to") && action != intent.Rollback {
		return response.Answer{}, &intent.Error{Code: intent.Invalid, Detail: "query parameter to is the revision of a rollback: give it with for=rollback"}
	}
	if c.Query.Has("takeover") {
		return l.planTakeover(ctx, c, action)
	}
	to, err := revision(c)
	if err != nil {
		return response.Answer{}, err
	}
	return Planned(l.Service.Plan(ctx, c.Owner(), action, to))
}

// planTakeover answers what an action would do that has another group yield its
// names.
func (l Lifecycle) planTakeover(ctx context.Context, c *operation.Call, action intent.Action) (response.Answer, error) {
	if action != "" && action != intent.Instantiate && action != intent.Update {
		return response.Answer{}, &intent.Error{Code: intent.Invalid, Detail: "query parameter takeover is for instantiate, update and deploy: leave it out, or plan one of them"}
	}
	return Planned(l.Service.PlanTakeover(ctx, c.Owner(), action, c.Query.Get("takeover")))
}

// Status answers what was observed of a deployment intent group or a logical cloud: a page
// of it, or a summary.
func (l Lifecycle) Status(ctx context.Context, c *operation.Call) (response.Answer, error) {
	return l.Statuses.Answer(ctx, c, func(ctx context.Context) (any, error) {
		status, err := l.Service.Status(ctx, c.Owner())
		if err != nil {
			return nil, err
		}
		status.Counts = status.Counted()
		if c.Query.Get("view") == "summary" {
			return wholeStatus(summary(status)), nil
		}
		status, err = statusPage(status, c)
		return wholeStatus(status), err
	})
}

// defaultGroups is how many groups a page has when the request does not say: each is
// compared with its documents.
const defaultGroups = 50

// Groups answers a page of the deployment intent groups of a project.
func (l Lifecycle) Groups(ctx context.Context, c *operation.Call) (response.Answer, error) {
	limit := c.Limit()
	if !c.Query.Has("limit") {
		limit = defaultGroups
	}
	return l.Statuses.Answer(ctx, c, func(ctx context.Context) (any, error) {
		page, err := l.Service.Groups(ctx, c.Owner(), limit, c.Query.Get("continue"))
		return page, operation.ContinueError(err)
	})
}

// Events lists what happened to a deployment intent group or a logical cloud.
func (l Lifecycle) Events(ctx context.Context, c *operation.Call) (response.Answer, error) {
	events, err := l.Service.Events(ctx, c.Owner())
	return response.Answer{Status: http.StatusOK, Body: map[string]any{"items": orEmpty(events)}}, err
}

// revision is the one that a rollback goes to, 0 when it is not said.
func revision(c *operation.Call) (int64, error) {
	if !c.Query.Has("to") {
		return 0, nil
	}
	return strconv.ParseInt(c.Query.Get("to"), 10, 64)
}
