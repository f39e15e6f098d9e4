package resources

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// user is a document that keeps another from being deleted.
type user struct {
	path     intent.Path
	refers   bool // it names the other
	deployed bool // its current release relies on the other
}

// inUseError says of a document that is referred to why it cannot be deleted and what
// to do first: once for each user. Other errors stay as they are.
func (h *Handlers) inUseError(ctx context.Context, err error) error {
	var referenced *intent.Referenced
	if !errors.As(err, &referenced) {
		return err
	}
	const most = 10
	path, users := referenced.Path, usersIn(referenced)
	listed := users[:min(len(users), most)]
	refusal := &intent.Error{Code: intent.Conflict, Err: err}
	for _, u := range listed {
		reason, err := h.reason(ctx, path, u)
		if err != nil {
			return err
		}
		refusal.Fields = append(refusal.Fields, intent.Field{Detail: reason})
	}
	if more := len(users) - len(listed); more > 0 {
		refusal.Fields = append(refusal.Fields, intent.Field{Detail: fmt.Sprintf("and %d more", more)})
	}
	refusal.Detail = string(path) + " cannot be deleted: "
	if len(users) == 1 {
		refusal.Detail, refusal.Fields = refusal.Detail+refusal.Fields[0].Detail, nil
		return refusal
	}
	first := string(users[0].path)
	if users[0].path == path {
		first = "its own release"
	}
	refusal.Detail += fmt.Sprintf("it is needed by %s and %d more", first, len(users)-1)
	return refusal
}

// usersIn lists who refers to a document, the document's own release first.
// The release of a record is there for its users, and counts where there is
// none.
func usersIn(r *intent.Referenced) []user {
	var users []user
	for _, by := range r.By {
		owner, deployed := strings.CutPrefix(string(by), intent.LifecycleCollection+"/")
		at := slices.IndexFunc(users, func(u user) bool { return string(u.path) == owner })
		if at < 0 {
			at, users = len(users), append(users, user{path: intent.Path(owner)})
		}
		users[at].deployed = users[at].deployed || deployed
		users[at].refers = users[at].refers || !deployed
	}
	own := slices.IndexFunc(users, func(u user) bool { return u.path == r.Path })
	if own < 0 {
		return users
	}
	others := slices.Delete(slices.Clone(users), own, own+1)
	if isRecord(r.Path) && slices.ContainsFunc(others, func(u user) bool { return u.deployed }) {
		return others
	}
	return append([]user{users[own]}, others...)
}

// reason says what a user is to the document.
func (h *Handlers) reason(ctx context.Context, path intent.Path, u user) (string, error) {
	state, err := h.stateOf(ctx, u)
	switch {
	case err != nil:
		return "", err
	case u.path == path && state == intent.Terminating:
		return "it is terminating; wait until it is Terminated, and try again", nil
	case u.path == path && isRecord(path):
		return "it still publishes names, or removes the last ones, as its status tells. Terminate its users, or update them without it; it goes when the last names are removed", nil
	case u.path == path:
		return "it is instantiated; terminate it first", nil
	case u.path.Parent() == path:
		return "it has " + string(u.path) + "; delete that first", nil
	case !u.deployed:
		return string(u.path) + " refers to it", nil
	}
	relation := "it is in use by the current release of " + string(u.path)
	if u.refers {
		relation += ", which refers to it, too"
	}
	switch {
	case state == intent.Terminating:
		return relation + "; that is terminating: wait until it is Terminated", nil
	case isRecord(u.path):
		return relation + "; terminate that one's users, or move it, first", nil
	}
	if intent.IsName(u.path) {
		return relation + "; unpublish that name, or publish it by another provider, first", nil
	}
	return relation + "; terminate that, or update it without this, first", nil
}

// stateOf is where a deployed group stands; empty for others.
func (h *Handlers) stateOf(ctx context.Context, u user) (intent.State, error) {
	if !u.deployed || intent.KindOf(u.path).One != "DeploymentIntentGroup" {
		return "", nil
	}
	status, err := h.Lifecycle.Status(ctx, u.path)
	if intent.CodeOf(err) == intent.NotFound {
		err = nil
	}
	return status.State, err
}

func isRecord(path intent.Path) bool { return intent.KindOf(path).One == "DNSUpdateRecord" }
