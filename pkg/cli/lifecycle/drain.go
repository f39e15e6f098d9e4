package lifecycle

import (
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
)

const drainHelp = `Removes a cluster's addresses from all public names, at once and without a new release: use it
before maintenance. Its objects stay, and so do names of cluster scope. If a name would have
no address left, the command refuses; --force drains the cluster all the same.`

// DrainCommand makes `signpost drain`.
func DrainCommand(p terminal.Program) *cobra.Command {
	force := false
	cmd := drainingCommand(p, "drain", "drained", &force)
	cmd.Short = "Remove a cluster's addresses from public names"
	cmd.Long = drainHelp
	cmd.Flags().BoolVar(&force, "force", false, "drain even if a name is left without any address")
	return cmd
}

// UndrainCommand makes `signpost undrain`.
func UndrainCommand(p terminal.Program) *cobra.Command {
	cmd := drainingCommand(p, "undrain", "undrained", new(bool))
	cmd.Short = "Publish a drained cluster's addresses again"
	return cmd
}

// drainingCommand is what drain and undrain have in common.
func drainingCommand(p terminal.Program, action, outcome string, force *bool) *cobra.Command {
	var server connect.Connection
	cmd := &cobra.Command{
		Use:     action + " CLUSTER",
		Example: "  signpost " + action + " edge/berlin",
		Args:    terminal.Exactly(1, "one cluster"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := server.OfCluster(cmd.Context(), args[0], http.MethodPost, forced(action, *force), nil); err != nil {
				return err
			}
			_, err := fmt.Fprintf(p.Out, "%s %s\n", args[0], outcome)
			return err
		},
	}
	server.Flags(cmd.Flags())
	return cmd
}

func forced(request string, force bool) string {
	if force {
		return request + "?force=true"
	}
	return request
}
