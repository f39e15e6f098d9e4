// Package contextupdate is the gRPC edge: the service by which an orchestrator
// (EMCO) has its app contexts extended, beside the standard health and
// reflection. It reads requests strictly, gives each an end that comes before
// the caller gives up, and turns the domain's errors into statuses.
package contextupdate

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip" // a compressed request is no method that is not implemented
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/access/throttle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco/emcopb"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// Contexts does what the orchestrator asks for with its app contexts. Context
// ids are decimal numbers of 63 bits. Each call may be repeated, after a
// success too, and has to end soon after its context. Errors are *intent.Error
// values; after an error the app context is as it was before the call.
type Contexts interface {
	// UpdateContext adds to an app context the names and DNS settings that a traffic group of
	// its deployment intent group asks for. The context from is the one that this
	// context replaces, empty for none. The caller gets the warnings.
	UpdateContext(ctx context.Context, contextID, trafficGroup, from string) (warnings []string, err error)
	// TerminateContext prepares for the end of an app context that is about to be
	// uninstalled.
	TerminateContext(ctx context.Context, contextID string) error
	// PostEvent says that rsync has been told to intent.Instantiate, intent.Update
	// or intent.Terminate an app context.
	PostEvent(ctx context.Context, contextID string, event intent.Action) error
}

// Authorizer answers who calls, or why they may not call contextupdate, as an
// *intent.Error.
type Authorizer func(ctx context.Context, caller access.Caller) (intent.Actor, error)

// Options are what the edge needs.
type Options struct {
	Contexts Contexts       // nil: contextupdate is not offered
	Health   *health.Server // what the health service answers

	Credentials credentials.TransportCredentials // of TLS; nil: plain text
	Authorize   Authorizer                       // nil: everybody may call contextupdate

	Metrics *prometheus.Registry // nil: one of its own
	Log     *slog.Logger         // nil: slog.Default()
	Tracer  *tracing.Tracer      // nil: traces are passed on, and none are recorded

	Buckets     *throttle.Buckets     // how often each subject may call, others wait; nil: as often as it likes
	Connections *throttle.Connections // those that calls come by, to tell which of them have carried one of a known subject; nil: nobody asks
	MaxInFlight int                   // calls that work at once, others wait; 0: 64
	Patience    time.Duration         // how long a caller waits who does not say; 0: 10 s, as EMCO
}

// complete checks the options and fills in the defaults.
func (o Options) complete() (Options, error) {
	if o.Health == nil {
		return o, errors.New("contextupdate: Health is required")
	}
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.MaxInFlight == 0 {
		const inFlight = 64
		o.MaxInFlight = inFlight
	}
	o.Patience = cmp.Or(o.Patience, 10*time.Second)
	return o, nil
}

// edge is what all calls share.
type edge struct {
	Options
	metrics *metrics
	slots   chan struct{} // one for each call at work
	streams chan struct{} // one for each stream, of health and reflection
}

// maxStreams is how many streams of health and reflection there are at once: they
// are for everybody, and may never end.
const maxStreams = 256

// New is a server with the services of the edge. The caller serves listeners
// with it.
func New(o Options) (*grpc.Server, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	e := &edge{Options: o, slots: make(chan struct{}, o.MaxInFlight), streams: make(chan struct{}, maxStreams)}
	if e.metrics, err = newMetrics(o.Metrics); err != nil {
		return nil, err
	}
	server := grpc.NewServer(e.serverOptions()...)
	grpc_health_v1.RegisterHealthServer(server, o.Health)
	if o.Contexts != nil {
		emcopb.RegisterContextupdateServer(server, service{o.Contexts})
		o.Health.SetServingStatus(emcopb.Contextupdate_ServiceDesc.ServiceName, grpc_health_v1.HealthCheckResponse_SERVING)
	}
	reflection.Register(server)
	return server, nil
}

// serverOptions limit sizes and numbers, so that no client takes what others
// need. EMCO's clients may ask every 10 s whether the server is there, also
// without a call.
func (e *edge) serverOptions() []grpc.ServerOption {
	const (
		message   = 64 << 10
		header    = 32 << 10
		streams   = 32       // of a connection; clients wait
		window    = 64 << 10 // of bytes that wait to be read, of a stream; a connection has as many as it has streams
		handshake = 10 * time.Second
		often     = 5 * time.Second
		silence   = 2 * time.Minute
	)
	options := []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(e.observed, e.guarded),
		grpc.ChainStreamInterceptor(e.few),
		grpc.MaxRecvMsgSize(message),
		grpc.MaxHeaderListSize(header),
		grpc.MaxConcurrentStreams(streams),
		grpc.StaticStreamWindowSize(window),
		grpc.StaticConnWindowSize(window),
		grpc.InTapHandle(e.begin),
		grpc.ConnectionTimeout(handshake),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: often, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: silence}),
	}
	if e.Credentials != nil {
		options = append(options, grpc.Creds(e.Credentials))
	}
	return options
}
