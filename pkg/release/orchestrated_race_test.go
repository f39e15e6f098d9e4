package release_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
)

// newPatched is an app context whose workloads a pod DNS intent is for.
func newPatched(t testing.TB) *world {
	w := newOrchestrated(t)
	w.podsAsk(podsNone)
	return w
}

// TestACallThatDiesAtAnyWriteCanBeRepeated: the keys of the context, and what
// is frozen for it, are the same then as without the death.
func TestACallThatDiesAtAnyWriteCanBeRepeated(t *testing.T) {
	undisturbed := newPatched(t)
	process := &mortal{KV: undisturbed.fake}
	undisturbed.restartOn(process)
	undisturbed.called(early)
	want := undisturbed.below("/context/")
	_, frozen := undisturbed.prepared(early)
	require.GreaterOrEqual(t, process.writes, 3)
	for last := 1; last <= process.writes; last++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("write %d, after it: %v", last, after), func(t *testing.T) {
				w := newPatched(t)
				before := w.below("/context/")
				w.restartOn(&mortal{KV: w.fake, last: last, after: after})
				_, err := w.call(early)
				require.ErrorIs(t, err, errCrashed)
				if !after || last < process.writes {
					require.Equal(t, before, w.below("/context/"), "the context is as it was")
				}
				w.restartOn(w.fake)
				w.called(early)
				require.Equal(t, want, w.below("/context/"))
				_, again := w.prepared(early)
				require.Equal(t, frozen.Group.Bindings, again.Group.Bindings)
				require.Equal(t, frozen.Group.Apps, again.Group.Apps)
				keys := w.keys()
				w.called(early)
				require.Equal(t, keys, w.keys())
			})
		}
	}
}

// TestWhatChangesMeanwhileIsTakenIn: at each request of a call somebody else
// changes what it reads. The call goes by what is there when it ends, and no
// byte of theirs is lost.
func TestWhatChangesMeanwhileIsTakenIn(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *world){
		"an intent": func(w *world) {
			w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["new.lab.example"]}`)
		},
		"a resource that is not ours": func(w *world) {
			w.putKey(resourceKey(early, berlin, "odd+Thing"), quoted(w, "kind: Thing\nnew: true\n"))
		},
		"a workload": func(w *world) {
			w.putKey(resourceKey(early, berlin, "web+Deployment"), quoted(w, strings.Replace(webPodYAML, "1.10", "1.11", 1)))
		},
		"the meta":      func(w *world) { w.metaWith(early, "More", "kept") },
		"a new cluster": func(w *world) { o := orchestratedWeb(early); o.apps["web"][hub] = o.apps["web"][berlin]; w.lay(o) },
		"another context's release": func(w *world) {
			w.lay(orchestratedWeb(late))
			_, err := release.New(w.options).UpdateContext(context.Background(), late, "front", "")
			require.NoError(w, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := newPatched(t)
			change(changed)
			changed.called(early)
			want, over := changed.below("/context/"+early+"/"), false
			for at := 1; !over; at++ {
				w := newPatched(t)
				requests := 0
				hook := func(string, string) error {
					requests++
					if requests == at {
						w.fake.Before = nil
						change(w)
					}
					return nil
				}
				w.fake.Before = hook
				w.called(early)
				if over = w.fake.Before != nil; over {
					require.Greater(t, at, 15)
					break
				}
				if name == "a workload" || name == "a new cluster" {
					w.called(early) // the change may have come when all was done
				}
				require.Equal(t, want, w.below("/context/"+early+"/"), "request %d", at)
			}
		})
	}
}

// TestCallersAtOnceFreezeOneRelease: two callers of one context, by two
// replicas, leave what one leaves.
func TestCallersAtOnceFreezeOneRelease(t *testing.T) {
	t.Parallel()
	w := newPatched(t)
	const callers = 8
	replicas := make([]*release.Service, callers)
	for n := range replicas {
		w.restartOn(w.fake)
		replicas[n] = w.service
	}
	failures := make([]error, callers)
	var group sync.WaitGroup
	for n, replica := range replicas {
		group.Go(func() { _, failures[n] = replica.UpdateContext(context.Background(), early, "front", "") })
	}
	group.Wait()
	require.NoError(t, errors.Join(failures...))
	prepared, _ := w.prepared(early)
	for key := range w.below("/signpost/release/") {
		require.Contains(t, key, prepared.ContextID, "what lost its race is gone")
	}
	alone := newPatched(t)
	alone.called(early)
	require.Equal(t, alone.below("/context/"), w.below("/context/"))
}

// TestManyContextsAtOnce: fifty, of one group.
func TestManyContextsAtOnce(t *testing.T) {
	t.Parallel()
	w := newPatched(t)
	const contexts = 50
	failures := make([]error, contexts)
	var group sync.WaitGroup
	for n := range contexts {
		w.lay(orchestratedWeb(fmt.Sprint(1000 + n)))
	}
	for n := range contexts {
		group.Go(func() { _, failures[n] = w.call(fmt.Sprint(1000 + n)) })
	}
	group.Wait()
	require.NoError(t, errors.Join(failures...))
	for n := range contexts {
		w.prepared(fmt.Sprint(1000 + n))
	}
}

// TestALostAnswerIsNoSuccess: nobody knows whether the last write has happened;
// the call says so, and may be repeated.
func TestALostAnswerIsNoSuccess(t *testing.T) {
	t.Parallel()
	w := newPatched(t)
	lost := &intent.Error{Code: intent.Unavailable, Detail: "the connection broke"}
	w.fake.After = func(op, key string) error {
		if op == "txn" && strings.HasPrefix(key, "/context/") {
			return lost
		}
		return nil
	}
	_, err := w.call(early)
	require.ErrorIs(t, err, lost)
	w.fake.After = nil
	keys := w.keys()
	w.called(early)
	require.Equal(t, keys, w.keys())
}

// TestWhatIsFrozenWasSoAtOneTime: at each request, somebody moves a name from
// one intent to another, and from one record to another that did not exist.
// Nobody freezes half of it.
func TestWhatIsFrozenWasSoAtOneTime(t *testing.T) {
	t.Parallel()
	moved := false
	for at, over := 1, false; !over; at++ {
		w := newOrchestrated(t)
		w.associate(eu, "lab", "late")
		w.put("projects/shop/dns-update-records/late", record("late.example", ``))
		require.NoError(t, w.delete("projects/shop/dns-update-records/late"))
		w.associate(eu, "lab")
		requests := 0
		w.fake.Before = func(string, string) error {
			requests++
			if requests == at {
				w.fake.Before = nil
				require.NoError(t, w.delete(www(prod)))
				w.put(front.Child("dns-intents", "other"), `{"app":"web","serviceName":"web","hostnames":["www.late.example"]}`)
				w.put("projects/shop/dns-update-records/late", record("late.example", ``))
				w.associate(eu, "lab", "late")
			}
			return nil
		}
		w.called(early)
		over = w.fake.Before != nil
		_, frozen := w.prepared(early)
		require.Len(t, frozen.Group.Bindings, 1, "request %d", at)
		b := frozen.Group.Bindings[0]
		require.Contains(t, []string{"lab www.lab.example", "late www.late.example"}, b.Record+" "+b.Hosts[0].Name, "request %d", at)
		moved = moved || b.Record == "late"
	}
	require.True(t, moved)
}
