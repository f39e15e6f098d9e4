package show

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const statusHelp = `Shows the observed state of a deployment intent group:

  - its state and conditions
  - each name with its targets, their sources, and the answers of authoritative servers
  - rejected names with the reasons
  - the clusters with their objects, and the external-dns in use

For a provider, given by its path projects/…/dns-update-records/…, it shows each external-dns.
For a logical cloud it shows the cluster DNS with its addresses, and the nodes for DNS pods with the
reasons that exclude others. It also shows the health of forwarding servers and of the caches on the
nodes.

For large groups, --summary shows the state, the conditions and the counts alone. --name and --cluster
show what concerns some names or one cluster.`

// StatusCommand makes `signpost status`.
func StatusCommand(p terminal.Program) *cobra.Command {
	var server connect.Connection
	var output terminal.Format
	var watch bool
	var part statusPart
	cmd := &cobra.Command{
		Use:   "status GROUP",
		Short: "Show the observed state",
		Long:  statusHelp,
		Example: "  signpost status shop/store/v1/prod --watch\n  signpost status projects/shop/dns-update-records/lab\n" +
			"  signpost status shop/eu\n  signpost status shop/store/v1/prod --summary\n  signpost status shop/store/v1/prod --name 'www.*'",
		Args: terminal.Exactly(1, "one deployment intent group, logical cloud or provider"),
		RunE: func(cmd *cobra.Command, args []string) error {
			owner, err := document.UpdatedPath(args[0])
			if err != nil {
				return err
			}
			api, err := server.Dial()
			if err != nil {
				return err
			}
			if err := part.refuse(owner); err != nil {
				return err
			}
			from := statusReader{api: api, owner: owner, query: part.query()}
			if watch {
				return watchStatus(cmd.Context(), p, &from, output)
			}
			body, err := from.read(cmd.Context())
			if err == nil {
				err = part.found(owner, body)
			}
			if err != nil {
				return err
			}
			return printStatus(p.Out, owner, body, output)
		},
	}
	part.flags(cmd.Flags())
	cmd.Flags().BoolVar(&watch, "watch", false, "show the status again after each change, until interrupted")
	output.Flag(cmd.Flags())
	server.Flags(cmd.Flags())
	cmd.ValidArgsFunction = server.CompleteOwner
	return cmd
}

// watchStatus prints the status at first and whenever it changed. It ends
// without an error when ctx ends. A server that does not answer may come back,
// but for the first time.
func watchStatus(ctx context.Context, p terminal.Program, from *statusReader, output terminal.Format) error {
	shown := ""
	for first := true; first || terminal.Sleep(ctx, p.Poll); first = false {
		next, err := showChange(ctx, p, from, output, shown)
		if err != nil && ctx.Err() == nil && (first || !connect.IsUnreachable(err)) {
			return err
		}
		shown = next
	}
	return nil
}

// showChange prints the status when it is not what is shown already, and
// answers what is shown then.
func showChange(ctx context.Context, p terminal.Program, from *statusReader, output terminal.Format, shown string) (string, error) {
	body, err := from.read(ctx)
	if err != nil || string(body) == shown {
		return shown, err
	}
	if shown != "" {
		terminal.Printf(p.Out, "\n")
	}
	return string(body), printStatus(p.Out, from.owner, body, output)
}

func printStatus(w io.Writer, owner intent.Path, body []byte, output terminal.Format) error {
	return output.Print(w, body, func(w io.Writer, wide bool) error {
		if document.IsRecord(owner) {
			return printRecordStatus(w, owner, body)
		}
		return printGroupStatus(w, owner, body, wide)
	})
}

func printGroupStatus(w io.Writer, owner intent.Path, body []byte, wide bool) error {
	var status client.Status
	if err := json.Unmarshal(body, &status); err != nil {
		return err
	}
	terminal.Printf(w, "%s  %s", document.ShortOwner(owner), status.State)
	if status.Revision > 0 {
		terminal.Printf(w, "  (release %d, context %s)", status.Revision, terminal.Plain(status.ContextID))
	}
	terminal.Printf(w, "\n")
	if c := status.AppContext; c.ID != "" {
		said := strings.TrimSpace(c.State + "  " + c.Message)
		terminal.Printf(w, "EMCO's app context %s  %s\n", terminal.Plain(c.ID), terminal.Plain(cmp.Or(said, "rsync has said nothing yet")))
	}
	if status.Message != "" {
		terminal.Printf(w, "%s\n", terminal.Plain(status.Message))
	}
	printUndeployed(w, owner, max(len(status.Undeployed), status.Counts.Undeployed))
	if len(status.Names) < status.Counts.Names {
		printCounts(w, status.Counts)
	}
	return terminal.WriteTables(w,
		undeployedTable(status.Undeployed),
		conditionTable(status.Conditions),
		nameTable(status.Names),
		setTable(status.Names),
		answerTable(status.Names),
		stageTable(status.Names),
		rejectionTable(status.Names),
		leftoverTable(status.Leftovers),
		dnsTable(status.DNS),
		exclusionTable(status.DNS),
		upstreamTable(status.DNS),
		cacheTable(status.DNS),
		clusterTable(status.Clusters),
		objectTable(status.Clusters, wide),
		providerTable(status.Providers),
	)
}

// printUndeployed counts the documents that differ from the release.
func printUndeployed(w io.Writer, owner intent.Path, n int) {
	switch n {
	case 0:
	case 1:
		terminal.Printf(w, "1 change is not deployed: signpost deploy %s\n", document.ShortOwner(owner))
	default:
		terminal.Printf(w, "%d changes are not deployed: signpost deploy %s\n", n, document.ShortOwner(owner))
	}
}

func printRecordStatus(w io.Writer, owner intent.Path, body []byte) error {
	var status client.RecordStatus
	if err := json.Unmarshal(body, &status); err != nil {
		return err
	}
	inUse := "is not in use"
	if status.Revision > 0 {
		inUse = fmt.Sprintf("is in use (release %d)", status.Revision)
	}
	terminal.Printf(w, "%s %s\n", owner, inUse)
	printUndeployed(w, owner, len(status.Undeployed))
	for _, warning := range status.Warnings {
		terminal.Printf(w, "warning: %s %s\n", terminal.Plain(warning.Parameter), terminal.Plain(warning.Message))
	}
	if a := status.Adoption; a.From != "" {
		terminal.Printf(w, "adopting %s from owner id %s since %s\n", terminal.Plain(few(a.Names)), terminal.Plain(a.From), terminal.Moment(a.Since))
	}
	deployments := terminal.NewTable("SCOPE", "CLUSTER", "OWNER ID", "VERSION")
	for _, d := range status.Deployments {
		deployments.Add(string(d.Scope), deployedAt(d), d.OwnerID, d.Version)
	}
	return terminal.WriteTables(w, deployments, providerTable(status.Providers))
}

// few are the first of some names.
func few(names []string) string {
	const most = 10
	if extra := len(names) - most; extra > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), extra)
	}
	return strings.Join(names, ", ")
}

// deployedAt is the home of a deployment in one word.
func deployedAt(d client.Deployment) string {
	if d.Publisher != "" {
		return string(d.Publisher)
	}
	return d.ClusterProvider + "+" + d.Cluster
}
