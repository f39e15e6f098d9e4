package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/emco"
	"github.com/signpost-dns/signpost/pkg/cli/lifecycle"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// longestWait is how long delete waits for each termination.
const longestWait = 5 * time.Minute

// requestFrom asks for what the document asks for. To approve or instantiate what
// is instantiated changes nothing.
func requestFrom(ctx context.Context, s *emco.Service, d document.Document, kind string, body []byte) (string, error) {
	_, err := s.Do(ctx, http.MethodPost, d.Path, kind, body)
	if _, ok := errors.AsType[*emco.Error](err); ok && slices.Contains([]string{"approve", "instantiate"}, d.Action) {
		if now, unknown := lifeAt(ctx, s, d.Owner()); unknown == nil && now.state() == "Instantiated" {
			return "unchanged", nil
		}
	}
	return "requested", err
}

// emcoLife is how far EMCO is with a deployment intent group or a logical cloud.
type emcoLife struct {
	States struct {
		Actions []struct {
			State string `json:"state"`
		} `json:"actions"`
	} `json:"states"`
	// Deployed is rsync's state of the current app context, as in Terminating;
	// empty before the first one.
	Deployed string `json:"deployedStatus"`
}

// state is what was asked for last, as in Approved or Terminated.
func (l emcoLife) state() string {
	if len(l.States.Actions) == 0 {
		return ""
	}
	return l.States.Actions[len(l.States.Actions)-1].State
}

func lifeAt(ctx context.Context, s *emco.Service, owner intent.Path) (emcoLife, error) {
	var now emcoLife
	text, err := s.Read(ctx, owner+"/status?status=deployed&output=summary")
	if err != nil {
		return now, err
	}
	err = json.Unmarshal(text, &now)
	return now, err
}

// removeAt deletes the document. A document that was instantiated is terminated.
func removeAt(ctx context.Context, s *emco.Service, b batch, d document.Document) (string, error) {
	if d.Action != "" {
		return terminateAt(ctx, s, b, d.Owner())
	}
	_, err := s.Do(ctx, http.MethodDelete, d.Path, "", nil)
	if refused, ok := errors.AsType[*emco.Error](err); ok && refused.Status == http.StatusNotFound && !refused.Pathless() {
		return "absent", nil
	}
	return "deleted", err
}

// terminateAt ends what was instantiated, and waits until EMCO's rsync has taken
// it away, and Signpost its names.
func terminateAt(ctx context.Context, s *emco.Service, b batch, owner intent.Path) (string, error) {
	done := "terminated"
	_, err := s.Do(ctx, http.MethodPost, owner+"/terminate", "", nil)
	if refused, ok := errors.AsType[*emco.Error](err); ok {
		done, err = ended(ctx, s, owner, refused)
	}
	if err == nil && done == "terminated" {
		err = untilTerminated(ctx, s, b, owner)
	}
	if err == nil && document.Kind(owner) == "deployment-intent-groups" {
		err = b.untilGone(ctx, owner)
	}
	return done, err
}

// ended is what became of something that EMCO refuses to terminate: nothing is
// there any more, or an earlier termination goes on. Else it is the refusal.
func ended(ctx context.Context, s *emco.Service, owner intent.Path, refusal *emco.Error) (string, error) {
	now, err := lifeAt(ctx, s, owner)
	if err != nil {
		if _, err := s.Do(ctx, http.MethodGet, owner, "", nil); emco.HasStatus(err, http.StatusNotFound) && !refusal.Pathless() {
			return "absent", nil
		}
		return "", refusal
	}
	switch {
	case now.Deployed == "", now.state() == "Terminated" && now.Deployed == "Terminated":
		return "absent", nil
	case now.state() == "Terminated":
		return "terminated", nil
	}
	return "", refusal
}

// untilTerminated waits until EMCO's rsync has taken away what was deployed.
func untilTerminated(ctx context.Context, s *emco.Service, b batch, owner intent.Path) error {
	shown := ""
	return connect.Wait{
		Timeout: longestWait, Every: b.poll, Interrupted: "the server continues what it has accepted",
		Late: func() error { return fmt.Errorf("not done after %s: %s; the server continues", longestWait, shown) },
	}.Until(ctx, func(ctx context.Context) (bool, error) {
		now, err := lifeAt(ctx, s, owner)
		line := fmt.Sprintf("EMCO's %s: %s is %s", s.Flag, document.ShortOwner(owner), now.Deployed)
		switch {
		case err == nil && now.Deployed == "TerminateFailed":
			return false, fmt.Errorf("%s: rsync could not remove all objects", line)
		case err == nil && now.Deployed == "Terminated", err != nil && !connect.IsUnreachable(err):
			return err == nil, err
		case err != nil:
			line = "waiting: " + connect.Describe(err)
		}
		if ctx.Err() == nil && line != shown {
			terminal.Printf(b.err, "%s\n", line)
			shown = line
		}
		return false, err
	})
}

// untilGone waits until Signpost has taken back the names of a group, if it has
// any.
func (b batch) untilGone(ctx context.Context, group intent.Path) error {
	reason, err := deployed(ctx, b.api, group)
	if err != nil || reason == "" {
		return err
	}
	watch := lifecycle.Waiter{API: b.api, Owner: group, Poll: b.poll, Progress: b.err}
	return watch.Until(ctx, lifecycle.GoalOf(intent.Terminate), 0, longestWait)
}
