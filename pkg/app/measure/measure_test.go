package measure

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api/probes"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	etcdstore "github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// counts are how often requests were measured, by "store op outcome".
func counts(t *testing.T, registry *prometheus.Registry) map[string]uint64 {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	found := map[string]uint64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range m.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			found[labels["store"]+" "+labels["op"]+" "+labels["outcome"]] = m.GetHistogram().GetSampleCount()
		}
	}
	return found
}

// TestRequestsToStoresAreMeasured: by what became of them; an answer that is no
// for a reason of the caller's is no failure of the store.
func TestRequestsToStoresAreMeasured(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	took := NewRequests()
	registry := prometheus.NewRegistry()
	registry.MustRegister(took)
	fake := kvtest.NewFake()
	measured := KV(fake, took, "etcd")
	_, _, err := measured.Get(ctx, "k")
	require.NoError(t, err)
	_, _, err = measured.Range(ctx, kv.Range{Prefix: "k"})
	require.NoError(t, err)
	done, _, err := measured.Txn(ctx, []kv.Compare{kv.Exists("k")}, kv.Put("k", nil))
	require.NoError(t, err)
	require.False(t, done)
	fake.Before = func(string, string) error { return &intent.Error{Code: intent.Unavailable} }
	_, _, err = measured.Get(ctx, "k")
	require.Error(t, err)
	require.Equal(t, map[string]uint64{"etcd get ok": 1, "etcd range ok": 1, "etcd txn ok": 1, "etcd get unavailable": 1}, counts(t, registry))

	took.Reset()
	documents := Documents(etcdstore.New(kvtest.NewFake()), took, "mongodb")
	path := intent.Join("projects", "shop")
	_, err = documents.Put(ctx, intent.Write{Path: path, Body: []byte("{}")})
	require.NoError(t, err)
	_, err = documents.Put(ctx, intent.Write{Path: path, Body: []byte("[]"), Condition: intent.IfAbsent()})
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	_, err = documents.Get(ctx, path)
	require.NoError(t, err)
	_, err = documents.GetAll(ctx, []intent.Path{path})
	require.NoError(t, err)
	_, err = documents.List(ctx, intent.ListOptions{Collection: "projects"})
	require.NoError(t, err)
	require.NoError(t, documents.Delete(ctx, path, intent.Always()))
	require.Equal(t, map[string]uint64{
		"mongodb put ok": 1, "mongodb put refused": 1, "mongodb get ok": 2, "mongodb list ok": 1, "mongodb delete ok": 1,
	}, counts(t, registry))
}

// TestEtcdsSizeIsAMetric: of any etcd, while it answers and as far as it tells.
func TestEtcdsSizeIsAMetric(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason, metrics string
		size            etcd.Size
		err             error
	}{
		{"of 3.6 and up", "signpost_etcd_database_bytes 3\nsignpost_etcd_database_in_use_bytes 2\nsignpost_etcd_database_quota_bytes 9\n", etcd.Size{Allocated: 3, InUse: 2, Quota: 9}, nil},
		{"before", "signpost_etcd_database_bytes 3\nsignpost_etcd_database_in_use_bytes 2\n", etcd.Size{Allocated: 3, InUse: 2}, nil},
		{"that does not answer", "", etcd.Size{}, errors.New("no answer")},
	} {
		registry := prometheus.NewRegistry()
		Database(func(context.Context) (etcd.Size, error) { return c.size, c.err }, registry)
		require.Equal(t, c.metrics, samples(t, registry), c.reason)
	}
}

// samples are a registry's metrics as they are served, without comments.
func samples(t *testing.T, registry *prometheus.Registry) string {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	var served, lines strings.Builder
	for _, family := range families {
		_, err := expfmt.MetricFamilyToText(&served, family)
		require.NoError(t, err)
	}
	for line := range strings.Lines(served.String()) {
		if !strings.HasPrefix(line, "#") {
			lines.WriteString(line)
		}
	}
	return lines.String()
}

func TestTheBuildIsAMetric(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	Build(probes.Build{Version: "v1.2.3", Commit: "c0ffee", Go: "go1.26"}, registry)
	require.Equal(t, "signpost_build_info{commit=\"c0ffee\",go=\"go1.26\",version=\"v1.2.3\"} 1\n", samples(t, registry))
}

// TestNamesThatMayNotGoAreAMetric: how many, by their record; none where all may.
func TestNamesThatMayNotGoAreAMetric(t *testing.T) {
	t.Parallel()
	held := map[intent.Path]int{}
	registry := prometheus.NewRegistry()
	Removals(func() map[intent.Path]int { return held }, registry)
	require.Empty(t, samples(t, registry))
	held[intent.Join("projects", "shop", "dns-update-records", "lab")] = 7
	held[intent.Join("projects", "bank", "dns-update-records", "lab")] = 120
	require.Equal(t, `signpost_removals_frozen{project="bank",record="lab"} 120
signpost_removals_frozen{project="shop",record="lab"} 7
`, samples(t, registry))
}
