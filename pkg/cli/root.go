// Package cli is the command line of Signpost.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/signpost-dns/signpost/pkg/app"
	"github.com/signpost-dns/signpost/pkg/cli/apply"
	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/find"
	"github.com/signpost-dns/signpost/pkg/cli/imports"
	"github.com/signpost-dns/signpost/pkg/cli/inspect"
	"github.com/signpost-dns/signpost/pkg/cli/lifecycle"
	"github.com/signpost-dns/signpost/pkg/cli/onboard"
	"github.com/signpost-dns/signpost/pkg/cli/publish"
	"github.com/signpost-dns/signpost/pkg/cli/serve"
	"github.com/signpost-dns/signpost/pkg/cli/show"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/domain/nearest"
)

// Command returns the whole command line. service runs "signpost serve".
func Command(p terminal.Program, service func(context.Context, app.Config) error) *cobra.Command {
	root := &cobra.Command{
		Use:           "signpost",
		Short:         "DNS names for services in several Kubernetes clusters",
		Version:       build(),
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
	if p.Name != "" {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: p.Name}
	}
	root.SuggestionsMinimumDistance = 2
	root.SetVersionTemplate("{{.Version}}\n")
	helpByTask(root)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return terminal.AsUsageError(flagFault(cmd, err)) })
	root.AddCommand(
		serve.Command(p, service), serve.BackupCommand(p), serve.RestoreCommand(p),
		publish.Command(p), publish.UnpublishCommand(p), publish.NamesCommand(p), publish.HistoryCommand(p), find.Command(p), show.WhoisCommand(p), find.FleetCommand(p), find.UnmanagedCommand(p),
		apply.Command(p), show.GetCommand(p), apply.DeleteCommand(p), imports.Command(p),
		lifecycle.PlanCommand(p), lifecycle.DeployCommand(p), lifecycle.InstantiateCommand(p), lifecycle.UpdateCommand(p), lifecycle.RollbackCommand(p), lifecycle.TerminateCommand(p), show.StatusCommand(p), show.EventsCommand(p),
		onboard.Command(p), lifecycle.PreflightCommand(p), lifecycle.DrainCommand(p), lifecycle.UndrainCommand(p), lifecycle.AbandonCommand(p),
		lifecycle.FailoverCommand(p), lifecycle.FailoversCommand(p), lifecycle.RevertCommand(p),
		inspect.CorefileCommand(p), inspect.ResolvconfCommand(p), inspect.QueryCommand(p),
		apply.RegisterCommand(p),
		lifecycle.ReadyCommand(p), versionCommand(p),
	)
	return root
}

// flagFault is a flag's error. If the command does not know the flag, the error names the nearest one.
func flagFault(cmd *cobra.Command, err error) error {
	unknown, is := errors.AsType[*pflag.NotExistError](err)
	if !is {
		return serve.FlagFault(err)
	}
	var known []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { known = append(known, flag.Name) })
	if near := nearest.Name(unknown.GetSpecifiedName(), known); near != "" {
		return fmt.Errorf("%w; did you mean --%s?", err, near)
	}
	return err
}

func unknownCommand(root *cobra.Command, name string) error {
	near := root.SuggestionsFor(name)
	if len(near) == 0 {
		return terminal.Usagef("unknown command %q", name)
	}
	return terminal.Usagef("unknown command %q; did you mean %q?", name, strings.Join(near, `" or "`))
}

// report tells people what went wrong.
func report(w io.Writer, command *cobra.Command, err error) {
	terminal.Printf(w, "%s: %s\n", command.CommandPath(), connect.Describe(err))
	if terminal.IsUsage(err) {
		terminal.Printf(w, "See %s --help.\n", command.CommandPath())
	}
}

func versionCommand(p terminal.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version of this build",
		Args:  terminal.Exactly(0, ""),
		RunE: func(*cobra.Command, []string) error {
			terminal.Printf(p.Out, "%s\n", build())
			return nil
		},
	}
}

// build is the version of this build, for people.
func build() string {
	b := serve.ThisBuild()
	return fmt.Sprintf("signpost %s (commit %s, %s)", b.Version, b.Commit, b.Go)
}
