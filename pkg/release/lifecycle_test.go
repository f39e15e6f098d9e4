package release_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

func TestInstantiateIsInstantiatedOnceEveryObjectWasApplied(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	require.Equal(t, intent.Created, w.state(prod))
	accepted := w.do(intent.Instantiate, prod)
	require.Equal(t, int64(1), accepted.Revision)
	require.Equal(t, intent.Instantiating, w.state(prod))

	settled, err := w.service.StepGroup(t.Context(), prod)
	require.NoError(t, err)
	require.False(t, settled, "nothing was applied yet")
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.10,203.0.113.20"}, w.published(prod))
	require.Contains(t, w.objects(providerOwner(labOnHub)), "edge+hub Deployment external-dns-lab")

	w.strangers["Deployment external-dns-lab"] = true
	require.NoError(t, w.rest())
	require.Equal(t, intent.Instantiating, w.state(prod), "the Deployment is a conflict")

	delete(w.strangers, "Deployment external-dns-lab")
	w.settle(prod)
	require.Equal(t, intent.Instantiated, w.state(prod))
	pointer, err := w.contexts.Current(t.Context(), appcontext.Owner(prod))
	require.NoError(t, err)
	require.Equal(t, accepted.ContextID, pointer.ContextID)
	require.Equal(t, map[string][]string{berlin: {"shop/web"}, paris: {"shop/web"}}, pointer.Services)
}

// TestReadersSeeWholeBundlesOnly: of a release that takes several transactions
// no reader ever sees a part (I2).
func TestReadersSeeWholeBundlesOnly(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.manifests(prod, 200)
	w.do(intent.Instantiate, prod)
	sizes := w.watchSizes(prod)
	w.settle(prod)
	w.manifests(prod, 150)
	w.do(intent.Update, prod)
	w.settle(prod)
	w.do(intent.Terminate, prod)
	w.outlive()
	whole := func(manifests int) int { return 2*manifests + 2 + 1 } // on two clusters with a Namespace each, and the DNSEndpoint
	require.Equal(t, map[int]bool{0: true, whole(200): true, whole(150): true}, sizes)
}

// manifests gives a group's app so many manifests.
func (w *world) manifests(group intent.Path, count int) {
	w.Helper()
	var list []string
	for n := range count {
		list = append(list, fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%d"}}`, n))
	}
	w.put(group, `{"logicalCloud":"eu","apps":[{"name":"web","manifests":[`+strings.Join(list, ",")+`]}]}`, eu)
}

// watchSizes notes how many objects a reader finds after a write. Chunks of a
// context are written at the same time.
func (w *world) watchSizes(group intent.Path) map[int]bool {
	sizes := map[int]bool{}
	var looking sync.Mutex
	w.fake.After = func(op, _ string) error {
		if op == "txn" && looking.TryLock() {
			defer looking.Unlock()
			sizes[len(w.bundle(appcontext.Owner(group)))] = true
		}
		return nil
	}
	return sizes
}

func TestRepeatedInstantiateAnswersTheSame(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	first := w.do(intent.Instantiate, prod)
	require.Equal(t, first, w.do(intent.Instantiate, prod), "while Instantiating")
	w.settle(prod)
	before := w.keys()
	require.Equal(t, first, w.do(intent.Instantiate, prod), "when Instantiated")
	require.Equal(t, first, w.do(intent.Update, prod), "an update without a change")
	require.Equal(t, before, w.keys())
}

func TestOthersRecordsDoNotMakeARepeatedInstantiateAnother(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.associate(eu, "lab", "corp")
	w.group(test, "api", "api.corp.example")
	first := w.do(intent.Instantiate, prod)
	w.do(intent.Instantiate, test)
	w.settle(prod, test)
	w.do(intent.Terminate, test)
	w.outlive()
	w.settle(test)
	require.Equal(t, first, w.do(intent.Instantiate, prod), "corp is associated, but serves none of prod's names")
}

func TestEditsDoNotLeakBeforeUpdate(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example","leak.lab.example"],"ttl":7}`)
	w.put(lab, record("lab.example", `,"targetFilter":{"deny":["0.0.0.0/0"]}`))
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.10,203.0.113.20"}, w.published(prod))

	w.observe(berlin, "shop/web", "203.0.113.11")
	w.settle(prod)
	require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.11,203.0.113.20"}, w.published(prod), "an address changes within the release")

	_, err := w.try(intent.Instantiate, prod, "")
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, "update it")
}

func TestUpdateMakesTheNextRevisionAndDropsWhatIsGone(t *testing.T) {
	t.Parallel()
	w := running(t)
	first := w.snapshot(prod).Lifecycle.ContextID
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["shop.lab.example"]}`)
	w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web","clusters":[{"clusterProvider":"edge","cluster":"paris"}]}]}`, eu)
	accepted := w.do(intent.Update, prod)
	require.Equal(t, int64(2), accepted.Revision)
	require.NotEqual(t, first, accepted.ContextID)
	require.Equal(t, intent.Updating, w.state(prod))
	w.settle(prod)
	require.Equal(t, intent.Instantiated, w.state(prod))
	require.Equal(t, []string{"edge+hub lab/public: shop.lab.example A 203.0.113.20"}, w.published(prod))
	require.Equal(t, []state.Past{{Seq: 1, ContextID: first}}, w.snapshot(prod).Lifecycle.History)
}

func TestActionsAreJudgedByState(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		before []intent.Action
		then   intent.Action
		want   intent.Code
	}{
		{"nothing is there to update", nil, intent.Update, intent.Conflict},
		{"terminate is idempotent from the start", nil, intent.Terminate, ""},
		{"an update has to wait for the instantiation", []intent.Action{intent.Instantiate}, intent.Update, intent.Conflict},
		{"terminate may come early", []intent.Action{intent.Instantiate}, intent.Terminate, ""},
		{"what terminates is not updated", []intent.Action{intent.Instantiate, intent.Terminate}, intent.Update, intent.Conflict},
		{"what terminates may come back", []intent.Action{intent.Instantiate, intent.Terminate}, intent.Instantiate, ""},
	} {
		w := newShop(t)
		for _, action := range c.before {
			w.do(action, prod)
		}
		_, err := w.try(c.then, prod, "")
		require.Equal(t, c.want, intent.CodeOf(err), "%s: %v", c.reason, err)
	}
}

func TestTerminateIsIdempotent(t *testing.T) {
	t.Parallel()
	w := running(t)
	first := w.do(intent.Terminate, prod)
	require.Equal(t, first, w.do(intent.Terminate, prod), "while Terminating")
	w.outlive()
	w.settle(prod)
	require.Equal(t, intent.Terminated, w.state(prod))
	before := w.keys()
	require.Equal(t, first, w.do(intent.Terminate, prod), "when Terminated")
	require.Equal(t, before, w.keys())
	require.Empty(t, w.inClusters())
}

func TestInstantiateWhileTerminatingBringsItBack(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.do(intent.Terminate, prod)
	require.NoError(t, w.rest())
	require.Equal(t, intent.Terminating, w.state(prod), "external-dns outlives the names")
	require.Empty(t, w.published(prod))
	accepted := w.do(intent.Instantiate, prod)
	require.Equal(t, int64(2), accepted.Revision)
	w.settle(prod)
	w.outlive()
	require.Equal(t, intent.Instantiated, w.state(prod))
	require.NotEmpty(t, w.deployment(labOnHub))
	require.Len(t, w.published(prod), 1)
}

func TestAGroupThatWasTerminatedStartsAgain(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.do(intent.Terminate, prod)
	w.outlive()
	w.settle(prod)
	require.Equal(t, int64(2), w.do(intent.Instantiate, prod).Revision)
	w.settle(prod)
	require.Equal(t, intent.Instantiated, w.state(prod))
	require.Len(t, w.published(prod), 1)
}

func TestAGroupCannotBeDeletedWhileItIsDeployed(t *testing.T) {
	t.Parallel()
	w := running(t)
	for _, path := range []intent.Path{www(prod), prod.Child("traffic-group-intents", "front")} {
		require.NoError(t, w.delete(path))
	}
	require.Equal(t, intent.Conflict, intent.CodeOf(w.delete(prod)))
	w.do(intent.Terminate, prod)
	require.NoError(t, w.rest())
	require.Equal(t, intent.Conflict, intent.CodeOf(w.delete(prod)), "while Terminating")
	w.outlive()
	require.NoError(t, w.delete(prod))

	w.group(prod, "web", "www.lab.example")
	require.Equal(t, intent.Created, w.state(prod), "another group of the name begins anew")
	require.Equal(t, int64(1), w.do(intent.Instantiate, prod).Revision)
	w.settle(prod)
	require.Len(t, w.published(prod), 1)
}

func TestEventsTellWhatHappened(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.do(intent.Terminate, prod)
	w.outlive()
	events, err := w.service.Events(context.Background(), prod)
	require.NoError(t, err)
	var told []string
	for _, e := range events {
		told = append(told, e.Actor+" "+string(e.Action)+" "+e.Outcome)
	}
	require.Equal(t, []string{"ann instantiate accepted", "signpost instantiate completed", "ann terminate accepted", "signpost terminate completed"}, told)
}
