package client

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Error is a problem that the server answered (RFC 9457).
type Error struct {
	Title     string       `json:"title"`
	Status    int          `json:"status"` // the HTTP status
	Detail    string       `json:"detail"`
	Errors    []FieldError `json:"errors"` // everything wrong with the body
	RequestID string       `json:"requestID"`
}

// Error is the detail and everything that is wrong, a line each.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%d): %s", e.Title, e.Status, e.Detail)
	for _, field := range e.Errors {
		fmt.Fprintf(&b, "\n  %s: %s", field.Pointer, field.Detail)
	}
	return b.String()
}

// problem reads the problem that the answer to a request carries and closes
// its body; nil when the answer is none.
func problem(request *http.Request, response *http.Response) error {
	if redirects(response) {
		_ = response.Body.Close()
		return &Error{Title: http.StatusText(response.StatusCode), Status: response.StatusCode,
			Detail: fmt.Sprintf("the server redirects to %.200q, which is not followed; if that is the right address, give it as the server's", response.Header.Get("Location"))}
	}
	if response.StatusCode < http.StatusBadRequest {
		if mediaOf(response) != "text/html" {
			return nil
		}
		_ = response.Body.Close()
		return &Error{Title: http.StatusText(response.StatusCode), Status: response.StatusCode, Detail: foreign(request, response)}
	}
	isProblem := strings.HasPrefix(response.Header.Get("Content-Type"), "application/problem+json")
	if !isProblem && strings.HasSuffix(request.URL.Path, "/readyz") && strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		return nil // an answer in its own right
	}
	defer func() { _ = response.Body.Close() }()
	e := &Error{Title: http.StatusText(response.StatusCode), Status: response.StatusCode}
	const longest = 1 << 20
	body, err := io.ReadAll(io.LimitReader(response.Body, longest))
	if err != nil {
		return err
	}
	switch {
	case isProblem && json.Unmarshal(body, e) == nil:
	case request.URL.Scheme == "http" && strings.Contains(string(body), "HTTPS server"): // as net/http says it
		e.Detail = "the server speaks TLS; use https://"
	default:
		e.Detail = foreign(request, response)
	}
	return e
}

// foreign says that an answer is not of a Signpost server.
func foreign(request *http.Request, response *http.Response) string {
	kind := mediaOf(response)
	if kind == "" {
		kind = "no content type"
	}
	return fmt.Sprintf("the answer of %s is not Signpost's: status %d, %s. Another program listens there, or a proxy on the way answers; check the server's URL",
		request.URL.Host, response.StatusCode, kind)
}

// mediaOf is the media type of an answer, without parameters; empty for none.
func mediaOf(response *http.Response) string {
	kind, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// redirects tells whether an answer redirects the client.
func redirects(response *http.Response) bool {
	switch response.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}
