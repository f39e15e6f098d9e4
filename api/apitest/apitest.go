// Package apitest holds the API to its description: every response of a
// handler is checked against openapi/openapi.yaml.
package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/getkin/kin-openapi/openapi3"
)

// Reporter is told what is wrong; a *testing.T is one.
type Reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

// Checker checks responses. It is safe for concurrent use.
type Checker struct {
	doc     *openapi3.T
	report  Reporter
	checked atomic.Int64
}

// New makes a Checker against doc, which it only reads; see openapi.Load.
func New(report Reporter, doc *openapi3.T) *Checker {
	return &Checker{doc: doc, report: report}
}

// Checked is how many responses were checked.
func (c *Checker) Checked() int64 { return c.checked.Load() }

// Wrap is the handler with each of its responses checked: its status must be
// documented for the operation, and its content type, header and body must be
// what the document says.
func (c *Checker) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method, path := r.Method, r.URL.EscapedPath()
		copied := &copier{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(copied, r)
		c.checked.Add(1)
		if err := c.check(method, path, copied); err != nil {
			c.report.Helper()
			c.report.Errorf("%s %s answered %d: %v\n%s", method, path, copied.status, err, copied.body.Bytes())
		}
	})
}

// copier keeps a copy of what is answered.
type copier struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (c *copier) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

func (c *copier) Write(p []byte) (int, error) {
	c.body.Write(p)
	return c.ResponseWriter.Write(p)
}

func (c *Checker) check(method, path string, got *copier) error {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	item := c.find(path)
	var operation *openapi3.Operation
	if item != nil {
		operation = item.GetOperation(method)
	}
	switch {
	case item == nil:
		return c.checkMissing(got, http.StatusNotFound)
	case operation == nil && method == http.MethodOptions:
		return nil
	case operation == nil:
		return c.checkMissing(got, http.StatusMethodNotAllowed)
	}
	documented := operation.Responses.Status(got.status)
	if documented == nil {
		return fmt.Errorf("the status is not documented for %s", operation.OperationID)
	}
	if err := c.checkHeader(documented.Value, got.Header()); err != nil {
		return err
	}
	return c.checkBody(documented.Value.Content, got)
}

// checkMissing checks what is answered where there is no operation.
func (c *Checker) checkMissing(got *copier, want int) error {
	tooMany := http.StatusTooManyRequests // anywhere
	if got.status != want && got.status != tooMany {
		return fmt.Errorf("want %d: there is no such operation", want)
	}
	return c.checkBody(c.doc.Components.Responses["NotFound"].Value.Content, got)
}

func (c *Checker) checkHeader(response *openapi3.Response, header http.Header) error {
	for name, ref := range response.Headers {
		text := header.Get(name)
		if text == "" {
			return fmt.Errorf("the header field %s is missing", name)
		}
		schema := ref.Value.Schema.Value
		var value any = text
		if schema.Type.Is(openapi3.TypeInteger) {
			value = json.Number(text)
		}
		if err := schema.VisitJSON(value); err != nil {
			return fmt.Errorf("the header field %s: %w", name, err)
		}
	}
	return nil
}

func (c *Checker) checkBody(content openapi3.Content, got *copier) error {
	if len(content) == 0 {
		if got.body.Len() > 0 {
			return fmt.Errorf("a body is not documented")
		}
		return nil
	}
	name, _, err := mime.ParseMediaType(got.Header().Get("Content-Type"))
	if err != nil {
		return err
	}
	media, ok := content[name]
	if !ok {
		return fmt.Errorf("the content type %s is not documented", name)
	}
	if !strings.HasSuffix(name, "json") {
		return nil
	}
	decoder := json.NewDecoder(&got.body)
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	return media.Schema.Value.VisitJSON(value, openapi3.VisitAsResponse(), openapi3.MultiErrors(), openapi3.EnableFormatValidation())
}

// find is the document's item for a path, nil when there is none.
func (c *Checker) find(path string) *openapi3.PathItem {
	segments := strings.Split(strings.TrimSuffix(path, "/"), "/")
	const spelled = 3 // "", "v2", "project"
	if len(segments) >= spelled && segments[1] == "v2" && segments[2] == "project" {
		segments[2] = "projects"
	}
	for template, item := range c.doc.Paths.Map() {
		if fits(strings.Split(template, "/"), segments) {
			return item
		}
	}
	return nil
}

func fits(template, segments []string) bool {
	if len(template) != len(segments) {
		return false
	}
	for i, part := range template {
		if part != segments[i] && (!strings.HasPrefix(part, "{") || segments[i] == "") {
			return false
		}
	}
	return true
}
