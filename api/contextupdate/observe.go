package contextupdate

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/signpost-dns/signpost/pkg/tracing"
)

// note is what is known of a call under way, for the log. Only the call's own
// goroutine writes it.
type note struct {
	id    string // of the request
	actor string
	trace string // that the call belongs to; empty for none
}

type noteKey struct{}

// noteOf is the note of a call's context; an empty one outside of a call.
func noteOf(ctx context.Context) *note {
	if n, ok := ctx.Value(noteKey{}).(*note); ok {
		return n
	}
	return &note{}
}

// observed gives each call an id, and logs and measures it.
func (e *edge) observed(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	arrived(ctx)
	began := time.Now()
	n := &note{id: rand.Text()}
	ctx = tracing.With(context.WithValue(ctx, noteKey{}, n), "requestID", n.id)
	_ = grpc.SetHeader(ctx, metadata.Pairs("x-request-id", n.id))
	e.metrics.inFlight.Inc()
	defer e.metrics.inFlight.Dec()
	answer, err := next(ctx, request)
	took, code := time.Since(began), status.Code(err)
	e.metrics.took.WithLabelValues(info.FullMethod, code.String()).Observe(took.Seconds())
	attributes := []slog.Attr{
		slog.String("method", info.FullMethod), slog.String("code", code.String()),
		slog.Duration("took", took), slog.String("actor", n.actor), slog.String("peer", peerOf(ctx)),
	}
	attributes = append(attributes, about(request)...)
	if err != nil {
		attributes = append(attributes, slog.Any("error", err))
	}
	e.Log.LogAttrs(tracing.With(ctx, "trace", n.trace), levelOf(code), "call", attributes...)
	return answer, err
}

// levelOf makes a fault of the server an error. That a caller has hung up, or
// asks for what cannot be, is none.
func levelOf(code codes.Code) slog.Level {
	switch code {
	case codes.Internal, codes.Unavailable, codes.DeadlineExceeded:
		return slog.LevelError
	}
	return slog.LevelInfo
}

// about is what a call is about: its app context.
func about(request any) []slog.Attr {
	var attributes []slog.Attr
	if r, ok := request.(interface{ GetAppContext() string }); ok {
		attributes = append(attributes, slog.String("appContext", clip(r.GetAppContext())))
	}
	return attributes
}

func peerOf(ctx context.Context) string {
	if caller, ok := peer.FromContext(ctx); ok {
		return caller.Addr.String()
	}
	return ""
}

// metrics measures calls.
type metrics struct {
	took     *prometheus.HistogramVec // by method and code
	inFlight prometheus.Gauge
}

// newMetrics registers the edge's metrics. It fails when the registry has them
// already.
func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "signpost_grpc_request_duration_seconds",
			Help:    "How long gRPC calls took, by method and status.",
			Buckets: []float64{.001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5, 9, 10, 30},
		}, []string{"method", "code"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "signpost_grpc_requests_in_flight",
			Help: "gRPC calls under way.",
		}),
	}
	for _, collector := range []prometheus.Collector{m.took, m.inFlight} {
		if err := registry.Register(collector); err != nil {
			return nil, fmt.Errorf("contextupdate: metrics: %w", err)
		}
	}
	return m, nil
}
