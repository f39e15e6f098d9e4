package find

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/show"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
)

// FleetCommand makes `signpost fleet`.
func FleetCommand(p terminal.Program) *cobra.Command {
	var server connect.Connection
	var output terminal.Format
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Show how clusters, publishers and names do",
		Long: `Counts the names of all projects that you may read by their state. Shows each cluster of these
names, with its reachability and the objects that it still waits for, and the health of each publisher.`,
		Example: "  signpost fleet",
		Args:    terminal.Exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			api, err := server.Dial()
			if err != nil {
				return err
			}
			fleet, err := show.ReadFleet(cmd.Context(), api)
			if err != nil {
				return err
			}
			return output.PrintValue(p.Out, fleet, func(w io.Writer, _ bool) error { return printFleet(w, fleet) })
		},
	}
	output.Flag(cmd.Flags())
	server.Flags(cmd.Flags())
	return cmd
}

func printFleet(w io.Writer, fleet client.Fleet) error {
	terminal.Printf(w, "host names: %d, of which %d are not known to be published, and %d not known to be verified\n", fleet.Hosts.Total, fleet.Hosts.Unpublished, fleet.Hosts.Unverified)
	terminal.Printf(w, "groups: %s\nname documents: %s\n", counted(fleet.Groups), counted(fleet.Names))
	clusters := terminal.NewTable("CLUSTER", "REACHABLE", "UNREACHABLE SINCE", "DRAINED", "NAMES", "UNPUBLISHED", "UNVERIFIED", "PENDING OBJECTS", "PENDING SINCE")
	programs := terminal.NewTable("PUBLISHER OF", "PROJECT", "HOME", "SCOPE", "AVAILABLE", "NAMES", "UNPUBLISHED", "UNVERIFIED")
	for _, i := range fleet.Items {
		names := []string{fmt.Sprint(i.Hosts.Total), fmt.Sprint(i.Hosts.Unpublished), fmt.Sprint(i.Hosts.Unverified)}
		if i.Kind == client.FleetItemKindCluster {
			clusters.Add(slices.Concat([]string{i.Cluster, i.Healthy, terminal.Moment(i.UnreachableSince), show.Yes(i.Drained)}, names, []string{fmt.Sprint(i.Pending), terminal.Moment(i.PendingSince)})...)
			continue
		}
		programs.Add(append([]string{i.Provider, i.Project, i.Cluster, string(i.Scope), i.Healthy}, names...)...)
	}
	return terminal.WriteTables(w, clusters, programs)
}

// counted lists how many are in each state.
func counted(states map[string]int) string {
	if len(states) == 0 {
		return "none"
	}
	var out []string
	for _, state := range slices.Sorted(maps.Keys(states)) {
		out = append(out, fmt.Sprintf("%d %s", states[state], state))
	}
	return strings.Join(out, ", ")
}
