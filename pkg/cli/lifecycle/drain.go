package lifecycle

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
)

const drainHelp = `Removes the addresses of clusters from all public names, at once and without a new release: use it
before maintenance. Clusters are given by name, or by labels that they must all have (region=eu).
The objects of the clusters stay, and so do names of cluster scope. If a name would have no address
left, the command refuses; --force drains the clusters all the same.

--preview shows which names move where, and which are in danger. It ends with a token: with
--confirm TOKEN, the command does exactly what the preview shows.`

// DrainCommand makes `signpost drain`.
func DrainCommand(p terminal.Program) *cobra.Command {
	return drainingCommand(p, "drain", "drained", "Remove the addresses of clusters from public names", drainHelp)
}

// UndrainCommand makes `signpost undrain`.
func UndrainCommand(p terminal.Program) *cobra.Command {
	return drainingCommand(p, "undrain", "undrained", "Publish the addresses of drained clusters again", "")
}

// drainingCommand is what drain and undrain have in common.
func drainingCommand(p terminal.Program, action, outcome, short, long string) *cobra.Command {
	var m mover
	cmd := &cobra.Command{
		Use:     action + " CLUSTER|LABEL=VALUE...",
		Short:   short,
		Long:    long,
		Example: "  signpost " + action + " edge/berlin\n  signpost " + action + " region=eu --preview",
		RunE: func(cmd *cobra.Command, args []string) error {
			selection, err := selectionOf(args)
			if err != nil {
				return err
			}
			if len(args) == 1 && !strings.Contains(args[0], "=") && !m.isSet() {
				if _, err := m.server.OfCluster(cmd.Context(), args[0], http.MethodPost, forced(action, m.force), nil); err != nil {
					return err
				}
				_, err := fmt.Fprintf(p.Out, "%s %s\n", args[0], outcome)
				return err
			}
			spec := client.FailoverSpec{Drain: selection}
			if action == "undrain" {
				spec = client.FailoverSpec{Undrain: selection}
			}
			return m.move(cmd.Context(), p, spec)
		},
	}
	m.flags(cmd, true)
	cmd.ValidArgsFunction = m.server.CompleteClusters
	return cmd
}

func forced(request string, force bool) string {
	if force {
		return request + "?force=true"
	}
	return request
}
