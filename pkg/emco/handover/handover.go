// Package handover has EMCO's rsync put objects into clusters, in place of
// Signpost's own worker.
//
// The objects of one owner on one cluster are handed over as an app context of its own.
// It is not changed any more, because rsync compares two of them, and reads them when it
// likes. So each change is a context more, and rsync is asked to replace the last one by
// it. Changes are made one at a time. A record in the store says which context rsync is
// to have, before rsync is asked. In the contexts, rsync notes how far it has come. So
// the work goes on after a restart where it stood, and asking twice changes nothing.
//
// rsync makes no difference between what it has made and what was there. Objects that
// several owners have in common, namespaces and definitions of kinds, are handed over by
// themselves. Rsync creates those that are missing, and they stay.
package handover

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// Rsync is what is asked of rsync. A success means that the work is queued.
type Rsync interface {
	Install(ctx context.Context, contextID string) error
	Update(ctx context.Context, from, to string) error
	Uninstall(ctx context.Context, contextID string) error
}

// Options are what a Store needs. KV, Contexts and Rsync must be set.
type Options struct {
	KV       kv.KV
	Contexts *appcontext.Store
	Rsync    Rsync
	Now      func() time.Time
	Logger   *slog.Logger
	Metrics  prometheus.Registerer
}

// Store knows what was handed over.
type Store struct {
	Options
	emco  *emco.Store
	asked *prometheus.CounterVec
}

// New makes a Store.
func New(options Options) *Store {
	if options.Now == nil {
		options.Now = time.Now
	}
	options.Logger = cmp.Or(options.Logger, slog.New(slog.DiscardHandler))
	asked := promauto.With(options.Metrics).NewCounterVec(prometheus.CounterOpts{
		Name: "signpost_rsync_requests_total", Help: "Requests to EMCO's rsync, by call and what they came to: taken, refused or silent.",
	}, []string{"call", "outcome"})
	return &Store{Options: options, emco: emco.NewStore(options.KV, options.Now), asked: asked}
}

// Prerequisites stands for the owner of what owners have in common on a
// cluster.
const Prerequisites appcontext.Owner = "prerequisites"

// IsPrerequisite tells whether an object is handed over as one.
func IsPrerequisite(id bundle.ID) bool {
	return id.Kind == "Namespace" && id.Group == "" || id.Kind == "CustomResourceDefinition"
}

const prefix = "/signpost/rsync/"

func clusterPrefix(cluster string) string { return prefix + cluster + "/" }

func key(cluster string, owner appcontext.Owner) string {
	return clusterPrefix(cluster) + string(owner)
}

// Dissolve drops all that is known to be handed over, with its contexts. Signpost's own
// worker then takes over what rsync had in the clusters.
func Dissolve(ctx context.Context, store kv.KV) error {
	items, _, err := store.Range(ctx, kv.Range{Prefix: prefix})
	if err != nil {
		return err
	}
	for _, item := range items {
		var r record
		if err := json.Unmarshal(item.Value, &r); err != nil {
			return fmt.Errorf("%s: %w", item.Key, err)
		}
		var ops []kv.Op
		for _, id := range spend(r.Spent, r.Context, r.Before, r.Rest, r.First, r.Draft) {
			ops = append(ops, kv.DeletePrefix(contextKey(id)))
		}
		if _, _, err := store.Txn(ctx, []kv.Compare{kv.Unchanged(item.Key, &item)}, append(ops, kv.Delete(item.Key))...); err != nil {
			return err
		}
	}
	return nil
}

// Forget is what drops all that is known to be handed over for a cluster.
func Forget(cluster string) kv.Op { return kv.DeletePrefix(clusterPrefix(cluster)) }

// record says what rsync has of an owner on a cluster. Its contexts are ids,
// empty for none.
type record struct {
	Context   string   `json:"context,omitempty"`   // what rsync is to have in the cluster
	Before    string   `json:"before,omitempty"`    // what it had before, of which something may be left there
	Rest      string   `json:"rest,omitempty"`      // holds what was left of Before when rsync was done, to be deleted
	First     string   `json:"first,omitempty"`     // where rsync notes what becomes of objects
	Draft     string   `json:"draft,omitempty"`     // is being written, and rsync does not know of it
	Spent     []string `json:"spent,omitempty"`     // to be removed when rsync is done with them
	Former    []string `json:"former,omitempty"`    // what it was to have earlier, the latest ones
	Level     string   `json:"level,omitempty"`     // with Namespace, whose credentials rsync uses for Context
	Namespace string   `json:"namespace,omitempty"` // as above
	Admin     bool     `json:"admin,omitempty"`     // rsync has no credentials but those of level 0 for the cluster
}

// Named answers the ids of the contexts that a key about a handover names, and which
// belong to it; none for any other key. The error is that of one that cannot be read.
func Named(item kv.Item) ([]string, error) {
	if !strings.HasPrefix(item.Key, prefix) {
		return nil, nil
	}
	var r record
	if err := json.Unmarshal(item.Value, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", item.Key, err)
	}
	return spend(spend(r.Spent, r.Former...), r.Context, r.Before, r.Rest, r.First, r.Draft), nil
}

func (r record) empty() bool {
	return r.Context == "" && r.Before == "" && r.Rest == "" && r.Draft == "" && len(r.Spent) == 0
}

// Cluster reads what was handed over for a cluster, by owner. Each write compares fence,
// the reader's ownership of the cluster.
func (s *Store) Cluster(ctx context.Context, cluster string, fence kv.Compare) (map[appcontext.Owner]*Handover, error) {
	items, _, err := s.KV.Range(ctx, kv.Range{Prefix: clusterPrefix(cluster)})
	if err != nil {
		return nil, err
	}
	all := map[appcontext.Owner]*Handover{}
	for _, item := range items {
		h := s.Handover(cluster, appcontext.Owner(strings.TrimPrefix(item.Key, clusterPrefix(cluster))), fence)
		if err := json.Unmarshal(item.Value, &h.record); err != nil {
			return nil, fmt.Errorf("%s: %w", item.Key, err)
		}
		if err := h.load(ctx); err != nil {
			return nil, err
		}
		all[h.owner] = h
	}
	return all, nil
}

// Handover is that of an owner of whom nothing was handed over yet.
func (s *Store) Handover(cluster string, owner appcontext.Owner, fence kv.Compare) *Handover {
	return &Handover{
		handed: handed{store: s, cluster: cluster, owner: owner, fence: fence}, attempts: attempts{now: s.Now, begun: s.Now()},
		logger: s.Logger.With("cluster", cluster, "owner", string(owner)),
	}
}

// Watch delivers the contexts that rsync has begun to work on, or is done with,
// from a revision of the store on.
func (s *Store) Watch(ctx context.Context, from int64) <-chan emco.Change {
	return s.emco.WatchActive(ctx, from)
}

// Children answers the contexts by which rsync, and so EMCO's orchestrator, knows an
// owner's own one, where the owner has, or had, objects.
func (s *Store) Children(ctx context.Context, owner appcontext.Owner, clusters []string) (appcontext.Children, error) {
	var c appcontext.Children
	for _, cluster := range clusters {
		item, _, err := s.KV.Get(ctx, key(cluster, owner))
		if err != nil {
			return appcontext.Children{}, err
		}
		if item == nil {
			continue
		}
		var r record
		if err := json.Unmarshal(item.Value, &r); err != nil {
			return appcontext.Children{}, fmt.Errorf("%s: %w", item.Key, err)
		}
		c.Now, c.Former = spend(c.Now, r.Context), spend(c.Former, append(r.Former, r.Before)...)
	}
	slices.Sort(c.Now)
	slices.Sort(c.Former)
	return c, nil
}

// Wanted is what an owner is to have on a cluster.
type Wanted struct {
	Objects   bundle.Bundle
	ContextID string               // of the owner's own context, whose meta says by whose credentials; empty for Prerequisites
	Applied   func(bundle.ID) bool // whether an object was ever seen to be applied; nil: all may have been
}

// defaultNamespace is what rsync keeps the credentials of level 0 under.
const defaultNamespace = "default"

// meta is the description of a context that is handed over. By level and namespace, rsync
// finds its credentials; it keeps those of level 0 in "default".
func (s *Store) meta(ctx context.Context, contextID string) (appcontext.Meta, error) {
	meta := appcontext.Meta{Level: "0"}
	if contextID != "" {
		var err error
		if meta, err = s.Contexts.Meta(ctx, contextID); err != nil {
			return meta, err
		}
	}
	if meta.Level == "0" {
		meta.Namespace = defaultNamespace
	}
	meta.ChildContextIDs = []string{}
	return meta, nil
}

// contents are the objects of a context that was handed over; none of one that
// is not there.
func (s *Store) contents(ctx context.Context, id, cluster string) (bundle.Bundle, error) {
	if id == "" {
		return nil, nil
	}
	read, err := s.emco.Read(ctx, id)
	if intent.CodeOf(err) == intent.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var objects []bundle.Object
	for _, app := range read.Apps {
		on := app.Cluster(cluster)
		if on == nil {
			continue
		}
		for _, resource := range on.Resources {
			if !on.Lists(resource.Key) {
				continue
			}
			object, err := resource.Object(cluster, app.Name)
			if err != nil {
				return nil, err
			}
			objects = append(objects, object.Short())
		}
	}
	return bundle.Collect(objects)
}

// lost is answered to a worker that does not own the cluster any more.
func lost(err error) error { return fmt.Errorf("%w: %w", ledger.ErrLost, err) }
