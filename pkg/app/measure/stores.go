package measure

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// NewRequests makes the metric of requests to stores.
func NewRequests() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "signpost_store_request_duration_seconds", Help: "Duration of requests to the stores.",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 15},
	}, []string{"store", "op", "outcome"})
}

// stopwatch measures the requests to one store.
type stopwatch struct{ took prometheus.ObserverVec }

func newStopwatch(all *prometheus.HistogramVec, store string) stopwatch {
	return stopwatch{all.MustCurryWith(prometheus.Labels{"store": store})}
}

// lap notes a request that began then and ends now. A refusal, such as a lost race, is no
// failure of the store.
func (w stopwatch) lap(op string, began time.Time, err error) {
	outcome := "ok"
	switch {
	case intent.CodeOf(err) == intent.Unavailable:
		outcome = "unavailable"
	case err != nil:
		outcome = "refused"
	}
	w.took.With(prometheus.Labels{"op": op, "outcome": outcome}).Observe(time.Since(began).Seconds())
}

// KV returns a store whose requests are measured, under a name.
func KV(of kv.KV, took *prometheus.HistogramVec, store string) kv.KV {
	return measuredKV{of, newStopwatch(took, store)}
}

// measuredKV is a KV whose requests are measured.
type measuredKV struct {
	kv.KV
	stopwatch
}

// Get implements kv.KV.
func (m measuredKV) Get(ctx context.Context, key string) (*kv.Item, int64, error) {
	began := time.Now()
	item, revision, err := m.KV.Get(ctx, key)
	m.lap("get", began, err)
	return item, revision, err
}

// Range implements kv.KV.
func (m measuredKV) Range(ctx context.Context, r kv.Range) ([]kv.Item, int64, error) {
	began := time.Now()
	items, revision, err := m.KV.Range(ctx, r)
	m.lap("range", began, err)
	return items, revision, err
}

// Txn implements kv.KV.
func (m measuredKV) Txn(ctx context.Context, when []kv.Compare, then ...kv.Op) (bool, int64, error) {
	began := time.Now()
	done, revision, err := m.KV.Txn(ctx, when, then...)
	m.lap("txn", began, err)
	return done, revision, err
}

// Documents returns a document store whose requests are measured, under a name.
func Documents(of intent.Store, took *prometheus.HistogramVec, store string) intent.Store {
	return measuredStore{of, newStopwatch(took, store)}
}

// measuredStore is a document store whose requests are measured.
type measuredStore struct {
	intent.Store
	stopwatch
}

// Get implements intent.Store.
func (m measuredStore) Get(ctx context.Context, path intent.Path) (intent.Document, error) {
	began := time.Now()
	doc, err := m.Store.Get(ctx, path)
	m.lap("get", began, err)
	return doc, err
}

// GetAll implements intent.Store.
func (m measuredStore) GetAll(ctx context.Context, paths []intent.Path) ([]intent.Document, error) {
	began := time.Now()
	docs, err := m.Store.GetAll(ctx, paths)
	m.lap("get", began, err)
	return docs, err
}

// List implements intent.Store.
func (m measuredStore) List(ctx context.Context, options intent.ListOptions) (intent.Page, error) {
	began := time.Now()
	page, err := m.Store.List(ctx, options)
	m.lap("list", began, err)
	return page, err
}

// Put implements intent.Store.
func (m measuredStore) Put(ctx context.Context, write intent.Write) (intent.Document, error) {
	began := time.Now()
	doc, err := m.Store.Put(ctx, write)
	m.lap("put", began, err)
	return doc, err
}

// Delete implements intent.Store.
func (m measuredStore) Delete(ctx context.Context, path intent.Path, condition intent.Condition) error {
	began := time.Now()
	err := m.Store.Delete(ctx, path, condition)
	m.lap("delete", began, err)
	return err
}
