package syncer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/clustertest"
)

func TestObjectsAreMadeInTheOrderOfKindsAndGoInReverse(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	f := s.clusters[hub]
	w, _ := s.start("a")
	objects := everything(t, hub)
	s.commit("dig", objects...)
	s.settled(w, objects...)
	assert.Equal(t, []string{
		"create Namespace shop", "create CustomResourceDefinition dnsendpoints.externaldns.k8s.io",
		"create ServiceAccount external-dns-lab", "create Deployment external-dns-lab", "create DNSEndpoint web",
	}, writes(f))

	f.Forget()
	s.commit("dig")
	s.until("everything of ours is gone", func() bool { return len(s.entries(hub)) == 0 })
	assert.Equal(t, []string{
		"delete DNSEndpoint web", "delete Deployment external-dns-lab", "delete ServiceAccount external-dns-lab", "delete Namespace shop",
	}, writes(f))
	assert.NotNil(t, f.Live(definition(t, hub).ID), "the definition is never deleted")
}

func TestForeignObjectIsNeverChangedOrRemoved(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	f := s.clusters[hub]
	strangers := []bundle.Object{namespace(t, hub), definition(t, hub), account(t, hub, "external-dns-lab"), deployment(t, hub, "theirs")}
	before := map[bundle.ID]*cluster.Live{}
	for _, o := range strangers {
		f.Plant(o)
		before[o.ID] = f.Live(o.ID)
	}
	unchanged := func() {
		t.Helper()
		for id, live := range before {
			assert.Equal(t, live, f.Live(id), "%s is as it was (I4)", id)
		}
	}
	s.start("a")
	objects := everything(t, hub)
	s.commit("dig", objects...)
	s.until("the rest goes on", func() bool { return s.entries(hub)[endpoint(t, hub, "1").ID].Status == ledger.Applied })
	entries := s.entries(hub)
	for _, shared := range []bundle.Object{namespace(t, hub), definition(t, hub)} {
		e := entries[shared.ID]
		assert.Equal(t, ledger.Applied, e.Status, "what can be shared is used as it is")
		assert.False(t, e.CreatedByUs)
		assert.Contains(t, e.Message, "there before")
	}
	for _, taken := range []bundle.Object{account(t, hub, "external-dns-lab"), deployment(t, hub, "1")} {
		e := entries[taken.ID]
		assert.Equal(t, ledger.Failed, e.Status)
		assert.Contains(t, e.Message, "conflict")
	}
	unchanged()

	objects[3] = deployment(t, hub, "2")
	s.commit("dig", objects...)
	s.until("an update looks again", func() bool { return len(s.entries(hub)) == len(objects) })
	unchanged()
	s.commit("dig")
	s.until("terminate lets go", func() bool { return len(s.entries(hub)) == 0 })
	unchanged()
	assert.Nil(t, f.Live(endpoint(t, hub, "1").ID))
}

func TestConflictIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		f := s.clusters[hub]
		f.Plant(namespace(t, hub))
		f.Plant(config(t, hub, "a", "theirs"))
		w, _ := s.start("a")
		mine := config(t, hub, "a", "ours")
		s.commit("dig", mine)
		s.until("the conflict is told", func() bool { return s.entries(hub)[mine.ID].Status == ledger.Failed })
		f.Remove(mine.ID)
		s.settled(w, mine)
	})
}

func TestUnchangedCostsNoRequest(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	f := s.clusters[hub]
	w, stop := s.start("a")
	objects := append(everything(t, hub), config(t, hub, "a", "1"), config(t, hub, "b", "1"))
	s.commit("dig", objects...)
	s.settled(w, objects...)

	f.Forget()
	s.commit("dig", objects...) // again, with nothing changed
	s.settled(w, objects...)
	assert.Empty(t, beyondProbes(f), "instantiating again")

	stop()
	f.Forget()
	w, _ = s.start("b")
	s.settled(w, objects...)
	assert.Empty(t, beyondProbes(f), "a restart")

	changed := config(t, hub, "a", "2")
	objects[5] = changed
	s.commit("dig", objects...)
	s.settled(w, objects...)
	assert.Equal(t, []clustertest.Request{{Verb: "apply", ID: changed.ID}}, beyondProbes(f), "one object changed")
}

func TestDriftIsRepaired(t *testing.T) {
	t.Parallel()
	label := func(o bundle.Object, spec string, labels map[string]string) bundle.Object {
		made, err := bundle.New(hub, "web", map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "spec": spec,
			"metadata": map[string]any{"name": o.Name, "namespace": o.Namespace, "labels": labels}})
		require.NoError(t, err)
		return made
	}
	ours := map[string]string{bundle.LabelManagedBy: bundle.ManagedBy, bundle.LabelInstallation: installation}
	for name, drift := range map[string]func(f *clustertest.Fake, o bundle.Object){
		"an object that was deleted is made again": func(f *clustertest.Fake, o bundle.Object) { f.Remove(o.ID) },
		"an object that was edited is put back":    func(f *clustertest.Fake, o bundle.Object) { f.Plant(label(o, "edited", ours)) },
		"a label of ours that was removed is put back": func(f *clustertest.Fake, o bundle.Object) {
			f.Plant(label(o, "1", map[string]string{}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, hub)
			f := s.clusters[hub]
			w, _ := s.start("a")
			objects := []bundle.Object{namespace(t, hub), config(t, hub, "a", "1")}
			s.commit("dig", objects...)
			s.settled(w, objects...)
			drift(f, objects[1])
			s.until("it is put back", func() bool {
				content, live := f.Content(objects[1].ID), f.Live(objects[1].ID)
				return live != nil && live.Ours(installation) && content["spec"] == "1"
			})
			s.until("the ledger follows", func() bool {
				live := f.Live(objects[1].ID)
				return s.entries(hub)[objects[1].ID].ResourceVersion == live.ResourceVersion
			})
		})
	}
}

func TestNewStatusIsNoDrift(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	f := s.clusters[hub]
	w, _ := s.start("a")
	objects := everything(t, hub)
	s.commit("dig", objects...)
	s.settled(w, objects...)
	f.Forget()
	f.Touch(objects[3].ID)
	other := config(t, hub, "marker", "1") // shows that the worker has looked since
	s.commit("other", other)
	s.settled(w, other)
	assert.Equal(t, []string{"create ConfigMap marker"}, writes(f))
}

func TestDefinitionIsEstablishedBeforeItsObjects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		f := s.clusters[hub]
		f.LateDefinitions()
		w, _ := s.start("a")
		objects := everything(t, hub)
		s.commit("dig", objects...)
		e := endpoint(t, hub, "1")
		s.until("the object waits", func() bool { return s.entries(hub)[e.ID].Status == ledger.Retrying })
		assert.NotContains(t, writes(f), "create DNSEndpoint web")
		f.Establish("dnsendpoints.externaldns.k8s.io")
		s.settled(w, objects...)
	})
}

func TestSharedObjectStaysUntilItsLastOwnerGoes(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	f := s.clusters[hub]
	w, _ := s.start("a")
	shared := []bundle.Object{namespace(t, hub), config(t, hub, "a", "1")}
	s.commit("one", shared...)
	s.commit("two", shared...)
	s.until("both owners are noted", func() bool {
		return assert.ObjectsAreEqual([]string{"one", "two"}, s.entries(hub)[shared[1].ID].Owners)
	})
	s.commit("one")
	s.until("one owner is left", func() bool {
		return assert.ObjectsAreEqual([]string{"two"}, s.entries(hub)[shared[1].ID].Owners)
	})
	s.settled(w, shared...)
	assert.NotNil(t, f.Live(shared[1].ID))
	s.commit("two")
	s.until("it goes with its last owner", func() bool { return f.Live(shared[1].ID) == nil && len(s.entries(hub)) == 0 })
}

func TestOwnersThatDifferAreTold(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	f := s.clusters[hub]
	f.Plant(namespace(t, hub))
	s.start("a")
	first, second := config(t, hub, "a", "of one"), config(t, hub, "a", "of two")
	s.commit("one", first)
	s.commit("two", second)
	s.until("the second is told", func() bool {
		status, message := s.entries(hub)[first.ID].Progress("two", second.Digest())
		return status == ledger.Failed && strings.Contains(message, "one")
	})
	s.until("the first is applied", func() bool {
		status, _ := s.entries(hub)[first.ID].Progress("one", first.Digest())
		return status == ledger.Applied && f.Content(first.ID)["spec"] == "of one"
	})
}

// TestNobodyTakesAnObjectOverFromAnotherProject is I4 between projects: whose
// content is applied keeps it against a newcomer that sorts first, also after a
// restart, and hands it over when it goes.
func TestNobodyTakesAnObjectOverFromAnotherProject(t *testing.T) {
	t.Parallel()
	const shop, evil = "projects/shop/logical-clouds/eu", "projects/evil/logical-clouds/eu"
	s := newScene(t, hub)
	f := s.clusters[hub]
	f.Plant(namespace(t, hub))
	w, stop := s.start("a")
	theirs, ours := config(t, hub, "a", "of shop"), config(t, hub, "a", "of evil")
	id := theirs.ID
	s.commit(shop, theirs)
	s.settled(w, theirs)
	s.commit(evil, ours)
	told := func() bool {
		e := s.entries(hub)[id]
		status, message := e.Progress(evil, ours.Digest())
		return status == ledger.Failed && message != "" && !strings.Contains(message, shop) && !strings.Contains(message, evil)
	}
	s.until("the newcomer is told, without the other project's names", told)
	assert.Equal(t, "of shop", f.Content(id)["spec"])
	stop()

	w, _ = s.start("b")
	theirs = config(t, hub, "a", "of shop, changed")
	s.commit(shop, theirs)
	s.settled(w, theirs)
	s.until("the newcomer is still told", told)
	assert.Equal(t, []string{shop, evil}, s.entries(hub)[id].Owners)
	assert.Equal(t, "of shop, changed", f.Content(id)["spec"])

	s.commit(shop)
	s.settled(w, ours)
	assert.Equal(t, "of evil", f.Content(id)["spec"])
	assert.Empty(t, s.entries(hub)[id].Losing)
	assert.Empty(t, s.entries(hub)[id].Message)
}

func TestNamespaceGoesOnlyWhenItIsEmpty(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		f := s.clusters[hub]
		w, _ := s.start("a")
		objects := []bundle.Object{namespace(t, hub), config(t, hub, "a", "1")}
		s.commit("dig", objects...)
		s.settled(w, objects...)
		f.Plant(config(t, hub, "theirs", "1"))
		s.commit("dig")
		s.until("it is kept", func() bool { return s.entries(hub)[objects[0].ID].Kept })
		e := s.entries(hub)[objects[0].ID]
		assert.True(t, e.Lingers(), "nobody waits for it")
		assert.Contains(t, e.Message, "theirs")
		assert.Len(t, s.entries(hub), 1, "all else is gone")
		f.Remove(config(t, hub, "theirs", "1").ID)
		s.until("it goes once it is empty", func() bool { return f.Live(objects[0].ID) == nil && len(s.entries(hub)) == 0 })
	})
}

func TestNamespaceThatIsBeingDeletedIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		f := s.clusters[hub]
		f.Finalize(cluster.Kind{Kind: "Namespace"}, true)
		w, _ := s.start("a")
		objects := []bundle.Object{namespace(t, hub), config(t, hub, "a", "1")}
		s.commit("dig", objects...)
		s.settled(w, objects...)
		s.commit("dig")
		s.until("the delete is accepted", func() bool { return s.entries(hub)[objects[0].ID].Status == ledger.Deleted })
		s.commit("dig", objects...)
		s.until("what is wanted again waits", func() bool { return s.entries(hub)[objects[1].ID].Status == ledger.Retrying })
		f.Finish()
		s.settled(w, objects...)
		assert.NotNil(t, f.Live(objects[1].ID))
	})
}

func TestUsedNamespaceThatGoesIsMadeByUs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		f := s.clusters[hub]
		f.Plant(namespace(t, hub))
		w, _ := s.start("a")
		objects := []bundle.Object{namespace(t, hub), config(t, hub, "a", "1")}
		s.commit("dig", objects...)
		s.settled(w, objects...)
		require.False(t, s.entries(hub)[objects[0].ID].CreatedByUs)
		f.Remove(objects[0].ID)
		f.Remove(objects[1].ID)
		s.until("both are made again", func() bool { return f.Live(objects[0].ID) != nil && f.Live(objects[1].ID) != nil })
		s.until("and the namespace is ours now", func() bool { return s.entries(hub)[objects[0].ID].CreatedByUs })
	})
}

func TestRefusalIsFailedAndHoldsUpNothingElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		f := s.clusters[hub]
		var mended atomic.Bool
		f.Before = func(_ context.Context, verb string, id bundle.ID) error {
			if verb == "create" && id.Name == "bad" && !mended.Load() {
				return &fault.Error{Fault: fault.Refused, Code: 422, Message: "spec: Invalid value"}
			}
			return nil
		}
		w, _ := s.start("a")
		bad, good := config(t, hub, "bad", "1"), config(t, hub, "good", "1")
		objects := []bundle.Object{namespace(t, hub), bad, good}
		s.commit("dig", objects...)
		s.until("the refusal is told", func() bool {
			e := s.entries(hub)[bad.ID]
			return e.Status == ledger.Failed && e.Message == "spec: Invalid value"
		})
		s.until("the rest goes on", func() bool { return s.entries(hub)[good.ID].Status == ledger.Applied })
		mended.Store(true)
		s.settled(w, objects...)
	})
}

func TestStaleVersionIsReadAgain(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	f := s.clusters[hub]
	w, _ := s.start("a")
	objects := []bundle.Object{namespace(t, hub), config(t, hub, "a", "1")}
	s.commit("dig", objects...)
	s.settled(w, objects...)
	f.Blind(true)
	f.Touch(objects[1].ID)
	objects[1] = config(t, hub, "a", "2")
	s.commit("dig", objects...)
	s.settled(w, objects...)
	assert.Equal(t, "2", f.Content(objects[1].ID)["spec"])
}

// killedAfterCreate is a scene in which a worker made an object and was killed
// before it could tell the ledger.
func killedAfterCreate(t *testing.T) (s *scene, made bundle.Object) {
	t.Helper()
	s = newScene(t, hub)
	f := s.clusters[hub]
	f.Plant(namespace(t, hub))
	s.kv.Before = func(op, key string) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if op == "txn" && strings.HasPrefix(key, "/signpost/ledger/") {
			return s.broken
		}
		return nil
	}
	f.After = func(_ context.Context, verb string, _ bundle.ID) error {
		if verb == "create" {
			s.breakLedger(true) // the worker gets to tell nobody
		}
		return nil
	}
	_, kill := s.start("a")
	made = config(t, hub, "a", "1")
	s.commit("dig", made)
	s.until("the object is there", func() bool { return f.Live(made.ID) != nil })
	kill()
	require.Equal(t, ledger.Pending, s.entries(hub)[made.ID].Status, "the intent is all that the store knows")
	s.breakLedger(false)
	f.After = nil
	return s, made
}

func TestKillBetweenCreateAndLedgerHealsWithoutASecondObject(t *testing.T) {
	t.Parallel()
	s, mine := killedAfterCreate(t)
	made := s.clusters[hub].Live(mine.ID)
	w, _ := s.start("b")
	s.settled(w, mine)
	assert.Equal(t, made, s.clusters[hub].Live(mine.ID), "the same object, with no second write")
	assert.True(t, s.entries(hub)[mine.ID].CreatedByUs)
}

func TestKillBetweenCreateAndLedgerLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	s, mine := killedAfterCreate(t)
	s.commit("dig")
	s.start("b")
	s.until("the object goes all the same", func() bool { return s.clusters[hub].Live(mine.ID) == nil && len(s.entries(hub)) == 0 })
}

func TestAnswerThatGetsLostHeals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		s.clock = hasty{time.Now()}
		f := s.clusters[hub]
		var lost atomic.Int32
		f.After = func(_ context.Context, verb string, _ bundle.ID) error {
			if (verb == "create" || verb == "apply" || verb == "delete") && lost.Add(1)%2 == 1 {
				return &fault.Error{Fault: fault.Unreachable, Message: "connection reset"}
			}
			return nil
		}
		w, _ := s.start("a")
		objects := everything(t, hub)
		s.commit("dig", objects...)
		s.settled(w, objects...)
		s.commit("dig")
		s.until("everything goes", func() bool { return len(s.entries(hub)) == 0 })
		assert.Nil(t, f.Live(objects[4].ID))
	})
}

// sealed opens one value.
type sealed string

func (v sealed) Secret(_ context.Context, id string) ([]byte, error) {
	if id != "v1" {
		return nil, errors.New("there is no such value")
	}
	return []byte(v), nil
}

func TestNoSecretLeavesButIntoItsSecret(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const hush = "hush-hush-value"
		s := newScene(t, hub)
		s.values = sealed(hush)
		f := s.clusters[hub]
		f.Plant(namespace(t, hub))
		var fail atomic.Bool
		fail.Store(true)
		f.Before = func(_ context.Context, verb string, id bundle.ID) error {
			if verb == "create" && id.Kind == "Secret" && fail.Swap(false) {
				return &fault.Error{Fault: fault.Refused, Code: 422, Message: "data: Invalid"}
			}
			return nil
		}
		w, _ := s.start("a")
		secret, err := bundle.New(hub, "web", map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{
			"name": "tsig", "namespace": "shop", "annotations": map[string]string{bundle.AnnotationValuesFrom: `{"secret":"v1"}`}}})
		require.NoError(t, err)
		s.commit("dig", secret)
		s.settled(w, secret)
		assert.Contains(t, fmt.Sprint(f.Content(secret.ID)), "aHVzaC1odXNoLXZhbHVl", "it arrived")
		items, _, err := s.kv.Range(t.Context(), everyKey())
		require.NoError(t, err)
		for _, item := range items {
			assert.NotContains(t, string(item.Value), hush, item.Key)
			assert.NotContains(t, string(item.Value), "aHVzaC1odXNoLXZhbHVl", item.Key)
		}
		assert.NotContains(t, s.log.String(), hush)
		assert.NotContains(t, s.log.String(), "aHVzaC1odXNoLXZhbHVl")
	})
}
