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
func (w stopwatch) lap(op string, began time.Time, err *error) { //nolint:gocritic // a deferred call reads the result at its end
	outcome := "ok"
	switch {
	case intent.CodeOf(*err) == intent.Unavailable:
		outcome = "unavailable"
	case *err != nil:
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

func (m measuredKV) Get(ctx context.Context, key string) (item *kv.Item, revision int64, err error) {
	defer m.lap("get", time.Now(), &err)
	return m.KV.Get(ctx, key)
}

func (m measuredKV) Range(ctx context.Context, r kv.Range) (items []kv.Item, revision int64, err error) {
	defer m.lap("range", time.Now(), &err)
	return m.KV.Range(ctx, r)
}

func (m measuredKV) Txn(ctx context.Context, when []kv.Compare, then ...kv.Op) (done bool, revision int64, err error) {
	defer m.lap("txn", time.Now(), &err)
	return m.KV.Txn(ctx, when, then...)
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

func (m measuredStore) Get(ctx context.Context, path intent.Path) (doc intent.Document, err error) {
	defer m.lap("get", time.Now(), &err)
	return m.Store.Get(ctx, path)
}

func (m measuredStore) GetAll(ctx context.Context, paths []intent.Path) (docs []intent.Document, err error) {
	defer m.lap("get", time.Now(), &err)
	return m.Store.GetAll(ctx, paths)
}

func (m measuredStore) List(ctx context.Context, options intent.ListOptions) (page intent.Page, err error) {
	defer m.lap("list", time.Now(), &err)
	return m.Store.List(ctx, options)
}

func (m measuredStore) Put(ctx context.Context, write intent.Write) (doc intent.Document, err error) {
	defer m.lap("put", time.Now(), &err)
	return m.Store.Put(ctx, write)
}

func (m measuredStore) Delete(ctx context.Context, path intent.Path, condition intent.Condition) (err error) {
	defer m.lap("delete", time.Now(), &err)
	return m.Store.Delete(ctx, path, condition)
}

func (m measuredStore) DeleteAll(ctx context.Context, paths []intent.Path) (err error) {
	defer m.lap("delete", time.Now(), &err)
	return m.Store.DeleteAll(ctx, paths)
}
