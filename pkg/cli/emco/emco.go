// Package emco talks to the services of an EMCO installation.
package emco

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

	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Service is one of EMCO's REST services.
type Service struct {
	Flag string // that says where it is, and how it is called
	URL  string // without /v2; empty where there is none
	HTTP http.Client
}

// Parse checks the URL that the flag gave. No redirect from there is followed: it
// would choose who gets kubeconfigs.
func (s *Service) Parse() error {
	parsed, err := url.Parse(s.URL)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return terminal.Usagef("--%s: the URL names no server; give one as in http://orchestrator.emco:9015", s.Flag)
	}
	s.URL = strings.TrimSuffix(strings.TrimRight(s.URL, "/"), "/v2")
	s.HTTP.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return nil
}

// Do sends a request about what is at a path below /v2 and answers the body of
// the answer. A refusal is an *Error.
func (s *Service) Do(ctx context.Context, method string, path intent.Path, kind string, body []byte) ([]byte, error) {
	const media = "application/json" // CLM answers 406 to a request that accepts nothing
	return s.Exchange(ctx, method, path, media, kind, body)
}

// Exchange sends a request and answers the body. Accept and kind are media types; kind may be empty.
func (s *Service) Exchange(ctx context.Context, method string, path intent.Path, accept, kind string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.URL+"/v2/"+string(path), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	response, err := s.HTTP.Do(request)
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
		return nil, &Error{service: s.Flag, Status: response.StatusCode, Text: strings.TrimSpace(terminal.Visible(string(text)))}
	}
	return text, nil
}

// Read answers the document at a path.
func (s *Service) Read(ctx context.Context, path intent.Path) ([]byte, error) {
	body, err := s.Do(ctx, http.MethodGet, path, "", nil)
	if err == nil && !json.Valid(body) {
		err = fmt.Errorf("the answer is not JSON; check that --%s is EMCO's %[1]s", s.Flag)
	}
	return body, err
}

// Error is a refusal of one of EMCO's services, in its words.
type Error struct {
	service string
	Status  int
	Text    string
}

// Error implements error.
func (e *Error) Error() string {
	text := fmt.Sprintf("EMCO's %s answers %d %s: %s", e.service, e.Status, http.StatusText(e.Status), e.Text)
	if e.Pathless() {
		text += fmt.Sprintf("; is --%s EMCO's %[1]s?", e.service)
	}
	return text
}

// Pathless tells whether the service does not know the path at all.
func (e *Error) Pathless() bool {
	return e.Status == http.StatusNotFound && e.Text == "404 page not found"
}

// HasStatus says whether an error is an answer of EMCO's with this status.
func HasStatus(err error, status int) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Status == status
}

// Unreachable says that one of EMCO's services does not answer.
type Unreachable struct {
	service *Service
	error
}

// Unwrap implements the errors package's contract.
func (e *Unreachable) Unwrap() error { return e.error }

// Error implements error.
func (e *Unreachable) Error() string {
	cause := e.error
	var transport *url.Error
	switch {
	case errors.Is(cause, context.Canceled):
		return "interrupted"
	case errors.As(cause, &transport) && transport.Timeout():
		return fmt.Sprintf("EMCO's %s at %s does not answer in time; set a longer time with --timeout", e.service.Flag, e.service.URL)
	case errors.As(cause, &transport):
		cause = transport.Err
	}
	return fmt.Sprintf("EMCO's %s at %s cannot be reached: %v\n  Check that it is running, and its URL in --%[1]s.", e.service.Flag, e.service.URL, cause)
}

func (s *Service) unreachable(err error) error { return &Unreachable{s, err} }

// Services is where EMCO's services are.
type Services struct{ Orchestrator, dcm, clm Service }

// Flags adds the flags that say where EMCO's services are.
func (e *Services) Flags(flags *pflag.FlagSet) {
	for _, s := range []struct {
		service    *Service
		flag, what string
	}{
		{&e.Orchestrator, "orchestrator", "projects, composite apps, groups"},
		{&e.dcm, "dcm", "logical clouds"},
		{&e.clm, "clm", "clusters"},
	} {
		s.service.Flag = s.flag
		flags.StringVar(&s.service.URL, s.flag, "", "the `URL` of EMCO's "+s.flag+"; "+s.what+" in emcoctl's form are sent there (default: to Signpost)")
	}
}

// Connect checks the URLs that are given and limits each request to them.
func (e *Services) Connect(timeout time.Duration) error {
	for _, s := range []*Service{&e.Orchestrator, &e.dcm, &e.clm} {
		s.HTTP.Timeout = timeout
		if s.URL == "" {
			continue
		}
		if err := s.Parse(); err != nil {
			return err
		}
	}
	return nil
}

// Keeper is the service that keeps what is at a path if it is not Signpost's
// alone.
func (e *Services) Keeper(path intent.Path) *Service {
	first, rest, _ := strings.Cut(string(path), "/")
	switch {
	case first == "cluster-providers" || first == "clm-controllers":
		return &e.clm
	case first == "projects" && strings.HasPrefix(rest[strings.IndexByte(rest, '/')+1:], "logical-clouds"):
		return &e.dcm
	}
	return &e.Orchestrator
}

// Instead is what Signpost by itself has in place of something of EMCO's.
func Instead(what string) string {
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
