package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// longestWait is how long delete waits for each termination.
const longestWait = 5 * time.Minute

// request asks for what the document asks for. To approve or instantiate what
// is instantiated changes nothing.
func (s *emcoService) request(ctx context.Context, d document, kind string, body []byte) (string, error) {
	_, err := s.do(ctx, http.MethodPost, d.Path, kind, body)
	var refused *emcoError
	if errors.As(err, &refused) && slices.Contains([]string{"approve", "instantiate"}, d.Action) {
		if now, unknown := s.life(ctx, d.owner()); unknown == nil && now.state() == "Instantiated" {
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

func (s *emcoService) life(ctx context.Context, owner intent.Path) (emcoLife, error) {
	var now emcoLife
	text, err := s.read(ctx, owner+"/status?status=deployed&output=summary")
	if err != nil {
		return now, err
	}
	err = json.Unmarshal(text, &now)
	return now, err
}

// remove deletes the document. What was instantiated is terminated.
func (s *emcoService) remove(ctx context.Context, b batch, d document) (string, error) {
	if d.Action != "" {
		return s.terminate(ctx, b, d.owner())
	}
	_, err := s.do(ctx, http.MethodDelete, d.Path, "", nil)
	var refused *emcoError
	if errors.As(err, &refused) && refused.status == http.StatusNotFound && !refused.pathless() {
		return "absent", nil
	}
	return "deleted", err
}

// terminate ends what was instantiated, and waits until EMCO's rsync has taken
// it away, and Signpost its names.
func (s *emcoService) terminate(ctx context.Context, b batch, owner intent.Path) (string, error) {
	done := "terminated"
	_, err := s.do(ctx, http.MethodPost, owner+"/terminate", "", nil)
	var refused *emcoError
	if errors.As(err, &refused) {
		done, err = s.ended(ctx, owner, refused)
	}
	if err == nil && done == "terminated" {
		err = s.untilTerminated(ctx, b, owner)
	}
	if err == nil && kind(owner) == "deployment-intent-groups" {
		err = b.untilGone(ctx, owner)
	}
	return done, err
}

// ended is what became of something that EMCO refuses to terminate: nothing is
// there any more, or an earlier termination goes on. Else it is the refusal.
func (s *emcoService) ended(ctx context.Context, owner intent.Path, refusal *emcoError) (string, error) {
	now, err := s.life(ctx, owner)
	if err != nil {
		if _, err := s.do(ctx, http.MethodGet, owner, "", nil); hasStatus(err, http.StatusNotFound) && !refusal.pathless() {
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
func (s *emcoService) untilTerminated(ctx context.Context, b batch, owner intent.Path) error {
	limited, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	for shown := ""; ; {
		now, err := s.life(limited, owner)
		line := fmt.Sprintf("EMCO's %s: %s is %s", s.flag, shortOwner(owner), now.Deployed)
		switch {
		case err == nil && now.Deployed == "Terminated":
			return nil
		case err == nil && now.Deployed == "TerminateFailed":
			return fmt.Errorf("%s: its rsync could not take everything away", line)
		case err != nil && !isUnreachable(err):
			return err
		case err != nil && limited.Err() == nil:
			line = "waiting: " + describe(err)
		}
		if limited.Err() == nil && line != shown {
			printf(b.err, "%s\n", line)
			shown = line
		}
		if !sleep(limited, b.poll) {
			if ctx.Err() != nil {
				return errors.New("interrupted; what was accepted goes on")
			}
			return timeoutError{fmt.Errorf("not done after %s: %s; it goes on", longestWait, shown)}
		}
	}
}

// untilGone waits until Signpost has taken back the names of a group, if it has
// any.
func (b batch) untilGone(ctx context.Context, group intent.Path) error {
	reason, err := deployed(ctx, b.api, group)
	if err != nil || reason == "" {
		return err
	}
	watch := waiter{api: b.api, owner: group, poll: b.poll, progress: b.err}
	return watch.until(ctx, goal(intent.Terminate), 0, longestWait)
}
