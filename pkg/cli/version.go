package cli

import (
	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/serve"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
)

func versionCommand(p terminal.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version of this build",
		Args:  terminal.Exactly(0, ""),
		RunE: func(*cobra.Command, []string) error {
			b := serve.ThisBuild()
			terminal.Printf(p.Out, "signpost %s (commit %s, %s)\n", b.Version, b.Commit, b.Go)
			return nil
		},
	}
}
