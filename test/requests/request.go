package requests

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/api/apitest"
)

// Kind says how a request was made.
type Kind string

// The kinds.
const (
	Valid       Kind = "valid"        // everything is as described; documents may still refuse it
	NearlyValid Kind = "nearly valid" // one value in the body is wrong: Wrong says where
	Hostile     Kind = "hostile"      // whatever somebody might try
)

// Request is a request before it is sent.
type Request struct {
	Kind   Kind
	Method string
	Target string      // path and query as they go over the wire
	Header http.Header // without what every client adds
	Body   []byte      // nil: none
	Wrong  string      // NearlyValid: the JSON pointer that the answer must name
}

// Send sends the request to the server at base ("http://127.0.0.1:9018").
func (r Request) Send(ctx context.Context, client *http.Client, base string) (apitest.Response, error) {
	const patience = 30 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var body io.Reader = http.NoBody
	if r.Body != nil {
		body = strings.NewReader(string(r.Body))
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, base, body)
	if err != nil {
		return apitest.Response{}, err
	}
	request.URL.Opaque = strings.TrimPrefix(base, "http:") + r.Target // as it is, with each odd character
	request.Header = r.Header.Clone()
	response, err := client.Do(request)
	if err != nil {
		return apitest.Response{}, err
	}
	defer response.Body.Close()
	var from io.Reader = response.Body
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		from = io.LimitReader(from, 1) // it goes on for an hour
	}
	raw, err := io.ReadAll(from)
	return apitest.Response{Status: response.StatusCode, Header: response.Header, Body: raw}, err
}

// Path is the request's path, escaped, as a server understands it. It fails
// when the target is none.
func (r Request) Path() (string, error) {
	parsed, err := url.ParseRequestURI("http://host" + r.Target)
	if err != nil {
		return "", err
	}
	return parsed.EscapedPath(), nil
}

// Curl is the request as a command line for bash, for who wants to see it again.
func (r Request) Curl(base string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "curl -i --path-as-is -X %s", quote(r.Method))
	if r.Method == http.MethodHead {
		b.WriteString(" --head")
	}
	for name, values := range r.Header {
		for _, value := range values {
			fmt.Fprintf(&b, " -H %s", quote(name+": "+value))
		}
	}
	if r.Body != nil {
		fmt.Fprintf(&b, " --data-binary @<(printf %%b %s)", quote(escape(string(r.Body))))
	}
	fmt.Fprintf(&b, " %s", quote(base+r.Target))
	return b.String()
}

// quote is text as one word of bash.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// escape is text for printf %b: what is not plain ASCII in octal.
func escape(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' || c == '\\' {
			fmt.Fprintf(&b, `\0%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
