package inspect

import (
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
)

const traceHelp = `Shows the way of a query through the CoreDNS of a DNS CR intent. It follows the intent as it is
stored, deployed or not. It names the server block that gets the query, the plugin in it that answers,
the servers that this plugin asks, and the reasons. No query is sent. Give the intent as
project/logical-cloud/intent, or by its whole path.`

func traceCommand(p terminal.Program) *cobra.Command {
	var server connect.Connection
	var output terminal.Format
	var query client.DNSQuery
	cmd := &cobra.Command{
		Use:     "trace INTENT NAME [TYPE]",
		Short:   "Show which way a query takes",
		Long:    traceHelp,
		Example: "  signpost corefile trace shop/eu/resolvers www.a.foo.com\n  signpost corefile trace shop/eu/resolvers web.shop.svc.cluster.local AAAA --cluster edge+berlin",
		Args:    traced,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := document.DNSCRIntentPath(args[0])
			if err != nil {
				return err
			}
			query.Name, query.Type = args[1], client.DNSQueryTypeA
			if len(args) > 2 {
				query.Type = client.DNSQueryType(strings.ToUpper(args[2]))
			}
			var way client.DNSWay
			body, err := server.Ask(cmd.Context(), http.MethodPost, string(path)+"/trace", query, &way)
			if err != nil {
				return err
			}
			return output.Print(p.Out, body, func(w io.Writer, _ bool) error { return printWay(w, query, way) })
		},
	}
	cmd.Flags().StringVar(&query.Cluster, "cluster", "", "the `PROVIDER+CLUSTER` whose domain counts (default one of domain cluster.local)")
	output.Flag(cmd.Flags())
	server.Flags(cmd.Flags())
	cmd.ValidArgsFunction = server.Complete(connect.Short(document.DNSCRIntentPattern))
	return cmd
}

// traced takes an intent, a name and perhaps a type.
func traced(_ *cobra.Command, args []string) error {
	const least, most = 2, 3
	if len(args) < least || len(args) > most {
		return terminal.Usagef("takes a DNS CR intent, a name and optionally a type, not %s", terminal.Count(len(args), "argument"))
	}
	return nil
}

// printWay tells the way, and then why.
func printWay(w io.Writer, query client.DNSQuery, way client.DNSWay) error {
	terminal.Printf(w, "%s %s\n", terminal.Visible(query.Name), query.Type)
	t := terminal.NewTable("SERVER", "PLUGIN", "POLICY", "UPSTREAMS")
	t.Add(way.Server, string(way.Plugin), string(way.Policy), strings.Join(way.Upstreams, " "))
	if err := terminal.WriteTables(w, t); err != nil {
		return err
	}
	terminal.Printf(w, "\n")
	for _, reason := range way.Why {
		terminal.Printf(w, "- %s\n", terminal.Visible(reason))
	}
	return nil
}
