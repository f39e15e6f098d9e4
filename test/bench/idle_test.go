//go:build !race

// The race detector takes several times the memory.

package bench

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

// idleBudget is what a server that has nothing to do may keep in memory, its
// embedded store included.
const idleBudget = 120 << 20

func TestAFreshIdleServerIsSmall(t *testing.T) {
	program, err := fixture.Build(t.Context(), t.TempDir())
	require.NoError(t, err)
	server, err := fixture.NewSignpost(program, t.TempDir())
	require.NoError(t, err)
	t.Cleanup(server.Kill)
	require.NoError(t, server.Start(t.Context()))

	most := int64(0)
	const rounds = 12 * time.Second // all that happens at times happens once
	wait.Always(t, rounds, "the server to be small", func() error {
		size, err := server.Resident()
		most = max(most, size)
		if err == nil && size > idleBudget {
			err = fmt.Errorf("%d MiB are resident, of %d MiB at most", size>>20, idleBudget>>20)
		}
		return err
	})
	t.Logf("at most %.1f MiB were resident", float64(most)/(1<<20))
}
