package state

import (
	"fmt"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Prepared is a release that was frozen for an app context of an orchestrator. It is
// accepted when that becomes current.
type Prepared struct {
	AppContext string   `json:"appContext"`
	ContextID  string   `json:"contextID"`         // of the release
	Traffic    []string `json:"traffic"`           // names of the traffic groups that it is made of, ordered
	From       string   `json:"from,omitempty"`    // the app context of another group that it takes the place of
	Failure    string   `json:"failure,omitempty"` // why it could not be accepted when the context became current
}

// keptPrepared is for how many app contexts releases are kept: an orchestrator
// rolls back to any.
const keptPrepared = 100

// Orchestrated says whether what is deployed is for an app context of an orchestrator.
func (l *Lifecycle) Orchestrated() bool { return l.Deployed() && l.AppContext != "" }

// ToSync says whether it matters to the group what an orchestrator makes of its contexts.
func (l *Lifecycle) ToSync() bool {
	return l.AppContext != "" || len(l.Prepared) > 0 && !l.Deployed()
}

// PreparedAt is where the release for an app context is, -1 where none is kept.
func (l *Lifecycle) PreparedAt(appContext string) int {
	return slices.IndexFunc(l.Prepared, func(p Prepared) bool { return p.AppContext == appContext })
}

// IsPrepared says whether a release is frozen for an app context of an orchestrator.
func (l *Lifecycle) IsPrepared(appContext string) bool { return l.PreparedAt(appContext) >= 0 }

// Keep notes a release for an app context, in the place of an earlier one. If there are
// too many, the oldest are dropped, but not the current one.
func (l *Lifecycle) Keep(p Prepared) {
	l.Prepared = slices.Clone(l.Prepared)
	if at := l.PreparedAt(p.AppContext); at >= 0 {
		l.Prepared[at] = p
	} else {
		l.Prepared = append(l.Prepared, p)
	}
	for len(l.Prepared) > keptPrepared {
		oldest := slices.IndexFunc(l.Prepared, func(o Prepared) bool { return o.AppContext != l.AppContext })
		l.Prepared = slices.Delete(l.Prepared, oldest, oldest+1)
	}
}

// StandsFor says whether a lifecycle is as it was, as far as an app context is
// concerned.
func (l *Lifecycle) StandsFor(appContext string, was Lifecycle) bool {
	kept := func(l *Lifecycle) string {
		if at := l.PreparedAt(appContext); at >= 0 {
			return l.Prepared[at].ContextID
		}
		return ""
	}
	return l.OwnerUID == was.OwnerUID && l.Seq == was.Seq && l.Wanted == was.Wanted && kept(l) == kept(&was)
}

// Older says whether a context came before another. A context without a kept release came
// before all of them.
func (l *Lifecycle) Older(a, b string) bool { return l.PreparedAt(a) < l.PreparedAt(b) }

// FollowingAction is what accepting a release now does to the group. A release for an app
// context older than the current one is a rollback.
func (l *Lifecycle) FollowingAction(appContext string) intent.Action {
	switch {
	case !l.Deployed():
		return intent.Instantiate
	case appContext != "" && l.Older(appContext, l.AppContext):
		return intent.Rollback
	}
	return intent.Update
}

// Track notes which app context a group is for that takes an action. An orchestrator never
// comes back to contexts of a group that it has ended.
func (l *Lifecycle) Track(r Request) {
	if r.Action == intent.Terminate && !r.Force {
		l.Retire(r.AppContext)
	}
	if r.Action != intent.Terminate || r.AppContext != "" {
		l.AppContext = r.AppContext
	}
	l.Follow()
}

// Follow forgets which app contexts could not be followed.
func (l *Lifecycle) Follow() {
	l.Unkept = ""
	l.Prepared = slices.Clone(l.Prepared)
	for at := range l.Prepared {
		l.Prepared[at].Failure = ""
	}
}

// Unaccepted is why what the orchestrator made current last is not the group's release;
// empty when it is.
func (l *Lifecycle) Unaccepted() string {
	if l.Unkept != "" {
		return fmt.Sprintf("%s's app context %s is current and not followed: no release is kept for it, so names stay as app context %s has them; "+
			"update the deployment intent group at %s", intent.OrchestratorName, l.Unkept, l.AppContext, intent.Orchestrator)
	}
	for _, p := range slices.Backward(l.Prepared) {
		if p.Failure != "" {
			return fmt.Sprintf("%s's app context %s is not followed: %s", intent.OrchestratorName, p.AppContext, p.Failure)
		}
	}
	return ""
}

// Retire drops the releases for the app context that the group ends with, for
// the group's own, and for those before them.
func (l *Lifecycle) Retire(appContext string) {
	last := max(l.PreparedAt(appContext), l.PreparedAt(l.AppContext))
	l.Prepared = slices.Clone(l.Prepared[last+1:])
}
