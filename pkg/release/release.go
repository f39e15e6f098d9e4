// Package release freezes intents into releases and brings them to the
// clusters' app contexts.
//
// A request (instantiate, update, rollback, terminate) reads all inputs, plans, and swaps
// the owner's Lifecycle document to a new immutable release; it is accepted then. Steps
// do the rest, again and again until the owner's app context says what its release says.
// A step reads the lifecycle, the release and the observations of clusters, and commits
// or rewrites the context. Steps are synchronous and may be repeated or raced by other
// replicas at any point; each write compares what was read.
package release

import (
	"cmp"
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/grant"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/emco/handover"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/release/accept"
	"github.com/signpost-dns/signpost/pkg/release/cleanup"
	"github.com/signpost-dns/signpost/pkg/release/clusters"
	"github.com/signpost-dns/signpost/pkg/release/controller"
	"github.com/signpost-dns/signpost/pkg/release/failover"
	"github.com/signpost-dns/signpost/pkg/release/follow"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/offers"
	"github.com/signpost-dns/signpost/pkg/release/orchestration"
	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/providers"
	"github.com/signpost-dns/signpost/pkg/release/query"
	"github.com/signpost-dns/signpost/pkg/release/reconcile"
	"github.com/signpost-dns/signpost/pkg/release/removal"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/sharing"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/release/state/packed"
	"github.com/signpost-dns/signpost/pkg/release/tenancy"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// Options configure a Service.
type Options struct {
	Documents              intent.Store
	KV                     kv.KV
	DocumentKey            func(path intent.Path) string // where KV has a document, if KV is a [snapshot.Store]; nil: it has not all of them
	Contexts               *appcontext.Store
	Ledger                 *ledger.Ledger
	Observed               *observed.Store
	Live                   inputs.LiveState                                                                                  // reads clusters for plans; nil: plans know only what was observed
	NamespaceHolder        func(ctx context.Context, namespace string) (project string, err error)                           // whose namespace it is, empty for none's; nil: not asked
	DelegatedContexts      func(ctx context.Context, owner appcontext.Owner, clusters []string) (appcontext.Children, error) // the contexts by which a deployer knows an owner's; nil: the sync worker puts objects into clusters
	ExternallyManaged      func(intent.Path) error                                                                           // not nil for documents that an orchestrator keeps; nil: none does
	Recorder               func(ctx context.Context, owner intent.Path, events ...intent.Event)                              // of what has happened, once it is stored; nil: nobody is
	RequireDomains         bool                                                                                              // only names in domains that are granted to a project are published
	OrchestratedNamespaces grant.Namespaces                                                                                  // in which app contexts may have what names and DNS settings are for; none: DefaultOrchestratedNamespaces
	TakeBytes              func(ctx context.Context, project intent.Path, bytes int) error                                   // before a release of so many is written; nil: no project is bounded
	Watch                  func(ctx context.Context, from int64) <-chan intent.Changed                                       // of all documents; nil: the store of documents cannot, and owners are looked at every ten seconds
	Replicas               controller.Replicas                                                                               // that divide the owners; nil: there is this one alone
	Recorded               func(ctx context.Context, owner intent.Path, e intent.Event) (bool, error)                        // whether Recorder has stored that event; nil: nobody knows
	Packer                 *packed.Packer                                                                                    // of the Services of this process; nil: one of its own
	Names                  state.NameRecorder                                                                                // of the past of host names; nil: nobody
	Installation           string                                                                                            // generated id
	ControllerCluster      *intent.ClusterRef                                                                                // the server's default home of external-dns
	ImageRegistry          string                                                                                            // replaces registry.k8s.io in default images
	Quotas                 intent.Quotas                                                                                     // of projects that have none of their own
	PlanMemory             int64                                                                                             // bytes that the plans at work may take, as far as that can be told before; 0: 256 MiB
	Now                    func() time.Time
	Logger                 *slog.Logger
	Tracer                 *tracing.Tracer       // nil: traces are passed on, and none are recorded
	Metrics                prometheus.Registerer // of the controller; nil: nowhere

	// LookupExisting tells what a name has at its authoritative servers; nil: they are not asked.
	LookupExisting func(ctx context.Context, name string, marks externaldns.InDNS, servers []netip.AddrPort) (verify.Holding, error)

	// ListZone reads all sets that the zones of a provider of a project have, ordered by name and type. For a further page of a list, it
	// may answer an earlier reading. The sets are not changed. nil: no zone can be read.
	ListZone func(ctx context.Context, project string, of bundle.Publisher, further bool) ([]publisher.Set, error)
}

// Service is the whole of a release's packages, put together. Each package has its own
// methods: plans and requests, providers, clusters, an orchestrator's calls, snapshots.
type Service struct {
	*state.Store
	*accept.Planner
	*accept.Names
	*providers.Updater
	*clusters.Operator
	*failover.Mover
	*orchestration.Sync
	*query.Reader
	*removal.Guard
	*render.Renderer
	*ownership.Registry
	*tenancy.Keeper
	*sharing.Judge
	*reconcile.Reconciler

	worker  *controller.Worker
	options Options
}

// New makes a Service.
func New(options Options) *Service {
	contexts := emco.NewStore(options.KV, options.Now)
	store := &state.Store{
		Documents: options.Documents, KV: options.KV, Contexts: options.Contexts, Ledger: options.Ledger, Observed: options.Observed,
		Forget: []func(string) kv.Op{handover.Forget}, Recorder: options.Recorder, Recorded: options.Recorded, Names: options.Names, Installation: options.Installation, ImageRegistry: options.ImageRegistry,
		Now: options.Now, Logger: options.Logger, Tracer: options.Tracer, Wakeups: &state.Wakeups{},
	}
	store.DocumentKey, store.Packer = options.DocumentKey, cmp.Or(options.Packer, new(packed.Packer))
	reader := &inputs.Reader{Store: store, ControllerCluster: options.ControllerCluster, ExternallyManaged: options.ExternallyManaged, DelegatedContexts: options.DelegatedContexts}
	resolver := &resolve.Resolver{Store: store, Inputs: reader, OrchestratedNamespaces: options.OrchestratedNamespaces, Live: options.Live}
	owners := &ownership.Registry{Store: store, RequireDomains: options.RequireDomains, LookupExisting: options.LookupExisting}
	tenants := &tenancy.Keeper{
		Store: store, Resolver: resolver, Ownership: owners,
		NamespaceHolder: options.NamespaceHolder, Live: options.Live, Quotas: options.Quotas,
	}
	judge := &sharing.Judge{Store: store}
	guard := &removal.Guard{Store: store}
	renderer := &render.Renderer{Store: store, Resolver: resolver, Ownership: owners, Removal: guard, Live: options.Live}
	keeper := &offers.Keeper{Store: store}
	follower := &follow.Follower{Store: store, EMCO: contexts, Inputs: reader}
	renderer.Reports = follower.Reports
	cleanups := &cleanup.Keeper{Store: store}
	updater := &providers.Updater{Store: store, Resolver: resolver, Ownership: owners, Tenancy: tenants, Removal: guard, Renderer: renderer, Cleanups: cleanups}
	reconciler := &reconcile.Reconciler{
		Store: store, Ownership: owners, Sharing: judge, Removal: guard, Renderer: renderer, Offers: keeper, Follower: follower, Providers: updater, Cleanups: cleanups,
	}
	operator := &clusters.Operator{Store: store, Renderer: renderer}
	mover := &failover.Mover{Store: store, Renderer: renderer}
	operator.Refuses = mover.RefuseDrain
	planner := &accept.Planner{Store: store, Inputs: reader, Resolver: resolver, Ownership: owners, Tenancy: tenants, Sharing: judge, Removal: guard, Renderer: renderer, Offers: keeper, Follower: follower,
		TakeBytes: options.TakeBytes, Room: accept.NewRoom(options.PlanMemory), Live: options.Live}
	orchestrates := make(chan struct{})
	following := &orchestration.Sync{
		Store: store, EMCO: contexts, Inputs: reader, Resolver: resolver, Ownership: owners, Tenancy: tenants, Sharing: judge, Removal: guard, Follower: follower, Planner: planner,
		NoteEMCO: sync.OnceFunc(func() { close(orchestrates) }),
	}
	reconciler.SyncOrchestrated = following.SyncFromEMCO
	names := accept.NewNames(planner)
	reconciler.FollowClusters = names.FollowClusters
	return &Service{
		options: options,
		Store:   store, Planner: planner, Names: names, Updater: updater, Operator: operator, Mover: mover, Sync: following, Guard: guard, Renderer: renderer, Registry: owners, Keeper: tenants, Judge: judge, Reconciler: reconciler,
		Reader: &query.Reader{Store: store, Inputs: reader, Resolver: resolver, Tenancy: tenants, Sharing: judge, Renderer: renderer, Follower: follower, ListZone: options.ListZone},
		worker: &controller.Worker{
			Store: store, Inputs: reader, Renderer: renderer, Offers: keeper, Follower: follower, Providers: updater, Reconciler: reconciler,
			Clusters: operator, Failovers: mover, Watch: options.Watch, Replicas: options.Replicas, Metrics: options.Metrics, Orchestrates: orchestrates,
		},
	}
}

// Over is the Service for plans over other documents, such as ones that are not stored. It
// shares the memory for plans. It asks neither DNS servers nor clusters: documents name them,
// and these documents may be of callers who may write none.
func (s *Service) Over(documents intent.Store) *Service {
	options := s.options
	options.Documents, options.DocumentKey, options.Metrics, options.LookupExisting, options.ListZone, options.Live = documents, nil, nil, nil, nil, nil
	over := New(options)
	over.Room = s.Room
	return over
}

// NewController makes the controller of a Service's releases.
func NewController(s *Service) *controller.Controller { return controller.NewController(s.worker) }

// NewNotifier makes a notifier of what a Service accepts, for a process without a
// controller.
func NewNotifier(s *Service) *controller.Notifier { return controller.NewNotifier(s.worker) }

// Sweep drops what no release needs any more. It reads all lifecycles.
func (s *Service) Sweep(ctx context.Context, age time.Duration) error {
	return s.worker.Sweep(ctx, age)
}

// DefaultOrchestratedNamespaces are all but those of Kubernetes and of the platform, and
// default.
func DefaultOrchestratedNamespaces() grant.Namespaces { return inputs.DefaultOrchestratedNamespaces() }
