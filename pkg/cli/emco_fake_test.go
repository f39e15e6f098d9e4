package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/signpost-dns/signpost/pkg/cli/document"
)

// fakeEMCO is EMCO's orchestrator, DCM and CLM in one, as far as files are
// concerned: documents are kept as they come, errors are lines of text, what
// exists is a conflict, and some things can only be created.
type fakeEMCO struct {
	url       string
	mu        sync.Mutex
	documents map[string]string // by path below /v2
	files     map[string]string // that came along, by path
	requests  []string          // but GET
	status    int               // of every answer; 0 for the usual
	orphans   string            // what POST answers 409 with, as if the parent were missing; empty for the usual
	refused   string            // POST of what has this in it is
	lives     []string          // what GET …/status answers; the last one stays
}

func newFakeEMCO(t *testing.T) *fakeEMCO {
	t.Helper()
	f := &fakeEMCO{documents: map[string]string{}, files: map[string]string{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// ServeHTTP implements http.Handler.
func (f *fakeEMCO) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := strings.TrimPrefix(r.URL.Path, "/v2/")
	if r.Method != http.MethodGet {
		f.requests = append(f.requests, r.Method+" "+at)
	}
	stored, exists := f.documents[at]
	switch {
	case f.status != 0:
		http.Error(w, "Cannot perform requested operation", f.status)
	case path.Base(at) == "status" && len(f.lives) > 0:
		_, _ = io.WriteString(w, f.lives[0])
		f.lives = f.lives[min(1, len(f.lives)-1):]
	case r.Method == http.MethodPost && slices.Contains(document.EmcoActions(), path.Base(at)):
		f.act(w, path.Base(at))
	case r.Method == http.MethodPost && f.orphans != "":
		http.Error(w, f.orphans, http.StatusConflict)
	case r.Method == http.MethodPost:
		f.create(w, r, at)
	case r.Method == http.MethodPut && !strings.HasPrefix(at, "controllers/"):
		http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
	case r.Method == http.MethodPut:
		body, _ := io.ReadAll(r.Body)
		f.documents[at] = string(body)
		w.WriteHeader(http.StatusCreated)
	case !exists:
		http.Error(w, "The requested resource not found", http.StatusNotFound)
	case r.Method == http.MethodDelete:
		delete(f.documents, at)
		w.WriteHeader(http.StatusNoContent)
	case r.Header.Get("Accept") == "application/octet-stream":
		_, _ = io.WriteString(w, f.files[at])
	default:
		_, _ = io.WriteString(w, stored)
	}
}

// act answers an action as EMCO does, by what the status says next.
func (f *fakeEMCO) act(w http.ResponseWriter, action string) {
	deployed := len(f.lives) > 0 && strings.Contains(f.lives[0], `"state":"Instantiated"`)
	switch {
	case deployed && (action == "approve" || action == "instantiate"):
		http.Error(w, "DeploymentIntentGroup has already been instantiatedprod", http.StatusInternalServerError)
	case !deployed && action == "terminate":
		http.Error(w, "DeploymentIntentGroup is not instantiated :prod", http.StatusInternalServerError)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func (f *fakeEMCO) create(w http.ResponseWriter, r *http.Request, collection string) {
	body, _ := io.ReadAll(r.Body)
	var file string
	if kind := r.Header.Get("Content-Type"); strings.HasPrefix(kind, "multipart/form-data") {
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		part, _, err := r.FormFile("file")
		if err != nil {
			http.Error(w, "Unable to process file", http.StatusUnprocessableEntity)
			return
		}
		content, _ := io.ReadAll(part)
		file, body = string(content), []byte(r.FormValue("metadata"))
	}
	var document struct {
		Metadata struct{ Name string }
		Spec     struct {
			Port                int
			CompositeAppVersion string
		}
		ClusterLabel string
	}
	_ = json.Unmarshal(body, &document)
	at := path.Join(collection, document.Metadata.Name, document.ClusterLabel, document.Spec.CompositeAppVersion)
	switch _, exists := f.documents[at]; {
	case f.refused != "" && strings.Contains(string(body), f.refused):
		http.Error(w, "Invalid Input", http.StatusBadRequest)
	case document.Spec.Port > 50000:
		http.Error(w, "Invalid Input: spec.port: Must be less than or equal to 50000", http.StatusBadRequest)
	case exists:
		http.Error(w, "Controller already exists", http.StatusConflict)
	default:
		f.documents[at], f.files[at] = string(body), file
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(body)
	}
}
