package lifecycle

import (
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
)

const abandonHelp = `Gives up a cluster that never comes back, and lists the objects that stay there. Its addresses
leave public names as with drain. From then on, Signpost neither serves the cluster nor waits for
it. To start anew, delete the cluster's document and register the cluster again. If a name would
have no address left, the command refuses; --force abandons the cluster all the same.`

// AbandonCommand makes `signpost abandon`.
func AbandonCommand(p terminal.Program) *cobra.Command {
	var server connect.Connection
	var output terminal.Format
	force := false
	cmd := &cobra.Command{
		Use:     "abandon CLUSTER",
		Short:   "Give up a cluster that never comes back",
		Long:    abandonHelp,
		Example: "  signpost abandon edge/berlin",
		Args:    terminal.Exactly(1, "one cluster"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var left client.ClusterAbandoned
			body, err := server.OfCluster(cmd.Context(), args[0], http.MethodPost, forced("abandon", force), &left)
			if err != nil {
				return err
			}
			show := func(w io.Writer, _ bool) error { return printOrphans(w, args[0], left.LeftBehind) }
			return output.Print(p.Out, body, show)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "abandon even if a name is left without any address")
	output.Flag(cmd.Flags())
	server.Flags(cmd.Flags())
	cmd.ValidArgsFunction = server.CompleteCluster
	return cmd
}

func printOrphans(w io.Writer, cluster string, left []client.LeftBehind) error {
	terminal.Printf(w, "%s abandoned; %s left there\n", cluster, terminal.Count(len(left), "object"))
	objects := terminal.NewTable("KIND", "NAMESPACE", "NAME")
	for _, object := range left {
		objects.Add(object.Kind, object.Namespace, object.Name)
	}
	return terminal.WriteTables(w, objects)
}
