// Package release freezes intents into releases and brings them to the
// clusters' app contexts.
//
// A request (instantiate, update, rollback, terminate) reads all inputs, plans, and
// swaps the owner's Lifecycle document to a new immutable release; it is
// accepted then. What follows is done by Steps, again and again until the
// owner's app context says what its release says: a step reads the lifecycle,
// the release and what the clusters were observed to offer, and commits or
// rewrites the context. Steps are synchronous and may be repeated or raced by
// other replicas at any point; each write compares what was read.
package release

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/pkg/address"
	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/bundle"
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/externaldns"
	"github.com/signpost-dns/signpost/pkg/grant"
	"github.com/signpost-dns/signpost/pkg/handover"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/kv"
	"github.com/signpost-dns/signpost/pkg/ledger"
	"github.com/signpost-dns/signpost/pkg/nameclaim"
	"github.com/signpost-dns/signpost/pkg/observed"
	"github.com/signpost-dns/signpost/pkg/placement"
	"github.com/signpost-dns/signpost/pkg/trail"
	"github.com/signpost-dns/signpost/pkg/verify"
)

// Options configure a Service.
type Options struct {
	Documents         intent.Store
	KV                kv.KV
	Contexts          *appcontext.Store
	Ledger            *ledger.Ledger
	Observed          *observed.Store
	Peek              func(ctx context.Context, service address.Service) (*address.Observation, error)                // a live look for plans; nil: none
	PeekResolverUsers func(ctx context.Context, cluster string, addresses []string) ([]string, error)                 // what is seen to ask nameservers there; nil: nothing can be
	PeekStrangers     func(ctx context.Context, cluster string, ids []bundle.ID) ([]bundle.ID, error)                 // those that are there and not Signpost's; nil: nobody looks
	PeekNodes         func(ctx context.Context, cluster string) ([]placement.Node, error)                             // a live look at a cluster's nodes for plans, nil where they cannot be known; nil: none
	PeekNamespace     func(ctx context.Context, cluster, namespace string) (MadeBy, error)                            // a live look at who made a namespace; nil: none
	NamespaceHolder   func(ctx context.Context, namespace string) (project string, err error)                         // whose namespace it is, empty for none's; nil: not asked
	Handed            func(ctx context.Context, owner appcontext.Owner, clusters []string) (handover.Children, error) // the contexts by which EMCO's rsync knows an owner's; nil: the sync worker puts objects into clusters
	Elsewhere         func(intent.Path) error                                                                         // not nil for documents that EMCO keeps; nil where it keeps none
	Told              func(ctx context.Context, owner intent.Path, events ...intent.Event)                            // of what has happened, once it is stored; nil: nobody is
	RequireDomains    bool                                                                                            // only names in domains that are granted to a project are published
	EMCONamespaces    grant.Namespaces                                                                                // in which app contexts of EMCO's may have what names and DNS settings are for; none: DefaultEMCONamespaces
	Installation      string                                                                                          // generated id
	ControllerCluster *intent.ClusterRef                                                                              // the server's default home of external-dns
	ImageRegistry     string                                                                                          // replaces registry.k8s.io in default images
	Quotas            intent.Quotas                                                                                   // of projects that have none of their own
	Now               func() time.Time
	Logger            *slog.Logger
	Tracer            *trail.Tracer         // nil: traces are passed on, and none are recorded
	Metrics           prometheus.Registerer // of the controller; nil: nowhere

	// Held tells what a name has at its authoritative servers; nil: they are not asked.
	Held func(ctx context.Context, name string, marks externaldns.InDNS, servers []netip.AddrPort) (verify.Holding, error)
}

// DefaultEMCONamespaces are all but those of Kubernetes and of the platform, and
// the default one.
func DefaultEMCONamespaces() grant.Namespaces { return grant.Namespaces{"*", "default"} }

// Service accepts lifecycle requests and executes their steps.
type Service struct {
	Options
	emco  *emco.Store
	nudge chan nudge // owners that are to be looked at

	orchestrates chan struct{} // closed once there are groups that EMCO deploys
	noteEMCO     func()        // closes it

	syncFromEMCO func(ctx context.Context, group intent.Path, l Lifecycle) (acted bool, err error) // before a step

	grounds grounds
	outlook outlook
	heldNow heldNow

	sweeping       sync.Mutex
	sweepingClaims sync.Mutex
	unclaimed      map[string]time.Time // by context id: since when no lifecycle was seen to point to a release
	sweptTo        nameclaim.Key        // of the claims
}

// New makes a Service.
func New(options Options) *Service {
	orchestrates := make(chan struct{})
	s := &Service{
		Options: options, emco: emco.NewStore(options.KV, options.Now), nudge: make(chan nudge, 1024),
		orchestrates: orchestrates, noteEMCO: sync.OnceFunc(func() { close(orchestrates) }),
	}
	s.syncFromEMCO = s.heed
	return s
}

// nudge has the controller look at an owner.
type nudge struct {
	owner intent.Path
	at    time.Time // zero: at once, for something has changed
}

// wake lets a controller look at an owner at once, this process' own or, through
// its Notifier, another's. When it is behind, its
// scan finds the owner.
func (s *Service) wake(owner intent.Path) { s.wakeAt(owner, time.Time{}) }

// wakeAt lets the controller look at an owner at a time.
func (s *Service) wakeAt(owner intent.Path, at time.Time) {
	select {
	case s.nudge <- nudge{owner, at}:
	default:
	}
}
