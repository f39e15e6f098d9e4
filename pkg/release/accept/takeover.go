package accept

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// PlanTakeover tells what TakeOver would do to a group, and changes nothing. An
// empty action means instantiate when nothing is current, else update.
func (s *Planner) PlanTakeover(ctx context.Context, owner intent.Path, action intent.Action, from string) (intent.Plan, error) {
	other, err := takeoverFrom(owner, from)
	if err != nil {
		return intent.Plan{}, err
	}
	return state.RetryOnConflict(ctx, owner, func(ctx context.Context) (intent.Plan, error) {
		p, err := s.buildPlan(ctx, owner, state.Request{Action: action, Takeover: other}, true)
		return p.View, err
	})
}

// TakeOver instantiates or updates a group, and has another group of its project yield
// the names that both publish. The other group publishes each name until this group does,
// and each name has one external-dns throughout. Parameter from is the other group: its
// name, if both are of one composite app and version. Otherwise it is "app/version/name",
// or its path.
func (s *Planner) TakeOver(ctx context.Context, owner intent.Path, action intent.Action, from, confirm, actor string) (intent.Accepted, error) {
	other, err := takeoverFrom(owner, from)
	if err != nil {
		return intent.Accepted{}, err
	}
	return s.Accept(ctx, owner, state.Request{Action: action, Takeover: other}, confirm, actor)
}

// takeoverFrom is the path of the group whose names another is to take over.
func takeoverFrom(owner intent.Path, from string) (intent.Path, error) {
	parts := strings.Split(from, "/")
	var path intent.Path
	switch {
	case len(parts) == 2 && parts[0] == intent.NamesCollection:
		path = intent.Join("projects", owner.Segment("projects"), parts[0], parts[1])
	case len(parts) == 1 && !intent.IsName(owner):
		path = owner.Parent().Child("deployment-intent-groups", from)
	case len(parts) == 3:
		path = intent.Join("projects", owner.Segment("projects"), "composite-apps", parts[0], parts[1], "deployment-intent-groups", parts[2])
	default:
		path = intent.Path(strings.TrimPrefix(strings.TrimPrefix(from, "/"), "v2/"))
	}
	refuse := func(why string) (intent.Path, error) {
		return "", &intent.Error{Code: intent.Invalid, Detail: fmt.Sprintf("query parameter takeover: %q %s", from, why)}
	}
	switch {
	case slices.Contains(parts, "") && len(parts) <= 3 || !intent.IsName(path) && path.Segment("deployment-intent-groups") != path.Name() || path.Segment("projects") == "":
		return refuse("is neither a deployment intent group nor a name; give app/version/group, names/host, or a path")
	case path.Segment("projects") != owner.Segment("projects"):
		return refuse("belongs to another project; names can be taken over only within a project")
	case path == owner:
		return refuse("is the group itself; name the group that now publishes the names")
	}
	return path, nil
}
