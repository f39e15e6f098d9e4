package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/intent"
)

const statusHelp = `Shows what was observed of a deployment intent group: its state and conditions, each
name with its targets and where they come from, what authoritative servers answer,
what was rejected and why, the clusters
with their objects, and the external-dns in use. Of a DNS update record, given by its path,
it shows each external-dns; of a logical cloud the cluster DNS: its addresses, on how many nodes DNS pods may run and what excludes the others, how the
nameservers do that are forwarded to, and how the caches on the nodes do.`

func (p program) statusCommand() *cobra.Command {
	var server connection
	var output format
	var watch bool
	cmd := &cobra.Command{
		Use:   "status GROUP",
		Short: "Show what was observed",
		Long:  statusHelp,
		Example: "  signpost status shop/store/v1/prod --watch\n  signpost status projects/shop/dns-update-records/lab\n" +
			"  signpost status shop/eu",
		Args: exactly(1, "one deployment intent group, logical cloud or record"),
		RunE: func(cmd *cobra.Command, args []string) error {
			owner, err := updatedPath(args[0])
			if err != nil {
				return err
			}
			api, err := server.dial()
			if err != nil {
				return err
			}
			if watch {
				return p.watchStatus(cmd.Context(), api, owner, output)
			}
			body, err := statusOf(cmd.Context(), api, owner)
			if err != nil {
				return err
			}
			return printStatus(p.out, owner, body, output)
		},
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "show it again whenever it changes, until interrupted")
	output.flag(cmd.Flags())
	server.flags(cmd.Flags())
	return cmd
}

func statusOf(ctx context.Context, api *client.Client, owner intent.Path) ([]byte, error) {
	response, err := api.Do(ctx, http.MethodGet, string(owner)+"/status", nil, nil)
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// watchStatus prints the status at first and whenever it changed. It ends
// without an error when ctx ends. A server that does not answer may come back,
// but for the first time.
func (p program) watchStatus(ctx context.Context, api *client.Client, owner intent.Path, output format) error {
	shown := ""
	for first := true; first || sleep(ctx, p.poll); first = false {
		next, err := p.showChange(ctx, api, owner, output, shown)
		if err != nil && ctx.Err() == nil && (first || !isUnreachable(err)) {
			return err
		}
		shown = next
	}
	return nil
}

// showChange prints the status when it is not what is shown already, and
// answers what is shown then.
func (p program) showChange(ctx context.Context, api *client.Client, owner intent.Path, output format, shown string) (string, error) {
	body, err := statusOf(ctx, api, owner)
	if err != nil || string(body) == shown {
		return shown, err
	}
	if shown != "" {
		printf(p.out, "\n")
	}
	return string(body), printStatus(p.out, owner, body, output)
}

func printStatus(w io.Writer, owner intent.Path, body []byte, output format) error {
	return output.print(w, body, func(w io.Writer, wide bool) error {
		if isRecord(owner) {
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
	printf(w, "%s  %s", shortOwner(owner), status.State)
	if status.Revision > 0 {
		printf(w, "  (release %d, context %s)", status.Revision, plain(status.ContextID))
	}
	printf(w, "\n")
	if c := status.AppContext; c.ID != "" {
		said := strings.TrimSpace(c.State + "  " + c.Message)
		printf(w, "EMCO's app context %s  %s\n", plain(c.ID), plain(cmp.Or(said, "rsync has said nothing yet")))
	}
	if status.Message != "" {
		printf(w, "%s\n", plain(status.Message))
	}
	return writeTables(w,
		conditionTable(status.Conditions),
		nameTable(status.Names),
		setTable(status.Names),
		answerTable(status.Names),
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

func printRecordStatus(w io.Writer, owner intent.Path, body []byte) error {
	var status client.RecordStatus
	if err := json.Unmarshal(body, &status); err != nil {
		return err
	}
	inUse := "is not in use"
	if status.Revision > 0 {
		inUse = fmt.Sprintf("is in use (release %d)", status.Revision)
	}
	printf(w, "%s %s\n", owner, inUse)
	for _, warning := range status.Warnings {
		printf(w, "warning: %s %s\n", plain(warning.Parameter), plain(warning.Message))
	}
	if a := status.Adoption; a.From != "" {
		printf(w, "adopting %s from owner id %s since %s\n", plain(strings.Join(a.Names, ", ")), plain(a.From), moment(a.Since))
	}
	deployments := newTable("SCOPE", "CLUSTER", "OWNER ID", "VERSION")
	for _, d := range status.Deployments {
		deployments.add(string(d.Scope), fmt.Sprintf("%s+%s", d.ClusterProvider, d.Cluster), d.OwnerID, d.Version)
	}
	return writeTables(w, deployments, providerTable(status.Providers))
}

// momentOf is a moment that may be unknown.
func momentOf(t *time.Time) string {
	if t == nil {
		return ""
	}
	return moment(*t)
}
