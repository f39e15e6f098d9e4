package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
)

const readyHelp = `Checks whether the server is ready, which means that all its dependencies answer. It needs no token.
It can be a container's health check: the image needs no other program.`

// ReadyCommand makes `signpost ready`.
func ReadyCommand(p terminal.Program) *cobra.Command {
	var to connect.Connection
	var wait time.Duration
	cmd := &cobra.Command{
		Use:     "ready",
		Short:   "Check whether the server is ready",
		Long:    readyHelp,
		Example: "  signpost ready\n  signpost ready --wait 1m",
		Args:    terminal.Exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			api, err := to.Dial()
			if err != nil {
				return err
			}
			if err := awaitReady(cmd.Context(), p, api, wait); err != nil {
				return err
			}
			terminal.Printf(p.Out, "ready\n")
			return nil
		},
	}
	to.Flags(cmd.Flags())
	cmd.Flags().DurationVar(&wait, "wait", 0, "how long to wait until the server is ready")
	return cmd
}

// awaitReady asks until the server is ready, for as long as wait says, and
// once at least.
func awaitReady(ctx context.Context, p terminal.Program, api *client.Client, wait time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		err := askReady(ctx, api)
		switch {
		case err == nil, !connect.IsUnreachable(err):
			return err
		case terminal.Sleep(limited, p.Poll):
			continue
		case ctx.Err() != nil:
			return errors.New("interrupted")
		case wait > 0:
			return terminal.AsTimeoutError(fmt.Errorf("not ready after %s: %s", wait, connect.Describe(err)))
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
