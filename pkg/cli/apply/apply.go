// Package apply creates, updates and deletes the documents of files.
package apply

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/lifecycle"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const applyHelp = `Creates or replaces every document of the files, in any order: parents and references come
first. A document is an object with the fields

  resource  the collection below /v2 that it belongs to, as in projects/shop/dns-update-records;
            without it, the collection of --resource
  metadata  its name and description
  spec      its content

A file holds one or several documents, in YAML ("---" between them) or JSON. If a document is
refused, the documents below it are skipped, and all others are applied. With --deploy, the groups, cluster
DNS and providers of the documents are deployed afterwards, unless a document was refused.

Documents in the form of EMCO's emcoctl (version: emco/v2, resourceContext.anchor) are accepted, too.
Actions in their anchors, such as instantiate, run last. Templates are not accepted.
OpenShift's DNS objects (apiVersion: operator.openshift.io/v1, kind: DNS) are accepted for the
dns-cr-intents of a logical cloud.`

// Command makes `signpost apply`.
func Command(p terminal.Program) *cobra.Command {
	var server connect.Connection
	var from document.Source
	var output terminal.Format
	var dryRun bool
	var rollout lifecycle.Rollout
	var members setFlags
	cmd := &cobra.Command{
		Use:   "apply -f FILE",
		Short: "Create or replace documents",
		Long:  applyHelp,
		Example: "  signpost apply -f examples/quickstart\n  signpost apply -f records.yaml -f -\n" +
			"  signpost apply -f dns.yaml --resource projects/shop/logical-clouds/eu/dns-cr-intents",
		Args: terminal.Exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			documents, err := from.Read(p.In, server.Timeout)
			if err == nil {
				err = rollout.Check(documents)
			}
			if err != nil {
				return err
			}
			api, err := server.Dial()
			if err != nil {
				return err
			}
			document.Order(documents)
			if dryRun {
				return members.plan(cmd.Context(), p, batch{api: api}, documents, &output)
			}
			remove, err := inDefaultProject(cmd.Context(), api, p.Err, documents)
			if err != nil {
				return err
			}
			b := batch{api: api, whole: true, out: p.Out, err: p.Err}
			if err = members.change(cmd.Context(), p, b, &rollout, documents); err != nil {
				remove()
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would change, as plan -f does, and store nothing")
	rollout.Flags(cmd)
	members.flags(cmd)
	from.Flags(cmd.Flags())
	output.Flag(cmd.Flags())
	server.Flags(cmd.Flags())
	return cmd
}

// inDefaultProject makes the default project if documents lack it. The answered function removes what was made.
func inDefaultProject(ctx context.Context, api *client.Client, notes io.Writer, documents []document.Document) (remove func(), err error) {
	if lifecycle.LackDefaultProject(ctx, api, documents) {
		return connect.MakeDefaultProject(ctx, api, notes)
	}
	return func() {}, nil
}

// apply puts one document and answers what that did.
func apply(ctx context.Context, b batch, d document.Document) (string, error) {
	switch {
	case d.Service != nil:
		return applyAt(ctx, d.Service, d)
	case d.Action != "":
		return b.request(ctx, d)
	}
	before, err := b.stored(ctx, d.Path)
	if err != nil {
		return "", err
	}
	response, err := b.api.Do(ctx, http.MethodPut, string(d.Path), bytes.NewReader(d.Body), nil)
	if hasStatus(err, http.StatusForbidden) && before != nil && says(before.Body, d.Body) {
		return "unchanged", nil // as files say a project whose documents one may write
	}
	if err != nil {
		return "", err
	}
	b.warn(d, response.Body)
	switch {
	case response.StatusCode == http.StatusCreated:
		return "created", nil
	case before != nil && response.Header.Get("ETag") == before.Header.Get("ETag"):
		return "unchanged", nil
	}
	return "configured", nil
}

// batch does the same to many documents.
type batch struct {
	api   *client.Client
	poll  time.Duration // between two looks at a status
	whole bool          // nothing is requested unless all documents could be stored
	done  int           // documents of the command that were done before
	later int           // documents of the command that come later, if nothing fails
	out   io.Writer
	err   io.Writer
}

// step does something to one document and answers a word for what it did.
type step func(context.Context, batch, document.Document) (string, error)

// run does the step for each document in turn, and prints the result. It goes on after
// errors, but skips documents that depend on one that failed. When the server cannot be
// reached, it ends.
func (b batch) run(ctx context.Context, documents []document.Document, do step) error {
	var failed []intent.Path
	wrong, skipped := 0, 0
	for _, d := range documents {
		if cause := b.related(d, failed); cause != "" {
			terminal.Printf(b.err, "%s (%s) is skipped because of %s\n", d, d.Path, cause)
			skipped++
			continue
		}
		done, err := do(ctx, b, d)
		if err != nil && connect.IsUnreachable(err) {
			return fmt.Errorf("%s (%s): %w", d, d.Path, err)
		}
		if err != nil {
			terminal.Printf(b.err, "%s (%s): %s\n", d, d.Path, connect.Describe(err))
			failed = append(failed, d.Owner())
			wrong++
			continue
		}
		terminal.Printf(b.out, "%s %s\n", done, d.Path)
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d documents failed, %d skipped", wrong, b.done+len(documents)+b.later, skipped+b.later)
	}
	return nil
}

// related is the failed document that the document lies below or above, or is requested of, if
// any. A child cannot be without its parent, and a parent cannot go before its child.
func (b batch) related(d document.Document, failed []intent.Path) intent.Path {
	path := d.Path
	for _, cause := range failed {
		if b.whole && d.Action != "" {
			return cause
		}
		if path == cause || strings.HasPrefix(string(path), string(cause)+"/") || strings.HasPrefix(string(cause), string(path)+"/") {
			return cause
		}
	}
	return ""
}

// stored is the document at path as the server has it, nil when there is none.
func (b batch) stored(ctx context.Context, path intent.Path) (*client.Response, error) {
	response, err := b.api.Do(ctx, http.MethodGet, string(path), nil, nil)
	if hasStatus(err, http.StatusNotFound) {
		return nil, nil
	}
	return response, err
}

// warn prints what the server finds odd in a document that it stored.
func (b batch) warn(d document.Document, body []byte) {
	var stored struct {
		Status struct{ Warnings []json.RawMessage }
	}
	if json.Unmarshal(body, &stored) != nil {
		return // a document without warnings
	}
	for _, warning := range stored.Status.Warnings {
		var of client.Warning
		if json.Unmarshal(warning, &of.Message) != nil && json.Unmarshal(warning, &of) != nil { // those of a name are texts
			continue
		}
		terminal.Printf(b.err, "%s (%s): warning: %s\n", d, d.Path, strings.TrimSpace(of.Parameter+" "+of.Message))
	}
}
