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

// lately is what dependencies have answered last.
type lately struct {
	mu     sync.Mutex // held while they are asked
	asked  time.Time
	checks []check
}

// readiness tells how every dependency is. Everybody may ask, as often as they like,
// so dependencies are asked once in a second, and why one fails is told to the log
// alone.
func (e *edge) readiness(ctx context.Context, _ *call) (answer, error) {
	const fresh = time.Second
	e.ready.mu.Lock()
	defer e.ready.mu.Unlock()
	if e.ready.checks == nil || time.Since(e.ready.asked) >= fresh {
		e.ready.checks = askAll(context.WithoutCancel(ctx), e.Checks, e.Log) // whoever hangs up makes nobody unready
		e.ready.asked = time.Now()
	}
	status, word, header := http.StatusOK, "ready", http.Header{}
	if slices.ContainsFunc(e.ready.checks, func(c check) bool { return !c.OK }) {
		status, word = http.StatusServiceUnavailable, "unready"
		header.Set("Retry-After", "1")
	}
	return answer{status: status, header: header, body: map[string]any{"status": word, "checks": e.ready.checks}}, nil
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
