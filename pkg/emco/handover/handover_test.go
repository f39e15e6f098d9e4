package handover_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/emco/handover"
	"github.com/signpost-dns/signpost/pkg/emco/rsync/rsynctest"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

const (
	hub   = "edge+hub"
	group = appcontext.Owner("projects/shop/composite-apps/web/v1/deployment-intent-groups/prod")
)

// scene is a store, an rsync, and a worker that owns a cluster.
type scene struct {
	*testing.T
	kv       *kvtest.Fake
	rsync    *rsynctest.Fake
	contexts *appcontext.Store
	store    *handover.Store
	now      time.Time
	fence    kv.Compare

	*handover.Handover
	wanted  handover.Wanted
	applied map[bundle.ID]bool // what was seen to be applied
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{T: t, kv: kvtest.NewFake(), applied: map[bundle.ID]bool{}, now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}
	s.rsync = rsynctest.New(s.kv)
	s.contexts = appcontext.NewStore(s.kv, func() time.Time { return s.now })
	s.begin(s.kv)
	return s
}

// begin has a worker begin, which knows what the store holds.
func (s *scene) begin(store kv.KV) {
	s.Helper()
	const key = "/signpost/workers/" + hub
	_, revision, err := s.kv.Txn(s.Context(), nil, kv.Put(key, []byte("a")))
	require.NoError(s, err)
	s.fence = kv.Compare{Key: key, ModRevision: revision}
	s.store = handover.New(handover.Options{
		KV: store, Contexts: appcontext.NewStore(store, func() time.Time { return s.now }), Rsync: s.rsync, Now: func() time.Time { return s.now },
	})
	s.Handover = s.open()
}

func (s *scene) open() *handover.Handover {
	s.Helper()
	all, err := s.store.Cluster(s.Context(), hub, s.fence)
	require.NoError(s, err)
	if all[group] != nil {
		return all[group]
	}
	return s.store.Handover(hub, group, s.fence)
}

// want has the owner want objects, by the credentials of a logical cloud.
func (s *scene) want(objects ...bundle.Object) {
	s.Helper()
	collected, err := bundle.Collect(objects)
	require.NoError(s, err)
	s.wanted = handover.Wanted{}
	was, err := s.contexts.Current(s.Context(), group)
	require.NoError(s, err)
	next := appcontext.Context{}
	if len(collected) > 0 {
		next = appcontext.Context{ID: appcontext.NewID(), Objects: collected, Meta: appcontext.Meta{Level: "1", Namespace: "tenant", Project: "shop"}}
		s.wanted = handover.Wanted{Objects: collected, ContextID: next.ID}
	}
	s.wanted.Applied = func(id bundle.ID) bool { return s.applied[id] }
	_, err = s.contexts.Commit(s.Context(), was, next)
	require.NoError(s, err)
}

func (s *scene) step() {
	s.Helper()
	require.NoError(s, s.Step(s.Context(), s.wanted))
	for _, o := range s.wanted.Objects {
		s.applied[o.ID] = s.applied[o.ID] || s.progress(o) == ledger.Applied
	}
}

// rest steps until nothing is left to do, while time passes.
func (s *scene) rest() {
	s.Helper()
	const most = 200
	for range most {
		s.step()
		if s.Settled() {
			return
		}
		s.now = s.now.Add(time.Second)
	}
	require.Fail(s, "it does not come to rest")
}

// holds are the clusters' objects, as "name=spec".
func (s *scene) holds(want ...string) {
	s.Helper()
	var got []string
	for _, o := range s.rsync.Objects {
		spec := strings.Split(strings.SplitN(string(o.JSON), `"spec":"`, 2)[1], `"`)[0]
		got = append(got, o.Name+"="+spec)
	}
	assert.ElementsMatch(s, want, got)
}

func (s *scene) progress(o bundle.Object) ledger.Status {
	status, _ := s.Progress(o)
	return status
}

// contexts lists the ids of the contexts that are in the store and are not the
// owner's own.
func (s *scene) handed() []string {
	s.Helper()
	require.NoError(s, s.contexts.Sweep(s.Context(), 0))
	ids, err := kv.Segments(s.Context(), s.kv, "/context/")
	require.NoError(s, err)
	own, err := s.contexts.Current(s.Context(), group)
	require.NoError(s, err)
	var out []string
	for _, id := range ids {
		if id != own.ContextID && id != own.Previous {
			out = append(out, id)
		}
	}
	return out
}

func endpoint(t *testing.T, name, spec string) bundle.Object {
	t.Helper()
	o, err := bundle.New(hub, "web", map[string]any{
		"apiVersion": "externaldns.k8s.io/v1alpha1", "kind": "DNSEndpoint", "metadata": map[string]any{"name": name, "namespace": "shop"}, "spec": spec,
	})
	require.NoError(t, err)
	return o
}

func TestObjectsArriveChangeInPlaceAndGo(t *testing.T) {
	s := newScene(t)
	a, b := endpoint(t, "a", "1"), endpoint(t, "b", "1")
	s.want(a, b)
	s.rest()
	s.holds("a=1", "b=1")
	assert.Equal(t, ledger.Applied, s.progress(a))
	first := s.children()
	assert.Equal(t, []string{"install " + first}, s.rsync.Calls())
	assert.Equal(t, map[[2]string]int{{"1", "tenant"}: 2}, s.rsync.Creds[hub], "by the credentials of the logical cloud")

	s.want(endpoint(t, "a", "2"), endpoint(t, "c", "1"))
	assert.Equal(t, ledger.Pending, s.progress(endpoint(t, "a", "2")))
	s.rest()
	s.holds("a=2", "c=1")
	second := s.children()
	assert.Equal(t, []string{"update " + first + " " + second}, s.rsync.Calls())
	assert.Len(t, s.handed(), 2, "that which has the statuses, and the current one")

	s.want(endpoint(t, "a", "2"), endpoint(t, "c", "2"))
	s.rest()
	assert.Equal(t, map[bundle.ID]int{a.ID: 2, b.ID: 1, endpoint(t, "c", "").ID: 2}, s.rsync.Made, "what is the same is left alone")
	assert.Len(t, s.handed(), 2)

	s.want()
	going, _ := s.Going(a.ID)
	assert.True(t, going)
	s.rest()
	s.holds()
	assert.True(t, s.Empty())
	assert.Empty(t, s.handed())
	going, _ = s.Going(a.ID)
	assert.False(t, going)
}

// children is the context that stands for the owner's in the eyes of rsync.
func (s *scene) children() string {
	s.Helper()
	pointer, err := s.contexts.Current(s.Context(), group)
	require.NoError(s, err)
	children, err := s.store.Children(s.Context(), group, slices.Collect(maps.Keys(pointer.Clusters)))
	require.NoError(s, err)
	require.Len(s, children.Now, 1)
	require.NotContains(s, children.Former, children.Now[0])
	return children.Now[0]
}

func TestOneChangeIsMadeAtATime(t *testing.T) {
	s := newScene(t)
	s.rsync.Hold()
	s.want(endpoint(t, "a", "1"))
	s.step()
	s.want(endpoint(t, "a", "2"))
	s.step()
	s.want(endpoint(t, "a", "3"))
	s.step()
	assert.Len(t, s.rsync.Calls(), 1)
	assert.Equal(t, ledger.Pending, s.progress(endpoint(t, "a", "3")))
	status, message := s.Progress(endpoint(t, "a", "1"))
	assert.Equal(t, ledger.Retrying, status)
	assert.Equal(t, "rsync waits for the cluster to answer", message)
	reached, known := s.Reached()
	assert.True(t, known)
	assert.False(t, reached)
	require.NoError(t, s.rsync.Release(t.Context()))
	s.rest()
	s.holds("a=3")
	reached, _ = s.Reached()
	assert.True(t, reached)
	assert.Equal(t, 2, s.rsync.Made[endpoint(t, "a", "").ID], "what was in between is left out")
}

func TestRsyncThatSaysNoIsAskedAgainLessAndLess(t *testing.T) {
	s := newScene(t)
	s.rsync.Refusal = "no space left"
	s.want(endpoint(t, "a", "1"))
	for range 600 {
		s.step()
		s.now = s.now.Add(time.Second)
	}
	assert.InDelta(t, 15, len(s.rsync.Calls()), 3)
	status, message := s.Progress(endpoint(t, "a", "1"))
	assert.Equal(t, ledger.Retrying, status)
	assert.Contains(t, message, "no space left")
	s.rsync.Refusal = ""
	s.rest()
	s.holds("a=1")
	_, message = s.Progress(endpoint(t, "a", "1"))
	assert.Empty(t, message)
}

func TestWhatRsyncNeverGotIsWithdrawnWithoutIt(t *testing.T) {
	s := newScene(t)
	s.rsync.Refusal = "no"
	s.want(endpoint(t, "a", "1"))
	s.step()
	s.want()
	s.rest()
	assert.Empty(t, s.handed())
	assert.True(t, s.Empty())
}

// TestAnObjectThatTheClusterRefuses stops those behind it, until it is applied
// or another is wanted.
func TestAnObjectThatTheClusterRefuses(t *testing.T) {
	s := newScene(t)
	a, b, c := endpoint(t, "a", "1"), endpoint(t, "b", "1"), endpoint(t, "c", "1")
	s.rsync.Apply = func(o bundle.Object) error {
		if o.ID == b.ID {
			return errors.New("it is invalid")
		}
		return nil
	}
	s.want(a, b, c)
	s.step()
	s.step()
	assert.Equal(t, []ledger.Status{ledger.Applied, ledger.Failed, ledger.Retrying}, []ledger.Status{s.progress(a), s.progress(b), s.progress(c)})
	assert.False(t, s.Settled())
	assert.True(t, s.Ready())
	_, message := s.Progress(c)
	assert.Contains(t, message, "rsync could not apply edge+hub DNSEndpoint.externaldns.k8s.io shop/b")

	s.want(a, c)
	s.rest()
	s.holds("a=1", "c=1")

	s.want(a, b, c)
	s.step()
	s.rsync.Apply = nil
	s.rest()
	s.holds("a=1", "b=1", "c=1")
	assert.NotContains(t, s.rsync.Creds[hub], [2]string{"0", "default"}, "what a user may not is no reason to come as administrator")
}

// TestAClusterOutsideTheLogicalCloud, as the home of external-dns may be: rsync
// has no credentials there but the cluster's own.
func TestAClusterOutsideTheLogicalCloud(t *testing.T) {
	s := newScene(t)
	s.rsync.Barred = map[string]bool{"1": true}
	s.want(endpoint(t, "a", "1"))
	s.rest()
	s.holds("a=1")
	assert.Equal(t, map[[2]string]int{{"0", "default"}: 1}, s.rsync.Creds[hub])
	s.begin(s.kv)
	s.rsync.Calls()
	s.want(endpoint(t, "a", "2"))
	s.rest()
	s.holds("a=2")
	assert.Len(t, s.rsync.Calls(), 1, "it is remembered")
}

// TestCredentialsThatRsyncDoesNotHave: it notes nothing about any object then.
func TestCredentialsThatRsyncDoesNotHave(t *testing.T) {
	s := newScene(t)
	s.rsync.Barred = map[string]bool{"0": true, "1": true}
	a := endpoint(t, "a", "1")
	s.want(a)
	s.step()
	s.step()
	status, message := s.Progress(a)
	assert.Equal(t, ledger.Retrying, status)
	assert.Contains(t, message, "credentials")
	s.rsync.Barred = nil
	s.rest()
	s.holds("a=1")
}

// TestWhatAFailedUpdateWouldHaveDeletedGoes: rsync deletes nothing of a context
// that it has not installed in full.
func TestWhatAFailedUpdateWouldHaveDeletedGoes(t *testing.T) {
	s := newScene(t)
	s.rsync.Apply = func(o bundle.Object) error {
		if o.Name == "b" {
			return errors.New("it is invalid")
		}
		return nil
	}
	s.want(endpoint(t, "a", "1"), endpoint(t, "b", "1"))
	s.step()
	made := s.rsync.Made[endpoint(t, "a", "").ID]
	s.want(endpoint(t, "c", "1"))
	s.rest()
	s.holds("c=1")
	assert.Len(t, s.handed(), 2)
	assert.Equal(t, made, s.rsync.Made[endpoint(t, "a", "").ID], "it is not made again to be deleted")
}

func TestWhatRsyncCouldNotDeleteIsDeletedInTheEnd(t *testing.T) {
	s := newScene(t)
	a := endpoint(t, "a", "1")
	s.want(a, endpoint(t, "b", "1"))
	s.rest()
	failures := 3
	s.rsync.Delete = func(bundle.ID) error {
		failures--
		if failures >= 0 {
			return errors.New("a webhook does not answer")
		}
		return nil
	}
	s.want(endpoint(t, "b", "1"))
	s.step()
	going, _ := s.Going(a.ID)
	assert.True(t, going, "it is not said to be gone before it is")
	s.rest()
	s.holds("b=1")
	assert.Negative(t, failures)
	assert.Len(t, s.handed(), 2)
}

// TestWhatIsGoneAlreadyIsNotWaitedForForEver: rsync cannot tell that it has
// nothing to delete from not being able to.
func TestWhatIsGoneAlreadyIsNotWaitedForForEver(t *testing.T) {
	s := newScene(t)
	a := endpoint(t, "a", "1")
	s.want(a)
	s.rest()
	delete(s.rsync.Objects, a.ID)
	s.want()
	s.rest()
	s.holds()
	assert.Empty(t, s.handed())
}

// TestRsyncThatIsStartedAnewInTheMiddle skips what it was at.
func TestRsyncThatIsStartedAnewInTheMiddle(t *testing.T) {
	s := newScene(t)
	s.want(endpoint(t, "a", "1"), endpoint(t, "b", "1"))
	s.rest()
	s.rsync.Hold()
	s.want(endpoint(t, "a", "2"), endpoint(t, "c", "1"))
	s.step()
	require.NoError(t, s.rsync.Forget(t.Context()))
	require.NoError(t, s.rsync.Release(t.Context()))
	s.rest()
	s.holds("a=2", "c=1")
}

// TestAChildThatEMCOHasTakenAway is handed over again if it is still wanted
// some time later, and else it is gone.
func TestAChildThatEMCOHasTakenAway(t *testing.T) {
	s := newScene(t)
	s.want(endpoint(t, "a", "1"))
	s.rest()
	require.NoError(t, s.rsync.Uninstall(t.Context(), s.children()))
	s.holds()
	s.LookAgain()
	s.step()
	s.holds()
	assert.NotEqual(t, ledger.Applied, s.progress(endpoint(t, "a", "1")))
	s.rest()
	s.holds("a=1")

	require.NoError(t, s.rsync.Uninstall(t.Context(), s.children()))
	s.rsync.Calls()
	s.want()
	s.rest()
	assert.Empty(t, s.rsync.Calls(), "nothing is left to ask for")
	assert.Empty(t, s.handed())
}

// TestAContextThatIsTerminatedTwice: EMCO's orchestrator asks for it, and
// Signpost does. rsync says of the second time that it has failed.
func TestAContextThatIsTerminatedTwice(t *testing.T) {
	s := newScene(t)
	s.want(endpoint(t, "a", "1"))
	s.rest()
	child := s.children()
	require.NoError(t, s.rsync.Uninstall(t.Context(), child))
	_, _, err := s.kv.Txn(t.Context(), nil, kv.Put("/context/"+child+"/rsync/state/CurrentState/", []byte(`{"Status":"TerminateFailed"}`)))
	require.NoError(t, err)
	s.rsync.Calls()
	s.want()
	s.rest()
	assert.Empty(t, s.rsync.Calls(), "what is gone is not made again to be deleted")
	assert.Empty(t, s.handed())
}

func TestAnotherClusterUnderAnOldNameGetsEverything(t *testing.T) {
	s := newScene(t)
	a := endpoint(t, "a", "1")
	s.want(a)
	s.rest()
	clear(s.rsync.Objects)
	s.Reinstall()
	assert.NotEqual(t, ledger.Applied, s.progress(a))
	s.rest()
	s.holds("a=1")
	assert.Equal(t, ledger.Applied, s.progress(a))
}

// TestPrerequisitesAreMadeAndStay: others may rely on them.
func TestPrerequisitesAreMadeAndStay(t *testing.T) {
	s := newScene(t)
	namespace := func(name, spec string) bundle.Object {
		o, err := bundle.New(hub, "web", map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}, "spec": spec})
		require.NoError(t, err)
		return o
	}
	s.rsync.Objects[namespace("shop", "").ID] = namespace("shop", "somebody's")
	s.Handover = s.store.Handover(hub, handover.Prerequisites, s.fence)
	wants := func(objects ...bundle.Object) {
		collected, err := bundle.Collect(objects)
		require.NoError(t, err)
		s.wanted = handover.Wanted{Objects: collected}
		s.rest()
	}
	s.rsync.Hold()
	collected, err := bundle.Collect([]bundle.Object{namespace("lab", "1")})
	require.NoError(t, err)
	require.NoError(t, s.Step(t.Context(), handover.Wanted{Objects: collected}))
	assert.True(t, s.Leads())
	s.now = s.now.Add(10 * time.Second)
	assert.False(t, s.Leads(), "others do not wait for ever")
	require.NoError(t, s.rsync.Release(t.Context()))
	wants(namespace("shop", "ours"), namespace("lab", "1"))
	assert.False(t, s.Leads())
	s.holds("shop=somebody's", "lab=1")
	assert.Equal(t, map[[2]string]int{{"0", "default"}: 3}, s.rsync.Creds[hub], "as the cluster's administrator")
	wants(namespace("shop", "ours"))
	wants(namespace("shop", "ours"), namespace("more", "1"))
	s.holds("shop=somebody's", "lab=1", "more=1")
	wants()
	s.holds("shop=somebody's", "lab=1", "more=1")
	assert.Empty(t, s.handed())
	for _, call := range s.rsync.Calls() {
		assert.Contains(t, call, "install ")
		assert.NotContains(t, call, "uninstall ")
	}
}

func TestWhoLostTheClusterAsksForNothing(t *testing.T) {
	s := newScene(t)
	s.want(endpoint(t, "a", "1"))
	_, _, err := s.kv.Txn(t.Context(), nil, kv.Put(s.fence.Key, []byte("b")))
	require.NoError(t, err)
	before := s.kv.Revision()
	require.ErrorIs(t, s.Step(t.Context(), s.wanted), ledger.ErrLost)
	assert.Equal(t, before, s.kv.Revision())
	assert.Empty(t, s.rsync.Calls())
}

func TestWhoLostTheClusterMeanwhileAsksForNothing(t *testing.T) {
	s := newScene(t)
	s.rsync.Refusal = "no"
	s.want(endpoint(t, "a", "1"))
	s.step()
	s.rsync.Refusal = ""
	s.now = s.now.Add(time.Minute)
	_, _, err := s.kv.Txn(t.Context(), nil, kv.Put(s.fence.Key, []byte("b")))
	require.NoError(t, err)
	s.rsync.Calls()
	require.ErrorIs(t, s.Step(t.Context(), s.wanted), ledger.ErrLost)
	assert.Empty(t, s.rsync.Calls())
}

// TestWhatWasAppliedBeforeIsNoNews: rsync notes what becomes of all contexts in
// the first one.
func TestWhatWasAppliedBeforeIsNoNews(t *testing.T) {
	s := newScene(t)
	a, b := endpoint(t, "a", "1"), endpoint(t, "b", "1")
	s.want(a, b)
	s.rest()
	s.rsync.Hold()
	s.want(endpoint(t, "a", "2"), b)
	s.step()
	assert.NotEqual(t, ledger.Applied, s.progress(endpoint(t, "a", "2")))
	assert.Equal(t, ledger.Applied, s.progress(b), "it stays as it is")
}

func TestAContextThatRsyncIsAtIsNotRemoved(t *testing.T) {
	s := newScene(t)
	s.want(endpoint(t, "a", "1"))
	s.rest()
	first := s.children()
	s.want(endpoint(t, "a", "2"))
	s.rest()
	active := "/activecontext/" + first + "/"
	_, _, err := s.kv.Txn(t.Context(), nil, kv.Put(active, []byte(`"1"`)))
	require.NoError(t, err)
	s.want()
	for range 10 {
		s.step()
		s.now = s.now.Add(time.Second)
	}
	assert.Equal(t, []string{first}, s.handed())
	_, _, err = s.kv.Txn(t.Context(), nil, kv.Delete(active))
	require.NoError(t, err)
	s.rest()
	assert.Empty(t, s.handed())
}

func TestALongNameOfAnAppFitsIntoTheLabelOfRsync(t *testing.T) {
	s := newScene(t)
	o := endpoint(t, "a", "1")
	o.App = strings.Repeat("long", 15)
	s.want(o)
	s.rest()
	s.holds("a=1")
	assert.Equal(t, ledger.Applied, s.progress(o))
	for _, given := range s.rsync.Objects {
		assert.LessOrEqual(t, len(given.App), 43)
	}
}

// TestSignpostsOwnWorkerTakesOver when rsync is not to be used any more.
func TestSignpostsOwnWorkerTakesOver(t *testing.T) {
	s := newScene(t)
	s.want(endpoint(t, "a", "1"))
	s.rest()
	s.want(endpoint(t, "a", "2"))
	s.rsync.Hold()
	s.step()
	require.NoError(t, handover.Dissolve(t.Context(), s.kv))
	assert.Empty(t, s.handed())
	all, err := s.store.Cluster(t.Context(), hub, s.fence)
	require.NoError(t, err)
	assert.Empty(t, all)
	s.holds("a=1")
}

// mortal is the store as a process sees it that dies at one of its writes.
type mortal struct {
	kv.KV
	writes, last int
	after, dead  bool
}

var errDead = errors.New("the process is dead")

func (m *mortal) Txn(ctx context.Context, when []kv.Compare, then ...kv.Op) (bool, int64, error) {
	m.writes++
	if m.writes >= m.last {
		if m.after && m.writes == m.last {
			_, _, _ = m.KV.Txn(ctx, when, then...)
		}
		m.dead = true
		return false, 0, errDead
	}
	return m.KV.Txn(ctx, when, then...)
}

// TestTheWorkSurvivesARestartAtEachWrite: before and behind each one.
func TestTheWorkSurvivesARestartAtEachWrite(t *testing.T) {
	for _, after := range []bool{false, true} {
		for last := 1; ; last++ {
			s := newScene(t)
			m := &mortal{KV: s.kv, last: last, after: after}
			s.begin(m)
			for _, wanted := range [][]bundle.Object{
				{endpoint(t, "a", "1"), endpoint(t, "b", "1")},
				{endpoint(t, "a", "2"), endpoint(t, "c", "1")},
				{},
			} {
				s.want(wanted...)
				for range 100 {
					err := s.Step(t.Context(), s.wanted)
					if err != nil {
						require.ErrorIs(t, err, errDead)
						s.begin(s.kv)
					}
					if err == nil && s.Settled() {
						break
					}
					s.now = s.now.Add(time.Second)
				}
				require.True(t, s.Settled(), "write %d", last)
				var names []string
				for _, o := range wanted {
					spec := strings.Split(strings.SplitN(string(o.JSON), `"spec":"`, 2)[1], `"`)[0]
					names = append(names, o.Name+"="+spec)
				}
				s.holds(names...)
			}
			require.Empty(t, s.handed(), "write %d: nothing is left behind", last)
			if !m.dead {
				assert.Greater(t, last, 10)
				break
			}
		}
	}
}

// TestEachContextOfAHandoverIsNamed, and what only looks like one is not.
func TestEachContextOfAHandoverIsNamed(t *testing.T) {
	ids, err := handover.Named(kv.Item{Key: "/signpost/rsync/edge+7/projects/shop/dig", Value: []byte(`{
		"context":"1","before":"2","rest":"3","first":"4","draft":"5","spent":["6","1"],"former":["9"],"level":"0","namespace":"8"}`)})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"1", "2", "3", "4", "5", "6", "9"}, ids)
	ids, err = handover.Named(kv.Item{Key: "/signpost/current/projects/shop/dig", Value: []byte(`{"context":"1"}`)})
	require.NoError(t, err)
	require.Empty(t, ids)
	_, err = handover.Named(kv.Item{Key: "/signpost/rsync/edge+7/torn", Value: []byte(`{`)})
	require.ErrorContains(t, err, "/signpost/rsync/edge+7/torn")
}
