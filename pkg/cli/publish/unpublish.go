package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/lifecycle"
	"github.com/signpost-dns/signpost/pkg/cli/show"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// UnpublishCommand makes `signpost unpublish`.
func UnpublishCommand(p terminal.Program) *cobra.Command {
	var server connect.Connection
	var project, confirm string
	var dryRun, wait bool
	var timeout time.Duration
	var output terminal.Format
	cmd := &cobra.Command{
		Use:   "unpublish HOST",
		Short: "Take a host name out of DNS, and delete it",
		Long: `Takes a host name out of DNS, and deletes its document once nothing answers it any more.
--wait waits until that is done.`,
		Example: "  signpost unpublish www.shop.example --wait",
		Args:    terminal.Exactly(1, "one host name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			host, err := hostname.Canonical(args[0])
			if err != nil {
				return terminal.Usagef("%q %w", args[0], err)
			}
			api, err := server.Dial()
			if err != nil {
				return err
			}
			query := url.Values{}
			if confirm != "" {
				query.Set("confirm", confirm)
			}
			if dryRun {
				query.Set("dryRun", "true")
			}
			path := namePath(project, host)
			response, err := api.Do(cmd.Context(), http.MethodDelete, lifecycle.WithQuery(path, query), nil, nil)
			if err != nil {
				return err
			}
			if dryRun {
				return lifecycle.PrintPlan(p, &output, response.Body, false)
			}
			done := "is going"
			if wait {
				if err := awaitGone(cmd.Context(), p, api, path, timeout); err != nil {
					return err
				}
				done = "is gone"
			}
			return output.Print(p.Out, response.Body, func(w io.Writer, _ bool) error {
				terminal.Printf(w, "%s %s\n", host, done)
				return nil
			})
		},
	}
	const longest = 5 * time.Minute
	flags := cmd.Flags()
	flags.StringVar(&project, "project", defaultProject, "the `PROJECT` of the name")
	flags.StringVar(&confirm, "confirm", "", "the `TOKEN` of the plan to carry out; refused when anything changed since")
	flags.BoolVar(&dryRun, "dry-run", false, "show the plan, and change nothing")
	flags.BoolVar(&wait, "wait", false, "wait until the name is gone")
	flags.DurationVar(&timeout, "timeout", longest, "how long to --wait")
	output.Flag(flags)
	server.ServerFlags(flags)
	return cmd
}

// awaitGone looks at a name until it does not exist any more.
func awaitGone(ctx context.Context, p terminal.Program, api *client.Client, path string, timeout time.Duration) error {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		response, err := api.Do(limited, http.MethodGet, path, nil, nil)
		var refused *client.Error
		if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
			return nil
		}
		if err != nil && !connect.IsUnreachable(err) && limited.Err() == nil {
			return err
		}
		if !terminal.Sleep(limited, p.Poll) {
			if ctx.Err() != nil {
				return errors.New("interrupted; the deletion goes on")
			}
			return terminal.AsTimeoutError(fmt.Errorf("the name is not gone after %s%s; the deletion goes on, see signpost get %s", timeout, because(response), path))
		}
	}
}

// because is what stands in the way of a deletion, as far as an answer tells.
func because(response *client.Response) string {
	var name struct {
		Status intent.NameReport `json:"status"`
	}
	if response == nil || json.Unmarshal(response.Body, &name) != nil || name.Status.Message == "" {
		return ""
	}
	return ": " + terminal.Plain(name.Status.Message)
}

// NamesCommand makes `signpost names`.
func NamesCommand(p terminal.Program) *cobra.Command {
	var server connect.Connection
	var project string
	var output terminal.Format
	cmd := &cobra.Command{
		Use:     "names",
		Short:   "List the names of a project",
		Long:    "Lists the host names that a project publishes by documents of their own. Host names of DNS intents are in the status of their deployment intent groups.",
		Example: "  signpost names\n  signpost names --project shop -o wide",
		Args:    terminal.Exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			api, err := server.Dial()
			if err != nil {
				return err
			}
			return show.Get(cmd.Context(), p, api, intent.Join("projects", project, intent.NamesCollection), url.Values{}, &output)
		},
	}
	cmd.Flags().StringVar(&project, "project", defaultProject, "the `PROJECT` whose names to list")
	output.Flag(cmd.Flags())
	server.Flags(cmd.Flags())
	return cmd
}
