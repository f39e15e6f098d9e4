package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/intent"
)

// lifecycle is one request for an action on a deployment intent group or a
// logical cloud.
type lifecycle struct {
	server   connection
	output   format
	action   intent.Action
	owner    intent.Path
	confirm  string
	takeover string   // of a deployment intent group: whose names it takes over
	adopt    string   // of a record: the owner id whose names it takes over
	to       revision // of a rollback
	force    bool     // of terminate
	wait     bool
	timeout  time.Duration // of --wait
}

const takeoverHelp = "the deployment intent `group` of the project whose names are taken over: those that both give"

const (
	adoptHelp         = "of a record: the owner `id` of an external-dns that is not Signpost's, whose mark those of the record's names carry that become its own"
	adoptIsForRecords = "--adopt: names are adopted by a record; give projects/PROJECT/dns-update-records/RECORD"
)

// lifecycleCommand is what instantiate, update, rollback and terminate have in common.
// The caller adds the words.
func (p program) lifecycleCommand(action intent.Action) *cobra.Command {
	request := &lifecycle{action: action}
	cmd := &cobra.Command{
		Args: exactly(1, "one deployment intent group or logical cloud"),
		RunE: func(cmd *cobra.Command, args []string) error {
			owner, err := ownerPath(args[0])
			if action == intent.Update {
				owner, err = updatedPath(args[0])
			}
			if err != nil {
				return err
			}
			if isRecord(owner) && request.wait {
				return usagef("--wait: a record has no state to wait for; see signpost status %s", owner)
			}
			if request.adopt != "" && !isRecord(owner) {
				return usagef(adoptIsForRecords)
			}
			request.owner = owner
			return p.act(cmd.Context(), request)
		},
	}
	const longest = 5 * time.Minute
	cmd.Flags().StringVar(&request.confirm, "confirm", "", "the `token` of the plan to carry out; refused when anything changed since")
	if action == intent.Rollback {
		request.to.flag(cmd.Flags())
	}
	if action == intent.Instantiate || action == intent.Update {
		cmd.Flags().StringVar(&request.takeover, "takeover", "", takeoverHelp)
	}
	if action == intent.Update {
		cmd.Flags().StringVar(&request.adopt, "adopt", "", adoptHelp)
	}
	if action == intent.Terminate {
		cmd.Flags().BoolVar(&request.force, "force", false, "terminate even what EMCO's orchestrator has in the clusters")
	}
	cmd.Flags().BoolVar(&request.wait, "wait", false, "wait until it is done, and show how far it is")
	cmd.Flags().DurationVar(&request.timeout, "timeout", longest, "how long to --wait")
	request.output.flag(cmd.Flags())
	request.server.serverFlags(cmd.Flags())
	return cmd
}

// act asks for the action, waits if told so, and prints what was accepted.
func (p program) act(ctx context.Context, request *lifecycle) error {
	api, err := request.server.dial()
	if err != nil {
		return err
	}
	query := url.Values{}
	if request.confirm != "" {
		query.Set("confirm", request.confirm)
	}
	request.to.ask(query)
	if request.takeover != "" {
		query.Set("takeover", request.takeover)
	}
	if request.adopt != "" {
		query.Set("adopt", request.adopt)
	}
	if request.force {
		query.Set("force", "true")
	}
	response, err := api.Do(ctx, http.MethodPost, withQuery(string(request.owner)+"/"+string(request.action), query), nil, nil)
	if err != nil {
		return err
	}
	var accepted client.Accepted
	if err := json.Unmarshal(response.Body, &accepted); err != nil {
		return err
	}
	reached := "accepted"
	if request.action == intent.Terminate && accepted.Revision == 0 {
		reached = "was never deployed"
	} else if request.wait {
		state := goal(request.action)
		watch := waiter{api: api, owner: request.owner, poll: p.poll, progress: p.err}
		if err := watch.until(ctx, state, accepted.Revision, request.timeout); err != nil {
			return err
		}
		reached = string(state)
	}
	return request.output.print(p.out, response.Body, func(w io.Writer, _ bool) error {
		printf(w, "%s %s (release %d, context %s)\n", shortOwner(request.owner), reached,
			accepted.Revision, plain(accepted.ContextID))
		return nil
	})
}

// goal is the state that an action leads to.
func goal(action intent.Action) client.StatusState {
	if action == intent.Terminate {
		return client.StatusState(intent.Terminated)
	}
	return client.StatusState(intent.Instantiated)
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
		return usagef("it is no release; the first is 1")
	}
	*r = revision(number)
	return nil
}

func (r *revision) flag(flags *pflag.FlagSet) {
	flags.Var(r, "to", "the `release` to roll back to (default the one before the current)")
}

// ask puts the revision into a query, if there is one.
func (r *revision) ask(query url.Values) {
	if *r > 0 {
		query.Set("to", r.String())
	}
}

func withQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}
