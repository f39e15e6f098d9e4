// Package probes answers what is asked of any process: whether it is well, which build
// it is, and its metrics.
package probes

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/openapi"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Build says which program this is.
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
}

// Loading is a part of the process that has not read all it needs since it began.
type Loading struct {
	Name  string `json:"name"`
	Done  int    `json:"done"`
	Total int    `json:"total,omitempty"` // 0: not known yet
}

// Readiness is what /readyz tells of.
type Readiness struct {
	Checks  map[string]func(context.Context) error // the dependencies, by name; each ends with its context
	Loading func() []Loading                       // the parts that are being loaded; nil: none ever is
}

// Handlers answer the probes.
type Handlers struct {
	Readiness
	Build   Build
	Metrics *prometheus.Registry
	Log     *slog.Logger

	ready lately
}

// Health answers as long as the process can.
func (h *Handlers) Health(context.Context, *operation.Call) (response.Answer, error) {
	return response.Answer{Status: http.StatusOK, Body: map[string]string{"status": "ok"}}, nil
}

// check is one dependency's state.
type check struct {
	Name    string `json:"name"`
	OK      bool   `json:"ok"`
	Message string `json:"message"`
}

// readiness is the answer to /readyz.
type readiness struct {
	Status  string    `json:"status"`
	Checks  []check   `json:"checks"`
	Loading []Loading `json:"loading,omitempty"`
}

// lately is what dependencies have answered last.
type lately struct {
	mu     sync.Mutex // held while they are asked
	asked  time.Time
	checks []check
}

// Ready tells whether every dependency answers, and which parts are being loaded. A part that
// is being loaded makes nobody unready: requests that need it are 503 on their own. Everybody may ask, as often as they
// like. So dependencies are asked once in a second, and only the log tells why one
// fails.
func (h *Handlers) Ready(ctx context.Context, _ *operation.Call) (response.Answer, error) {
	const fresh = time.Second
	h.ready.mu.Lock()
	defer h.ready.mu.Unlock()
	if h.ready.checks == nil || time.Since(h.ready.asked) >= fresh {
		h.ready.checks = askAll(context.WithoutCancel(ctx), h.Checks, h.Log) // a client that hangs up makes nobody unready
		h.ready.asked = time.Now()
	}
	status, word, header := http.StatusOK, "ready", http.Header{}
	if slices.ContainsFunc(h.ready.checks, func(c check) bool { return !c.OK }) {
		status, word = http.StatusServiceUnavailable, "unready"
		header.Set("Retry-After", "1")
	}
	body := readiness{Status: word, Checks: h.ready.checks}
	if h.Loading != nil {
		body.Loading = h.Loading()
	}
	return response.Answer{Status: status, Header: header, Body: body}, nil
}

// askAll asks every dependency, all at once.
func askAll(ctx context.Context, dependencies map[string]func(context.Context) error, log *slog.Logger) []check {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	names := slices.Sorted(maps.Keys(dependencies))
	checks := make([]check, len(names))
	var asked sync.WaitGroup
	for i, name := range names {
		asked.Go(func() {
			checks[i] = check{Name: name, OK: true}
			if err := dependencies[name](ctx); err != nil {
				checks[i] = check{Name: name, Message: "does not answer"}
				log.WarnContext(ctx, "not ready", slog.String("check", name), slog.Any("error", err))
			}
		})
	}
	asked.Wait()
	return checks
}

// Version tells which build this is.
func (h *Handlers) Version(context.Context, *operation.Call) (response.Answer, error) {
	return response.Answer{Status: http.StatusOK, Body: h.Build}, nil
}

// Description answers openapi.yaml.
func Description(context.Context, *operation.Call) (response.Answer, error) {
	return response.Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/yaml"}}, Text: openapi.YAML()}, nil
}

// Caller answers who asks, and what they may do.
func Caller(_ context.Context, c *operation.Call) (response.Answer, error) {
	return response.Answer{Status: http.StatusOK, Body: caller{c.Actor.Subject, c.Actor.Roles}}, nil
}

// caller is the body of that answer.
type caller struct {
	Subject string            `json:"subject"`
	Roles   []intent.HeldRole `json:"roles"`
}

// Measurements answers the metrics in Prometheus' text format.
func (h *Handlers) Measurements(context.Context, *operation.Call) (response.Answer, error) {
	families, err := h.Metrics.Gather()
	if err != nil {
		return response.Answer{}, err
	}
	format := expfmt.NewFormat(expfmt.TypeTextPlain)
	var text bytes.Buffer
	encoder := expfmt.NewEncoder(&text, format)
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			return response.Answer{}, err
		}
	}
	return response.Answer{Status: http.StatusOK, Header: http.Header{"Content-Type": {string(format)}}, Text: text.Bytes()}, nil
}
