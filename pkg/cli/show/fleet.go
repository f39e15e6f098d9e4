package show

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
)

// ReadFleet reads all pages of the fleet.
func ReadFleet(ctx context.Context, api *client.Client) (client.Fleet, error) {
	var fleet client.Fleet
	items := []client.FleetItem{}
	err := connect.Pages(ctx, api, "fleet", connect.Query{}, 0, func(page client.Fleet) (int, string) {
		fleet, items = page, append(items, page.Items...)
		return len(page.Items), page.Continue
	})
	fleet.Items = items
	return fleet, err
}

// clusterColumns show how the clusters of a cluster provider do.
func clusterColumns(provider string, items []client.FleetItem) []column {
	of := func(heading string, cell func(client.FleetItem) string) column {
		return column{heading, func(i item) string {
			at := slices.IndexFunc(items, func(f client.FleetItem) bool {
				return f.Kind == client.FleetItemKindCluster && f.Cluster == provider+"/"+i.Metadata.Name
			})
			if at < 0 {
				return "" // no name has to do with the cluster
			}
			return cell(items[at])
		}}
	}
	return []column{
		of("REACHABLE", func(f client.FleetItem) string { return f.Healthy }),
		of("NAMES", func(f client.FleetItem) string { return fmt.Sprint(f.Hosts.Total) }),
		of("UNPUBLISHED", func(f client.FleetItem) string { return fmt.Sprint(f.Hosts.Unpublished) }),
		of("PENDING OBJECTS", func(f client.FleetItem) string { return fmt.Sprint(f.Pending) }),
		of("PENDING SINCE", func(f client.FleetItem) string { return terminal.Moment(f.PendingSince) }),
	}
}

// providerColumns show how each external-dns of the providers of a project does.
func providerColumns(project string, items []client.FleetItem) []column {
	of := func(heading string, cell func(client.FleetItem) string) column {
		return column{heading, func(i item) string {
			var cells []string
			for _, f := range items {
				if f.Kind == client.FleetItemKindExternalDNS && f.Project == project && f.Provider == i.Metadata.Name {
					cells = append(cells, cell(f))
				}
			}
			return strings.Join(cells, ",")
		}}
	}
	return []column{
		of("EXTERNAL-DNS", func(f client.FleetItem) string { return string(f.Scope) + " in " + f.Cluster }),
		of("AVAILABLE", func(f client.FleetItem) string { return f.Healthy }),
		of("NAMES", func(f client.FleetItem) string { return fmt.Sprint(f.Hosts.Total) }),
		of("UNPUBLISHED", func(f client.FleetItem) string { return fmt.Sprint(f.Hosts.Unpublished) }),
		of("UNVERIFIED", func(f client.FleetItem) string { return fmt.Sprint(f.Hosts.Unverified) }),
	}
}
