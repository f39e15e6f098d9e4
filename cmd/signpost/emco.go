package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/signpost-dns/signpost/pkg/intent"
)

// emcoService is one of EMCO's REST services.
type emcoService struct {
	flag string // that says where it is, and how it is called
	url  string // without /v2; empty where there is none
	http http.Client
}

// parse checks the URL that the flag gave.
func (s *emcoService) parse() error {
	parsed, err := url.Parse(s.url)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return usagef("--%s: %q is no server; give the service's URL as in http://orchestrator.emco:9015", s.flag, s.url)
	}
	s.url = strings.TrimSuffix(strings.TrimRight(s.url, "/"), "/v2")
	return nil
}

// do sends a request about what is at a path below /v2 and answers the body of
// the answer. A refusal is an *emcoError.
func (s *emcoService) do(ctx context.Context, method string, path intent.Path, kind string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.url+"/v2/"+string(path), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json") // CLM answers 406 without
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	response, err := s.http.Do(request)
	if err != nil {
		return nil, s.unreachable(err)
	}
	defer func() { _ = response.Body.Close() }()
	const longest = 16 << 20
	text, err := io.ReadAll(io.LimitReader(response.Body, longest))
	if err != nil {
		return nil, s.unreachable(err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return nil, &emcoError{service: s.flag, status: response.StatusCode, text: strings.TrimSpace(visible(string(text)))}
	}
	return text, nil
}

// apply creates the document, or replaces the one that is there. What EMCO
// cannot replace stays, and is an error.
func (s *emcoService) apply(ctx context.Context, d document) (string, error) {
	kind, body, err := d.form()
	if err != nil {
		return "", err
	}
	if d.Action != "" {
		_, err := s.do(ctx, http.MethodPost, d.Path, kind, body)
		return "requested", err
	}
	_, err = s.do(ctx, http.MethodPost, intent.Path(d.Path.Collection()), kind, body)
	if !hasStatus(err, http.StatusConflict) {
		return "created", err
	}
	_, replacing := s.do(ctx, http.MethodPut, d.Path, kind, body)
	if hasStatus(replacing, http.StatusNotFound) || hasStatus(replacing, http.StatusMethodNotAllowed) {
		return "", err // a parent is missing, or there is nothing but POST
	}
	return "configured", replacing
}

// remove deletes the document. Of what was instantiated it asks to be
// terminated.
func (s *emcoService) remove(ctx context.Context, d document) (string, error) {
	if d.Action != "" {
		_, err := s.do(ctx, http.MethodPost, d.owner()+"/terminate", "", nil)
		return "requested", err
	}
	_, err := s.do(ctx, http.MethodDelete, d.Path, "", nil)
	if hasStatus(err, http.StatusNotFound) {
		return "absent", nil
	}
	return "deleted", err
}

// read answers the document at a path.
func (s *emcoService) read(ctx context.Context, path intent.Path) ([]byte, error) {
	body, err := s.do(ctx, http.MethodGet, path, "", nil)
	if err == nil && !json.Valid(body) {
		err = fmt.Errorf("the answer is no JSON; is --%s EMCO's %[1]s?", s.flag)
	}
	return body, err
}

// form is the document as EMCO takes it: JSON, or with files a form whose field
// metadata is the JSON.
func (d document) form() (kind string, body []byte, err error) {
	if len(d.Uploads) == 0 {
		return "application/json", d.Body, nil
	}
	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	for _, upload := range d.Uploads {
		content, err := os.ReadFile(upload)
		if err != nil {
			return "", nil, fmt.Errorf("/file: %w", err)
		}
		part, err := writer.CreateFormFile(d.Field, filepath.Base(upload))
		if err != nil {
			return "", nil, err
		}
		if _, err := part.Write(content); err != nil {
			return "", nil, err
		}
	}
	err = errors.Join(writer.WriteField("metadata", string(d.Body)), writer.Close())
	return writer.FormDataContentType(), form.Bytes(), err
}

// emcoError is a refusal of one of EMCO's services, in its words.
type emcoError struct {
	service string
	status  int
	text    string
}

// Error implements error.
func (e *emcoError) Error() string {
	return fmt.Sprintf("EMCO's %s answers %d %s: %s", e.service, e.status, http.StatusText(e.status), e.text)
}

func hasStatus(err error, status int) bool {
	var refused *emcoError
	return errors.As(err, &refused) && refused.status == status
}

// emcoUnreachable says that one of EMCO's services does not answer.
type emcoUnreachable struct {
	service *emcoService
	error
}

// Unwrap implements the errors package's contract.
func (e *emcoUnreachable) Unwrap() error { return e.error }

// Error implements error.
func (e *emcoUnreachable) Error() string {
	cause := e.error
	var transport *url.Error
	switch {
	case errors.Is(cause, context.Canceled):
		return "interrupted"
	case errors.As(cause, &transport) && transport.Timeout():
		return fmt.Sprintf("EMCO's %s at %s does not answer in time; --timeout sets how long to wait", e.service.flag, e.service.url)
	case errors.As(cause, &transport):
		cause = transport.Err
	}
	return fmt.Sprintf("EMCO's %s at %s cannot be reached: %v\n  Is it running? --%[1]s says where it is.", e.service.flag, e.service.url, cause)
}

func (s *emcoService) unreachable(err error) error { return &emcoUnreachable{s, err} }

// emco is where EMCO's services are.
type emco struct{ orchestrator, dcm, clm emcoService }

func (e *emco) flags(flags *pflag.FlagSet) {
	for _, s := range []struct {
		service    *emcoService
		flag, what string
	}{
		{&e.orchestrator, "orchestrator", "projects, composite apps, groups"},
		{&e.dcm, "dcm", "logical clouds"},
		{&e.clm, "clm", "clusters"},
	} {
		s.service.flag = s.flag
		flags.StringVar(&s.service.url, s.flag, "", "the `URL` of EMCO's "+s.flag+", which keeps the "+s.what+" of files in emcoctl's form (default: Signpost keeps them)")
	}
}

// connect checks the URLs that are given and limits each request to them.
func (e *emco) connect(timeout time.Duration) error {
	for _, s := range []*emcoService{&e.orchestrator, &e.dcm, &e.clm} {
		s.http.Timeout = timeout
		if s.url == "" {
			continue
		}
		if err := s.parse(); err != nil {
			return err
		}
	}
	return nil
}

// keeper is the service that keeps what is at a path if it is not Signpost's
// alone.
func (e *emco) keeper(path intent.Path) *emcoService {
	first, rest, _ := strings.Cut(string(path), "/")
	switch {
	case first == "cluster-providers" || first == "clm-controllers":
		return &e.clm
	case first == "projects" && strings.HasPrefix(rest[strings.IndexByte(rest, '/')+1:], "logical-clouds"):
		return &e.dcm
	}
	return &e.orchestrator
}

// send is the document with the service that keeps it. One in Signpost's form goes
// to Signpost; of emcoctl's, EMCO's services that are known get what is theirs.
// It fails when the document is EMCO's alone and its service is not known.
func (e *emco) send(d document) (document, error) {
	if !d.Emcoctl {
		return d, nil
	}
	service, collection := e.keeper(d.Path), kind(d.owner())
	if !isSignposts(collection) && service.url != "" {
		d.Service = service
		return d, nil
	}
	what := collection
	if d.Action != "" {
		what = d.Action
	}
	_, ours := rank(intent.Path(collection))
	switch {
	case !ours, d.Action == "migrate", d.Action == "stop":
		return d, fmt.Errorf("%s (%s): %s is EMCO's; --%s says where that is%s", d, d.Path, what, service.flag, instead(what))
	case len(d.Uploads) > 0:
		return d.withKubeconfig()
	}
	return d, nil
}

// instead is what Signpost by itself has in place of something of EMCO's.
func instead(what string) string {
	switch what {
	case "labels":
		return ". Signpost's own clusters have spec.labels"
	case "apps":
		return ". Signpost's own groups have spec.apps, with manifests"
	case "generic-placement-intents", "app-intents":
		return ". Signpost's own groups have spec.apps, with clusters"
	case "controllers":
		return "; see also signpost register"
	}
	return ""
}
