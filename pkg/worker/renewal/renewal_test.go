package renewal

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/seal"
	"github.com/signpost-dns/signpost/pkg/storage/vault"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/account"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/kubeapi"
)

const (
	one intent.Path = "cluster-providers/dc/clusters/one"
	two intent.Path = "cluster-providers/dc/clusters/two"
)

const month = 30 * 24 * time.Hour

// world has clusters whose API servers give tokens of a month.
type world struct {
	t         *testing.T
	metrics   *prometheus.Registry // of the last renewer
	fake      *kvtest.Fake
	documents intent.Store
	values    *vault.Vault
	now       time.Time
	log       bytes.Buffer

	down  map[intent.Path]bool
	lasts time.Duration // of the tokens that are given
	meet  func()        // is called while a cluster gives a token; nil: nothing

	mu    sync.Mutex // clusters are asked at once
	asked []intent.Path
}

func newWorld(t *testing.T) *world {
	key, err := seal.NewKey(bytes.Repeat([]byte{1}, 32))
	require.NoError(t, err)
	sealer, err := seal.New(key)
	require.NoError(t, err)
	w := &world{t: t, fake: kvtest.NewFake(), now: time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC), down: map[intent.Path]bool{}, lasts: month}
	clock := func() time.Time { return w.now }
	w.documents = etcd.New(w.fake, etcd.WithClock(clock))
	w.values = vault.New(w.documents, sealer, clock)
	w.put("projects/shop", intent.Resource[intent.Project]{}, nil)
	w.put("cluster-providers/dc", intent.Resource[intent.ClusterProvider]{}, nil)
	return w
}

func (w *world) put(path intent.Path, body any, refs []intent.Path) {
	w.t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(w.t, err)
	_, err = w.documents.Put(w.t.Context(), intent.Write{Path: path, Body: raw, Refs: refs, Condition: intent.Always()})
	require.NoError(w.t, err)
}

// connect registers a cluster by a kubeconfig with a token.
func (w *world) connect(path intent.Path, token string) {
	w.t.Helper()
	id, err := w.values.Store(w.t.Context(), path, "/spec/kubeconfig", kubeconfig(token))
	require.NoError(w.t, err)
	spec := intent.Cluster{KubeconfigRef: id, Uses: []intent.ClusterUse{intent.UseAddresses}, Projects: []string{"shop"}}
	w.put(path, intent.Resource[intent.Cluster]{Metadata: intent.Metadata{Name: path.Name()}, Spec: spec},
		[]intent.Path{path.Parent(), "projects/shop", intent.Join(intent.SecretCollection, id)})
}

func kubeconfig(token string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Config","current-context":"c","clusters":[{"name":"c","cluster":{"server":"https://one.example:6443"}}],
		"users":[{"name":"u","user":{"token":%q}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}]}`, token)
}

// bound is a token of the account, as API servers write them.
func bound(issued time.Time, lasts time.Duration) string {
	claims := fmt.Sprintf(`{"iat":%d,"exp":%d,"kubernetes.io":{"namespace":"signpost","serviceaccount":{"name":"signpost"}}}`, issued.Unix(), issued.Add(lasts).Unix())
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
}

// RenewToken implements Clusters.
func (w *world) RenewToken(_ context.Context, path intent.Path, _ []byte) (account.Token, error) {
	w.mu.Lock()
	w.asked = append(w.asked, path)
	w.mu.Unlock()
	if w.down[path] {
		return account.Token{}, errors.New("connection refused")
	}
	if w.meet != nil {
		w.meet()
	}
	return account.Token{Value: bound(w.now, w.lasts), Expires: w.now.Add(w.lasts)}, nil
}

func (w *world) renewer() *Renewer {
	w.metrics = prometheus.NewRegistry()
	return New(w.documents, w.values, w, func() time.Time { return w.now }, slog.New(slog.NewTextHandler(&w.log, nil)), w.metrics)
}

// expiry is the metric of cluster one, the first by name.
func (w *world) expiry() float64 {
	w.t.Helper()
	families, err := w.metrics.Gather()
	require.NoError(w.t, err)
	require.Equal(w.t, "signpost_cluster_credentials_expiry_timestamp_seconds", families[0].GetName())
	require.Equal(w.t, "dc+one", families[0].GetMetric()[0].GetLabel()[0].GetValue())
	return families[0].GetMetric()[0].GetGauge().GetValue()
}

// shows is a cluster's document, and the credentials of the kubeconfig that it refers to.
func (w *world) shows(path intent.Path) (intent.Document, intent.Cluster, account.Credentials) {
	w.t.Helper()
	doc, err := w.documents.Get(w.t.Context(), path)
	require.NoError(w.t, err)
	cluster, err := intent.Of[intent.Cluster](doc)
	require.NoError(w.t, err)
	raw, err := w.values.Secret(w.t.Context(), cluster.Spec.KubeconfigRef)
	require.NoError(w.t, err)
	config, err := kubeapi.ParseKubeconfig(raw)
	require.NoError(w.t, err)
	require.Equal(w.t, "https://one.example:6443", config.Host)
	return doc, cluster.Spec, account.CredentialsOf(config)
}

func TestATokenIsRenewedInTheSecondHalfOfItsLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(one, bound(w.now, month))
	r := w.renewer()
	w.now = w.now.Add(month/2 - time.Minute)
	require.NoError(t, r.pass(t.Context()))
	require.Empty(t, w.asked)

	w.now = w.now.Add(time.Minute)
	require.NoError(t, r.pass(t.Context()))
	doc, cluster, shown := w.shows(one)
	require.Equal(t, w.now.Add(month), shown.Expires)
	require.Equal(t, shown.Expires, *cluster.Expires)
	require.Equal(t, []intent.ClusterUse{intent.UseAddresses}, cluster.Uses, "the rest stays")
	require.Equal(t, int64(2), doc.Revision)
	require.ElementsMatch(t, []intent.Path{"cluster-providers/dc", "projects/shop", intent.Join(intent.SecretCollection, cluster.KubeconfigRef)}, doc.Refs)

	require.NoError(t, r.pass(t.Context()))
	require.Len(t, w.asked, 1, "it is done")
	require.InDelta(t, shown.Expires.Unix(), w.expiry(), 0)
}

// TestReplicasMayRenewATokenAtOnce: one of their tokens counts.
func TestReplicasMayRenewATokenAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(one, bound(w.now, month))
	w.now = w.now.Add(month / 2)
	other := w.renewer()
	w.meet = func() {
		w.meet = nil
		require.NoError(t, other.pass(t.Context()))
	}
	require.NoError(t, w.renewer().pass(t.Context()))
	require.Len(t, w.asked, 2)
	doc, _, shown := w.shows(one)
	require.Equal(t, int64(2), doc.Revision)
	require.False(t, shown.Due(w.now))
	require.NotContains(t, w.log.String(), "cannot")
}

func TestAKubeconfigThatWasGivenMeanwhileCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(one, bound(w.now, month))
	w.now = w.now.Add(month / 2)
	w.meet = func() { w.connect(one, "a-token-of-the-user") }
	require.NoError(t, w.renewer().pass(t.Context()))
	_, _, shown := w.shows(one)
	require.Zero(t, shown)
}

// TestAClusterThatDoesNotAnswerHoldsUpNoOther, is told of once, and is renewed when it is
// back.
func TestAClusterThatDoesNotAnswerHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ends := w.now.Add(month)
	w.connect(one, bound(w.now, month))
	w.connect(two, bound(w.now, month))
	w.now = w.now.Add(month / 2)
	w.down[one] = true
	r := w.renewer()
	for range 3 {
		require.NoError(t, r.pass(t.Context()))
	}
	_, _, shown := w.shows(one)
	require.Equal(t, ends, shown.Expires)
	require.InDelta(t, ends.Unix(), w.expiry(), 0, "alerts follow from it")
	_, _, shown = w.shows(two)
	require.False(t, shown.Due(w.now))
	require.Equal(t, 1, bytes.Count(w.log.Bytes(), []byte("cannot be renewed")))
	delete(w.down, one)
	require.NoError(t, r.pass(t.Context()))
	_, _, shown = w.shows(one)
	require.False(t, shown.Due(w.now))
}

// TestACrashAtAnyWriteLeavesAKubeconfigThatWorks, and the next pass finishes.
func TestACrashAtAnyWriteLeavesAKubeconfigThatWorks(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			w := newWorld(t)
			w.connect(one, bound(w.now, month))
			w.now = w.now.Add(month / 2)
			writes := 0
			crash := func(op, _ string) error {
				if op != "txn" {
					return nil
				}
				writes++
				if writes < at {
					return nil
				}
				return errors.New("killed")
			}
			if after {
				w.fake.After = crash
			} else {
				w.fake.Before = crash
			}
			require.NoError(t, w.renewer().pass(t.Context()))
			w.fake.Before, w.fake.After = nil, nil
			w.shows(one)
			require.NoError(t, w.renewer().pass(t.Context()))
			_, _, shown := w.shows(one)
			require.False(t, shown.Due(w.now))
			if writes < at {
				require.Greater(t, at, 1)
				break
			}
		}
	}
}

func TestNothingElseIsRenewed(t *testing.T) {
	t.Parallel()
	for reason, token := range map[string]string{
		"a token without an end": "static", "not of a ServiceAccount": "e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"iat":1,"exp":2}`)) + ".c2ln",
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.connect(one, token)
			w.put(two, intent.Resource[intent.Cluster]{Spec: intent.Cluster{Directory: "two"}}, nil)
			require.NoError(t, w.renewer().pass(t.Context()))
			require.Empty(t, w.asked)
		})
	}
}

// TestATokenThatEndsNoLaterIsNotStored: an API server whose clock is wrong would be asked for
// ever.
func TestATokenThatEndsNoLaterIsNotStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.connect(one, bound(w.now, month))
	w.now, w.lasts = w.now.Add(month/2), month/2
	require.NoError(t, w.renewer().pass(t.Context()))
	doc, _, _ := w.shows(one)
	require.Equal(t, int64(1), doc.Revision)
	require.Contains(t, w.log.String(), "ends no later")
}

// TestAKubeconfigThatCannotBeOpenedHoldsUpNoOther: it was sealed by a key that is lost.
func TestAKubeconfigThatCannotBeOpenedHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(intent.Join(intent.SecretCollection, "lost"), map[string]string{"sealed": "x"}, nil)
	w.put(one, intent.Resource[intent.Cluster]{Spec: intent.Cluster{KubeconfigRef: "lost"}}, nil)
	w.connect(two, bound(w.now, month))
	w.now = w.now.Add(month / 2)
	require.NoError(t, w.renewer().pass(t.Context()))
	require.Equal(t, []intent.Path{two}, w.asked)
}

func TestTokensAreRenewedAsTimePasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.now, w.lasts = time.Now(), time.Hour
		w.connect(one, bound(w.now, time.Hour))
		r := w.renewer()
		r.now = func() time.Time { w.now = time.Now(); return w.now }
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = r.Run(ctx) }()
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		_, _, shown := w.shows(one)
		require.True(t, shown.Expires.After(time.Now()))
		require.LessOrEqual(t, len(w.asked), 7)
		cancel()
		synctest.Wait()
	})
}
