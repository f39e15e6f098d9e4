// Package show prints documents and the status of releases.
package show

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const getHelp = `Reads a document or all documents of a collection, by the path below /v2. It also reads the other
answers below a document, such as …/events and …/users. With -f it reads the present state of the
documents of the files, and ignores requests such as instantiate.

With -o yaml, each document names its collection, so that "signpost apply -f -" takes the output.
With -o wide, clusters and providers are shown with their state in the fleet, and with the number of
names that are not published. Groups are shown with their state, and with the number of objects and of
documents that wait to be deployed. Names are shown with their state.`

// GetCommand makes `signpost get`.
func GetCommand(p terminal.Program) *cobra.Command {
	var server connect.Connection
	var output terminal.Format
	var from document.Source
	cmd := &cobra.Command{
		Use:   "get PATH | -f FILE",
		Short: "Read a document or a collection",
		Long:  getHelp,
		Example: "  signpost get projects\n  signpost get projects/shop/dns-update-records/lab -o yaml\n" +
			"  signpost get projects/shop/dns-update-records/lab/users\n  signpost get -f examples/quickstart",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(from.Files) > 0 == (len(args) > 0) || len(args) > 1 {
				return terminal.Usagef("takes one path below /v2, or files by -f")
			}
			if len(from.Files) > 0 {
				return getFiles(cmd.Context(), p, &server, &from, &output)
			}
			text, query, _ := strings.Cut(args[0], "?")
			path, err := document.AnyPath(text)
			if err != nil {
				return err
			}
			values, err := url.ParseQuery(query)
			if err != nil {
				return terminal.AsUsageError(err)
			}
			api, err := server.Dial()
			if err != nil {
				return err
			}
			return connect.OrCluster(text, path, Get(cmd.Context(), p, api, path, values, &output))
		},
	}
	output.Flag(cmd.Flags())
	from.Flags(cmd.Flags())
	server.Flags(cmd.Flags())
	cmd.ValidArgsFunction = server.CompletePath
	return cmd
}

// Get prints what is at a path below /v2.
func Get(ctx context.Context, p terminal.Program, api *client.Client, path intent.Path, query url.Values, output *terminal.Format) error {
	body, err := read(ctx, api, string(path), query)
	if err != nil {
		return err
	}
	if output.YAML() {
		if body, err = withResources(path, body); err != nil {
			return err
		}
	}
	return output.Print(p.Out, body, func(w io.Writer, wide bool) error {
		return printAnswer(ctx, w, path, body, wideTables(wide, p, api))
	})
}

// answer is what tells the kinds of answers apart. Spec is absent in what is
// no document.
type answer struct {
	Items    *[]json.RawMessage `json:"items,omitempty"`
	Continue string             `json:"continue,omitempty"`
	Metadata json.RawMessage    `json:"metadata,omitempty"`
}

// read gets what is at the path; of a list that comes in pages, all of it.
func read(ctx context.Context, api *client.Client, path string, query url.Values) ([]byte, error) {
	all := []json.RawMessage{}
	for {
		address := path
		if len(query) > 0 {
			address += "?" + query.Encode()
		}
		response, err := api.Do(ctx, http.MethodGet, address, nil, nil)
		if err != nil {
			return nil, err
		}
		var page answer
		if err := json.Unmarshal(response.Body, &page); err != nil {
			return nil, errors.New("the answer is not JSON; check that --server is a Signpost server")
		}
		if page.Items == nil {
			return response.Body, nil
		}
		all = append(all, *page.Items...)
		if page.Continue == "" {
			return json.Marshal(answer{Items: &all})
		}
		query.Set("continue", page.Continue)
	}
}

// printAnswer shows an answer as a table where there is one for it, else as
// YAML. Tables of documents get the columns of the reader.
func printAnswer(ctx context.Context, w io.Writer, path intent.Path, body []byte, more *wideReader) error {
	var found answer
	if err := json.Unmarshal(body, &found); err != nil {
		return err
	}
	last := document.LastSegment(path)
	switch {
	case found.Items == nil && found.Metadata == nil:
		return terminal.PrintYAML(w, body)
	case found.Items == nil:
		return printItems(ctx, w, path, []json.RawMessage{body}, more)
	case len(*found.Items) == 0:
		terminal.Printf(w, "There are no %s.\n", strings.ReplaceAll(last, "-", " "))
		return nil
	case path == intent.NamesCollection:
		return printFoundPage(w, body, more != nil)
	case last == "events":
		return printEvents(w, body)
	case last == "users":
		return printUsers(w, body)
	}
	return printItems(ctx, w, path, *found.Items, more)
}

// printItems shows the documents of a path's collection as a table.
func printItems(ctx context.Context, w io.Writer, path intent.Path, raw []json.RawMessage, more *wideReader) error {
	items := make([]item, len(raw))
	for i := range raw {
		if err := json.Unmarshal(raw[i], &items[i]); err != nil {
			return err
		}
	}
	return resourceTable(document.Kind(path), items, more.columns(ctx, path, items)).Write(w)
}

func printEvents(w io.Writer, body []byte) error {
	var events client.EventList
	if err := json.Unmarshal(body, &events); err != nil {
		return err
	}
	t := terminal.NewTable("TIME", "ACTOR", "ACTION", "RELEASE", "OUTCOME", "PATH", "MESSAGE")
	for _, e := range events.Items {
		release := e.Revision
		if intent.Action(e.Action).OfDocument() {
			release = 0 // it is the document's own
		}
		t.Add(terminal.Moment(e.Time), e.Actor, string(e.Action), releaseCell(release), e.Outcome, document.ShortOwner(intent.Path(e.Path)), e.Message)
	}
	return t.Write(w)
}

// releaseCell is a release's number, empty for none.
func releaseCell(revision int64) string {
	if revision == 0 {
		return ""
	}
	return strconv.FormatInt(revision, 10)
}

func printUsers(w io.Writer, body []byte) error {
	var users client.UseList
	if err := json.Unmarshal(body, &users); err != nil {
		return err
	}
	t := terminal.NewTable("DEPLOYMENT INTENT GROUP", "CLUSTERS")
	for _, use := range users.Items {
		t.Add(document.ShortOwner(intent.Path(use.DeploymentIntentGroup)), strings.Join(use.Clusters, ","))
	}
	return t.Write(w)
}
