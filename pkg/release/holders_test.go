package release_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

const (
	evil      intent.Path = "projects/evil"
	evilCloud             = evil + "/logical-clouds/eu"
	evilProd              = evil + "/composite-apps/store/v1/deployment-intent-groups/prod"
)

// newRivals is a world in which prod of shop runs ConfigMaps c0 and c1 in
// namespace shop, which project evil has shared since before namespaces had
// owners.
func newRivals(t *testing.T) *world {
	t.Helper()
	w := newShop(t)
	w.manifests(prod, 2)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.forgetNamespaces()
	w.put(evil, `{"namespace":"evil-dns"}`)
	w.put(evilCloud, `{"namespace":"shop"}`)
	w.member(evilCloud, "berlin")
	w.put(evil+"/composite-apps/store/v1", `{"compositeAppVersion":"v1"}`)
	return w
}

// forgetNamespaces has releases be as an earlier Signpost accepted them, which
// knew of no owners of namespaces.
func (w *world) forgetNamespaces() {
	w.Helper()
	_, _, err := w.fake.Txn(context.Background(), nil, kv.DeletePrefix("/signpost/name/namespace-"))
	require.NoError(w, err)
}

// configMap puts a group with one ConfigMap, in namespace shop.
func (w *world) configMap(group, cloud intent.Path, name, value string) {
	w.Helper()
	w.put(group, fmt.Sprintf(`{"logicalCloud":"eu","apps":[{"name":"web","manifests":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"k":%q}}]}]}`,
		name, value), cloud)
}

// TestAnotherProjectsObjectIsNotReplaced is I4 between projects: the plan and
// the actions refuse it, and say nothing more about the other project.
func TestAnotherProjectsObjectIsNotReplaced(t *testing.T) {
	t.Parallel()
	w := newRivals(t)
	w.configMap(evilProd, evilCloud, "c1", "evil")
	const refusal = "ConfigMap shop/c1 on edge+berlin belongs to another project"
	w.refuses(intent.Instantiate, evilProd, refusal, string(evilProd)+"#/spec/apps")
	told := fmt.Sprint(w.plan(evilProd, intent.Instantiate))
	require.NotContains(t, told, string(shop)+"/")
	require.Len(t, w.plan(evilProd, intent.Instantiate).Errors, 1, "the namespace and other equal objects are shared")

	w.configMap(evilProd, evilCloud, "mine", "evil")
	w.do(intent.Instantiate, evilProd)
	w.settle(evilProd)
	w.configMap(evilProd, evilCloud, "c1", "evil")
	w.refuses(intent.Update, evilProd, refusal)
	w.do(intent.Update, prod)
	w.settle(prod)

	w.do(intent.Terminate, evilProd)
	w.settle(evilProd)
	w.do(intent.Terminate, prod)
	w.outlive()
	w.do(intent.Instantiate, evilProd)
	w.settle(evilProd)
}

// TestAnObjectThatIsToGoIsFree: its holder has let go of it, even where the
// cluster does not answer.
func TestAnObjectThatIsToGoIsFree(t *testing.T) {
	t.Parallel()
	w := newRivals(t)
	w.down[berlin] = true
	w.do(intent.Terminate, prod)
	require.NoError(t, w.rest())
	w.configMap(evilProd, evilCloud, "c1", "evil")
	require.Empty(t, w.plan(evilProd, intent.Instantiate).Errors)
}

// TestAnObjectIsHeldBeforeItIsApplied: an owner whose cluster does not answer
// came first all the same.
func TestAnObjectIsHeldBeforeItIsApplied(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.down[berlin] = true
	w.manifests(prod, 1)
	w.do(intent.Instantiate, prod)
	require.NoError(t, w.rest())
	w.forgetNamespaces()
	w.put(evil, `{"namespace":"evil-dns"}`)
	w.put(evilCloud, `{"namespace":"shop"}`)
	w.member(evilCloud, "berlin")
	w.put(evil+"/composite-apps/store/v1", `{"compositeAppVersion":"v1"}`)
	w.configMap(evilProd, evilCloud, "c0", "evil")
	w.refuses(intent.Instantiate, evilProd, "ConfigMap shop/c0 on edge+berlin belongs to another project")
}

// TestAnObjectOfAnotherGroupOfTheProjectIsWarnedOf with the group's name.
func TestAnObjectOfAnotherGroupOfTheProjectIsWarnedOf(t *testing.T) {
	t.Parallel()
	w := newRivals(t)
	w.configMap(test, eu, "c0", "of test")
	plan := w.plan(test, intent.Instantiate)
	require.Empty(t, plan.Errors)
	require.Contains(t, fmt.Sprint(plan.Warnings), "ConfigMap shop/c0 on edge+berlin belongs to "+string(prod)+", whose content stays")
	for _, action := range []intent.Action{intent.Update, intent.Terminate} {
		require.NotContains(t, fmt.Sprint(w.plan(prod, action).Warnings), "whose content stays", "the holder is not told")
	}
}

// TestAPlanNeedsTheLedger to know whose objects there are: a plan fails if any of its reads
// of several keys fails, the ledger's among them.
func TestAPlanNeedsTheLedger(t *testing.T) {
	t.Parallel()
	w := newRivals(t)
	w.configMap(evilProd, evilCloud, "c0", "evil")
	for failing := 1; ; failing++ {
		reads := 0
		w.fake.Before = func(op, key string) error {
			if op == "range" && key == "" {
				reads++
			}
			if op == "range" && key == "" && reads == failing {
				return errCrashed
			}
			return nil
		}
		_, err := w.service.Plan(context.Background(), evilProd, intent.Instantiate, 0)
		if reads < failing {
			require.NoError(t, err)
			require.Greater(t, failing, 3)
			return
		}
		require.ErrorIs(t, err, errCrashed, "read %d", failing)
	}
}
