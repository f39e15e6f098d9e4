package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/intent"
)

// waiter looks at the status of a deployment intent group again and again.
type waiter struct {
	api      *client.Client
	owner    intent.Path
	poll     time.Duration
	progress io.Writer // a line whenever something moved
}

// until waits until the state is reached by the release, or a later one. A
// server that does not answer in between may come back. After timeout it fails
// with a timeoutError.
func (w waiter) until(ctx context.Context, state client.StatusState, revision int64, timeout time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	last := ""
	for {
		status, err := w.look(limited)
		if err != nil && !isUnreachable(err) {
			return w.ended(ctx, limited, err, timeout, last)
		}
		if err == nil && status.State == state && status.Revision >= revision {
			return nil
		}
		if line := progressLine(status, err); line != last && limited.Err() == nil {
			printf(w.progress, "%s\n", line)
			last = line
		}
		if err := pause(limited, w.poll); err != nil {
			return w.ended(ctx, limited, err, timeout, last)
		}
	}
}

// ended is why waiting ended: interrupted, out of time, or err.
func (w waiter) ended(ctx, limited context.Context, err error, timeout time.Duration, last string) error {
	switch {
	case ctx.Err() != nil:
		return errors.New("interrupted; what was accepted goes on")
	case limited.Err() != nil:
		return timeoutError{fmt.Errorf("not done after %s: %s; it goes on, see signpost status %s", timeout, last, shortGroup(w.owner))}
	}
	return err
}

// look reads the status.
func (w waiter) look(ctx context.Context) (client.Status, error) {
	var status client.Status
	response, err := w.api.Do(ctx, http.MethodGet, string(w.owner)+"/status", nil, nil)
	if err != nil {
		return status, err
	}
	return status, json.Unmarshal(response.Body, &status)
}

// pause waits for d, or fails when ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// progressLine tells how far a group is.
func progressLine(status client.Status, err error) string {
	if err != nil {
		return "waiting for the server: " + strings.ReplaceAll(describe(err), "\n", " ")
	}
	settled, total := 0, 0
	var troubles []string
	for _, cluster := range status.Clusters {
		if !cluster.Reachable {
			troubles = append(troubles, fmt.Sprintf("%s+%s cannot be reached", cluster.ClusterProvider, cluster.Cluster))
		}
		for _, resource := range cluster.Resources {
			total++
			if isSettled(status.State, resource) {
				settled++
			}
		}
	}
	line := fmt.Sprintf("%s: %d of %s done", status.State, settled, count(total, "object"))
	if status.Message != "" {
		troubles = append(troubles, plain(status.Message))
	}
	return strings.Join(append([]string{line}, troubles...), "; ")
}

// isSettled tells whether an object is as it shall be.
func isSettled(state client.StatusState, resource client.ResourceStatus) bool {
	if resource.Status == "Deleted" {
		return true
	}
	return resource.Status == "Applied" && state != client.StatusState(intent.Terminating)
}
