package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/pkg/admit"
	"github.com/signpost-dns/signpost/pkg/appcontext"
	"github.com/signpost-dns/signpost/pkg/cluster"
	"github.com/signpost-dns/signpost/pkg/ledger"
	"github.com/signpost-dns/signpost/pkg/observed"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/syncer"
	"github.com/signpost-dns/signpost/pkg/vault"
	"github.com/signpost-dns/signpost/pkg/verify"
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
	stores, err := openStores(ctx, c, log)
	if err != nil {
		return err
	}
	service, err := assemble(ctx, c, log, stores)
	if err == nil {
		err = service.serve(ctx, listeners)
	}
	return errors.Join(err, stores.close())
}

// service is everything that runs.
type service struct {
	config     Config
	log        *slog.Logger
	stores     *stores
	edge       *edge
	worker     *syncer.Worker
	controller *release.Controller
	janitor    *janitor
	clusters   *connections
}

// assemble makes the rooms and their doors.
func assemble(ctx context.Context, c Config, log *slog.Logger, stores *stores) (*service, error) {
	id, err := installation(ctx, stores.documents)
	if err != nil {
		return nil, fmt.Errorf("the installation's identity: %w", err)
	}
	sealer, err := openSealer(c)
	if err != nil {
		return nil, err
	}
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	stores.measure(metrics)
	documents, err := openEMCO(c, stores.documents, sealer, log, metrics)
	if err != nil {
		return nil, err
	}
	values := vault.New(documents, sealer, time.Now)
	contexts := appcontext.NewStore(stores.kv, time.Now)
	entries := ledger.New(stores.kv)
	handed, err := openRsync(ctx, c, stores.kv, contexts, log, metrics)
	if err != nil {
		return nil, err
	}
	connections := newConnections(c, id, identities{entries, documents}, documents.Values(values))
	rules := admit.Rules{
		AllowedImages: c.AllowedImages, ImageRegistry: c.ImageRegistry, AllowLocalServers: c.AllowLocalVerify, Kubeconfig: checkKubeconfig, Claim: connections.claim, Elsewhere: documents.Elsewhere,
	}
	if c.EMCOOrchestrator != "" {
		rules.NamespaceHolder = documents.NamespaceHolder
	}
	admitter := admit.New(documents, rules)
	releases := release.New(release.Options{
		Handed:    handedBy(handed),
		Documents: documents, KV: stores.kv, Contexts: contexts,
		Ledger: entries, Observed: observed.New(stores.kv), Peek: connections.peek, PeekNodes: connections.peekNodes, NamespaceHolder: admitter.NamespaceHolder, Elsewhere: documents.Elsewhere,
		Installation: id, ControllerCluster: c.controllerCluster(), ImageRegistry: c.ImageRegistry,
		Now: time.Now, Logger: log,
	})
	s := &service{config: c, log: log, stores: stores, clusters: connections, janitor: &janitor{documents: documents, vault: values, releases: releases, identities: connections.identities, log: log}}
	measureHealth(releases, metrics)
	s.controller = release.NewController(releases)
	s.worker = syncer.New(syncer.Options{
		KV: stores.kv, Contexts: contexts, Connections: connections, Rsync: handed,
		Verifier:     verify.New(verify.Options{AllowLocal: c.AllowLocalVerify}),
		Installation: id, Logger: log, Metrics: metrics,
	})
	s.edge, err = newEdge(c, api.Options{
		Store: documents, Admitter: admitter, Sealer: values, Lifecycle: lifecycle{releases}, Clusters: clusters{releases, connections}, Corefiles: corefiles{openLinter(c, log), releases},
		Checks: stores.checks, Build: c.Build, Metrics: metrics, Log: log,
	}, orchestrator{releases})
	return s, err
}

// serve runs all parts until ctx ends or one of them fails. The edge ends
// first and the workers only then, with their leases: nothing is accepted that
// nobody works on, and a replica takes over at once.
func (s *service) serve(ctx context.Context, l *listeners) error {
	working, rest := context.WithCancel(context.WithoutCancel(ctx))
	defer rest()
	workers, working := errgroup.WithContext(working)
	for name, run := range map[string]func(context.Context) error{
		"--data-dir": s.stores.run,
		"worker":     s.worker.Run,
		"controller": s.controller.Run,
		"janitor":    s.janitor.run,
		"clusters":   s.clusters.run,
	} {
		workers.Go(func() error {
			if err := run(working); err != nil && working.Err() == nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		})
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(working, stop)()
	err := l.announce(s.config.ReadyFile)
	if err == nil {
		s.log.InfoContext(ctx, "Signpost is ready", "http", l.http.Addr(), "grpc", l.grpc.Addr(), "version", s.config.Build.Version)
		err = s.edge.serve(serving, l)
	}
	rest()
	err = errors.Join(err, workers.Wait())
	s.log.InfoContext(ctx, "Signpost has stopped")
	return err
}

// checkKubeconfig judges a kubeconfig without connecting anywhere.
func checkKubeconfig(raw []byte) error {
	_, err := cluster.ParseKubeconfig(raw)
	return err
}
