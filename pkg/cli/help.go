package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/terminal"
)

const rootHelp = `Signpost publishes DNS names for services that run in several Kubernetes clusters.
`

const rootHelpEnd = `
Terms such as group, provider, release, home and scope: docs/glossary.md.
Commands find the server by --server or SIGNPOST_SERVER, and send the token of SIGNPOST_TOKEN.
Exit codes: 0 done; 1 failed; 2 wrong usage, or "plan -f" and "apply --dry-run" would change
something; 3 the server does not answer, try again later; 4 --wait timed out.
`

// task is a group of commands in the help.
type task struct {
	title string
	rows  [][2]string // commands, and what they do
}

// tasks are all commands by task.
func tasks() []task {
	return []task{
		{"Publish and find names", [][2]string{
			{"publish, unpublish", "publish a host name, or change it; take it out of DNS"},
			{"rollback", "go back to an earlier release of a name or a group"},
			{"names, find", "list the names of a project; find names in all projects"},
			{"whois, history", "explain a host name; show how it has changed, and why"},
			{"query", "ask a nameserver for the records of a name"},
			{"import, unmanaged", "make documents of names that exist; list records that nobody publishes"},
		}},
		{"Look", [][2]string{
			{"get", "read a document or a collection"},
			{"status", "show what is known of a group, a cluster DNS or a provider"},
			{"events, fleet", "follow what happens; count names, clusters and publishers"},
		}},
		{"Deploy", [][2]string{
			{"apply, delete", "create or replace documents of files; delete them"},
			{"plan", "show what an action, or files, would do"},
			{"deploy", "deploy a group as its documents are now"},
			{"instantiate, update, terminate", "deploy the first time, or again; remove what was deployed"},
		}},
		{"Operate clusters", [][2]string{
			{"connect, preflight", "register a cluster; check whether it can be managed"},
			{"drain, undrain, abandon", "take a cluster out of service, and back; give it up"},
			{"failover, failovers, revert", "move traffic away from clusters; list such moves; undo one"},
			{"corefile, resolvconf", "explain Corefiles; show what pods get"},
		}},
		{"Serve", [][2]string{
			{"serve, ready", "run a server; ask whether it is ready"},
			{"backup, restore", "copy all data into a file; fill empty stores from it"},
			{"register", "make Signpost a controller of EMCO"},
			{"version, completion", "show the version; make completions for a shell"},
		}},
	}
}

// helpByTask gives the root a help that has its commands by task. Other commands keep theirs.
func helpByTask(root *cobra.Command) {
	usual := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd.HasParent() {
			usual(cmd, args)
			return
		}
		printHelp(cmd.OutOrStdout(), cmd.CommandPath())
	})
}

func printHelp(w io.Writer, program string) {
	const width = 20
	terminal.Printf(w, "%s", rootHelp)
	for _, t := range tasks() {
		terminal.Printf(w, "\n%s:\n", t.title)
		for _, row := range t.rows {
			commands, does := row[0], row[1]
			if len(commands) > width { // the text follows on a line of its own
				terminal.Printf(w, "  %s\n", commands)
				commands = ""
			}
			terminal.Printf(w, "  %-*s  %s\n", width, commands, does)
		}
	}
	terminal.Printf(w, "%s\nUse \"%s COMMAND --help\" for more about a command.\n", rootHelpEnd, program)
}
