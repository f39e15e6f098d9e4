package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// action is a handler for what begins something on its owner.
func action(begin func(ctx context.Context, owner intent.Path, confirm, actor string) (intent.Accepted, error)) handler {
	return func(ctx context.Context, c *call) (answer, error) {
		accepted, err := begin(ctx, c.owner(), c.query.Get("confirm"), c.actor.Subject)
		return answer{status: http.StatusAccepted, body: accepted}, err
	}
}

// takingOver is a handler for what begins an action on a deployment intent group,
// which may have another one yield its names.
func (e *edge) takingOver(what intent.Action, begin func(ctx context.Context, owner intent.Path, confirm, actor string) (intent.Accepted, error)) handler {
	plain := action(begin)
	return func(ctx context.Context, c *call) (answer, error) {
		if !c.query.Has("takeover") {
			return plain(ctx, c)
		}
		accepted, err := e.Lifecycle.TakeOver(ctx, c.owner(), what, c.query.Get("takeover"), c.query.Get("confirm"), c.actor.Subject)
		return answer{status: http.StatusAccepted, body: accepted}, err
	}
}

// terminate begins to take back what an owner has in the clusters.
func (e *edge) terminate(ctx context.Context, c *call) (answer, error) {
	accepted, err := e.Lifecycle.Terminate(ctx, c.owner(), c.query.Get("force") == "true", c.query.Get("confirm"), c.actor.Subject)
	return answer{status: http.StatusAccepted, body: accepted}, err
}

// rollback begins to make an earlier revision current again.
func (e *edge) rollback(ctx context.Context, c *call) (answer, error) {
	to, err := c.revision()
	if err != nil {
		return answer{}, err
	}
	accepted, err := e.Lifecycle.Rollback(ctx, c.owner(), to, c.query.Get("confirm"), c.actor.Subject)
	return answer{status: http.StatusAccepted, body: accepted}, err
}

// revision is the one that a rollback goes to, 0 when it is not said.
func (c *call) revision() (int64, error) {
	if !c.query.Has("to") {
		return 0, nil
	}
	return strconv.ParseInt(c.query.Get("to"), 10, 64)
}

// plan answers what an action would do.
func (e *edge) plan(ctx context.Context, c *call) (answer, error) {
	action := intent.Action(c.query.Get("for"))
	if c.query.Has("to") && action != intent.Rollback {
		return answer{}, &intent.Error{Code: intent.Invalid, Detail: "query parameter to is the revision of a rollback: give it with for=rollback"}
	}
	if c.query.Has("takeover") {
		return e.planTakeover(ctx, c, action)
	}
	to, err := c.revision()
	if err != nil {
		return answer{}, err
	}
	plan, err := e.Lifecycle.Plan(ctx, c.owner(), action, to)
	return answer{status: http.StatusOK, body: wholePlan(plan)}, err
}

// planTakeover answers what an action would do that has another group yield its
// names.
func (e *edge) planTakeover(ctx context.Context, c *call, action intent.Action) (answer, error) {
	if action != "" && action != intent.Instantiate && action != intent.Update {
		return answer{}, &intent.Error{Code: intent.Invalid, Detail: "query parameter takeover is for instantiate and update: leave it out, or plan one of them"}
	}
	plan, err := e.Lifecycle.PlanTakeover(ctx, c.owner(), action, c.query.Get("takeover"))
	return answer{status: http.StatusOK, body: wholePlan(plan)}, err
}

// planRecord answers what rolling out a record would do.
func (e *edge) planRecord(ctx context.Context, c *call) (answer, error) {
	if c.query.Has("adopt") {
		plan, err := e.Lifecycle.PlanAdoption(ctx, c.owner(), c.query.Get("adopt"))
		return answer{status: http.StatusOK, body: wholePlan(plan)}, err
	}
	plan, err := e.Lifecycle.PlanRecord(ctx, c.owner())
	return answer{status: http.StatusOK, body: wholePlan(plan)}, err
}

// updateRecord begins to roll out a record, which may take over names of another
// external-dns.
func (e *edge) updateRecord(ctx context.Context, c *call) (answer, error) {
	if !c.query.Has("adopt") {
		return action(e.Lifecycle.UpdateRecord)(ctx, c)
	}
	accepted, err := e.Lifecycle.Adopt(ctx, c.owner(), c.query.Get("adopt"), c.query.Get("confirm"), c.actor.Subject)
	return answer{status: http.StatusAccepted, body: accepted}, err
}

// status answers what was observed of a deployment intent group or a logical cloud.
func (e *edge) status(ctx context.Context, c *call) (answer, error) {
	status, err := e.Lifecycle.Status(ctx, c.owner())
	return answer{status: http.StatusOK, body: wholeStatus(status)}, err
}

// events lists what happened to a deployment intent group or a logical cloud.
func (e *edge) events(ctx context.Context, c *call) (answer, error) {
	events, err := e.Lifecycle.Events(ctx, c.owner())
	return answer{status: http.StatusOK, body: map[string]any{"items": orEmpty(events)}}, err
}

// history lists what happened to a project or a cluster provider, and below it.
func (e *edge) history(ctx context.Context, c *call) (answer, error) {
	page, err := e.History.Page(ctx, c.owner(), c.limit(), c.query.Get("continue"))
	return answer{status: http.StatusOK, body: page}, wrongContinue(err)
}

// recordUsers lists who publishes through a record.
func (e *edge) recordUsers(ctx context.Context, c *call) (answer, error) {
	users, err := e.Lifecycle.Users(ctx, c.owner())
	for i := range users {
		users[i].Clusters = orEmpty(users[i].Clusters)
	}
	return answer{status: http.StatusOK, body: map[string]any{"items": orEmpty(users)}}, err
}

// recordStatus answers what is known of a record's deployments, and what is
// odd about its document.
func (e *edge) recordStatus(ctx context.Context, c *call) (answer, error) {
	doc, err := e.Store.Get(ctx, c.owner())
	if err != nil {
		return answer{}, err
	}
	view, err := e.Admitter.View(ctx, doc)
	if err != nil {
		return answer{}, err
	}
	status, err := e.Lifecycle.RecordStatus(ctx, doc.Path)
	status.Providers, status.Deployments = orEmpty(status.Providers), orEmpty(status.Deployments)
	status.Warnings = append(view.Status.Warnings, status.Warnings...)
	return answer{status: http.StatusOK, body: status}, err
}
