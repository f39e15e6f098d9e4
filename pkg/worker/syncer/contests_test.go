package syncer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/apply"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/clustertest"
)

// deployed is a scene with an external-dns in the cluster, as it is wanted.
func deployed(t *testing.T) (*scene, *clustertest.Fake, bundle.Object) {
	t.Helper()
	s := newScene(t, hub)
	w, _ := s.start("a")
	objects := publishing(t, "1")
	s.commit("dig", objects...)
	s.settled(w, objects...)
	return s, s.clusters[hub], objects[2]
}

// TestWhatIsSignpostsAloneIsRestored: a field that somebody has added is taken out.
func TestWhatIsSignpostsAloneIsRestored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, f, deployment := deployed(t)
		f.Add(deployment.ID, "kubectl-edit", "spec.template.spec.tolerations", true)
		s.until("it is taken out", func() bool { return len(f.Additions(deployment.ID).Exclusive) == 0 })
		s.until("it is applied as it is", func() bool {
			e := s.entries(hub)[deployment.ID]
			return e.Status == ledger.Applied && e.ResourceVersion == f.Live(deployment.ID).ResourceVersion
		})
		require.InDelta(t, 1, s.metric("signpost_sync_drift_repaired_total"), 0)
		require.Empty(t, s.entries(hub)[deployment.ID].Drift)
	})
}

// TestOtherAdditionsAreTold, and stay as they are.
func TestOtherAdditionsAreTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, f, deployment := deployed(t)
		f.Add(deployment.ID, "kubectl-edit", "spec.minReadySeconds", false)
		s.until("it is told", func() bool {
			return s.entries(hub)[deployment.ID].Drift == "others have added to it, and it stays: spec.minReadySeconds (kubectl-edit)"
		})
		require.Equal(t, ledger.Applied, s.entries(hub)[deployment.ID].Status)
		require.NotEmpty(t, f.Additions(deployment.ID).Other)
	})
}

// TestWhoeverUndoesEachRepairIsToldOfInstead: three repairs in ten minutes are enough.
// After these it is tried again, and what is wanted anew at once.
func TestWhoeverUndoesEachRepairIsToldOfInstead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, f, deployment := deployed(t)
		began := time.Now()
		for n := range apply.ContestLimit {
			f.Add(deployment.ID, "rival", "spec.template.spec.tolerations", true)
			s.until("it is put back", func() bool { return len(f.Additions(deployment.ID).Exclusive) == 0 })
			require.Less(t, time.Since(began), time.Minute, n)
		}
		f.Add(deployment.ID, "rival", "spec.template.spec.tolerations", true)
		s.until("it is a conflict", func() bool { return s.entries(hub)[deployment.ID].Status == ledger.Failed })
		require.Contains(t, s.entries(hub)[deployment.ID].Message, `conflict: "rival" changed it again each of the 3 times that it was put back within 10m0s`)
		f.Forget()
		time.Sleep(apply.ContestWithin / 2)
		require.Empty(t, writes(f), "it is left as it is")
		require.NotEmpty(t, f.Additions(deployment.ID).Exclusive)
		require.InDelta(t, 1, s.metric("signpost_sync_conflicts_total"), 0)

		anew := publishing(t, "1")
		anew[2] = marked(t, "apps/v1", "Deployment", "external-dns-lab", "2")
		s.commit("dig", anew...)
		s.until("what is wanted anew is there", func() bool { return s.entries(hub)[deployment.ID].Status == ledger.Applied })
	})
}

// TestAContestIsForgottenAfterTenMinutes, of which the changes did not stop meanwhile.
func TestAContestIsForgottenAfterTenMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, f, deployment := deployed(t)
		for range apply.ContestLimit + 1 {
			f.Add(deployment.ID, "rival", "spec.template.spec.tolerations", true)
			s.until("it is put back, or a conflict", func() bool {
				return len(f.Additions(deployment.ID).Exclusive) == 0 || s.entries(hub)[deployment.ID].Status == ledger.Failed
			})
		}
		time.Sleep(apply.ContestWithin + time.Minute)
		s.until("it is put back again", func() bool {
			return len(f.Additions(deployment.ID).Exclusive) == 0 && s.entries(hub)[deployment.ID].Status == ledger.Applied
		})
	})
}
