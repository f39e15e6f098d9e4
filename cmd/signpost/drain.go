package main

import (
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
)

const drainHelp = `Takes a cluster's addresses out of all public names, at once and within the current
releases, as before maintenance. Its objects stay, and so do names of cluster scope. A name that would
be left without any address is a reason to refuse; --force drains all the same.`

func (p program) drainCommand() *cobra.Command {
	force := false
	cmd := p.drainingCommand("drain", "drained", &force)
	cmd.Short = "Take a cluster's addresses out of public names"
	cmd.Long = drainHelp
	cmd.Flags().BoolVar(&force, "force", false, "drain even where a name is left without any address")
	return cmd
}

func (p program) undrainCommand() *cobra.Command {
	cmd := p.drainingCommand("undrain", "undrained", new(bool))
	cmd.Short = "Publish a drained cluster's addresses again"
	return cmd
}

// drainingCommand is what drain and undrain have in common.
func (p program) drainingCommand(action, outcome string, force *bool) *cobra.Command {
	var server connection
	cmd := &cobra.Command{
		Use:     action + " CLUSTER",
		Example: "  signpost " + action + " edge/berlin",
		Args:    exactly(1, "one cluster"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := server.ofCluster(cmd.Context(), args[0], http.MethodPost, forced(action, *force)); err != nil {
				return err
			}
			_, err := fmt.Fprintf(p.out, "%s %s\n", args[0], outcome)
			return err
		},
	}
	server.flags(cmd.Flags())
	return cmd
}

func forced(request string, force bool) string {
	if force {
		return request + "?force=true"
	}
	return request
}
