package lifecycle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/signpost-dns/signpost/pkg/cli/connect"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/client"
	"github.com/signpost-dns/signpost/pkg/domain/hostname"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// rollbackName publishes a name again as an earlier document of it says. The text is a host name, or
// the path of the name's document.
func rollbackName(ctx context.Context, p terminal.Program, request *lifecycle, text string) error {
	path, err := request.namePath(text)
	if err != nil {
		return err
	}
	if err := request.wait.refuse(intent.Rollback, path); err != nil {
		return err
	}
	api, err := request.server.Dial()
	if err != nil {
		return err
	}
	address := string(path.Parent()) + "/names/" + url.PathEscape(path.Name())
	unchanged, err := unchangedSince(ctx, api, address) // before the history: a change after this is refused
	if err != nil {
		return err
	}
	body, release, err := earlierDocument(ctx, api, path, int64(request.to))
	if err != nil {
		return connect.InProject(ctx, api, path.Segment("projects"), path.Name(), err)
	}
	query := connect.Query{"confirm": request.confirm, "dryRun": connect.If(request.dryRun)}
	if release > 0 {
		query["restores"] = strconv.FormatInt(release, 10)
	}
	response, err := api.Do(ctx, http.MethodPut, query.Of(address), bytes.NewReader(body), unchanged)
	if err != nil {
		return lookAgain(path, err)
	}
	if request.dryRun {
		return PrintPlan(p, &request.output, response.Body, false)
	}
	answer := response.Body
	if request.wait != "" {
		if answer, err = AwaitName(ctx, p, api, address, string(request.wait), request.timeout); err != nil {
			return err
		}
	}
	return request.output.Print(p.Out, answer, func(w io.Writer, _ bool) error { return PrintName(w, response.Body, answer) })
}

// unchangedSince is the precondition that a name is as it is now, which may be that there is none.
func unchangedSince(ctx context.Context, api *client.Client, address string) (http.Header, error) {
	now, err := api.Do(ctx, http.MethodGet, address, nil, nil)
	switch {
	case connect.IsMissing(err):
		return http.Header{"If-None-Match": {"*"}}, nil
	case err != nil:
		return nil, err
	}
	return http.Header{"If-Match": now.Header["Etag"]}, nil
}

// lookAgain adds to a refusal what to do if the name, or the plan of it, has changed meanwhile.
func lookAgain(path intent.Path, err error) error {
	if problem, is := errors.AsType[*client.Error](err); is && problem.Status == http.StatusPreconditionFailed {
		problem.Detail += fmt.Sprintf("; look at signpost history %s --project %s, and roll back again if it is still needed", path.Name(), path.Segment("projects"))
	}
	return err
}

// namePath is the document of the name of a rollback.
func (request *lifecycle) namePath(text string) (intent.Path, error) {
	project, host := connect.Project(request.project), text
	if strings.Contains(text, "/") {
		path, err := document.CleanPath(text)
		if err != nil || !intent.IsName(path) {
			return "", terminal.Usagef("%q is not a name; give a host name, or projects/PROJECT/names/HOST", text)
		}
		project, host = path.Segment("projects"), path.Name()
	}
	canonical, err := hostname.CanonicalUnderscored(host)
	if err != nil {
		return "", terminal.Usagef("%q %w", host, err)
	}
	return intent.Join("projects", project, intent.NamesCollection, canonical), nil
}

// earlierDocument is the document of a name in a release, by the events of its project, and the number of the release. Release 0 is
// the document before the latest change. Its number may be too old to be known, and is 0 then.
func earlierDocument(ctx context.Context, api *client.Client, path intent.Path, release int64) ([]byte, int64, error) {
	search := earlier{path: path, release: release, written: map[string]writing{}}
	for next := "?limit=500"; ; {
		var page client.EventPage
		if _, err := connect.Ask(ctx, api, http.MethodGet, "projects/"+path.Segment("projects")+"/events"+next, nil, &page); err != nil {
			return nil, 0, err
		}
		for _, e := range page.Items {
			done, err := search.add(e)
			if done || err != nil {
				return search.found, search.known(), err
			}
		}
		if page.Continue == "" {
			break
		}
		next = connect.Query{"limit": "500", "continue": page.Continue}.Of("")
	}
	if search.found == nil {
		return nil, 0, search.missing()
	}
	return search.found, search.known(), nil
}

// earlier searches events, of which the newest comes first, for an earlier document of a name.
type earlier struct {
	path    intent.Path
	release int64              // that is searched for, or was found; 0: the one before the latest change
	request string             // that made the release, or the latest change; empty until it is known
	written map[string]writing // by the request that stored the document
	changes int                // of the document, among the events so far
	latest  int64              // the number of the latest release; 0 until it is known
	found   []byte
}

// known is the number of the release that was found. It is 0 if the name was deleted and made again since, as its numbers began anew.
func (s *earlier) known() int64 {
	if s.release > s.latest {
		return 0
	}
	return s.release
}

// writing is a document as a request stored it. The history leaves out large ones.
type writing map[string]any

// add looks at one event more, and tells whether all is found.
func (s *earlier) add(e client.Event) (bool, error) {
	if e.Path != string(s.path) {
		return false, nil
	}
	if e.Outcome == "stored" || e.Outcome == "deleted" {
		s.changes++
	}
	if e.Outcome == "accepted" && s.latest == 0 {
		s.latest = e.Revision
	}
	if s.release == 0 {
		return s.before(e)
	}
	if e.Outcome == "accepted" && e.Action != client.EventAction(intent.Terminate) && e.Revision == s.release && s.request == "" { // a deletion has the number of the last release
		s.request = e.RequestID
	}
	if e.Outcome == "stored" {
		s.written[e.RequestID] = e.After
	}
	document, known := s.written[s.request]
	if !known || s.request == "" {
		return false, nil
	}
	return true, s.take(document)
}

// before takes the document before the latest change, and then the number of its release.
func (s *earlier) before(e client.Event) (bool, error) {
	switch {
	case s.found == nil && (e.Outcome == "deleted" || e.Outcome == "stored" && e.Action != client.EventAction(intent.Create)):
		s.request = e.RequestID
		return false, s.take(e.Before)
	case s.found != nil && e.Outcome == "accepted" && e.RequestID != "" && e.RequestID != s.request:
		s.release = e.Revision
		return true, nil
	}
	return false, nil
}

// take keeps a document that can be published again.
func (s *earlier) take(document writing) (err error) {
	if document == nil {
		return errors.New("the history does not have this document, because it is larger than 16 KiB; publish the name again with its fields")
	}
	document["metadata"] = withName(document["metadata"], s.path.Name())
	if s.found, err = json.Marshal(document); err == nil && bytes.Contains(s.found, []byte(`***`)) {
		err = errors.New("the history shows a value of this document as ***, because it looks like a secret; publish the name again with its fields")
	}
	return err
}

// withName is the metadata of a document, which has a name in any case.
func withName(metadata any, name string) map[string]any {
	fields, is := metadata.(map[string]any)
	if !is {
		fields = map[string]any{}
	}
	fields["name"] = name
	return fields
}

// missing says that no event has the document.
func (s *earlier) missing() error {
	project, host := s.path.Segment("projects"), s.path.Name()
	switch {
	case s.changes > 0 && s.release != 0:
		return fmt.Errorf("the history of project %q has no release %d of %s; signpost history %s lists the releases", project, s.release, host, host)
	case s.changes > 0:
		return fmt.Errorf("%s has no earlier document; signpost unpublish takes it out of DNS", host)
	}
	return &client.Error{Status: http.StatusNotFound, Title: http.StatusText(http.StatusNotFound), Detail: fmt.Sprintf("project %q has never published %s", project, host)}
}
