package observed_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// FuzzStored: what stands among the observations of a cluster is one of a
// Service, which is found where it stands, or none, or an error that says where
// it is.
func FuzzStored(f *testing.F) {
	f.Add("service/shop/web", []byte(`{"found":true,"candidates":[{"target":"203.0.113.10"},{"target":"10.0.0.1","kind":"clusterIP"}]}`))
	f.Add("service/shop", []byte(`{}`))
	f.Add("service//", []byte(`null`))
	f.Add("deployment/shop/web", []byte(`[]`))
	f.Add("reachability", []byte(`"x"`))
	f.Add("service/a/b/c", []byte(`{`))
	f.Fuzz(func(t *testing.T, below string, value []byte) {
		fake, key := kvtest.NewFake(), "/signpost/observed/"+hub+"/"+below
		_, _, err := fake.Txn(t.Context(), nil, kv.Put(key, value))
		require.NoError(t, err)
		s := observed.New(fake)
		all, _, err := s.All(t.Context())
		if err != nil {
			require.ErrorContains(t, err, key)
			return
		}
		ofCluster, _, err := s.Services(t.Context(), hub)
		require.NoError(t, err)
		require.Equal(t, all, ofCluster)
		if len(all) == 0 {
			require.False(t, strings.HasPrefix(below, "service/") && strings.Count(below, "/") == 2)
			return
		}
		require.Len(t, all, 1)
		require.Equal(t, key, observed.ServiceKey(all[0].Service))
		one, err := s.Service(t.Context(), all[0].Service)
		require.NoError(t, err)
		require.Equal(t, all[0], *one)
	})
}
