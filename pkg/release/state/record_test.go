package state

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// TestAProviderIsReadAsItIsNow, also if another process has changed it since it was decoded, and not at all once it is gone.
func TestAProviderIsReadAsItIsNow(t *testing.T) {
	t.Parallel()
	const lab = intent.Path("projects/shop/dns-update-records/lab")
	documents := etcd.New(kvtest.NewFake())
	_, err := documents.Put(t.Context(), intent.Write{Path: lab, Body: []byte(`{}`)})
	require.NoError(t, err)
	here, elsewhere := &Store{Documents: documents}, &Store{Documents: documents}
	for seq := range int64(3) {
		was, err := elsewhere.RecordLifecycle(t.Context(), lab)
		require.NoError(t, err)
		was.Seq, was.Deployed, was.Record = seq+1, true, plan.Record{Path: lab}
		_, err = elsewhere.SwapRecord(t.Context(), lab, was)
		require.NoError(t, err)
		for range 2 { // the second time from memory
			is, err := here.RecordLifecycle(t.Context(), lab)
			require.NoError(t, err)
			require.Equal(t, seq+1, is.Seq)
		}
	}
	require.NoError(t, documents.Delete(t.Context(), LifecyclePath(lab), intent.Always()))
	is, err := here.RecordLifecycle(t.Context(), lab)
	require.NoError(t, err)
	require.Zero(t, is, "it is gone")
}
