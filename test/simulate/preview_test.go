package simulate

import (
	"math/rand/v2"
	"testing"
	"testing/cryptotest"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/sample"
)

// foretold runs one installation whose names move between its clusters.
func foretold(t *testing.T, seed uint64, all func(string)) (h History) {
	t.Helper()
	cryptotest.SetGlobalRandom(t, seed)
	p := profile{replicas: 1 + rand.New(rand.NewPCG(seed, 3)).IntN(2), regions: true, operators: true, sick: true}
	synctest.Test(t, func(*testing.T) { h = newWorld(seed, p, all).foretold() })
	return h
}

// TestPreviewsComeTrue: in installations that are drawn by chance, what the preview of a failover
// or of a reversion says of each name is what the clusters publish afterwards. Some names are of
// suspended groups, choose clusters by labels, or have unhealthy, drained or dead clusters.
func TestPreviewsComeTrue(t *testing.T) {
	search{t, sample.Cases(6, 30, 200), func(seed uint64, all func(string)) History { return foretold(t, seed, all) }}.run()
}

// TestAnInstallationIsAHistory: the same seed gives the same installation and the same failovers.
func TestAnInstallationIsAHistory(t *testing.T) {
	for seed := range uint64(sample.Cases(1, 3, 20)) {
		require.Equal(t, foretold(t, seed, nil).Hash, foretold(t, seed, nil).Hash, "seed %d", seed)
	}
}
