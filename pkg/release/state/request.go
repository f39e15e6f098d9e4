package state

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// Request is what is asked of a group.
type Request struct {
	Action     intent.Action
	To         int64                // of a rollback: the revision, 0 for the one before the current
	AppContext string               // that an orchestrator has made current or ends; empty: it is Signpost's own lifecycle
	Deploy     bool                 // instantiate or update, in any state; the action is empty
	Force      bool                 // of terminate: also what an orchestrator has in the clusters
	Takeover   intent.Path          // the group whose names are taken over; empty: none's
	Name       *intent.NameDocument // of a name: its document as it is to be; nil: it stays as it is
	Restores   int64                // of a name: the release whose document it gets again; 0: none
	NameWas    *intent.Document     // as its document was when that was judged; nil: there was none
	Confirmed  bool                 // the token of its plan is to be compared
	Paid       *int                 // bytes that earlier attempts of the request have taken from the project's rate; nil: none
}

// Note is what the event of the accepted request tells beside its action.
func (r Request) Note() string {
	if r.Restores == 0 {
		return ""
	}
	return fmt.Sprintf("rolled back to release %d", r.Restores)
}

// Driver refuses to have one group driven from two sides: by an
// orchestrator, and from here. See relinquished for terminate.
func (r Request) Driver(owner intent.Path, l Lifecycle) error {
	if r.Action == intent.Terminate || !l.Deployed() || l.Orchestrated() == (r.AppContext != "") {
		return nil
	}
	detail := fmt.Sprintf("%s is %s: %s drives it, by app context %s; instantiate, update and roll it back there", owner, l.State(), intent.Orchestrator, l.AppContext)
	if r.AppContext != "" {
		detail = fmt.Sprintf("%s is %s: Signpost deploys its apps itself; terminate it here before %s instantiates it", owner, l.State(), intent.Orchestrator)
	}
	return &intent.Error{Code: intent.Conflict, Detail: detail}
}

// TrackRemovedClusters notes which clusters the group's earlier releases used and the next
// one does not: what is there has to go.
func (l *Lifecycle) TrackRemovedClusters(before, next plan.Group) {
	clusters := slices.Clone(l.RemovedClusters)
	before = WithFormer(before, l.Former)
	for _, c := range before.Clusters {
		holds := func(b plan.Binding) bool { return b.Cluster == c.Name }
		if !intent.IsName(before.Path) || slices.ContainsFunc(before.Bindings, holds) { // of other clusters, a name has only addresses
			clusters = append(clusters, c.Name)
		}
	}
	slices.Sort(clusters)
	used := func(cluster string) bool {
		return slices.ContainsFunc(next.Clusters, func(c plan.Cluster) bool { return c.Name == cluster })
	}
	l.RemovedClusters = slices.DeleteFunc(slices.Compact(clusters), used)
}

// Without is the set of uses that are not among others.
func Without(uses, others []Use) []Use {
	var out []Use
	for _, use := range uses {
		if !slices.Contains(others, use) && !slices.Contains(out, use) {
			out = append(out, use)
		}
	}
	return out
}

// attempts is how often a request tries again when others change what it has
// read.
const attempts = 10

// errPlanChanged is the cause of an error that trying again does not mend.
var errPlanChanged = errors.New("plan again")

// PlanChanged answers a confirmation that came too late.
func PlanChanged() error {
	return &intent.Error{Code: intent.PreconditionFailed, Detail: "the token is not that of the present plan: something changed since the plan, or the token is not complete; plan again", Err: errPlanChanged}
}

// RetryOnConflict tries a request until nobody changes what it has read meanwhile. Each try but the first reads anew.
func RetryOnConflict[Answer any](ctx context.Context, owner intent.Path, try func(context.Context) (Answer, error)) (answer Answer, err error) {
	for n := range attempts {
		within := ctx
		if n > 0 {
			within = snapshot.Now(ctx)
		}
		answer, err = try(within)
		if intent.CodeOf(err) != intent.PreconditionFailed || errors.Is(err, errPlanChanged) {
			return answer, err
		}
	}
	return answer, &intent.Error{Code: intent.Conflict, Detail: "others keep changing " + string(owner) + "; try again", Err: err}
}
