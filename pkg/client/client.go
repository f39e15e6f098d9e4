package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// Options say how a [Client] talks to its server. The zero value is usable.
type Options struct {
	// Token is sent as a bearer token; empty: none.
	Token string

	// HTTPClient makes the requests; nil: one of http.DefaultTransport. An
	// *http.Client that does not say how it treats redirects follows none.
	HTTPClient HttpRequestDoer

	// Retries is how often a request is sent again after 429, or after 503 if doing it
	// twice is harmless. Harmless are GET, and PUT and DELETE without If-Match and
	// If-None-Match. It waits as long as Retry-After says, or longer with each try, but
	// no longer than its context. 0: never.
	Retries int
}

// Client calls a Signpost server. Its generated methods answer 2xx responses;
// every other response that carries a problem is an [*Error]. It is safe for
// concurrent use.
type Client struct {
	*ClientWithResponses
	base *url.URL
	doer *sender
}

// New makes a client of the server at base ("http://127.0.0.1:9018"). It fails
// when base is no absolute http or https URL. It makes no request.
func New(base string, options Options) (*Client, error) {
	parsed, err := url.Parse(base)
	if err != nil || parsed.Host == "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		return nil, errors.New("it names no server; give a URL as in http://127.0.0.1:9018")
	}
	parsed.Path = strings.TrimSuffix(strings.TrimSuffix(parsed.Path, "/"), "/v2")
	s := &sender{http: withoutRedirects(options.HTTPClient), token: options.Token, retries: options.Retries}
	generated, err := NewClientWithResponses(parsed.String(), WithHTTPClient(s))
	if err != nil {
		return nil, err
	}
	return &Client{ClientWithResponses: generated, base: parsed, doer: s}, nil
}

// withoutRedirects is a client that sends the token where it was told to, and
// nowhere else: net/http would take it from https to http.
func withoutRedirects(given HttpRequestDoer) HttpRequestDoer {
	var own http.Client
	switch known := given.(type) {
	case nil:
	case *http.Client:
		if known.CheckRedirect != nil {
			return known
		}
		own = *known
	default:
		return given
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// Response is the answer to [Client.Do].
type Response struct {
	StatusCode int
	Header     http.Header
	Body       []byte
}

// Do sends a request. The path, with its query, is relative to /v2 or begins with a slash
// ("projects/shop", "/readyz"). body is JSON, nil for none. Header fields of headers, nil
// for none, are added. A problem is an [*Error].
func (c *Client) Do(ctx context.Context, method, path string, body io.Reader, headers http.Header) (*Response, error) {
	if !strings.HasPrefix(path, "/") {
		path = "/v2/" + path
	}
	target, err := url.Parse(strings.TrimSuffix(c.base.String(), "/") + path)
	if err != nil {
		return nil, fmt.Errorf("%q is not a path: %w", path, err)
	}
	request, err := http.NewRequestWithContext(ctx, method, target.String(), body)
	if err != nil {
		return nil, err
	}
	maps.Copy(request.Header, headers)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := c.doer.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	return &Response{StatusCode: answer.StatusCode, Header: answer.Header, Body: read}, nil
}
