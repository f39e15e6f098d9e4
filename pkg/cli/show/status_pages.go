package show

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"

	"github.com/spf13/pflag"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// statusPart is what the flags of `signpost status` ask for.
type statusPart struct {
	summary       bool
	name, cluster string
}

func (p *statusPart) flags(of *pflag.FlagSet) {
	of.BoolVar(&p.summary, "summary", false, "show the state, the conditions and the counts alone")
	of.StringVar(&p.name, "name", "", "show only these host names; * stands for any text")
	of.StringVar(&p.cluster, "cluster", "", "show only what concerns this cluster, as provider/cluster")
}

// refuse fails if the owner has nothing of what the flags ask for.
func (p *statusPart) refuse(owner intent.Path) error {
	name, err := hostname.ASCIIPattern(p.name)
	switch {
	case p.summary && p.name+p.cluster != "":
		return terminal.Usagef("--summary counts all names and clusters; leave out --name and --cluster")
	case err != nil:
		return terminal.Usagef("--name: %q %w", p.name, err)
	case document.IsRecord(owner) && (p.summary || p.name != ""):
		return terminal.Usagef("the status of a provider has no names; leave out --summary and --name")
	}
	p.name = name
	return nil
}

// found fails if nothing of a group's status is as the flags ask: a mistyped name would look like good health.
func (p *statusPart) found(owner intent.Path, body []byte) error {
	var status client.Status
	if document.IsRecord(owner) {
		return nil
	}
	if err := json.Unmarshal(body, &status); err != nil {
		return err
	}
	switch all := document.ShortOwner(owner); {
	case p.cluster != "" && len(status.Clusters) == 0:
		return fmt.Errorf("--cluster: %s has nothing in %s; signpost status %s lists its clusters", all, p.cluster, all)
	case p.name != "" && len(status.Names) == 0:
		return fmt.Errorf("--name: %s has no name like %s; signpost status %s lists its names", all, p.name, all)
	}
	return nil
}

func (p *statusPart) query() connect.Query {
	q := connect.Query{"name": p.name, "cluster": p.cluster}
	if p.summary {
		q["view"] = "summary"
	}
	return q
}

// statusReader reads a status page by page. It asks for pages that it has only if they
// have changed.
type statusReader struct {
	api   *client.Client
	owner intent.Path
	query connect.Query
	pages map[string]*client.Response // by continue; the last answers with a body
}

// read returns the whole status as the server answers it, its pages joined.
func (r *statusReader) read(ctx context.Context) ([]byte, error) {
	pages, whole := map[string]*client.Response{}, []map[string]any{}
	for after, more := "", true; more; {
		page, err := r.page(ctx, after)
		if err != nil {
			return nil, err
		}
		pages[after] = page
		var body map[string]any
		decoder := json.NewDecoder(bytes.NewReader(page.Body))
		decoder.UseNumber()
		if err := decoder.Decode(&body); err != nil {
			return nil, err
		}
		whole = append(whole, body)
		after, more = body["continue"].(string)
	}
	r.pages = pages
	if len(whole) == 1 {
		return pages[""].Body, nil
	}
	return json.Marshal(joined(whole))
}

func (r *statusReader) page(ctx context.Context, after string) (*client.Response, error) {
	query, header := connect.Query{"continue": after}, http.Header{}
	maps.Copy(query, r.query)
	path := query.Of(string(r.owner) + "/status")
	last := r.pages[after]
	if last != nil && last.Header.Get("ETag") != "" {
		header.Set("If-None-Match", last.Header.Get("ETag"))
	}
	response, err := r.api.Do(ctx, http.MethodGet, path, nil, header)
	if err == nil && response.StatusCode == http.StatusNotModified {
		return last, nil
	}
	return response, err
}

// joined puts the lists of all pages into the first one.
func joined(pages []map[string]any) map[string]any {
	first := pages[0]
	delete(first, "continue")
	for _, page := range pages[1:] {
		for _, list := range []string{"names", "providers", "deployments"} {
			if _, paged := page["ownerID"]; paged || list == "names" {
				first[list] = appended(first[list], page[list])
			}
		}
		ours, _ := first["clusters"].([]any)
		theirs, _ := page["clusters"].([]any)
		for _, cluster := range theirs {
			if more, ok := cluster.(map[string]any); ok {
				ours = joinCluster(ours, more)
			}
		}
		if len(ours) > 0 {
			first["clusters"] = ours
		}
	}
	return first
}

// joinCluster adds the objects of a cluster to those of an earlier page.
func joinCluster(all []any, more map[string]any) []any {
	for _, known := range all {
		cluster, ok := known.(map[string]any)
		if ok && cluster["clusterProvider"] == more["clusterProvider"] && cluster["cluster"] == more["cluster"] {
			cluster["resources"] = appended(cluster["resources"], more["resources"])
			return all
		}
	}
	return append(all, more)
}

func appended(list, more any) any {
	items, _ := list.([]any)
	others, _ := more.([]any)
	return append(items, others...)
}

// printCounts tells how many there are of what is not listed.
func printCounts(w io.Writer, c client.StatusCounts) {
	terminal.Printf(w, "%s: %d published, %d verified; %d of %s settled in %s\n", terminal.Count(c.Names, "name"), c.Published, c.Verified,
		c.Settled, terminal.Count(c.Objects, "object"), terminal.Count(c.Clusters, "cluster"))
	for _, name := range c.Unaddressed {
		terminal.Printf(w, "no address: %s\n", terminal.Plain(name))
	}
	for _, name := range c.Unreachable {
		terminal.Printf(w, "%s cannot be reached\n", terminal.Plain(name))
	}
}
