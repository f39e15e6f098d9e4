package show

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// wideReader reads the columns that only wide tables have.
type wideReader struct {
	p   terminal.Program
	api *client.Client
}

// wideTables is the reader for wide tables, nil for others.
func wideTables(wide bool, p terminal.Program, api *client.Client) *wideReader {
	if !wide {
		return nil
	}
	return &wideReader{p, api}
}

// columns are those of documents of a path's collection: how the documents do, when they were
// made, and their descriptions. If the server does not tell how they do, the reason is printed.
// A nil reader has no columns.
func (r *wideReader) columns(ctx context.Context, path intent.Path, items []item) []column {
	if r == nil {
		return nil
	}
	states, err := r.states(ctx, path, items)
	if err != nil {
		terminal.Printf(r.p.Err, "the state of %s is not shown: %s\n", strings.ReplaceAll(document.Kind(path), "-", " "), connect.Describe(err))
	}
	return append(states,
		column{"CREATED", func(i item) string { return terminal.Moment(i.Metadata.CreatedAt) }},
		column{"DESCRIPTION", func(i item) string { return i.Metadata.Description }})
}

// states are the columns that show how documents do. Other collections have none.
func (r *wideReader) states(ctx context.Context, path intent.Path, items []item) ([]column, error) {
	kind := document.Kind(path)
	switch kind {
	case "deployment-intent-groups":
		return r.groupColumns(ctx, path.Collection(), items)
	case intent.NamesCollection:
		return r.nameColumns(ctx, path, items)
	case "clusters", "dns-update-records":
		fleet, err := ReadFleet(ctx, r.api)
		if err != nil {
			return nil, err
		}
		if kind == "clusters" {
			return clusterColumns(path.Segment("cluster-providers"), fleet.Items), nil
		}
		return providerColumns(path.Segment("projects"), fleet.Items), nil
	}
	return nil, nil
}

// groupColumns show how far each deployment intent group is, by the summary of its status.
func (r *wideReader) groupColumns(ctx context.Context, collection string, items []item) ([]column, error) {
	const atOnce = 8
	found := make([]client.Status, len(items))
	readers, reading := errgroup.WithContext(ctx)
	readers.SetLimit(atOnce)
	for at, i := range items {
		readers.Go(func() error {
			_, err := connect.Ask(reading, r.api, http.MethodGet, collection+"/"+i.Metadata.Name+"/status?view=summary", nil, &found[at])
			return err
		})
	}
	if err := readers.Wait(); err != nil {
		return nil, err
	}
	byName := map[string]client.Status{}
	for at, i := range items {
		byName[i.Metadata.Name] = found[at]
	}
	count := func(heading string, of func(client.StatusCounts) int) column {
		return column{heading, func(i item) string { return fmt.Sprint(of(byName[i.Metadata.Name].Counts)) }}
	}
	return []column{
		{"STATE", func(i item) string { return string(byName[i.Metadata.Name].State) }},
		count("NAMES", func(c client.StatusCounts) int { return c.Names }),
		count("UNPUBLISHED", func(c client.StatusCounts) int { return c.Names - c.Published }),
		count("PENDING OBJECTS", func(c client.StatusCounts) int { return c.Objects - c.Settled }),
		count("NOT DEPLOYED", func(c client.StatusCounts) int { return c.Undeployed }),
	}, nil
}

// nameColumns show how far each name is. A name that was read alone has its state in the
// document. A list has no states, and the search tells of all names of the project.
func (r *wideReader) nameColumns(ctx context.Context, path intent.Path, items []item) ([]column, error) {
	found := map[string]client.FoundName{}
	if slices.ContainsFunc(items, func(i item) bool { return i.Status.State == "" }) {
		query := url.Values{"project": {path.Segment("projects")}, "limit": {"1000"}}
		body, err := read(ctx, r.api, "names", query)
		if err != nil {
			return nil, err
		}
		var names client.FoundNamePage
		if err := json.Unmarshal(body, &names); err != nil {
			return nil, err
		}
		for _, name := range names.Items {
			found[name.Owner] = name
		}
	}
	of := func(heading string, known func(itemStatus) string, searched func(client.FoundName) string) column {
		return column{heading, func(i item) string {
			if i.Status.State != "" {
				return known(i.Status)
			}
			return searched(found[path.Collection()+"/"+i.Metadata.Name])
		}}
	}
	return []column{
		of("STATE", func(s itemStatus) string { return s.State }, func(n client.FoundName) string { return string(n.State) }),
		of("PUBLISHED", func(s itemStatus) string { return s.Published }, func(n client.FoundName) string { return n.Published }),
		of("VERIFIED", func(s itemStatus) string { return s.Verified }, func(n client.FoundName) string { return n.Verified }),
	}, nil
}
