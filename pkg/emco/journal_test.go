package emco_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/sample"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

var errCrashed = errors.New("the process is dead")

// mortal is the store as a process sees it that dies at one of its writes:
// from then on nothing that it asks for happens.
type mortal struct {
	kv.KV
	writes int  // how many it has asked for
	last   int  // the write at which it dies, 0: never
	after  bool // it dies when the write has happened, and does not learn of it
	dead   bool
	then   func(write int) // what else happens behind a write
}

func (m *mortal) Txn(ctx context.Context, when []kv.Compare, ops ...kv.Op) (bool, int64, error) {
	if m.dead {
		return false, 0, errCrashed
	}
	m.writes++
	if m.dead = m.writes == m.last; m.dead {
		if m.after {
			_, _, _ = m.KV.Txn(ctx, when, ops...)
		}
		return false, 0, errCrashed
	}
	done, revision, err := m.KV.Txn(ctx, when, ops...)
	if m.then != nil {
		m.then(m.writes)
	}
	return done, revision, err
}

func (m *mortal) Get(ctx context.Context, key string) (*kv.Item, int64, error) {
	if m.dead {
		return nil, 0, errCrashed
	}
	return m.KV.Get(ctx, key)
}

func (m *mortal) Range(ctx context.Context, r kv.Range) ([]kv.Item, int64, error) {
	if m.dead {
		return nil, 0, errCrashed
	}
	return m.KV.Range(ctx, r)
}

// share is the part of all points of a patch at which a run of rings 1 and 2 lets
// the process die or others interfere: one in so many. It is odd, so that deaths
// before and after a write take turns.
const share = 3

// sites and texts make a context whose patch is several transactions large.
const (
	sites = 12
	texts = 400_000
)

// everywhere is a patch of a resource of each cluster, a new one, and a child.
func everywhere(text string) emco.Patch {
	p := emco.Patch{AddChildren: []string{"5"}}
	for n := range sites {
		p.Resources = append(p.Resources,
			emco.Edit{App: "web", Cluster: clusterName(n), Key: "web-0+Deployment", Text: fmt.Sprint(text, n, strings.Repeat("y", texts))},
			emco.Edit{App: "web", Cluster: clusterName(n), Key: "new+ConfigMap", Text: text, List: true})
	}
	return p
}

// expected are the keys of a context after such a patch.
func expected(t testing.TB, whole keys, text string) keys {
	t.Helper()
	changes := keys{root + "meta/": `{"Project":"shop","ChildContextIDs":["5"],"Namespace":"shop"}`}
	for n := range sites {
		at := root + "app/web/cluster/" + clusterName(n) + "/resource/"
		changes[at+"web-0+Deployment/"] = jsonText(t, fmt.Sprint(text, n, strings.Repeat("y", texts)))
		changes[at+"new+ConfigMap/"] = jsonText(t, text)
		changes[at+"instruction/order/"] = jsonText(t, `{"resorder":["web-0+Deployment","new+ConfigMap"]}`)
	}
	return whole.with(changes)
}

func TestAPatchLargerThanATransactionIsWhole(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, store kv.KV) {
		whole := large(t, sites, 1, texts)
		whole.write(t, store)
		s := newStore(store)
		done, err := s.Apply(t.Context(), read(t, s, first), everywhere("ours"))
		require.NoError(t, err)
		require.True(t, done)
		same(t, expected(t, whole, "ours"), held(t, store))

		before := revision(t, store)
		done, err = s.Apply(t.Context(), read(t, s, first), everywhere("ours"))
		require.NoError(t, err)
		require.False(t, done)
		require.Equal(t, before, revision(t, store), "a second identical patch writes nothing")
	})
}

// same compares without printing megabytes.
func same(t testing.TB, want, got keys) {
	t.Helper()
	for key, value := range want {
		if got[key] != value {
			require.Fail(t, "differs", "%s: %.60s, not %.60s", key, got[key], value)
		}
	}
	for key := range got {
		require.Contains(t, want, key)
	}
}

// TestCrashesAtAnyWriteLeaveAWholeContext: wherever a process dies, a repeated
// call brings the context to where it would have been, and a reader sees all of
// the patch or nothing of it.
func TestCrashesAtAnyWriteLeaveAWholeContext(t *testing.T) {
	t.Parallel()
	whole := large(t, sites, 1, texts)
	want := expected(t, whole, "ours")
	life := func(last int, after bool) (*kvtest.Fake, *mortal, error) {
		store := kvtest.NewFake()
		whole.write(t, store)
		process := &mortal{KV: store, last: last, after: after}
		s := newStore(process)
		_, err := s.Apply(t.Context(), read(t, s, first), everywhere("ours"))
		return store, process, err
	}
	_, undisturbed, err := life(0, false)
	require.NoError(t, err)
	require.Greater(t, undisturbed.writes, 15)
	for point := range 2 * undisturbed.writes {
		if !sample.Every(t, point, share) {
			continue
		}
		last, after := 1+point/2, point%2 == 1
		store, _, err := life(last, after)
		require.ErrorIs(t, err, errCrashed)
		s := newStore(store)

		c := read(t, s, first)
		for n := range sites {
			got := c.App("web").Cluster(clusterName(n))
			require.Equal(t, len(c.Meta.ChildContextIDs) == 1, got.Lists("new+ConfigMap"), "write %d, %v: all or nothing", last, after)
		}
		_, err = s.Apply(t.Context(), c, everywhere("ours"))
		require.NoError(t, err)
		require.NoError(t, s.Settle(t.Context(), 0))
		same(t, want, held(t, store))
	}
}

// TestARestartSettlesWhatADeadProcessLeft: without a repeated call nothing of
// a journal is left, and the context is as before or patched.
func TestARestartSettlesWhatADeadProcessLeft(t *testing.T) {
	t.Parallel()
	whole := large(t, sites, 1, texts)
	patched := expected(t, whole, "ours")
	for last, over := 1, false; !over; last++ {
		store := kvtest.NewFake()
		whole.write(t, store)
		process := &mortal{KV: store, last: last, after: true}
		s := newStore(process)
		_, err := s.Apply(t.Context(), read(t, s, first), everywhere("ours"))
		if over = err == nil; over {
			break
		}
		put(t, store, "/signpost/emco/"+first+"/release", "another part's")
		later := emco.NewStore(store, func() time.Time { return time.Now().Add(time.Hour) })
		require.NoError(t, later.Settle(t.Context(), time.Minute))
		want := whole
		if strings.Contains(held(t, store)[root+"meta/"], `"5"`) {
			want = patched
		}
		same(t, want.with(keys{"/signpost/emco/" + first + "/release": "another part's"}), held(t, store))
	}
}

func TestAPatchThatIsBeingPreparedIsNotSettled(t *testing.T) {
	t.Parallel()
	store := kvtest.NewFake()
	large(t, sites, 1, texts).write(t, store)
	process := &mortal{KV: store, last: 3, after: true}
	s := newStore(process)
	_, err := s.Apply(t.Context(), read(t, s, first), everywhere("ours"))
	require.ErrorIs(t, err, errCrashed)
	before := held(t, store)
	require.NoError(t, newStore(store).Settle(t.Context(), time.Minute))
	same(t, before, held(t, store))
}

// TestAPatchIsTakenBackWhereSomebodyElseWritesInBetween: behind any of its
// writes, another one comes.
func TestAPatchIsTakenBackWhereSomebodyElseWritesInBetween(t *testing.T) {
	t.Parallel()
	at := root + "app/web/cluster/" + clusterName(3) + "/"
	for name, meddle := range map[string]keys{
		"another app":       {root + "app/db/": `"db"`},
		"a patched text":    {at + "resource/web-0+Deployment/": `"theirs"`},
		"the patched order": {at + "resource/instruction/order/": `"{\"resorder\":[\"web-0+Deployment\"],\"theirs\":1}"`},
		"the meta":          {root + "meta/": `{"Project":"theirs"}`},
	} {
		whole := large(t, sites, 1, texts)
		patched := expected(t, whole, "ours")
		undisturbed := &mortal{KV: kvtest.NewFake()}
		whole.write(t, undisturbed.KV)
		_, err := newStore(undisturbed).Apply(t.Context(), read(t, newStore(undisturbed), first), everywhere("ours"))
		require.NoError(t, err)
		decided := 0
		for write, over := 1, false; !over; write++ {
			if write < undisturbed.writes && !sample.Every(t, write, share) {
				continue
			}
			store := kvtest.NewFake()
			whole.write(t, store)
			over = true
			process := &mortal{KV: store}
			process.then = func(n int) {
				if n == write {
					over = false
					meddle.write(t, store)
				}
			}
			s := newStore(process)
			_, err := s.Apply(t.Context(), read(t, s, first), everywhere("ours"))
			if err == nil {
				decided++
				if !over {
					same(t, patched.with(meddle), held(t, store))
				}
				continue
			}
			refused(t, err, intent.PreconditionFailed, "was changed by someone else meanwhile")
			same(t, whole.with(meddle), held(t, store))
		}
		require.Equal(t, 2, decided, "%s: behind the last write, and never", name)
	}
}

func TestAContextThatIsDeletedInBetweenStaysDeleted(t *testing.T) {
	t.Parallel()
	for write, over := 1, false; !over; write++ {
		store := kvtest.NewFake()
		large(t, sites, 1, texts).write(t, store)
		over = true
		process := &mortal{KV: store}
		process.then = func(n int) {
			if n == write {
				over = false
				deletes(root)(t, store)
			}
		}
		s := newStore(process)
		_, err := s.Apply(t.Context(), read(t, s, first), everywhere("ours"))
		if err != nil {
			refused(t, err, intent.PreconditionFailed)
			require.Empty(t, held(t, store))
		}
	}
}

// TestCrashesWhileAPatchIsTakenBack: it is taken back by whoever comes next.
func TestCrashesWhileAPatchIsTakenBack(t *testing.T) {
	t.Parallel()
	whole := large(t, sites, 1, texts)
	theirs := keys{root + "app/db/": `"db"`}
	undisturbed := &mortal{KV: kvtest.NewFake()}
	whole.write(t, undisturbed.KV)
	_, err := newStore(undisturbed).Apply(t.Context(), read(t, newStore(undisturbed), first), everywhere("ours"))
	require.NoError(t, err)
	meddling := undisturbed.writes - 2 // in the middle of those that go forward
	for last, over := meddling+1, false; !over; last++ {
		for _, after := range []bool{false, true} {
			store := kvtest.NewFake()
			whole.write(t, store)
			process := &mortal{KV: store, last: last, after: after}
			process.then = func(n int) {
				if n == meddling {
					theirs.write(t, store)
				}
			}
			s := newStore(process)
			_, err := s.Apply(t.Context(), read(t, s, first), everywhere("ours"))
			over = !errors.Is(err, errCrashed)
			require.Error(t, err)
			_, err = newStore(store).Read(t.Context(), first)
			require.NoError(t, err)
			require.NoError(t, newStore(store).Settle(t.Context(), 0))
			same(t, whole.with(theirs), held(t, store))
		}
		require.Less(t, last, 100)
	}
}

// rivalled applies our patch. Behind each of its first writes, a rival begins the same patch with other texts, and dies.
func rivalled(t *testing.T, writes int, rival func(*kvtest.Fake) *mortal) (whole keys, store *kvtest.Fake, err error) {
	t.Helper()
	whole, store = large(t, sites, 1, texts), kvtest.NewFake()
	whole.write(t, store)
	process := &mortal{KV: store}
	process.then = func(n int) {
		if n > writes {
			return
		}
		other := newStore(rival(store))
		_, err := other.Apply(t.Context(), read(t, other, first), everywhere("theirs"))
		require.ErrorIs(t, err, errCrashed)
	}
	s := newStore(process)
	_, err = s.Apply(t.Context(), read(t, s, first), everywhere("ours"))
	require.NoError(t, newStore(store).Settle(t.Context(), 0))
	return whole, store, err
}

// TestAPatchIsNotHinderedByAnotherThatIsPrepared: two that prepare a patch again and again
// would hinder each other for ever.
func TestAPatchIsNotHinderedByAnotherThatIsPrepared(t *testing.T) {
	t.Parallel()
	whole, store, err := rivalled(t, 3, func(store *kvtest.Fake) *mortal { return &mortal{KV: store, last: 3, after: true} })
	require.NoError(t, err)
	same(t, expected(t, whole, "ours"), held(t, store))
}

// TestAPatchWaitsForOneThatIsDecided, also if who decided it is dead.
func TestAPatchWaitsForOneThatIsDecided(t *testing.T) {
	t.Parallel()
	whole, store, err := rivalled(t, 1, func(store *kvtest.Fake) *mortal {
		rival := &mortal{KV: store}
		rival.then = func(int) { _, rival.dead = held(t, store)["/signpost/emco/"+first+"/patch"] }
		return rival
	})
	refused(t, err, intent.PreconditionFailed)
	same(t, expected(t, whole, "theirs"), held(t, store))
}

// TestNothingPreparedIsGivenUpWhileAPatchIsUnderWay: it may be what that patch has still to write.
func TestNothingPreparedIsGivenUpWhileAPatchIsUnderWay(t *testing.T) {
	t.Parallel()
	store := kvtest.NewFake()
	prepared := keys{"/signpost/emco/" + first + "/patch": `{"phase":"forward","attempt":"a","writes":3}`, "/signpost/emco/" + first + "/patch/a/": "2020-01-01T00:00:00Z"}
	dump(t, "context").with(prepared).write(t, store)
	before := held(t, store)
	require.ErrorContains(t, newStore(store).Settle(t.Context(), 0), "lacks some of its writes")
	require.Equal(t, before, held(t, store))
}

// TestTwoCallersAtOnceOnOneContext: each patch is whole, and no child is lost.
func TestTwoCallersAtOnceOnOneContext(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, store kv.KV) {
		whole := large(t, sites, 1, texts)
		whole.write(t, store)
		var callers sync.WaitGroup
		for n := range 2 {
			callers.Go(func() {
				patch := everywhere("ours")
				patch.AddChildren = []string{fmt.Sprint(70 + n)}
				for range 3 { // who fails was overtaken, by one that succeeds
					s := newStore(store)
					c, err := s.Read(t.Context(), first)
					if err == nil {
						_, err = s.Apply(t.Context(), c, patch)
					}
					if err == nil {
						return
					}
					if intent.CodeOf(err) != intent.PreconditionFailed {
						t.Error(err)
						return
					}
				}
				t.Error("never")
			})
		}
		callers.Wait()
		c := read(t, newStore(store), first)
		require.ElementsMatch(t, []string{"70", "71"}, c.Meta.ChildContextIDs)
		after := held(t, store)
		same(t, expected(t, whole, "ours").with(keys{root + "meta/": after[root+"meta/"]}), after)
	})
}

func TestABrokenJournalIsAnErrorNotAPanic(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"", "x", `{"phase":"forward","attempt":"a","writes":3}`, `{"phase":"back","attempt":"a","writes":3,"done":3}`} {
		store := kvtest.NewFake()
		dump(t, "context").with(keys{"/signpost/emco/" + first + "/patch": value}).write(t, store)
		_, err := newStore(store).Read(t.Context(), first)
		require.Error(t, err, value)
		require.Error(t, newStore(store).Settle(t.Context(), 0), value)
	}
}

// TestWhatSomebodyElseWritesWhileAPatchIsTakenBackStays: right between reading
// and restoring a text, it is written by another.
func TestWhatSomebodyElseWritesWhileAPatchIsTakenBackStays(t *testing.T) {
	t.Parallel()
	whole := large(t, sites, 1, texts)
	theirs := keys{root + "app/db/": `"db"`}
	mine := root + "app/web/cluster/" + clusterName(0) + "/resource/web-0+Deployment/"
	store := kvtest.NewFake()
	whole.write(t, store)
	process := &mortal{KV: store}
	process.then = func(n int) {
		if _, decided := held(t, store)[root+"app/db/"]; !decided && held(t, store)[mine] != whole[mine] {
			theirs.write(t, store)
		}
	}
	reads := 0
	store.Before = func(op, key string) error {
		if op == "get" && key == mine {
			store.Before = nil
			reads++
			store.After = func(string, string) error {
				store.After = nil
				put(t, store, mine, `"theirs"`)
				return nil
			}
		}
		return nil
	}
	s := newStore(process)
	_, err := s.Apply(t.Context(), read(t, s, first), everywhere("ours"))
	refused(t, err, intent.PreconditionFailed)
	require.Equal(t, 1, reads)
	same(t, whole.with(theirs).with(keys{mine: `"theirs"`}), held(t, store))
}
