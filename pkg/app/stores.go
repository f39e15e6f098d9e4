package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/signpost-dns/signpost/pkg/app/measure"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	etcdstore "github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/documents/mongo"
	"github.com/signpost-dns/signpost/pkg/storage/documents/quota"
	"github.com/signpost-dns/signpost/pkg/storage/eventfeed"
	"github.com/signpost-dns/signpost/pkg/storage/history"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/namehistory"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// stores are where Signpost keeps things: documents, and the keys of app
// contexts, ledgers and observations.
type stores struct {
	kv        kv.KV
	reads     *kv.Recorder // of kv
	documents *quota.Store
	watchAll  func(ctx context.Context, from int64) <-chan intent.Changed                    // the same of all collections
	watch     func(ctx context.Context, collection string, from int64) <-chan intent.Changed // of documents; nil where they are in MongoDB
	mongo     *mongo.Store                                                                   // nil where documents are in etcd
	embedded  *etcd.Embedded                                                                 // nil with an external etcd
	size      func(context.Context) (etcd.Size, error)
	took      *prometheus.HistogramVec
	checks    map[string]func(context.Context) error // for readiness, by name
	closers   []func() error                         // in the order of opening
}

// openStores opens etcd, embedded or external, and the document store.
func openStores(ctx context.Context, c Config, log *slog.Logger) (*stores, error) {
	s := &stores{checks: map[string]func(context.Context) error{}, took: measure.NewRequests()}
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
		s.kv, s.size, s.closers = external, external.Size, append(s.closers, external.Close)
	} else {
		embedded, err := etcd.StartEmbedded(ctx, etcd.EmbeddedOptions{Dir: filepath.Join(c.DataDir, "etcd"), Logger: log})
		if err != nil {
			return fmt.Errorf("--data-dir: %w", err)
		}
		s.embedded, s.kv, s.closers = embedded, embedded.KV(), append(s.closers, embedded.Close)
		s.size = func(context.Context) (etcd.Size, error) { return embedded.Size(), nil }
	}
	s.reads = &kv.Recorder{KV: measure.KV(s.kv, s.took, "etcd")}
	s.kv = &snapshot.Store{KV: s.reads}
	s.checks["etcd"] = s.kv.Ping
	return nil
}

func (s *stores) openDocuments(ctx context.Context, c Config) error {
	if c.MongoURI == "" {
		documents := etcdstore.New(s.kv)
		s.watch, s.watchAll = documents.Watch, documents.WatchAll
		s.documents = quota.New(documents, documents.Usage, s.kv, c.quotas())
		return nil
	}
	documents, err := mongo.New(ctx, c.MongoURI)
	if err != nil {
		return fmt.Errorf("--mongo-uri: %w", err)
	}
	s.mongo = documents
	measured := measure.Documents(documents, s.took, "mongodb")
	s.documents = quota.New(measured, documents.Usage, s.kv, c.quotas())
	s.closers = append(s.closers, documents.Close)
	s.checks["mongodb"] = documents.Ping
	return nil
}

// documentKey is where etcd has a document; nil: an orchestrator or MongoDB keeps some.
func (c Config) documentKey(of *stores) func(intent.Path) string {
	if c.watching(of) == nil {
		return nil
	}
	return etcdstore.Key
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

// openHistory makes the history of what is done here, and the feed of those who follow it.
func openHistory(c Config, documents intent.Store, keys kv.KV, log *slog.Logger, metrics prometheus.Registerer) (*history.History, *eventfeed.Feed) {
	lost := promauto.With(metrics).NewCounter(prometheus.CounterOpts{
		Name: "signpost_history_lost_total", Help: "Events that could not be kept in the history.",
	})
	feed := eventfeed.New(keys)
	return history.New(history.Options{Documents: documents, Count: c.HistoryCount, Announce: feed.Announce, Lost: lost.Inc, Now: time.Now, Logger: log}), feed
}

// openNames makes the history of host names.
func openNames(c Config, documents intent.Store, changes, log *slog.Logger, metrics prometheus.Registerer) *namehistory.History {
	lost := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "signpost_name_history_lost_total", Help: "Changes of host names that could not be kept in their history.",
	})
	metrics.MustRegister(lost)
	return namehistory.New(namehistory.Options{
		Documents: documents, Bytes: c.NameHistoryBytes, Lost: lost.Inc, Changes: changes, Now: time.Now, Logger: log,
	})
}

// installation is the identity of one Signpost deployment, generated at its
// first start and kept in its store. Objects in clusters carry it.
func installation(ctx context.Context, documents intent.Store) (string, error) {
	is := struct {
		ID string `json:"id"`
	}{strings.ToLower(rand.Text())}
	path := intent.Join(intent.InstallationCollection, "id")
	doc, err := documents.Get(ctx, path)
	if intent.CodeOf(err) == intent.NotFound {
		var body []byte
		if body, err = json.Marshal(is); err != nil {
			return "", err
		}
		doc, err = documents.Put(ctx, intent.Write{Path: path, Body: body, Condition: intent.IfAbsent()})
		if intent.CodeOf(err) == intent.Conflict {
			doc, err = documents.Get(ctx, path)
		}
	}
	if err != nil {
		return "", err
	}
	err = json.Unmarshal(doc.Body, &is)
	return is.ID, err
}
