package syncer

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// suspend marks an owner's pointer.
func (s *scene) suspend(owner string, suspended bool) {
	s.t.Helper()
	was, err := s.contexts.Current(s.t.Context(), appcontext.Owner(owner))
	require.NoError(s.t, err)
	_, err = s.contexts.Suspend(s.t.Context(), was, suspended)
	require.NoError(s.t, err)
}

// knowsSuspended tells whether the worker has learnt of an owner's suspension.
func (w *Worker) knowsSuspended(owner string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.session.index.Suspended([]string{owner})
}

// TestWhatASuspendedOwnerHasIsLeftAlone: it is neither put back, nor changed,
// nor deleted, until it is resumed; others' objects are looked after as ever.
func TestWhatASuspendedOwnerHasIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	f := s.clusters[hub]
	w, _ := s.start("a")
	shared := namespace(t, hub)
	edited, removed, theirs := config(t, hub, "edited", "1"), config(t, hub, "removed", "1"), config(t, hub, "theirs", "1")
	dropped := config(t, hub, "dropped", "1")
	s.commit("dig", shared, edited, removed, dropped)
	s.commit("other", shared, theirs)
	s.settled(w, shared, edited, removed, dropped, theirs)

	f.Down(true)
	s.commit("dig", shared, edited, removed)
	s.suspend("dig", true)
	f.Down(false)
	s.until("it is suspended", func() bool { return w.knowsSuspended("dig") && w.Idle() })
	f.Forget()
	f.Touch(edited.ID)
	f.Remove(removed.ID)
	f.Touch(theirs.ID)
	f.Touch(shared.ID)
	s.until("others' drift is repaired", func() bool { return len(writes(f)) >= 2 && w.Idle() })
	assert.ElementsMatch(t, []string{"apply ConfigMap theirs", "apply Namespace shop"}, writes(f))
	assert.Nil(t, f.Live(removed.ID))
	assert.NotNil(t, f.Live(dropped.ID), "what an update dropped waits as well")

	f.Forget()
	s.suspend("dig", false)
	s.until("it is made up for", func() bool { return len(writes(f)) >= 3 && w.Idle() })
	assert.ElementsMatch(t, []string{"apply ConfigMap edited", "create ConfigMap removed", "delete ConfigMap dropped"}, writes(f))
}

// TestWithdrawingEndsASuspension: terminate does not wait for it.
func TestWithdrawingEndsASuspension(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	w, _ := s.start("a")
	objects := []bundle.Object{namespace(t, hub), config(t, hub, "a", "1")}
	s.commit("dig", objects...)
	s.settled(w, objects...)
	s.suspend("dig", true)
	s.commit("dig")
	s.until("everything of ours is gone", func() bool { return len(s.entries(hub)) == 0 })
}
