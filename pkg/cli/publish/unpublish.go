package publish

import (
	"context"
	"encoding/json"
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

// deletion is one request to unpublish a name.
type deletion struct {
	server  connect.Connection
	output  terminal.Format
	project string
	confirm string
	dryRun  bool
	wait    bool
	timeout time.Duration
}

// UnpublishCommand makes `signpost unpublish`.
func UnpublishCommand(p terminal.Program) *cobra.Command {
	r := &deletion{}
	cmd := &cobra.Command{
		Use:   "unpublish HOST",
		Short: "Take a host name out of DNS, and delete it",
		Long: `Takes a host name out of DNS, and deletes its document once nothing answers it any more.
--wait waits until that is done. Other projects can have the name some seconds later.`,
		Example: "  signpost unpublish www.shop.example --wait",
		Args:    terminal.Exactly(1, "one host name"),
		RunE:    func(cmd *cobra.Command, args []string) error { return r.unpublish(cmd.Context(), p, args[0]) },
	}
	const longest = 5 * time.Minute
	flags := cmd.Flags()
	connect.ProjectFlag(flags, &r.project, "the `PROJECT` of the name")
	flags.StringVar(&r.confirm, "confirm", "", "the `TOKEN` of the plan to carry out; refused when anything changed since")
	flags.BoolVar(&r.dryRun, "dry-run", false, "show the plan, and change nothing")
	flags.BoolVar(&r.wait, "wait", false, "wait until the name is gone")
	flags.DurationVar(&r.timeout, "timeout", longest, "how long to --wait")
	r.output.Flag(flags)
	r.server.ServerFlags(flags)
	cmd.ValidArgsFunction = ownNames(&r.server, &r.project)
	return cmd
}

// ownNames completes the names that a project publishes by documents of their own.
func ownNames(server *connect.Connection, project *string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		return server.Complete(connect.Short(string(intent.Join("projects", connect.Project(*project), intent.NamesCollection, "*"))))(cmd, args, typed)
	}
}

func (r *deletion) unpublish(ctx context.Context, p terminal.Program, host string) error {
	canonical, err := hostname.CanonicalUnderscored(host)
	if err != nil {
		return terminal.Usagef("%q %w", host, err)
	}
	r.project = connect.Project(r.project)
	api, err := r.server.Dial()
	if err != nil {
		return err
	}
	query := connect.Query{"confirm": r.confirm, "dryRun": connect.If(r.dryRun)}
	path := namePath(r.project, canonical)
	response, err := api.Do(ctx, http.MethodDelete, query.Of(path), nil, nil)
	if err != nil {
		return connect.InProject(ctx, api, r.project, canonical, err)
	}
	if r.dryRun {
		return lifecycle.PrintPlan(p, &r.output, response.Body, false)
	}
	done := "is going"
	if r.wait {
		if err := awaitGone(ctx, p, api, path, r.timeout); err != nil {
			return err
		}
		done = "is gone"
	}
	return r.output.Print(p.Out, response.Body, func(w io.Writer, _ bool) error {
		terminal.Printf(w, "%s %s\n", canonical, done)
		return nil
	})
}

// awaitGone looks at a name until it does not exist any more.
func awaitGone(ctx context.Context, p terminal.Program, api *client.Client, path string, timeout time.Duration) error {
	var last *client.Response
	return connect.Wait{
		Timeout: timeout, Every: p.Poll, Interrupted: "the deletion goes on",
		Late: func() error {
			return fmt.Errorf("the name is not gone after %s%s; the deletion goes on, see signpost get %s", timeout, because(last), path)
		},
	}.Until(ctx, func(ctx context.Context) (gone bool, err error) {
		last, err = api.Do(ctx, http.MethodGet, path, nil, nil)
		if connect.IsMissing(err) {
			return true, nil
		}
		return false, err
	})
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
			project = connect.Project(project)
			return connect.OfProject(project, show.Get(cmd.Context(), p, api, intent.Join("projects", project, intent.NamesCollection), url.Values{}, &output))
		},
	}
	connect.ProjectFlag(cmd.Flags(), &project, "the `PROJECT` whose names to list")
	output.Flag(cmd.Flags())
	server.Flags(cmd.Flags())
	return cmd
}
