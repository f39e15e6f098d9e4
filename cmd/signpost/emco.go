package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
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

// parse checks the URL that the flag gave. No redirect from there is followed: it
// would choose who gets kubeconfigs.
func (s *emcoService) parse() error {
	parsed, err := url.Parse(s.url)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return usagef("--%s: it names no server; give the service's URL as in http://orchestrator.emco:9015", s.flag)
	}
	s.url = strings.TrimSuffix(strings.TrimRight(s.url, "/"), "/v2")
	s.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return nil
}

// do sends a request about what is at a path below /v2 and answers the body of
// the answer. A refusal is an *emcoError.
func (s *emcoService) do(ctx context.Context, method string, path intent.Path, kind string, body []byte) ([]byte, error) {
	const media = "application/json" // CLM answers 406 to a request that accepts nothing
	return s.exchange(ctx, method, path, media, kind, body)
}

func (s *emcoService) exchange(ctx context.Context, method string, path intent.Path, accept, kind string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.url+"/v2/"+string(path), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
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

// read answers the document at a path.
func (s *emcoService) read(ctx context.Context, path intent.Path) ([]byte, error) {
	body, err := s.do(ctx, http.MethodGet, path, "", nil)
	if err == nil && !json.Valid(body) {
		err = fmt.Errorf("the answer is no JSON; is --%s EMCO's %[1]s?", s.flag)
	}
	return body, err
}

// emcoError is a refusal of one of EMCO's services, in its words.
type emcoError struct {
	service string
	status  int
	text    string
}

// Error implements error.
func (e *emcoError) Error() string {
	text := fmt.Sprintf("EMCO's %s answers %d %s: %s", e.service, e.status, http.StatusText(e.status), e.text)
	if e.pathless() {
		text += fmt.Sprintf("; is --%s EMCO's %[1]s?", e.service)
	}
	return text
}

// pathless tells whether the service does not know the path, whatever is there.
func (e *emcoError) pathless() bool {
	return e.status == http.StatusNotFound && e.text == "404 page not found"
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
