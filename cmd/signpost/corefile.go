package main

import "github.com/spf13/cobra"

func (p program) corefileCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "corefile",
		Short: "Judge Corefiles, the configuration of CoreDNS",
		Args:  exactly(0, ""),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(p.lintCommand(), p.traceCommand())
	return cmd
}
