package monitoring

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/stretchr/testify/require"
)

// step is how often series are scraped and rules are looked at.
const step = time.Minute

// scraped are series as Prometheus keeps them.
type scraped []*storage.SeriesEntry

// scrape makes series of descriptions in the notation of Prometheus' own tests,
// as in up{job="a"} 0+1x10: a value for each step, _ for none.
func scrape(t *testing.T, descriptions ...string) scraped {
	t.Helper()
	var all scraped
	for _, description := range descriptions {
		of, values, err := parser.ParseSeriesDesc(description)
		require.NoError(t, err, description)
		var samples []chunks.Sample
		for i, value := range values {
			if !value.Omitted {
				samples = append(samples, sample{at: time.Duration(i) * step, value: value.Value})
			}
		}
		all = append(all, storage.NewListSeries(of, samples))
	}
	return all
}

// Querier implements storage.Queryable.
func (s scraped) Querier(int64, int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		found := &selection{SeriesSet: storage.EmptySeriesSet(), next: -1}
		for _, series := range s {
			if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(series.Lset.Get(m.Name)) }) {
				found.series = append(found.series, series)
			}
		}
		return found
	}}, nil
}

// selection walks over some of the series.
type selection struct {
	storage.SeriesSet // which has no errors
	series            scraped
	next              int
}

func (s *selection) Next() bool {
	s.next++
	return s.next < len(s.series)
}

func (s *selection) At() storage.Series { return s.series[s.next] }

// recorded are the series with those of all recording rules.
func (s scraped) recorded(t *testing.T, until time.Duration) scraped {
	t.Helper()
	all := s
	for _, g := range rules(t) {
		for _, r := range g.Rules {
			if r.Record == "" {
				continue
			}
			for _, series := range all.query(t, r, until) {
				var samples []chunks.Sample
				for _, point := range series.Floats {
					samples = append(samples, sample{at: time.Duration(point.T) * time.Millisecond, value: point.F})
				}
				of := labels.NewBuilder(series.Metric).Set(labels.MetricName, r.Record).Labels()
				all = append(all, storage.NewListSeries(of, samples))
			}
		}
	}
	return all
}

// query is the value of a rule's expression at each step.
func (s scraped) query(t *testing.T, r rule, until time.Duration) promql.Matrix {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute})
	query, err := engine.NewRangeQuery(context.Background(), s, nil, r.Expr, time.Unix(0, 0), time.Unix(0, 0).Add(until), step)
	require.NoError(t, err, r.Expr)
	t.Cleanup(query.Close)
	matrix, err := query.Exec(t.Context()).Matrix()
	require.NoError(t, err, r.Expr)
	return matrix
}

// firing tells at which steps an alert fires, for any series of its own: its
// expression has held since as long ago as it asks for.
func (s scraped) firing(t *testing.T, r rule, until time.Duration) []time.Duration {
	t.Helper()
	hold, err := model.ParseDuration(r.For)
	require.NoError(t, err, r.Alert)
	var at []time.Duration
	for _, series := range s.query(t, r, until) {
		at = append(at, held(series.Floats, time.Duration(hold))...)
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// held lists the points of a series before which, for a time, none is missing.
func held(points []promql.FPoint, hold time.Duration) []time.Duration {
	var at []time.Duration
	var since, before time.Duration
	for i, point := range points {
		now := time.Duration(point.T) * time.Millisecond
		if i == 0 || now-before > step {
			since = now
		}
		if before = now; now-since >= hold {
			at = append(at, now)
		}
	}
	return at
}

// sample is one value that was scraped.
type sample struct {
	at    time.Duration
	value float64
}

func (s sample) T() int64                      { return s.at.Milliseconds() }
func (s sample) F() float64                    { return s.value }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }
