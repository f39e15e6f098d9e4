package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// getFiles reads what is stored of the documents of files.
func (p program) getFiles(ctx context.Context, server *connection, from *source, output *format) error {
	documents, err := from.read(p.in, server.timeout)
	if err != nil {
		return err
	}
	api, err := server.dial()
	if err != nil {
		return err
	}
	documents = slices.DeleteFunc(documents, func(d document) bool { return d.Action != "" })
	order(documents)
	bodies := make([]json.RawMessage, len(documents))
	for i, d := range documents {
		if d.Service != nil {
			bodies[i], err = d.Service.read(ctx, d.Path)
		} else {
			bodies[i], err = read(ctx, api, string(d.Path), nil)
		}
		if err != nil {
			return fmt.Errorf("%s (%s): %w", d, d.Path, err)
		}
	}
	all, err := json.Marshal(answer{Items: &bodies})
	if err != nil {
		return err
	}
	return output.print(p.out, all, func(w io.Writer, wide bool) error { return printDocuments(w, documents, bodies, wide) })
}

// printDocuments shows a table for each collection of the documents.
func printDocuments(w io.Writer, documents []document, bodies []json.RawMessage, wide bool) error {
	for first, last := 0, 0; first < len(documents); first = last {
		collection, services := documents[first].Path.Collection(), documents[first].Service != nil
		for last < len(documents) && documents[last].Path.Collection() == collection {
			last++
		}
		printf(w, "%s\n", collection)
		show := func() error { return printItems(w, kind(documents[first].Path), bodies[first:last], wide) }
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
func printNames(w io.Writer, documents []document) error {
	t := newTable("NAME", "KEPT BY")
	for _, d := range documents {
		t.add(d.Path.Name(), "EMCO's "+d.Service.flag)
	}
	return t.write(w)
}
