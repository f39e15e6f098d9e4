// Package inspect answers questions about DNS configuration: Corefiles, and the
// resolv.conf of pods.
package inspect

import (
	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/terminal"
)

// CorefileCommand makes `signpost corefile`.
func CorefileCommand(p terminal.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "corefile",
		Short: "Check Corefiles, the configuration of CoreDNS",
		Args:  terminal.Exactly(0, ""),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(lintCommand(p), traceCommand(p))
	return cmd
}
