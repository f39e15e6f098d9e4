package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/api/probes"
	contracts "github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/pkg/admission"
	"github.com/signpost-dns/signpost/pkg/admission/review"
	"github.com/signpost-dns/signpost/pkg/app/publishers"
	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	emcodocuments "github.com/signpost-dns/signpost/pkg/emco/documents"
	"github.com/signpost-dns/signpost/pkg/publisher/guard"
	"github.com/signpost-dns/signpost/pkg/publisher/open"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/release/controller"
	"github.com/signpost-dns/signpost/pkg/release/nameindex"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/backup"
	"github.com/signpost-dns/signpost/pkg/storage/documents/names"
	"github.com/signpost-dns/signpost/pkg/storage/eventfeed"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/namehistory"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/storage/replicas"
	"github.com/signpost-dns/signpost/pkg/storage/seal"
	"github.com/signpost-dns/signpost/pkg/storage/vault"
	"github.com/signpost-dns/signpost/pkg/worker/addressprobe"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/account"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
	"github.com/signpost-dns/signpost/pkg/worker/connections"
	"github.com/signpost-dns/signpost/pkg/worker/renewal"
	"github.com/signpost-dns/signpost/pkg/worker/syncer"
)

// Run serves until ctx ends, and answers nil after a clean end.
func Run(ctx context.Context, c Config) error {
	if err := c.Check(); err != nil {
		return err
	}
	log, err := newLogger(c, os.Stderr)
	if err != nil {
		return err
	}
	listeners, err := listen(c)
	if err != nil {
		return err
	}
	defer listeners.close()
	warnOfOwnEtcd(ctx, c, log)
	for _, variable := range c.Unknown {
		log.WarnContext(ctx, "a variable of the environment sets nothing", "variable", variable)
	}
	stores, err := openStores(ctx, c, log)
	if err != nil {
		return err
	}
	if err := backup.Unfinished(ctx, stores.kv); err != nil {
		return errors.Join(err, stores.close())
	}
	service, err := assemble(ctx, c, log, stores)
	if err == nil {
		err = service.serve(ctx, listeners)
	}
	return errors.Join(err, stores.close())
}

// service is everything that runs.
type service struct {
	config   Config
	log      *slog.Logger
	exports  exports
	stores   *stores
	quota    *storageQuota
	edge     *edge
	releases *release.Service
	worker   *syncer.Worker

	controller *controller.Controller // nil: this process does not work
	gc         *gc
	renewer    *renewal.Renewer
	clusters   *connections.Pool
	replicas   *replicas.Registry
	index      *nameindex.Feed
	names      *namehistory.History
	feed       *eventfeed.Feed
}

// assemble builds the service that a configuration asks for, over open stores.
func assemble(ctx context.Context, c Config, log *slog.Logger, stores *stores) (*service, error) {
	id, err := installation(ctx, stores.documents)
	if err != nil {
		return nil, fmt.Errorf("the installation's identity: %w", err)
	}
	sealer, err := openSealer(c)
	if err != nil {
		return nil, err
	}
	log.InfoContext(ctx, "secrets at rest are sealed", "key", sealer.Key())
	metrics := newMetrics(c, stores)
	to, err := openExports(ctx, c, log, metrics)
	if err != nil {
		return nil, err
	}
	own, counted, places := names.New(stores.documents), open.NewMetrics(metrics), publishers.NewPlaces()
	documents, values, err := openDocuments(ctx, c, own, sealer, log, metrics)
	if err != nil {
		return nil, err
	}
	contexts, entries := appcontext.NewStore(stores.kv, time.Now), ledger.New(stores.kv)
	handed, err := openRsync(ctx, c, stores.kv, contexts, log, metrics)
	if err != nil {
		return nil, err
	}
	self := c.replica(sealer.Key())
	registry := replicas.NewRegistry(stores.kv, self, log)
	writers := publishers.New(c.publisherLimits(), stores.kv, documents.Values(values), counted, places)
	pool := connections.New(c.reaching(id, registry, writers), connections.Identities{Ledger: entries, Documents: documents}, documents.Values(values))
	metrics.MustRegister(registry, connections.NewMemoryMetric(pool))
	rules := c.rules(pool, documents)
	past, feed := openHistory(c, documents, stores.kv, log, metrics)
	pastNames := openNames(c, documents, to.changes, log, metrics)
	verifier, memory := verify.New(verify.Options{AllowLocal: c.AllowLocalVerify}), boundMemory()
	releases := release.New(release.Options{
		LookupExisting: verifier.Held, ListZone: publishers.Zones(c.publisherLimits(), documents.Values(values), counted, places), DelegatedContexts: handedBy(handed),
		Documents: documents, KV: stores.kv, DocumentKey: c.documentKey(stores), Contexts: contexts,
		Ledger: entries, Observed: observed.New(stores.kv), Live: pool, NamespaceHolder: admission.New(documents, rules).NamespaceHolder, ExternallyManaged: documents.ExternallyManaged,
		Installation: id, ControllerCluster: c.controllerCluster(), ImageRegistry: c.ImageRegistry, Quotas: c.quotas(), PlanMemory: memory.forRequests(), RequireDomains: c.RequireDomains,
		TakeBytes: stores.documents.Release, OrchestratedNamespaces: c.EMCONamespaces,
		Recorder: past.Told, Recorded: past.Kept, Watch: c.watching(stores), Replicas: registry, Names: pastNames, Now: time.Now, Logger: log, Tracer: to.tracer, Metrics: metrics,
	})
	rules.NamespaceTenant, rules.UsesOf = releases.NamespaceTenant, releases.UsesOf // which no document tells of
	s := &service{
		config: c, log: log, exports: to, stores: stores, quota: newStorageQuota(stores, log), releases: releases, clusters: pool, replicas: registry, names: pastNames, feed: feed,
		index: &nameindex.Feed{Store: releases.Store, Index: nameindex.New(time.Now), Watch: stores.watch}, renewer: renewal.New(own, values, pool, time.Now, log, metrics),
		gc: newGC(log, jobs(c, stores.documents, documents, values, registry, releases, pool.Identities, past, pastNames, metrics)),
	}
	releases.Aliases = s.index.Index.Aliases
	c.measureReleases(releases, s.index.Index, metrics)
	s.prepareWork(syncer.Options{Member: self.ID, Vantage: c.vantage(self.ID, metrics), Contexts: contexts, Rsync: handed, Verifier: verifier, Installation: id, Metrics: metrics})
	s.edge, err = openEdge(ctx, c, api.Options{
		Scarce: memory.scarce, MaxBytes: memory.forRequests(),
		Store: documents, Admitter: admission.New(documents, rules), Sealer: values,
		Lifecycle: lifecycle{releases, past, registry.Idle, s.index.Index, s.explainer(), drafts(documents, rules, releases), c.recording(stores)}, History: pasts{past, feed, pastNames},
		Clusters: clusters{releases, pool}, Corefiles: corefiles{openLinter(c, log), releases},
		NearlyFull: s.quota.nearlyFull, Local: !c.authenticates() && !c.Insecure, Readiness: probes.Readiness{Checks: stores.checks, Loading: s.loading}, Build: c.Build, Metrics: metrics, Log: log, Tracer: to.tracer,
	}, releases)
	return s, err
}

// vantage is from where a worker of this name probes addresses.
func (c Config) vantage(name string, metrics prometheus.Registerer) *addressprobe.Vantage {
	rules, _ := guard.Parse(guard.Probes, c.ProbeTargets) // Check has found no fault
	dialer := &guard.Dialer{Flag: guard.Probes, Rules: rules, Stores: c.storeAddresses()}
	return addressprobe.NewVantage(name, dialer.Dial, metrics)
}

// prepareWork makes the worker of a service, which connects to clusters as the service does, and its
// controller.
func (s *service) prepareWork(o syncer.Options) {
	o.KV, o.Connections, o.MayUse, o.Logger, o.Tracer = s.stores.kv, s.clusters, s.releases.NamespaceRefused, s.log, s.exports.tracer
	s.worker = syncer.New(o)
	if s.config.works() {
		s.controller = release.NewController(s.releases)
	}
}

// openDocuments opens the vault of what is secret, and all documents, EMCO's among
// them.
func openDocuments(ctx context.Context, c Config, own intent.Store, sealer *seal.Sealer, log *slog.Logger, metrics prometheus.Registerer) (*emcodocuments.Store, *vault.Vault, error) {
	values, err := openVault(ctx, c, vault.New(own, sealer, time.Now))
	if err != nil {
		return nil, nil, err
	}
	documents, err := openEMCO(ctx, c, own, values, log, metrics)
	return documents, values, err
}

// watching is what tells of all documents that steps follow from; nil: an orchestrator or
// MongoDB keeps some.
func (c Config) watching(from *stores) func(ctx context.Context, from int64) <-chan intent.Changed {
	if c.EMCOOrchestrator+c.EMCODCM+c.EMCOCLM != "" {
		return nil
	}
	return from.watchAll
}

// recording returns what notes the reads of a context. It notes none if an orchestrator or
// MongoDB keeps some documents.
func (c Config) recording(of *stores) func(ctx context.Context) (context.Context, contracts.Reads) {
	if c.watching(of) == nil {
		return func(ctx context.Context) (context.Context, contracts.Reads) { return ctx, nil }
	}
	return func(ctx context.Context) (context.Context, contracts.Reads) { return of.reads.Record(ctx) }
}

// publisherLimits say which servers built-in publishers may connect to.
func (c Config) publisherLimits() publishers.Limits {
	return publishers.Limits{Servers: c.PublisherServers, Stores: c.storeAddresses()}
}

// rules are what documents are judged by.
func (c Config) rules(pool *connections.Pool, documents *emcodocuments.Store) review.Rules {
	rules := review.Rules{
		AllowedImages: c.AllowedImages, ImageRegistry: c.ImageRegistry, Quotas: c.quotas(), AllowLocalServers: c.AllowLocalVerify,
		Kubeconfig: checkKubeconfig, Claim: pool.Claim, ExternallyManaged: documents.ExternallyManaged, ForbiddenServers: publishers.Forbidden(c.publisherLimits()),
	}
	if c.EMCOOrchestrator != "" {
		rules.NamespaceHolder = documents.NamespaceHolder
	}
	return rules
}

// serve runs all parts until ctx ends or one of them fails. The edge ends first and the
// workers after it, with their leases. So every accepted request has a worker, and a
// replica takes over at once.
func (s *service) serve(ctx context.Context, l *listeners) error {
	working, rest := context.WithCancel(context.WithoutCancel(ctx))
	defer rest()
	workers, working := errgroup.WithContext(working)
	for name, run := range s.parts() {
		workers.Go(func() error {
			if err := run(working); err != nil && working.Err() == nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	}
	workers.Go(func() error { return l.serveProfiles(working) })
	serving, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(working, stop)()
	defer context.AfterFunc(serving, s.feed.End)()
	err := l.announce(s.config.ReadyFile)
	if err == nil {
		s.log.InfoContext(ctx, "Signpost is ready", "role", s.config.role(), "addresses", l.addresses(), "version", s.config.Build.Version)
		err = s.edge.serve(serving, l)
	}
	rest()
	err = errors.Join(err, workers.Wait())
	s.exports.end(ctx)
	s.log.InfoContext(ctx, "Signpost has stopped")
	return err
}

// checkKubeconfig judges a kubeconfig without connecting anywhere, and returns when its
// credentials end.
func checkKubeconfig(raw []byte) (expires time.Time, err error) {
	config, err := kubeapi.ParseKubeconfig(raw)
	if err != nil {
		return time.Time{}, err
	}
	return account.CredentialsOf(config).Expires, nil
}
