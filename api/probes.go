package api

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/common/expfmt"

	"github.com/signpost-dns/signpost/openapi"
)

// health answers as long as the process can.
func (e *edge) health(context.Context, *call) (answer, error) {
	return answer{status: http.StatusOK, body: map[string]string{"status": "ok"}}, nil
}

// check is one dependency's state.
type check struct {
	Name    string `json:"name"`
	OK      bool   `json:"ok"`
	Message string `json:"message"`
}

// readiness asks every dependency, all at once. Everybody may ask, so why one
// fails is told to the log alone.
func (e *edge) readiness(ctx context.Context, _ *call) (answer, error) {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	names := slices.Sorted(maps.Keys(e.Checks))
	checks := make([]check, len(names))
	var asked sync.WaitGroup
	for i, name := range names {
		asked.Go(func() {
			checks[i] = check{Name: name, OK: true}
			if err := e.Checks[name](ctx); err != nil {
				checks[i] = check{Name: name, Message: "does not answer"}
				e.Log.WarnContext(ctx, "not ready", slog.String("check", name), slog.Any("error", err))
			}
		})
	}
	asked.Wait()
	status, word, header := http.StatusOK, "ready", http.Header{}
	if slices.ContainsFunc(checks, func(c check) bool { return !c.OK }) {
		status, word = http.StatusServiceUnavailable, "unready"
		header.Set("Retry-After", "1")
	}
	return answer{status: status, header: header, body: map[string]any{"status": word, "checks": checks}}, nil
}

// version tells which build this is.
func (e *edge) version(context.Context, *call) (answer, error) {
	return answer{status: http.StatusOK, body: e.Build}, nil
}

// description answers openapi.yaml.
func (e *edge) description(context.Context, *call) (answer, error) {
	return answer{status: http.StatusOK, header: http.Header{"Content-Type": {"application/yaml"}}, text: openapi.YAML()}, nil
}

// measurements answers the metrics in Prometheus' text format.
func (e *edge) measurements(context.Context, *call) (answer, error) {
	families, err := e.Metrics.Gather()
	if err != nil {
		return answer{}, err
	}
	format := expfmt.NewFormat(expfmt.TypeTextPlain)
	var text bytes.Buffer
	encoder := expfmt.NewEncoder(&text, format)
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			return answer{}, err
		}
	}
	return answer{status: http.StatusOK, header: http.Header{"Content-Type": {string(format)}}, text: text.Bytes()}, nil
}
