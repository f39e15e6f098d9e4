package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/intent"
)

const planHelp = `Shows what an action on a deployment intent group or a logical cloud, or the update of a DNS
update record, would do, name by name and object by object. It changes nothing. The token that it
ends with makes an action do this and nothing else: --confirm TOKEN.

A plan with errors would be refused: the exit code is 1.`

func (p program) planCommand() *cobra.Command {
	var server connection
	var output format
	var action, takeover, adopt string
	var to revision
	var diffs bool
	cmd := &cobra.Command{
		Use:     "plan GROUP",
		Short:   "Show what an action would do",
		Long:    planHelp,
		Example: "  signpost plan shop/store/v1/prod --for terminate\n  signpost plan projects/shop/dns-update-records/lab --diff",
		Args:    exactly(1, "one deployment intent group, logical cloud or record"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := planPath(args[0], action, to)
			if err == nil && takeover != "" {
				path, err = asking(path, "takeover", takeover)
			}
			if err == nil && adopt != "" {
				path, err = adoptionPath(args[0], path, adopt)
			}
			if err != nil {
				return err
			}
			api, err := server.dial()
			if err != nil {
				return err
			}
			response, err := api.Do(cmd.Context(), http.MethodPost, path, nil, nil)
			if err != nil {
				return err
			}
			var plan client.Plan
			if err := json.Unmarshal(response.Body, &plan); err != nil {
				return err
			}
			show := func(w io.Writer, wide bool) error { return printPlan(w, plan, wide, diffs) }
			if err := output.print(p.out, response.Body, show); err != nil {
				return err
			}
			return refusal(plan)
		},
	}
	cmd.Flags().StringVar(&action, "for", "", "the `action`: instantiate, update, rollback or terminate (default what comes next)")
	to.flag(cmd.Flags())
	cmd.Flags().StringVar(&takeover, "takeover", "", takeoverHelp)
	cmd.Flags().StringVar(&adopt, "adopt", "", adoptHelp)
	cmd.Flags().BoolVar(&diffs, "diff", false, "show the objects' differences line by line")
	output.flag(cmd.Flags())
	server.flags(cmd.Flags())
	return cmd
}

// planPath is where a plan is asked for.
func planPath(text, action string, to revision) (string, error) {
	owner, err := updatedPath(text)
	if err != nil {
		return "", err
	}
	known := []string{"", string(intent.Instantiate), string(intent.Update), string(intent.Rollback), string(intent.Terminate)}
	switch {
	case !slices.Contains(known, action):
		return "", usagef("--for: %q is no action; give one of %s", action, strings.Join(known[1:], ", "))
	case action != "" && isRecord(owner):
		return "", usagef("--for: a record's plan is always for update")
	case to != 0 && action != string(intent.Rollback):
		return "", usagef("--to: is the release of a rollback; give it with --for rollback")
	}
	query := url.Values{}
	if action != "" {
		query.Set("for", action)
	}
	to.ask(query)
	return withQuery(string(owner)+"/plan", query), nil
}

// adoptionPath is where a record's plan is asked for that adopts names.
func adoptionPath(record, path, from string) (string, error) {
	owner, err := updatedPath(record)
	if err == nil && !isRecord(owner) {
		err = usagef(adoptIsForRecords)
	}
	if err != nil {
		return "", err
	}
	return asking(path, "adopt", from)
}

// asking is a path with one more parameter of its query.
func asking(path, parameter, value string) (string, error) {
	asked, err := url.Parse(path)
	if err != nil {
		return "", err
	}
	query := asked.Query()
	query.Set(parameter, value)
	return withQuery(asked.Path, query), nil
}

// refusal is the error of a plan that would be refused.
func refusal(plan client.Plan) error {
	if len(plan.Errors) == 0 {
		return nil
	}
	return fmt.Errorf("the plan has %s and would be refused", count(len(plan.Errors), "error"))
}

// printPlan shows a plan: what stands in the way, the names, the objects, the
// token. Objects that stay as they are come in wide tables alone.
func printPlan(w io.Writer, plan client.Plan, wide, diffs bool) error {
	printf(w, "%s\n", summary(plan.Objects))
	for _, e := range plan.Errors {
		printf(w, "error: %s: %s\n", plain(pointerWord(e.Pointer)), plain(e.Detail))
	}
	for _, warning := range plan.Warnings {
		printf(w, "warning: %s\n", plain(warning))
	}
	names := newTable("ACTION", "NAME", "TYPE", "RECORD", "TARGETS", "WITHIN")
	for _, n := range plan.Names {
		names.add(string(n.Action), n.Name, n.Type, n.Record, strings.Join(n.Targets, " "), n.AnsweredWithin)
	}
	objects := newTable("ACTION", "CLUSTER", "KIND", "NAMESPACE", "NAME")
	for _, o := range plan.Objects {
		if wide || o.Action != client.Change(actionUnchanged) {
			objects.add(string(o.Action), o.Cluster, o.Kind, o.Namespace, o.Name)
		}
	}
	if err := writeTables(w, names, objects); err != nil {
		return err
	}
	if diffs {
		printDiffs(w, plan.Objects)
	}
	if plan.Token != "" && len(plan.Errors) == 0 {
		printf(w, "\nTo do exactly this: --confirm %s\n", plain(plan.Token))
	}
	return nil
}

const actionUnchanged = "unchanged"

func printDiffs(w io.Writer, objects []client.ObjectChange) {
	for _, o := range objects {
		if o.Diff == "" {
			continue
		}
		printf(w, "\n%s: %s %s/%s\n", o.Cluster, o.Kind, o.Namespace, o.Name)
		for line := range strings.Lines(o.Diff) {
			printf(w, "  %s\n", visible(strings.TrimSuffix(line, "\n")))
		}
	}
}

// summary counts the objects by what happens to them.
func summary(objects []client.ObjectChange) string {
	counts := map[string]int{}
	for _, o := range objects {
		counts[string(o.Action)]++
	}
	return fmt.Sprintf("Objects: %d to create, %d to update, %d to delete, %d unchanged.",
		counts["create"], counts["update"], counts["delete"], counts[actionUnchanged])
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
