// Package find has the commands that look for names over projects.
package find

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/show"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const findHelp = `Finds host names in all projects that you may read: those of name documents, and those of DNS
intents. In PATTERN * stands for any text; without PATTERN every name is found. The answer comes from an
index of the server, which may be some seconds behind.`

// question is one question for names.
type question struct {
	server connect.Connection
	output terminal.Format
	limit  int
	query  connect.Query
}

// Command makes `signpost find`.
func Command(p terminal.Program) *cobra.Command {
	q := &question{}
	var worst bool
	only := map[string]*string{}
	cmd := &cobra.Command{
		Use:     "find [PATTERN]",
		Short:   "Find host names in all projects",
		Long:    findHelp,
		Example: "  signpost find 'www.*'\n  signpost find --cluster dc/one --verified False\n  signpost find --worst --limit 20 -o wide",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return terminal.Usagef("takes one pattern; quote a pattern with *, or the shell expands it")
			}
			q.query = connect.Query{}
			for name, value := range only {
				q.query[name] = *value
			}
			if cluster := q.query["cluster"]; cluster != "" {
				q.query["cluster"] = intent.ClusterWord(cluster) // as in a status
			}
			if len(args) == 1 {
				pattern, err := hostname.ASCIIPattern(args[0])
				if err != nil {
					return terminal.Usagef("%q %w", args[0], err)
				}
				q.query["name"] = pattern
			}
			if worst {
				q.query["sort"] = "worst"
			}
			return q.ask(cmd.Context(), p)
		},
	}
	const most = 500
	flags := cmd.Flags()
	for name, usage := range map[string]string{
		"project": "only names of a `PROJECT`", "provider": "only names that a `PROVIDER` publishes",
		"cluster":   "only names with addresses of a `CLUSTER`, or whose external-dns runs there, as provider/cluster",
		"state":     "only names whose owner is in a `STATE`, as Instantiated or Failed",
		"published": "only names whose Published condition is `VALUE`: True, False, Unknown or NotTrue", "verified": "only names whose Verified condition is `VALUE`: True, False, Unknown or NotTrue",
	} {
		only[name] = flags.String(name, "", usage)
	}
	flags.BoolVar(&worst, "worst", false, "the names with the gravest faults first")
	flags.IntVar(&q.limit, "limit", most, "show at most so many `NAMES`; 0 for all")
	q.output.Flag(flags)
	q.server.Flags(flags)
	return cmd
}

// ask gets pages until there are as many names as asked for.
func (q *question) ask(ctx context.Context, p terminal.Program) error {
	if q.limit < 0 {
		return terminal.Usagef("--limit: %d is negative; give how many names to show, or 0 for all", q.limit)
	}
	api, err := q.server.Dial()
	if err != nil {
		return err
	}
	all := client.FoundNamePage{Items: []client.FoundName{}}
	err = connect.Pages(ctx, api, "names", q.query, q.limit, func(page client.FoundNamePage) (int, string) {
		all.Items, all.AsOf, all.Continue = append(all.Items, page.Items...), page.AsOf, page.Continue
		all.Total, all.Hosts = page.Total, page.Hosts
		return len(page.Items), page.Continue
	})
	if err != nil {
		return err
	}
	return q.print(p, all)
}

// print shows names, and tells on stderr if there are more.
func (q *question) print(p terminal.Program, all client.FoundNamePage) error {
	if err := q.output.PrintValue(p.Out, all, func(w io.Writer, wide bool) error { return show.PrintFound(w, all.Items, wide) }); err != nil {
		return err
	}
	if name := q.query["name"]; len(all.Items) == 0 && name != "" && !strings.Contains(name, "*") {
		terminal.Printf(p.Err, "%q finds that very name; '*%s*' finds all names that hold it\n", name, name)
	}
	if all.Continue != "" {
		terminal.Printf(p.Err, "showing %d of %d names; narrow the question, or give a larger --limit\n", len(all.Items), all.Total)
	}
	return nil
}
