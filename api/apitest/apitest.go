// Package apitest holds the API to its description: every response of a
// handler is checked against openapi/openapi.yaml.
package apitest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
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
	doc       *openapi3.T
	templates []string // of the paths, in the order in which they are tried
	report    Reporter
	checked   atomic.Int64
}

// New makes a Checker against doc, which it only reads; see openapi.Load. Findings of
// [Checker.Wrap] go to report.
func New(report Reporter, doc *openapi3.T) *Checker {
	return &Checker{doc: doc, templates: doc.Paths.InMatchingOrder(), report: report}
}

// Checked is how many responses were checked.
func (c *Checker) Checked() int64 { return c.checked.Load() }

// Response is what was answered to a request.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Wrap is the handler with each of its responses checked.
func (c *Checker) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method, path := r.Method, r.URL.EscapedPath()
		copied := &copier{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(copied, r)
		got := Response{Status: copied.status, Header: copied.Header(), Body: copied.body.Bytes()}
		if err := c.Check(method, path, got); err != nil {
			c.report.Helper()
			c.report.Errorf("%s %s answered %d: %v\n%s", method, path, got.Status, err, got.Body)
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

// Unwrap is for http.ResponseController.
func (c *copier) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// Operation is the operation that a request calls; nil when there is none.
// HEAD is GET. path is the request's, escaped.
func (c *Checker) Operation(method, path string) *openapi3.Operation {
	item := c.find(path)
	if item == nil {
		return nil
	}
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return item.Operations()[method]
}

// Check returns the first difference between a response and its documentation, nil for
// none. Its status must be documented for the operation, and its content type, header and
// body must be as documented. path is the request's, escaped.
func (c *Checker) Check(method, path string, got Response) error {
	c.checked.Add(1)
	item, operation := c.find(path), c.Operation(method, path)
	switch {
	case item == nil:
		return c.checkMissing(method, got, http.StatusNotFound)
	case operation == nil && method == http.MethodOptions:
		return checkAllow(item, got)
	case operation == nil:
		if err := c.checkMissing(method, got, http.StatusMethodNotAllowed); err != nil {
			return err
		}
		return checkAllow(item, got)
	}
	documented := operation.Responses.Status(got.Status)
	if documented == nil {
		return fmt.Errorf("the status is not documented for %s", operation.OperationID)
	}
	if err := c.checkHeader(documented.Value, got.Header); err != nil {
		return err
	}
	return c.checkBody(documented.Value.Content, method, got)
}

// checkMissing checks what is answered where there is no operation.
func (c *Checker) checkMissing(method string, got Response, want int) error {
	if got.Status != want && !isAnywhere(got.Status) {
		return fmt.Errorf("want %d: there is no such operation", want)
	}
	return c.checkBody(c.doc.Components.Responses["NotFound"].Value.Content, method, got)
}

// isAnywhere tells statuses that come before a request's path is looked at: too many
// requests, and a page of another site that asks.
func isAnywhere(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusForbidden
}

// checkAllow checks that Allow names the methods of a path.
func checkAllow(item *openapi3.PathItem, got Response) error {
	if isAnywhere(got.Status) {
		return nil
	}
	want := slices.Sorted(maps.Keys(item.Operations()))
	allowed := strings.Split(got.Header.Get("Allow"), ", ")
	for _, method := range want {
		if !slices.Contains(allowed, method) {
			return fmt.Errorf("the header field Allow is %q, without %s", got.Header.Get("Allow"), method)
		}
	}
	return nil
}

func (c *Checker) checkHeader(response *openapi3.Response, header http.Header) error {
	for name, ref := range response.Headers {
		text := header.Get(name)
		if optional, _ := ref.Value.Extensions["x-optional"].(bool); optional && text == "" {
			continue
		}
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

// checkBody checks a body, which an answer to HEAD may lack.
func (c *Checker) checkBody(content openapi3.Content, method string, got Response) error {
	if len(content) == 0 {
		if len(got.Body) > 0 {
			return fmt.Errorf("a body is not documented")
		}
		return nil
	}
	name, _, err := mime.ParseMediaType(got.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	media, ok := content[name]
	if !ok {
		return fmt.Errorf("the content type %s is not documented", name)
	}
	if !strings.HasSuffix(name, "json") || method == http.MethodHead && len(got.Body) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(got.Body))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("the body goes on after its JSON value")
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
	for _, template := range c.templates {
		if fits(strings.Split(template, "/"), segments) {
			return c.doc.Paths.Value(template)
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
