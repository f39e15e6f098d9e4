package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/openapi"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// canned is one answer of the fake server.
type canned struct {
	status int
	body   string
}

// fake is a server that keeps documents as Signpost does, as far as a client
// can tell, and answers everything else from a list.
type fake struct {
	t         *testing.T
	url       string
	mu        sync.Mutex
	documents map[string]string // by path below /v2
	revisions map[string]int
	answers   map[string][]canned // by "METHOD path"; the last one stays
	requests  []string
	reads     int // GET requests
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{t: t, documents: map[string]string{}, revisions: map[string]int{}, answers: map[string][]canned{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// on adds an answer for a request ("GET projects?limit=1"). A body that is
// said to be of a schema must be.
func (f *fake) on(request string, status int, schema, body string) {
	f.t.Helper()
	if schema != "" {
		requireSchema(f.t, schema, body)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[request] = append(f.answers[request], canned{status, body})
}

// seen lists the requests that were made, GET of documents excepted.
func (f *fake) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests
}

// ServeHTTP implements http.Handler.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path := strings.TrimPrefix(r.URL.RequestURI(), "/v2/")
	request := r.Method + " " + path
	if r.Method != http.MethodGet {
		f.requests = append(f.requests, request)
	} else {
		f.reads++
	}
	whole, summary := strings.CutSuffix(request, "/status?view=summary")
	if summary {
		request = whole + "/status"
	}
	if answers := f.answers[request]; len(answers) > 0 {
		if len(answers) > 1 {
			f.answers[request] = answers[1:]
		}
		if summary {
			answers[0].body = counted(f.t, answers[0].body)
		}
		respond(w, answers[0])
		return
	}
	switch r.Method {
	case http.MethodPut:
		f.put(w, path, r.Body)
	case http.MethodGet, http.MethodDelete:
		f.onStored(w, r.Method, path)
	default:
		respond(w, notFound(path))
	}
}

// counted is a status with its counts.
func counted(t *testing.T, body string) string {
	var status intent.Status
	if json.Unmarshal([]byte(body), &status) != nil || status.State == "" {
		return body // a problem
	}
	status.Counts = status.Counted()
	text, err := json.Marshal(status)
	require.NoError(t, err)
	return string(text)
}

func respond(w http.ResponseWriter, answer canned) {
	w.Header().Set("Content-Type", "application/json")
	if answer.status >= http.StatusBadRequest {
		w.Header().Set("Retry-After", "0")
		if strings.Contains(answer.body, `"type":"about:blank"`) {
			w.Header().Set("Content-Type", "application/problem+json")
		}
	}
	w.WriteHeader(answer.status)
	_, _ = io.WriteString(w, answer.body)
}

func notFound(path string) canned {
	return canned{http.StatusNotFound, fmt.Sprintf(`{"type":"about:blank","title":"Not Found","status":404,"detail":"%s does not exist"}`, path)}
}

func (f *fake) put(w http.ResponseWriter, path string, body io.Reader) {
	content, _ := io.ReadAll(body)
	status := http.StatusOK
	if f.revisions[path] == 0 {
		status = http.StatusCreated
	}
	if f.documents[path] != string(content) {
		f.documents[path] = string(content)
		f.revisions[path]++
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%d"`, f.revisions[path]))
	respond(w, canned{status, string(content)})
}

func (f *fake) onStored(w http.ResponseWriter, method, path string) {
	content, exists := f.documents[path]
	switch {
	case !exists:
		respond(w, notFound(path))
	case method == http.MethodDelete:
		delete(f.documents, path)
		delete(f.revisions, path)
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, f.revisions[path]))
		respond(w, canned{http.StatusOK, content})
	}
}

// description is the API's description, which is read once for all tests.
func description(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := loadOnce()
	require.NoError(t, err)
	return doc
}

var loadOnce = sync.OnceValues(openapi.Load)

// requireSchema checks a body against a schema of the API.
func requireSchema(t *testing.T, name, body string) {
	t.Helper()
	doc := description(t)
	schema := doc.Components.Schemas[name]
	require.NotNil(t, schema, name)
	var value any
	require.NoError(t, json.Unmarshal([]byte(body), &value))
	require.NoError(t, schema.Value.VisitJSON(value, openapi3.VisitAsResponse()), name)
}

// example is one of the API's own examples, as JSON.
func example(t *testing.T, name string) string {
	t.Helper()
	doc := description(t)
	found := doc.Components.Examples[name]
	require.NotNil(t, found, name)
	body, err := json.Marshal(found.Value.Value)
	require.NoError(t, err)
	return string(body)
}
