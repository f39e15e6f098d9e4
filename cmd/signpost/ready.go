package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/client"
)

const readyHelp = `Asks the server whether it is ready: whether everything that it depends on answers. It
needs no token. As a container's health check it needs nothing else in the image.`

func (p program) readyCommand() *cobra.Command {
	var to connection
	var wait time.Duration
	cmd := &cobra.Command{
		Use:     "ready",
		Short:   "Ask whether the service is ready",
		Long:    readyHelp,
		Example: "  signpost ready\n  signpost ready --wait 1m",
		Args:    exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			api, err := to.dial()
			if err != nil {
				return err
			}
			if err := p.awaitReady(cmd.Context(), api, wait); err != nil {
				return err
			}
			printf(p.out, "ready\n")
			return nil
		},
	}
	to.flags(cmd.Flags())
	cmd.Flags().DurationVar(&wait, "wait", 0, "how long to wait until it is")
	return cmd
}

// awaitReady asks until the server is ready, for as long as wait says, and
// once at least.
func (p program) awaitReady(ctx context.Context, api *client.Client, wait time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		err := askReady(ctx, api)
		switch {
		case err == nil, !isUnreachable(err):
			return err
		case sleep(limited, p.poll):
			continue
		case ctx.Err() != nil:
			return errors.New("interrupted")
		case wait > 0:
			return timeoutError{fmt.Errorf("not ready after %s: %s", wait, describe(err))}
		}
		return err
	}
}

// askReady fails with what the server waits for.
func askReady(ctx context.Context, api *client.Client) error {
	response, err := api.Do(ctx, http.MethodGet, "/readyz", nil, nil)
	if err != nil || response.StatusCode == http.StatusOK {
		return err
	}
	var unready client.Readiness
	if err := json.Unmarshal(response.Body, &unready); err != nil {
		return fmt.Errorf("the answer of /readyz: %w", err)
	}
	var waits []string
	for _, check := range unready.Checks {
		if !check.Ok {
			waits = append(waits, check.Name+" "+check.Message)
		}
	}
	return &client.Error{Status: response.StatusCode, Detail: "not ready: " + strings.Join(waits, ", ")}
}
