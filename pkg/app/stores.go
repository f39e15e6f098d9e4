package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/kv"
	"github.com/signpost-dns/signpost/pkg/kv/etcd"
	etcdstore "github.com/signpost-dns/signpost/pkg/store/etcd"
	"github.com/signpost-dns/signpost/pkg/store/mongo"
)

// stores are where Signpost keeps things: documents, and the keys of app
// contexts, ledgers and observations.
type stores struct {
	kv        kv.KV
	documents intent.Store
	embedded  *etcd.Embedded                         // nil with an external etcd
	checks    map[string]func(context.Context) error // for readiness, by name
	closers   []func() error                         // in the order of opening
}

// openStores opens etcd, embedded or external, and the document store.
func openStores(ctx context.Context, c Config, log *slog.Logger) (*stores, error) {
	s := &stores{checks: map[string]func(context.Context) error{}}
	if err := s.openKV(ctx, c, log); err != nil {
		return nil, err
	}
	if err := s.openDocuments(ctx, c); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *stores) openKV(ctx context.Context, c Config, log *slog.Logger) error {
	if len(c.EtcdEndpoints) > 0 {
		external, err := dialEtcd(ctx, c)
		if err != nil {
			return err
		}
		s.kv, s.closers = external, append(s.closers, external.Close)
	} else {
		embedded, err := etcd.StartEmbedded(ctx, etcd.EmbeddedOptions{Dir: filepath.Join(c.DataDir, "etcd"), Logger: log})
		if err != nil {
			return fmt.Errorf("--data-dir: %w", err)
		}
		s.embedded, s.kv, s.closers = embedded, embedded.KV(), append(s.closers, embedded.Close)
	}
	s.checks["etcd"] = s.kv.Ping
	return nil
}

func (s *stores) openDocuments(ctx context.Context, c Config) error {
	if c.MongoURI == "" {
		s.documents = etcdstore.New(s.kv)
		return nil
	}
	documents, err := mongo.New(ctx, c.MongoURI)
	if err != nil {
		return fmt.Errorf("--mongo-uri: %w", err)
	}
	s.documents, s.closers = documents, append(s.closers, documents.Close)
	s.checks["mongodb"] = documents.Ping
	return nil
}

// run waits until ctx ends, or until the embedded etcd cannot go on.
func (s *stores) run(ctx context.Context) error {
	if s.embedded == nil {
		return nil
	}
	return s.embedded.Run(ctx)
}

// close closes what was opened, the last first.
func (s *stores) close() error {
	var errs []error
	for n := len(s.closers) - 1; n >= 0; n-- {
		errs = append(errs, s.closers[n]())
	}
	return errors.Join(errs...)
}
