package syncer

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
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
		for n := range contestLimit {
			f.Add(deployment.ID, "rival", "spec.template.spec.tolerations", true)
			s.until("it is put back", func() bool { return len(f.Additions(deployment.ID).Exclusive) == 0 })
			require.Less(t, time.Since(began), time.Minute, n)
		}
		f.Add(deployment.ID, "rival", "spec.template.spec.tolerations", true)
		s.until("it is a conflict", func() bool { return s.entries(hub)[deployment.ID].Status == ledger.Failed })
		require.Contains(t, s.entries(hub)[deployment.ID].Message, `conflict: "rival" changed it again each of the 3 times that it was put back within 10m0s`)
		f.Forget()
		time.Sleep(contestWithin / 2)
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
		for range contestLimit + 1 {
			f.Add(deployment.ID, "rival", "spec.template.spec.tolerations", true)
			s.until("it is put back, or a conflict", func() bool {
				return len(f.Additions(deployment.ID).Exclusive) == 0 || s.entries(hub)[deployment.ID].Status == ledger.Failed
			})
		}
		time.Sleep(contestWithin + time.Minute)
		s.until("it is put back again", func() bool {
			return len(f.Additions(deployment.ID).Exclusive) == 0 && s.entries(hub)[deployment.ID].Status == ledger.Applied
		})
	})
}

func TestContests(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	id := bundle.ID{Kind: "ConfigMap", Name: "a"}
	by := func(manager, digest string) action {
		return action{id: id, drift: true, live: &cluster.Live{ChangedBy: manager}, want: &wanted{digest: digest}}
	}
	full := func(gap time.Duration) contests {
		m := contests{}
		for n := range contestLimit {
			m.note(outcome{action: by("rival", "1"), repaired: true}, now.Add(time.Duration(n)*gap))
		}
		return m
	}
	for reason, c := range map[string]struct {
		m     contests
		a     action
		at    time.Time
		waits bool
	}{
		"the fourth time":            {m: full(time.Minute), a: by("rival", "1"), at: now.Add(5 * time.Minute), waits: true},
		"somebody else":              {m: full(time.Minute), a: by("other", "1"), at: now.Add(5 * time.Minute)},
		"nobody that is known":       {m: full(time.Minute), a: by("", "1"), at: now.Add(5 * time.Minute)},
		"another content":            {m: full(time.Minute), a: by("rival", "2"), at: now.Add(5 * time.Minute)},
		"slowly":                     {m: full(5 * time.Minute), a: by("rival", "1"), at: now.Add(11 * time.Minute)},
		"when the time is over":      {m: full(time.Minute), a: by("rival", "1"), at: now.Add(contestWithin)},
		"no drift":                   {m: full(time.Minute), a: action{id: id, live: &cluster.Live{ChangedBy: "rival"}, want: &wanted{digest: "1"}}, at: now.Add(5 * time.Minute)},
		"the first time, of nothing": {m: contests{}, a: by("rival", "1"), at: now},
	} {
		until := c.m.until(c.a, c.at)
		assert.Equal(t, c.waits, !until.IsZero(), reason)
		if c.waits {
			assert.Equal(t, now.Add(contestWithin), until, reason)
		}
	}
}
