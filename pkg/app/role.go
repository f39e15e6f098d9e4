package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/api/probes"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/storage/replicas"
	"github.com/signpost-dns/signpost/pkg/worker/connections"
)

// accepts tells whether a process serves the REST API and gRPC.
func (c Config) accepts() bool { return c.Role != replicas.Worker }

// works tells whether a process works on what was accepted, and serves clusters.
func (c Config) works() bool { return c.Role != replicas.API }

// role is Role, or its default.
func (c Config) role() string { return cmp.Or(c.Role, replicas.All) }

func (c Config) checkRole() error {
	switch c.role() {
	case replicas.All:
		return nil
	case replicas.API, replicas.Worker:
		if len(c.EtcdEndpoints) == 0 {
			return fmt.Errorf("--role %s: the embedded etcd is for a single process, which has all roles; give --etcd-endpoints, or --role all", c.Role)
		}
		return nil
	}
	return fmt.Errorf("--role: %q is unknown; give all, api or worker", c.Role)
}

// replica is this process among its like, which seals with a key.
func (c Config) replica(key string) replicas.Replica {
	host, _ := os.Hostname() // for people to read
	return replicas.Replica{ID: rand.Text(), Role: c.role(), Version: c.Build.Version, Host: host, Since: time.Now().UTC(), Key: key}
}

// ownDirectories refuses directory clusters where other processes serve clusters,
// too: each would have manifests of its own. It does not where all processes have
// the same directories, or etcd is within this one.
func (c Config) ownDirectories(registry *replicas.Registry) func(ctx context.Context) error {
	if c.SharedDirectories || len(c.EtcdEndpoints) == 0 {
		return func(context.Context) error { return nil }
	}
	return func(ctx context.Context) error {
		others, err := registry.Others(ctx)
		if err != nil {
			return err
		}
		if workers := slices.DeleteFunc(others, func(r replicas.Replica) bool { return !r.Works() }); len(workers) > 0 {
			return fmt.Errorf("other processes also serve clusters (%d), each with its own directories; set one shared --directory-root with --shared-directory-root, or run one process", len(workers))
		}
		return nil
	}
}

// reaching is how clusters are reached, the built-in publishers among them.
func (c Config) reaching(installation string, registry *replicas.Registry, writers connections.Publishers) connections.Settings {
	return connections.Settings{
		Publishers:   writers,
		Installation: installation, Version: c.Build.Version, Replica: registry.ID(), Memory: c.clusterMemory(), Alone: c.ownDirectories(registry),
		Root: cmp.Or(c.DirectoryRoot, filepath.Join(c.DataDir, "clusters")),
	}
}

// parts are what runs beside the edge, by name.
func (s *service) parts() map[string]func(context.Context) error {
	parts := map[string]func(context.Context) error{"--data-dir": s.stores.run, "replica": s.replicas.Run, "memory": runRest}
	if s.config.accepts() {
		parts["name index"] = s.index.Run
	}
	if s.config.accepts() && s.quota != nil {
		parts["storage quota"] = s.quota.run
	}
	if !s.config.works() {
		parts["notifier"] = release.NewNotifier(s.releases).Run
		return parts
	}
	parts["worker"] = s.worker.Run
	parts["controller"] = s.controller.Run
	parts["history of names"] = s.names.Run
	parts["garbage collection"] = s.gc.run
	parts["clusters"] = s.clusters.Run
	parts["tokens of clusters"] = s.renewer.Run
	return parts
}

// loading are the parts that have not read all they need since the process began.
func (s *service) loading() []probes.Loading {
	var all []probes.Loading
	note := func(name string, done, total int, is bool) {
		if is {
			all = append(all, probes.Loading{Name: name, Done: done, Total: total})
		}
	}
	if s.config.accepts() {
		read, filling := s.index.Index.Filling()
		note("names", read, 0, filling)
	}
	if s.config.works() {
		done, total, is := s.controller.Looking()
		note("owners", done, total, is)
		done, total, is = s.worker.Loading()
		note("clusters", done, total, is)
	}
	return all
}
