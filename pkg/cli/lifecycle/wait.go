package lifecycle

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Waiter looks at the status of a deployment intent group again and again.
type Waiter struct {
	API      *client.Client
	Owner    intent.Path
	Poll     time.Duration
	Progress io.Writer // a line at the second look, and whenever something moved
}

// Until waits until the goal is reached by the release, or a later one, and all its
// names have addresses. A server that does not answer in between may come back.
// After timeout it fails with a timeoutError.
func (w Waiter) Until(ctx context.Context, goal Goal, revision int64, timeout time.Duration) error {
	last, shown, looks := "", "", 0
	return connect.Wait{
		Timeout: timeout, Every: w.Poll, Interrupted: "the server continues what it has accepted",
		Late: func() error {
			return fmt.Errorf("not done after %s: %s; the server continues, see signpost status %s", timeout, last, document.ShortOwner(w.Owner))
		},
	}.Until(ctx, func(ctx context.Context) (bool, error) {
		status, err := w.look(ctx)
		done := err == nil && status.State == goal.State && status.Revision >= revision && len(unaddressed(status)) == 0 && goal.missing(status) == ""
		if done || err != nil && !connect.IsUnreachable(err) {
			return done, err
		}
		if ctx.Err() == nil {
			last = progressLine(status, err, goal)
		}
		looks++
		if looks > 1 && last != shown {
			terminal.Printf(w.Progress, "%s\n", last)
			shown = last
		}
		return false, err
	})
}

// look reads the summary of the status.
func (w Waiter) look(ctx context.Context) (client.Status, error) {
	var status client.Status
	_, err := connect.Ask(ctx, w.API, http.MethodGet, string(w.Owner)+"/status?view=summary", nil, &status)
	return status, err
}

// progressLine tells how far a group is.
func progressLine(status client.Status, err error, goal Goal) string {
	if err != nil {
		return "waiting for the server: " + strings.ReplaceAll(connect.Describe(err), "\n", " ")
	}
	settled, total := status.Counts.Settled, status.Counts.Objects
	parts := []string{string(status.State)}
	for _, cluster := range status.Counts.Unreachable {
		parts = append(parts, terminal.Plain(cluster)+" cannot be reached")
	}
	if total > 0 {
		parts[0] = fmt.Sprintf("%s: %d of %s done", status.State, settled, terminal.Count(total, "object"))
	}
	if status.Message != "" {
		parts = append(parts, terminal.Plain(status.Message))
	}
	if settled == total {
		parts = append(parts, unsynced(status)...)
	}
	if names := unaddressed(status); settled == total && len(names) > 0 {
		parts = append(parts, "there is no address for "+strings.Join(names, ", "))
	} else if missing := goal.missing(status); status.State == goal.State && missing != "" {
		parts = append(parts, missing)
	}
	return strings.Join(parts, "; ")
}

// unsynced is what has to come beside the group's own objects, such as an
// external-dns that has names to remove.
func unsynced(status client.Status) []string {
	for _, c := range status.Conditions {
		if c.Type == client.Synced && c.Status == client.False {
			return []string{terminal.Plain(c.Message)}
		}
	}
	return nil
}

// unaddressed are the first names of what is instantiated that have no address: nobody
// is served by them.
func unaddressed(status client.Status) []string {
	var names []string
	for _, name := range status.Counts.Unaddressed {
		if status.State == client.StatusState(intent.Instantiated) {
			names = append(names, terminal.Plain(name))
		}
	}
	return names
}
