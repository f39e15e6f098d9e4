package actions

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Failovers answers what is asked about moves of traffic.
type Failovers struct{ Service service.Failovers }

// Begin drains and undrains clusters, or answers what that would do.
func (f Failovers) Begin(ctx context.Context, c *operation.Call) (response.Answer, error) {
	var spec intent.FailoverSpec
	if err := json.Unmarshal(c.Body, &spec); err != nil {
		return response.Answer{}, err
	}
	preview := func(ctx context.Context, o intent.FailoverOptions) (intent.FailoverPreview, error) {
		return f.Service.PreviewFailover(ctx, spec, o)
	}
	return move(ctx, c, preview, func(ctx context.Context, o intent.FailoverOptions) (intent.FailoverRecord, error) {
		return f.Service.FailOver(ctx, spec, o)
	})
}

// Revert undoes a failover, or answers what that would do.
func (f Failovers) Revert(ctx context.Context, c *operation.Call) (response.Answer, error) {
	id := c.Vars["failover"]
	preview := func(ctx context.Context, o intent.FailoverOptions) (intent.FailoverPreview, error) {
		return f.Service.PreviewRevert(ctx, id, o)
	}
	return move(ctx, c, preview, func(ctx context.Context, o intent.FailoverOptions) (intent.FailoverRecord, error) {
		return f.Service.Revert(ctx, id, o)
	})
}

// move answers a preview or a record, as the request asks.
func move(ctx context.Context, c *operation.Call, preview func(context.Context, intent.FailoverOptions) (intent.FailoverPreview, error), act func(context.Context, intent.FailoverOptions) (intent.FailoverRecord, error)) (response.Answer, error) {
	o := intent.FailoverOptions{Confirm: c.Query.Get("confirm"), Force: c.Query.Get("force") == "true", Actor: c.Actor.Subject}
	if rules := c.Query.Get("override"); rules != "" {
		if c.Actor.Confined {
			return response.Answer{}, &intent.Error{Code: intent.Forbidden, Detail: c.Actor.Subject + " may not override safety rules; this needs the role admin in all projects"}
		}
		for _, rule := range strings.Split(rules, ",") {
			o.Override = append(o.Override, intent.SafetyRule(rule))
		}
	}
	if c.Query.Get("dryRun") == "true" {
		return response.OK(preview(ctx, o))
	}
	return response.Accepted(act(ctx, o))
}

// Get answers the record of a failover.
func (f Failovers) Get(ctx context.Context, c *operation.Call) (response.Answer, error) {
	return response.OK(f.Service.Failover(ctx, c.Vars["failover"]))
}

// List answers a page of records.
func (f Failovers) List(ctx context.Context, c *operation.Call) (response.Answer, error) {
	page, err := f.Service.Failovers(ctx, c.Limit(), c.Query.Get("continue"))
	return response.Answer{Status: http.StatusOK, Body: page}, operation.ContinueError(err)
}

// Rules answers the safety rules of the installation.
func (f Failovers) Rules(ctx context.Context, _ *operation.Call) (response.Answer, error) {
	rules, _, err := f.Service.SafetyRules(ctx)
	return response.Answer{Status: http.StatusOK, Body: rules}, err
}

// PutRules replaces the safety rules of the installation.
func (f Failovers) PutRules(ctx context.Context, c *operation.Call) (response.Answer, error) {
	var rules intent.SafetyRules
	if err := json.Unmarshal(c.Body, &rules); err != nil {
		return response.Answer{}, err
	}
	if err := f.Service.PutSafetyRules(ctx, rules, c.Actor.Subject); err != nil {
		return response.Answer{}, err
	}
	return f.Rules(ctx, c)
}
