package release_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// TestNoContextRestsOnAnObservationThatIsForgottenBeforeItIsCommitted: until a context asks for a
// Service, its worker may forget what it saw. The name would have the address, and lose it at the
// next look, although the cluster offers it all the time (I11).
func TestNoContextRestsOnAnObservationThatIsForgottenBeforeItIsCommitted(t *testing.T) {
	t.Parallel()
	w := continents(t)
	www := w.everywhere("www.lab.example", ``)
	key := observed.ServiceKey(address.Service{Cluster: paris, Namespace: "shop", Name: "www"})
	w.meanwhile("/signpost/current/"+string(www), func() {
		_, _, err := w.fake.Txn(context.Background(), nil, kv.Delete(key))
		require.NoError(t, err)
	})
	_, err := w.service.StepGroup(context.Background(), www)
	require.Equal(t, appcontext.ErrStale, intent.CodeOf(err), "%v", err)
	require.Empty(t, w.published(www))
	w.settle(www)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.10,203.0.113.30,203.0.113.40"}, w.published(www))

	w.observe(paris, "shop/www", "203.0.113.20")
	w.settle(www)
	require.Len(t, w.targets([]intent.Path{www}), 1)
	require.Contains(t, w.published(www)[0], "203.0.113.20")
}
