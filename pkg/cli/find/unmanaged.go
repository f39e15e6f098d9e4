package find

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
)

const unmanagedHelp = `Lists the records that Signpost does not publish in the zones of a provider. OWNER is the
owner id of the external-dns that has marked the records. Signpost reads zones of the providers rfc2136 (by zone
transfer), coredns (from its etcd) and webhook (by webhook-provider-url). For other providers, export the zone as a file,
and give the file to "signpost import zone".

With --zone-file, the output is a zone file, of which "signpost import zone -" makes name documents.`

// unmanagedQuestion is one question for records that nobody publishes.
type unmanagedQuestion struct {
	server   connect.Connection
	output   terminal.Format
	limit    int
	zoneFile bool
}

// UnmanagedCommand makes `signpost unmanaged`.
func UnmanagedCommand(p terminal.Program) *cobra.Command {
	q := &unmanagedQuestion{}
	cmd := &cobra.Command{
		Use:   "unmanaged PROVIDER",
		Short: "List the records of a provider's zones that nobody publishes",
		Long:  unmanagedHelp,
		Example: "  signpost unmanaged projects/shop/dns-update-records/lab\n" +
			"  signpost unmanaged projects/shop/dns-update-records/lab --zone-file | signpost import zone - --project shop --provider lab > names.yaml",
		Args: terminal.Exactly(1, "one provider, as projects/PROJECT/dns-update-records/NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := document.AnyPath(args[0])
			if err != nil {
				return err
			}
			if !document.IsRecord(path) {
				return terminal.Usagef("%q is not a provider; give projects/PROJECT/dns-update-records/NAME", args[0])
			}
			return q.ask(cmd.Context(), p, string(path)+"/unmanaged")
		},
	}
	cmd.ValidArgsFunction = q.server.CompleteProvider
	cmd.Flags().IntVar(&q.limit, "limit", 0, "show at most so many `RECORDS`; 0 for all")
	cmd.Flags().BoolVar(&q.zoneFile, "zone-file", false, "print a zone file instead of --output")
	q.output.Flag(cmd.Flags())
	q.server.Flags(cmd.Flags())
	return cmd
}

// ask gets pages until there are as many sets as asked for.
func (q *unmanagedQuestion) ask(ctx context.Context, p terminal.Program, path string) error {
	if q.limit < 0 {
		return terminal.Usagef("--limit: %d is negative; give how many records to show, or 0 for all", q.limit)
	}
	api, err := q.server.Dial()
	if err != nil {
		return err
	}
	all := client.UnmanagedList{Items: []client.UnmanagedSet{}}
	err = connect.Pages(ctx, api, path, connect.Query{}, q.limit, func(page client.UnmanagedList) (int, string) {
		all.Items, all.Continue = append(all.Items, page.Items...), page.Continue
		return len(page.Items), page.Continue
	})
	if err != nil {
		return err
	}
	return q.print(p, all)
}

// print shows sets, and tells on stderr if there are more.
func (q *unmanagedQuestion) print(p terminal.Program, all client.UnmanagedList) error {
	if all.Continue != "" {
		terminal.Printf(p.Err, "there are more than %s; give a larger --limit\n", terminal.Count(len(all.Items), "record set"))
	}
	if q.zoneFile {
		return writeZoneFile(p.Out, all.Items)
	}
	return q.output.PrintValue(p.Out, all, func(w io.Writer, _ bool) error {
		if len(all.Items) == 0 {
			terminal.Printf(w, "The zones have no such records.\n")
			return nil
		}
		t := terminal.NewTable("NAME", "TYPE", "TTL", "OWNER", "VALUES")
		for _, set := range all.Items {
			t.Add(set.Name, set.Type, fmt.Sprint(set.TTL), set.Owner, strings.Join(set.Values, ", "))
		}
		return t.Write(w)
	})
}

// writeZoneFile writes sets as a zone file, with absolute names.
func writeZoneFile(w io.Writer, sets []client.UnmanagedSet) error {
	buffered := bufio.NewWriter(w)
	for _, set := range sets {
		for _, value := range set.Values {
			if _, err := fmt.Fprintf(buffered, "%s. %d IN %s %s\n", set.Name, set.TTL, set.Type, value); err != nil {
				return err
			}
		}
	}
	return buffered.Flush()
}
