package api

import (
	"cmp"
	"errors"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/api/probes"
	"github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/pkg/access"
	"github.com/signpost-dns/signpost/pkg/access/throttle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// Options are what the edge needs.
type Options struct {
	Store     intent.Store // read directly, written through Admitter
	Admitter  service.Admitter
	Sealer    service.Sealer
	Lifecycle service.Lifecycle
	Clusters  service.Clusters
	Corefiles service.Corefiles
	History   service.History // nil: none is kept

	Authenticator *access.Authenticator // who asks, and what they may do; nil: everybody may do everything, as "anonymous"

	// Local says that everybody on this machine may call without authentication. Requests
	// by another name than the machine's own are refused then.
	Local bool

	probes.Readiness // what /readyz tells of

	// NearlyFull tells that the store has little room left: documents can be
	// deleted then, and not written. nil: it never has.
	NearlyFull func() bool

	// Scarce tells that there is little memory left: requests are refused then,
	// but for those that take something away. nil: there always is some.
	Scarce func() bool

	Build   probes.Build
	Metrics *prometheus.Registry // nil: one of its own
	Log     *slog.Logger         // nil: slog.Default()
	Tracer  *tracing.Tracer      // nil: traces are passed on, and none are recorded

	Buckets     *throttle.Buckets     // how often each subject may ask; nil: as often as it likes
	Connections *throttle.Connections // those that requests come by, to tell which of them have carried one of a known subject; nil: nobody asks
	MaxBytes    int64                 // of memory that requests take at once, if known before they are read. More requests wait a second, and are 503 then. 0: 256 MiB
	MaxWrites   int                   // requests other than reads at work at once, more wait a second and are 429 then; 0: 32
}

// check finds what is missing.
func (o Options) check() error {
	if o.Store == nil || o.Admitter == nil || o.Sealer == nil || o.Lifecycle == nil || o.Clusters == nil || o.Corefiles == nil {
		return errors.New("api: Store, Admitter, Sealer, Lifecycle, Clusters and Corefiles are required")
	}
	return nil
}

// complete fills in the defaults.
func (o Options) complete() Options {
	if o.History == nil {
		o.History = service.NoHistory{}
	}
	if o.NearlyFull == nil {
		o.NearlyFull = func() bool { return false }
	}
	if o.Scarce == nil {
		o.Scarce = func() bool { return false }
	}
	if o.MaxBytes == 0 {
		const bytes = 256 << 20
		o.MaxBytes = bytes
	}
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.MaxWrites == 0 {
		const writes = 32
		o.MaxWrites = writes
	}
	return o
}
