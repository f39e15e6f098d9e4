package ledger_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// FuzzStored: of what is stored as an entry of the ledger, a reader makes an entry
// that stays the same when it is written, where it was; or an error that says
// where it is.
func FuzzStored(f *testing.F) {
	f.Add("edge+hub/core/ConfigMap/shop/x", []byte(`{"uid":"u","owners":["o"],"status":"Applied"}`))
	f.Add("edge+hub/apps/Deployment/_/x", []byte(`{"since":"2026-11-01T12:00:00Z"}`))
	f.Add("edge+hub/core", []byte(`{}`))
	f.Add("edge+hub////", []byte(`null`))
	f.Add("edge+hub/a/b/c/d", []byte(`{"id":{"Cluster":"other"}}`))
	f.Fuzz(func(t *testing.T, at string, value []byte) {
		cluster, _, below := strings.Cut(at, "/")
		if cluster == "" || !below {
			return // no such key is read
		}
		fake, key := kvtest.NewFake(), "/signpost/ledger/"+at
		_, _, err := fake.Txn(t.Context(), nil, kv.Put(key, value))
		require.NoError(t, err)
		l := ledger.New(fake)
		entries, err := l.Cluster(t.Context(), cluster)
		if err != nil {
			require.ErrorContains(t, err, key)
			return
		}
		require.Len(t, entries, 1)
		if slices.Contains(strings.Split(at, "/"), "") {
			return // nobody writes such a key
		}
		require.Equal(t, key, ledger.Key(entries[0].ID))
		fence := kv.Compare{Key: key + "/absent"}
		require.NoError(t, l.Write(t.Context(), fence, entries, nil))
		again, found, err := l.Get(t.Context(), entries[0].ID)
		require.NoError(t, err)
		require.True(t, found)
		require.True(t, entries[0].Since.Equal(again.Since))
		again.Since = entries[0].Since
		require.Equal(t, entries[0], again)
	})
}

// FuzzKey: two objects never share an entry.
func FuzzKey(f *testing.F) {
	f.Add("apps", "Deployment", "shop", "x", "", "Deployment", "shop", "x")
	f.Add("", "Namespace", "", "x", "", "Namespace", "x", "x")
	f.Fuzz(func(t *testing.T, group, kind, namespace, name, otherGroup, otherKind, otherNamespace, otherName string) {
		one := bundle.ID{Cluster: hub, Group: group, Kind: kind, Namespace: namespace, Name: name}
		other := bundle.ID{Cluster: hub, Group: otherGroup, Kind: otherKind, Namespace: otherNamespace, Name: otherName}
		for _, part := range []string{group, kind, namespace, name, otherGroup, otherKind, otherNamespace, otherName} {
			if part == "core" || part == "_" || strings.Contains(part, "/") {
				return // no API group, kind, namespace or name of an object
			}
		}
		require.Equal(t, one == other, ledger.Key(one) == ledger.Key(other))
	})
}
