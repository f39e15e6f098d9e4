// Package lifecycle has the commands that plan releases, ask for them and wait for
// them, and those that take clusters out of service.
package lifecycle

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// lifecycle is one request for an action on a deployment intent group or a
// logical cloud.
type lifecycle struct {
	server   connect.Connection
	output   terminal.Format
	action   intent.Action
	owner    intent.Path
	confirm  string
	takeover string   // of a deployment intent group: whose names it takes over
	adopt    string   // of a record: the owner id whose names it takes over
	to       revision // of a rollback
	force    bool     // of terminate
	project  string   // of a rollback of a name
	dryRun   bool     // of deploy and rollback: only plan
	wait     wait
	timeout  time.Duration // of --wait
}

const takeoverHelp = "take over the names that another deployment intent `group` of the project publishes, too"

const (
	adoptHelp         = "for a provider: adopt its names that another external-dns marked with this owner `id`"
	adoptIsForRecords = "--adopt: only a provider adopts names; give projects/PROJECT/dns-update-records/NAME"
)

// lifecycleCommand is what instantiate, update, rollback and terminate have in common.
// The caller gives a command with the words.
func lifecycleCommand(p terminal.Program, action intent.Action, cmd *cobra.Command) *cobra.Command {
	request := &lifecycle{action: action}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		return terminal.Exactly(1, "one deployment intent group or logical cloud")(cmd, WaitArgument(cmd, args))
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		args = WaitArgument(cmd, args)
		if action == intent.Rollback && document.IsName(args[0]) {
			return rollbackName(cmd.Context(), p, request, args[0])
		}
		if err := request.read(args[0]); err != nil {
			return err
		}
		if request.dryRun {
			return dryRun(cmd.Context(), p, request)
		}
		return act(cmd.Context(), p, request)
	}
	request.flags(cmd, action)
	cmd.ValidArgsFunction = request.server.CompleteOwner
	return cmd
}

func (request *lifecycle) flags(cmd *cobra.Command, action intent.Action) {
	const longest = 5 * time.Minute
	cmd.Flags().StringVar(&request.confirm, "confirm", "", "the `token` of the plan to carry out; refused if anything changed since the plan")
	if action == intent.Rollback {
		request.to.flag(cmd.Flags())
		connect.ProjectFlag(cmd.Flags(), &request.project, "for a host name: its `PROJECT`")
	}
	if action == intent.Instantiate || action == intent.Update || action == intent.Deploy {
		cmd.Flags().StringVar(&request.takeover, "takeover", "", takeoverHelp)
	}
	if action == intent.Update || action == intent.Deploy {
		cmd.Flags().StringVar(&request.adopt, "adopt", "", adoptHelp)
	}
	if action == intent.Deploy || action == intent.Rollback {
		cmd.Flags().BoolVar(&request.dryRun, "dry-run", false, "show the plan, and change nothing")
	}
	if action == intent.Terminate {
		cmd.Flags().BoolVar(&request.force, "force", false, "terminate even if EMCO's orchestrator deployed the group")
	}
	request.wait.flag(cmd, action)
	cmd.Flags().DurationVar(&request.timeout, "timeout", longest, "how long to wait with --wait")
	request.output.Flag(cmd.Flags())
	request.server.ServerFlags(cmd.Flags())
}

// read checks what can be checked without the server.
func (request *lifecycle) read(text string) (err error) {
	request.owner, err = document.OwnerPath(text)
	if request.action == intent.Update || request.action == intent.Deploy {
		request.owner, err = document.UpdatedPath(text)
	}
	switch {
	case err != nil:
		return err
	case request.adopt != "" && !document.IsRecord(request.owner):
		return terminal.Usagef(adoptIsForRecords)
	}
	return request.wait.refuse(request.action, request.owner)
}

// address is where the action is asked for.
func (request *lifecycle) address() string {
	if request.dryRun && request.action == intent.Rollback {
		return connect.Query{"for": string(intent.Rollback), "to": request.to.String()}.Of(string(request.owner) + "/plan")
	}
	return connect.Query{
		"confirm": request.confirm, "to": request.to.String(), "takeover": request.takeover, "adopt": request.adopt,
		"force": connect.If(request.force), "dryRun": connect.If(request.dryRun),
	}.Of(string(request.owner) + "/" + string(request.action))
}

// dryRun prints what the action would do.
func dryRun(ctx context.Context, p terminal.Program, request *lifecycle) error {
	var body json.RawMessage
	if _, err := request.server.Ask(ctx, http.MethodPost, request.address(), nil, &body); err != nil {
		return err
	}
	return PrintPlan(p, &request.output, body, false)
}

// act asks for the action, waits if told so, and prints what was accepted.
func act(ctx context.Context, p terminal.Program, request *lifecycle) error {
	api, err := request.server.Dial()
	if err != nil {
		return err
	}
	done, err := request.perform(ctx, p, api)
	if err != nil {
		return err
	}
	return request.output.Print(p.Out, done.body, func(w io.Writer, _ bool) error {
		terminal.Printf(w, "%s\n", done)
		return nil
	})
}

// performed is what came of an action.
type performed struct {
	owner    intent.Path
	reached  string
	accepted client.Deployed // of other actions than deploy it has no action
	body     []byte
}

// String is a line for people.
func (d performed) String() string {
	return fmt.Sprintf("%s %s (release %d, context %s)", document.ShortOwner(d.owner), d.reached, d.accepted.Revision, terminal.Plain(d.accepted.ContextID))
}

// perform asks for the action, and waits if told so.
func (request *lifecycle) perform(ctx context.Context, p terminal.Program, api *client.Client) (performed, error) {
	done := performed{owner: request.owner, reached: "accepted"}
	var err error
	if done.body, err = connect.Ask(ctx, api, http.MethodPost, request.address(), nil, &done.accepted); err != nil {
		return done, err
	}
	if done.accepted.Action == client.DeployedAction(intent.NoAction) {
		done.reached = "is deployed as its documents say"
		if done.accepted.Revision == 0 { // a provider
			done.reached = "is not in use yet"
		}
	}
	if request.action == intent.Terminate && done.accepted.Revision == 0 {
		done.reached = "was never deployed"
	} else if request.wait != "" {
		goal := request.wait.goal(request.action)
		watch := Waiter{API: api, Owner: request.owner, Poll: p.Poll, Progress: p.Err}
		if err := watch.Until(ctx, goal, done.accepted.Revision, request.timeout); err != nil {
			return done, err
		}
		done.reached = goal.String()
	}
	return done, nil
}

// revision is the one that a rollback goes to; 0 is the one before the current,
// which is meant when none is given.
type revision int64

var _ pflag.Value = (*revision)(nil)

// String is the revision, empty for none.
func (r *revision) String() string {
	if *r == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*r), 10)
}

// Type is what --help calls the value.
func (r *revision) Type() string { return "release" }

// Set takes a revision.
func (r *revision) Set(text string) error {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < 1 {
		return terminal.Usagef("this is not a release; the first release is 1")
	}
	*r = revision(number)
	return nil
}

func (r *revision) flag(flags *pflag.FlagSet) {
	flags.Var(r, "to", "the `release` to roll back to (default the one before the current)")
}
