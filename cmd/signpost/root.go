package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

const rootHelp = `Signpost turns multicloud DNS traffic-control intents into Kubernetes objects,
pushes them to every cluster concerned and reports back, name by name.

"signpost serve" runs the service; the other commands talk to one: the server of
--server, or of SIGNPOST_SERVER, with the token of SIGNPOST_TOKEN if it asks for one.

Exit codes:
  0  done
  1  failed: the server refused, or something in the input is wrong
  2  wrong usage: a command, a flag, an argument or the configuration
  3  the server cannot be reached, or cannot answer now; try again later
  4  waited in vain: --wait ended by --timeout`

func (p program) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "signpost",
		Short:         "Multicloud DNS traffic-control intents",
		Long:          rootHelp,
		Args:          cobra.ArbitraryArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
	}
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{flagFault(err)} })
	root.AddCommand(
		p.serveCommand(), p.backupCommand(), p.restoreCommand(),
		p.applyCommand(), p.getCommand(), p.deleteCommand(),
		p.planCommand(), p.instantiateCommand(), p.updateCommand(), p.rollbackCommand(), p.terminateCommand(), p.statusCommand(),
		p.preflightCommand(), p.drainCommand(), p.undrainCommand(), p.abandonCommand(),
		p.corefileCommand(), p.resolvconfCommand(),
		p.registerCommand(),
		p.readyCommand(), p.versionCommand(),
	)
	return root
}

func unknownCommand(root *cobra.Command, name string) error {
	near := root.SuggestionsFor(name)
	if len(near) == 0 {
		return usagef("there is no command %q", name)
	}
	return usagef("there is no command %q; did you mean %q?", name, strings.Join(near, `" or "`))
}

// exactly refuses every number of arguments but n; what names them.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		if n == 0 {
			return usagef("takes no arguments, not %q", strings.Join(args, " "))
		}
		return usagef("takes %s, not %d arguments", what, len(args))
	}
}

// report tells people what went wrong.
func report(w io.Writer, command *cobra.Command, err error) {
	printf(w, "%s: %s\n", command.CommandPath(), describe(err))
	if isUsage(err) {
		printf(w, "See %s --help.\n", command.CommandPath())
	}
}

// printf writes to a terminal or a pipe; when nobody reads it any more, there
// is nobody to tell either.
func printf(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
