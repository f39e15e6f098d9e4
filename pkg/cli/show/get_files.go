package show

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
)

// getFiles reads what is stored of the documents of files.
func getFiles(ctx context.Context, p terminal.Program, server *connect.Connection, from *document.Source, output *terminal.Format) error {
	documents, err := from.Read(p.In, server.Timeout)
	if err != nil {
		return err
	}
	api, err := server.Dial()
	if err != nil {
		return err
	}
	documents = slices.DeleteFunc(documents, func(d document.Document) bool { return d.Action != "" })
	document.Order(documents)
	bodies := make([]json.RawMessage, len(documents))
	for i, d := range documents {
		if d.Service != nil {
			bodies[i], err = d.Service.Read(ctx, d.Path)
		} else {
			bodies[i], err = read(ctx, api, string(d.Path), nil)
		}
		if err == nil && output.YAML() {
			bodies[i], err = withResources(d.Path, bodies[i])
		}
		if err != nil {
			return fmt.Errorf("%s (%s): %w", d, d.Path, err)
		}
	}
	return output.PrintValue(p.Out, answer{Items: &bodies}, func(w io.Writer, wide bool) error {
		return printDocuments(ctx, w, documents, bodies, wideTables(wide, p, api))
	})
}

// printDocuments shows a table for each collection of the documents, with the columns of the reader.
func printDocuments(ctx context.Context, w io.Writer, documents []document.Document, bodies []json.RawMessage, more *wideReader) error {
	for first, last := 0, 0; first < len(documents); first = last {
		collection, services := documents[first].Path.Collection(), documents[first].Service != nil
		for last < len(documents) && documents[last].Path.Collection() == collection {
			last++
		}
		terminal.Printf(w, "%s\n", collection)
		show := func() error {
			return printItems(ctx, w, documents[first].Path, bodies[first:last], more)
		}
		if services {
			show = func() error { return printNames(w, documents[first:last]) }
		}
		if err := show(); err != nil {
			return err
		}
	}
	return nil
}

// printNames lists documents of EMCO's, of which Signpost has no table.
func printNames(w io.Writer, documents []document.Document) error {
	t := terminal.NewTable("NAME", "KEPT BY")
	for _, d := range documents {
		t.Add(d.Path.Name(), "EMCO's "+d.Service.Flag)
	}
	return t.Write(w)
}
