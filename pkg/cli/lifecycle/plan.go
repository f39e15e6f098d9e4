package lifecycle

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const planHelp = `Shows what an action would do to a deployment intent group or a logical cloud, name by name and
object by object. For a provider (projects/…/dns-update-records/…), it shows what update would do.
Nothing is changed.

With -f it plans the documents of files as if they were stored. It also plans the deployment of the groups,
logical clouds, providers and names that they belong to. The role viewer is enough. The exit code is 0
if nothing would change, 2 if something would, and 1 for errors.

The plan ends with a token. With --confirm TOKEN, an action does exactly what the plan shows.
A plan with errors would be refused: the exit code is 1.`

// PlanCommand makes `signpost plan`.
func PlanCommand(p terminal.Program) *cobra.Command {
	var server connect.Connection
	var output terminal.Format
	var action, takeover, adopt string
	var to revision
	var diffs bool
	var from document.Source
	cmd := &cobra.Command{
		Use:     "plan GROUP | -f FILE",
		Short:   "Show what an action would do",
		Long:    planHelp,
		Example: "  signpost plan shop/store/v1/prod --for terminate\n  signpost plan projects/shop/dns-update-records/lab --diff\n  signpost plan -f dns/",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(from.Files) > 0 == (len(args) > 0) || len(args) > 1 {
				return terminal.Usagef("takes one deployment intent group, logical cloud or provider, or files by -f")
			}
			if len(from.Files) > 0 {
				if action+takeover+adopt != "" || to != 0 {
					return terminal.Usagef("-f: files are planned for deploy; leave out --for, --to, --takeover and --adopt")
				}
				return PlanFiles(cmd.Context(), p, &server, &from, &output, diffs)
			}
			path, err := planPath(args[0], action, to, takeover, adopt)
			if err != nil {
				return err
			}
			var body json.RawMessage
			_, err = server.Ask(cmd.Context(), http.MethodPost, path, nil, &body)
			if err != nil {
				return err
			}
			return PrintPlan(p, &output, body, diffs)
		},
	}
	cmd.Flags().StringVar(&action, "for", "", "the `action`: deploy (default), instantiate, update, rollback or terminate")
	to.flag(cmd.Flags())
	cmd.Flags().StringVar(&takeover, "takeover", "", takeoverHelp)
	cmd.Flags().StringVar(&adopt, "adopt", "", adoptHelp)
	cmd.Flags().BoolVar(&diffs, "diff", false, "show the objects' differences line by line")
	from.Flags(cmd.Flags())
	output.Flag(cmd.Flags())
	server.Flags(cmd.Flags())
	cmd.ValidArgsFunction = server.CompleteOwner
	return cmd
}

// PrintPlan prints a plan as the server answered it. A plan with errors is an error.
func PrintPlan(p terminal.Program, output *terminal.Format, body []byte, diffs bool) error {
	var plan client.Plan
	if err := json.Unmarshal(body, &plan); err != nil {
		return err
	}
	show := func(w io.Writer, wide bool) error { return printPlan(w, plan, wide, diffs) }
	if err := output.Print(p.Out, body, show); err != nil {
		return err
	}
	return refusal(plan)
}

// planPath is where a plan is asked for.
func planPath(text, action string, to revision, takeover, adopt string) (string, error) {
	owner, err := document.UpdatedPath(text)
	if err != nil {
		return "", err
	}
	known := []string{"", string(intent.Deploy), string(intent.Instantiate), string(intent.Update), string(intent.Rollback), string(intent.Terminate)}
	switch {
	case !slices.Contains(known, action):
		return "", terminal.Usagef("--for: %q is not an action; give one of %s", action, strings.Join(known[1:], ", "))
	case document.IsRecord(owner) && !slices.Contains([]string{"", string(intent.Deploy), string(intent.Update)}, action):
		return "", terminal.Usagef("--for: a provider is only deployed or updated")
	case to != 0 && action != string(intent.Rollback):
		return "", terminal.Usagef("--to: only a rollback has a release to go to; add --for rollback")
	case adopt != "" && !document.IsRecord(owner):
		return "", terminal.Usagef(adoptIsForRecords)
	}
	return connect.Query{"for": action, "to": to.String(), "takeover": takeover, "adopt": adopt}.Of(string(owner) + "/plan"), nil
}

// refusal is the error of a plan that would be refused.
func refusal(plan client.Plan) error {
	if len(plan.Errors) == 0 {
		return nil
	}
	return fmt.Errorf("the plan has %s and would be refused", terminal.Count(len(plan.Errors), "error"))
}

// printPlan shows a plan: what stands in the way, the names, the objects, the
// token. Names and objects that stay as they are come in wide tables alone.
func printPlan(w io.Writer, plan client.Plan, wide, diffs bool) error {
	counts, idle := summary(plan)
	if counts != "" {
		terminal.Printf(w, "%s\n", counts)
	}
	if left := plan.ObjectsLeftOut.Create + plan.ObjectsLeftOut.Update + plan.ObjectsLeftOut.Delete; left > 0 {
		terminal.Printf(w, "The plan does not list %d of these changes, because there are too many.\n", left)
	}
	for _, e := range plan.Errors {
		terminal.Printf(w, "error: %s: %s\n", terminal.Plain(connect.PointerWord(e.Pointer)), terminal.Plain(connect.AsFlags(e.Detail)))
	}
	for _, warning := range plan.Warnings {
		terminal.Printf(w, "warning: %s\n", terminal.Plain(warning))
	}
	if idle {
		terminal.Printf(w, "No object and no host name would change.\n")
	}
	names := terminal.NewTable("ACTION", "NAME", "TYPE", "RECORD", "TARGETS", "WITHIN", "CLIENTS")
	for _, n := range plan.Names {
		if !wide && n.Action == client.Change(actionUnchanged) {
			continue
		}
		names.Add(string(n.Action), n.Name, n.Type, n.Record, TargetsCell(string(n.Action), n.Before, n.Targets)+TTLCell(string(n.Action), n.TTLBefore, n.TTL), n.AnsweredWithin, n.ClientsWithin)
	}
	objects := terminal.NewTable("ACTION", "CLUSTER", "KIND", "NAMESPACE", "NAME")
	for _, o := range plan.Objects {
		if wide || o.Action != client.Change(actionUnchanged) {
			objects.Add(string(o.Action), o.Cluster, o.Kind, o.Namespace, o.Name)
		}
	}
	if err := terminal.WriteTables(w, names, objects); err != nil {
		return err
	}
	printClients(w, plan.Names)
	printMarks(w, plan.Names)
	if diffs {
		printDiffs(w, plan.Objects)
	}
	if plan.Token != "" && len(plan.Errors) == 0 {
		terminal.Printf(w, "\nTo do exactly this: --confirm %s\n", terminal.Plain(plan.Token))
	}
	return nil
}

// printClients says when clients follow the slowest of the names, and what resolvers may have cached of new ones.
func printClients(w io.Writer, names []client.NameChange) {
	var slowest, absent, kept time.Duration
	created, known := 0, 0
	for _, n := range names {
		if n.Action == client.ChangeDelete && len(n.Targets) > 0 {
			kept = max(kept, time.Duration(cmp.Or(n.TTLBefore, usualTTL))*time.Second)
		}
		slowest = max(slowest, duration(n.ClientsWithin))
		if n.Action == "create" && n.ClientsWithin != "" {
			created++
			if n.AbsentFor != "" {
				known++
			}
			absent = max(absent, duration(n.AbsentFor))
		}
	}
	if slowest > 0 {
		terminal.Printf(w, "\nClients follow within %s: the time to decide and to publish, and the TTL.\n", slowest)
	}
	if kept > 0 {
		if slowest == 0 {
			terminal.Printf(w, "\n")
		}
		terminal.Printf(w, "Resolvers may answer a removed name for %s after it is gone: its TTL.\n", kept)
	}
	switch {
	case created > 0 && known == created:
		terminal.Printf(w, "A resolver that asked for a new name before may answer for %s that the name does not exist.\n", absent)
	case created > 0:
		terminal.Printf(w, "A resolver that asked for a new name before may answer that the name does not exist. It does so for the negative TTL in the SOA record of the zone.\n")
	}
}

// printMarks lists the TXT records that mark new names, the first of them by name.
func printMarks(w io.Writer, names []client.NameChange) {
	const most = 3
	var marks []string
	for _, n := range names {
		if n.Mark != "" {
			marks = append(marks, terminal.Plain(n.Mark))
		}
	}
	if len(marks) == 0 {
		return
	}
	more := ""
	if extra := len(marks) - most; extra > 0 {
		more = fmt.Sprintf(" and %d more", extra)
	}
	terminal.Printf(w, "The publisher marks new names as its own by TXT records: %s%s.\n", strings.Join(marks[:min(most, len(marks))], ", "), more)
}

// duration reads a Go duration; 0 if it is none.
func duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return d
}

const actionUnchanged = "unchanged"

func printDiffs(w io.Writer, objects []client.ObjectChange) {
	for _, o := range objects {
		if o.Diff == "" {
			continue
		}
		terminal.Printf(w, "\n%s: %s %s/%s\n", o.Cluster, o.Kind, o.Namespace, o.Name)
		for line := range strings.Lines(o.Diff) {
			terminal.Printf(w, "  %s\n", terminal.Visible(strings.TrimSuffix(line, "\n")))
		}
	}
}

// TargetsCell is from where to where a name leads. The targets of a name that is deleted are those until then.
func TargetsCell(action string, before, targets []string) string {
	switch to := strings.Join(targets, " "); {
	case action == string(client.ChangeDelete) && to == "":
		return "no address"
	case action == string(client.ChangeDelete):
		return to + " -> none"
	case len(before) == 0 && to == "":
		return "no address yet"
	case len(before) == 0 || slices.Equal(before, targets):
		return to
	case len(targets) == 0:
		return strings.Join(before, " ") + " -> none"
	default:
		return strings.Join(before, " ") + " -> " + to
	}
}

// usualTTL is the TTL that most DNS providers give a name without one, in seconds. None gives more.
const usualTTL = 300

// TTL is a TTL in seconds, for people.
func TTL(seconds int64) string {
	if seconds == 0 {
		return fmt.Sprintf("default (usually %d)", usualTTL)
	}
	return strconv.FormatInt(seconds, 10)
}

// TTLCell is from which TTL to which a name changes, in seconds; empty for no change.
func TTLCell(action string, before, now int64) string {
	if action != string(client.ChangeUpdate) || before == now {
		return ""
	}
	return " (TTL " + TTL(before) + " -> " + TTL(now) + ")"
}

// summary counts the objects by what happens to them, also those that the plan
// does not list. The text is empty for a plan without objects: the built-in publisher has none. Such a plan is idle
// if it can be done and changes no name either.
func summary(plan client.Plan) (text string, idle bool) {
	left := plan.ObjectsLeftOut
	counts := map[string]int{"create": left.Create, "update": left.Update, "delete": left.Delete, actionUnchanged: left.Unchanged}
	for _, o := range plan.Objects {
		counts[string(o.Action)]++
	}
	if len(plan.Objects)+left.Create+left.Update+left.Delete+left.Unchanged == 0 {
		changes := func(n client.NameChange) bool { return n.Action != client.Change(actionUnchanged) }
		return "", len(plan.Errors) == 0 && !slices.ContainsFunc(plan.Names, changes)
	}
	return fmt.Sprintf("Objects: %d to create, %d to update, %d to delete, %d unchanged.",
		counts["create"], counts["update"], counts["delete"], counts[actionUnchanged]), false
}
