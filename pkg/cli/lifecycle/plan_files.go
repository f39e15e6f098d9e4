package lifecycle

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// PlanFiles prints what the documents of files would do, without storing them. It is an
// error if something would change, of its own kind, and if the server would refuse one.
func PlanFiles(ctx context.Context, p terminal.Program, server *connect.Connection, from *document.Source, output *terminal.Format, diffs bool) error {
	documents, err := from.Read(p.In, server.Timeout)
	if err != nil {
		return err
	}
	document.Order(documents)
	api, err := server.Dial()
	if err != nil {
		return err
	}
	return PlanDocuments(ctx, p, api, documents, nil, output, diffs)
}

// LackDefaultProject tells whether documents are to be in the default project, none of them is the project, and it does not exist.
// Then apply makes it.
func LackDefaultProject(ctx context.Context, api *client.Client, documents []document.Document) bool {
	project, needed := intent.Join("projects", connect.DefaultProject), false
	for _, d := range documents {
		if d.Service != nil || d.Action != "" || d.Path == project {
			return false
		}
		needed = needed || strings.HasPrefix(string(d.Path), string(project)+"/")
	}
	if !needed {
		return false
	}
	_, err := api.Do(ctx, http.MethodGet, string(project), nil, nil)
	return connect.IsMissing(err) // any other error comes again with the first document
}

// PlanDocuments prints what documents would do, and the deletion of others.
func PlanDocuments(ctx context.Context, p terminal.Program, api *client.Client, documents []document.Document, deleted []intent.Path, output *terminal.Format, diffs bool) error {
	if LackDefaultProject(ctx, api, documents) {
		project := document.Document{Path: intent.Join("projects", connect.DefaultProject), Body: json.RawMessage(connect.DefaultProjectDocument)}
		documents = slices.Insert(slices.Clone(documents), 0, project)
	}
	planned, bodies, err := drafted(documents)
	if err != nil {
		return err
	}
	plan, answer, err := draftPlan(ctx, api, planned, bodies, deleted)
	if err != nil {
		return err
	}
	if err := output.Print(p.Out, answer, func(w io.Writer, wide bool) error { return printDraft(w, planned, plan, wide, diffs) }); err != nil {
		return err
	}
	return verdict(plan)
}

// mostNames is how many names the server plans at once.
const mostNames = 100

// draftPlan has the server plan documents. If all documents are names, they are planned
// a part at a time, because no name depends on another document. Deletions come with the last.
func draftPlan(ctx context.Context, api *client.Client, planned []document.Document, bodies []map[string]json.RawMessage, deleted []intent.Path) (plan client.DraftPlan, answer json.RawMessage, err error) {
	part := max(len(bodies), 1)
	if !slices.ContainsFunc(planned, func(d document.Document) bool { return !intent.IsName(d.Path) }) {
		part = mostNames
	}
	plan = client.DraftPlan{Documents: []client.DocumentChange{}, Errors: []client.FieldError{}, Owners: []client.OwnerPlan{}}
	done := 0
	for bodies := range slices.Chunk(bodies, part) {
		var some client.DraftPlan
		request := map[string]any{"documents": bodies}
		if done+len(bodies) == len(planned) && len(deleted) > 0 {
			request["deleted"] = deleted
		}
		if _, err := connect.Ask(ctx, api, http.MethodPost, "plan", request, &answer); err != nil {
			return plan, nil, err
		}
		if err := json.Unmarshal(answer, &some); err != nil {
			return plan, nil, err
		}
		plan.Changes = plan.Changes || some.Changes
		plan.Documents = append(plan.Documents, some.Documents...)
		plan.Owners = append(plan.Owners, some.Owners...)
		for _, e := range some.Errors {
			e.Pointer = shifted(e.Pointer, done)
			plan.Errors = append(plan.Errors, e)
		}
		done += len(bodies)
	}
	if len(planned) > part {
		answer, err = json.Marshal(plan)
	}
	return plan, answer, err
}

// shifted is a pointer into documents of which others come first.
func shifted(pointer string, first int) string {
	rest, ok := strings.CutPrefix(pointer, "/documents/")
	number, within, more := strings.Cut(rest, "/")
	n, err := strconv.Atoi(number)
	if !ok || err != nil {
		return pointer
	}
	if more {
		within = "/" + within
	}
	return fmt.Sprintf("/documents/%d%s", n+first, within)
}

// drafted are the documents that are planned, and how the server takes them. Requests such
// as instantiate are left out.
func drafted(documents []document.Document) (planned []document.Document, bodies []map[string]json.RawMessage, err error) {
	for _, d := range documents {
		if d.Service != nil {
			return nil, nil, fmt.Errorf("%s (%s): EMCO keeps this document, and Signpost cannot plan it; leave it out", d, d.Path)
		}
		if d.Action != "" {
			continue
		}
		body := map[string]json.RawMessage{}
		if err := json.Unmarshal(d.Body, &body); err != nil {
			return nil, nil, err
		}
		if body["resource"], err = json.Marshal(d.Path.Collection()); err != nil {
			return nil, nil, err
		}
		planned, bodies = append(planned, d), append(bodies, body)
	}
	if len(planned) == 0 {
		return nil, nil, terminal.Usagef("-f: there is no document to plan")
	}
	return planned, bodies, nil
}

// printDraft shows what becomes of each document, and then of each owner.
func printDraft(w io.Writer, documents []document.Document, plan client.DraftPlan, wide, diffs bool) error {
	refused := map[string]bool{}
	for _, owner := range plan.Owners {
		refused[owner.Path] = len(owner.Plan.Errors) > 0
	}
	t := terminal.NewTable("ACTION", "DOCUMENT")
	for _, d := range plan.Documents {
		if refused[d.Path] && intent.IsName(intent.Path(d.Path)) { // a write of a name is its release
			d.Action = client.DocumentChangeActionRefused
		}
		if wide || d.Action != client.DocumentChangeAction(actionUnchanged) {
			t.Add(string(d.Action), d.Path)
		}
	}
	if err := terminal.WriteTables(w, t); err != nil {
		return err
	}
	for _, e := range plan.Errors {
		terminal.Printf(w, "error: %s: %s\n", place(documents, e.Pointer), terminal.Plain(connect.AsFlags(e.Detail)))
	}
	for _, owner := range plan.Owners {
		if !wide && !owner.Changes && len(owner.Plan.Errors)+len(owner.Plan.Warnings) == 0 {
			continue
		}
		terminal.Printf(w, "\n%s\n", owner.Path)
		if refused[owner.Path] { // nothing of the plan would come true
			owner.Plan = client.Plan{Errors: owner.Plan.Errors, Warnings: owner.Plan.Warnings}
		}
		if err := printPlan(w, owner.Plan, wide, diffs); err != nil {
			return err
		}
	}
	if len(plan.Errors) == 0 && !plan.Changes {
		terminal.Printf(w, "Nothing would change.\n")
	}
	return nil
}

// place is the place in a file that a pointer of the server's leads to.
func place(documents []document.Document, pointer string) string {
	number, within, _ := strings.Cut(strings.TrimPrefix(pointer, "/documents/"), "/")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n >= len(documents) {
		return terminal.Plain(pointer)
	}
	where := fmt.Sprintf("%s (%s)", documents[n], documents[n].Path)
	if within != "" {
		where += ": /" + terminal.Plain(within)
	}
	return where
}

// verdict is the error of a plan with errors, or with changes.
func verdict(plan client.DraftPlan) error {
	wrong := len(plan.Errors)
	for _, owner := range plan.Owners {
		wrong += len(owner.Plan.Errors)
	}
	switch {
	case wrong > 0:
		return fmt.Errorf("the plan has %s; what is wrong would be refused, and all else applied", terminal.Count(wrong, "error"))
	case plan.Changes:
		return terminal.ChangesError{}
	}
	return nil
}
