package show

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
)

// WhoisCommand makes `signpost whois`.
func WhoisCommand(p terminal.Program) *cobra.Command {
	var server connect.Connection
	var output terminal.Format
	cmd := &cobra.Command{
		Use:   "whois HOST",
		Short: "Explain a host name: its owner, the source of its targets, the answers of its servers",
		Long: `Tells who publishes a host name, by which release and documents. It shows where each target comes from, why
others were rejected, and what each authoritative server answered last. If the name belongs to a project that
you may not read, it tells only that the name is taken.`,
		Example: "  signpost whois www.shop.example",
		Args:    terminal.Exactly(1, "one host name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			host, err := hostname.CanonicalUnderscored(args[0])
			if err != nil {
				return terminal.Usagef("%q %w", args[0], err)
			}
			api, err := server.Dial()
			if err != nil {
				return err
			}
			return whois(cmd.Context(), p, api, host, &output)
		},
	}
	output.Flag(cmd.Flags())
	server.Flags(cmd.Flags())
	cmd.ValidArgsFunction = server.CompleteHost
	return cmd
}

func whois(ctx context.Context, p terminal.Program, api *client.Client, host string, output *terminal.Format) error {
	response, err := api.Do(ctx, http.MethodGet, "names/"+url.PathEscape(host), nil, nil)
	if err != nil {
		return err
	}
	return output.Print(p.Out, response.Body, func(w io.Writer, _ bool) error { return printExplanation(w, response.Body) })
}

// printExplanation shows the sentence, and then tables over all owners.
func printExplanation(w io.Writer, body []byte) error {
	var explained client.NameExplanation
	if err := json.Unmarshal(body, &explained); err != nil {
		return err
	}
	terminal.Printf(w, "%s\n", terminal.Plain(explained.Summary))
	owners := terminal.NewTable("OWNER", "STATE", "RELEASE", "ACCEPTED", "BY", "MESSAGE")
	documents := terminal.NewTable("DOCUMENT", "DEPLOYED", "CURRENT")
	outages := terminal.NewTable("UNREACHABLE", "SINCE", "WHY", "EFFECT")
	var records []client.NameStatus
	var conditions []client.Condition
	var providers []client.ProviderStatus
	for _, o := range explained.Owners {
		owners.Add(o.Owner, string(o.State), fmt.Sprint(o.Release), terminal.Moment(o.Accepted), o.Actor, o.Message)
		for _, d := range o.Documents {
			documents.Add(d.Path, fmt.Sprint(d.Revision), fmt.Sprint(d.Current))
		}
		for _, lost := range o.Unreachable {
			outages.Add(lost.Cluster, terminal.Moment(lost.Since), lost.Message, lost.Effect)
		}
		records, providers = append(records, o.Records...), append(providers, o.ExternalDNS...)
	}
	for _, record := range records {
		for _, c := range record.Conditions {
			if !slices.Contains(conditions, c) {
				conditions = append(conditions, c)
			}
		}
	}
	return terminal.WriteTables(w, owners, outages, documents, conditionTable(conditions), nameTable(records), setTable(records), answerTable(records), rejectionTable(records), providerTable(providers))
}
