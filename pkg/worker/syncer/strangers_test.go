package syncer

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// TestNothingIsPutIntoANamespaceThatMayNotBeUsed: it was made by somebody else
// since the release was planned. Once it is granted, all goes on.
func TestNothingIsPutIntoANamespaceThatMayNotBeUsed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		f := s.clusters[hub]
		f.Plant(namespace(t, hub))
		var granted atomic.Bool
		s.mayUse = func(_ context.Context, cluster, namespace string, owners []string) (string, error) {
			require.Equal(t, []string{hub, "shop", "dig"}, append([]string{cluster, namespace}, owners...))
			if granted.Load() {
				return "", nil
			}
			return "was not made by Signpost", nil
		}
		w, _ := s.start("a")
		objects := []bundle.Object{namespace(t, hub), config(t, hub, "a", "1"), deployment(t, hub, "1")}
		s.commit("dig", objects...)
		s.until("the conflict is told", func() bool { return s.entries(hub)[objects[0].ID].Status == ledger.Failed })
		s.until("the rest waits", func() bool {
			return strings.Contains(s.entries(hub)[objects[1].ID].Message, "waits for namespace shop")
		})
		require.Equal(t, "conflict: the namespace was not made by Signpost", s.entries(hub)[objects[0].ID].Message)
		require.NotContains(t, strings.Join(writes(f), ","), "ConfigMap")
		require.NotContains(t, strings.Join(writes(f), ","), "Deployment")

		granted.Store(true)
		s.settled(w, objects...)
		granted.Store(false)
		objects = append(objects, config(t, hub, "b", "1"))
		s.commit("dig", objects...)
		s.settled(w, objects...)
	})
}

// TestNothingIsPutIntoANamespaceAsLongAsGrantsAreNotKnown: a store that does not
// answer grants nothing.
func TestNothingIsPutIntoANamespaceAsLongAsGrantsAreNotKnown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		f := s.clusters[hub]
		f.Plant(namespace(t, hub))
		var away atomic.Bool
		away.Store(true)
		s.mayUse = func(context.Context, string, string, []string) (string, error) {
			if away.Load() {
				return "", errors.New("away")
			}
			return "", nil
		}
		w, _ := s.start("a")
		objects := []bundle.Object{namespace(t, hub), config(t, hub, "a", "1")}
		s.commit("dig", objects...)
		s.until("it is told", func() bool {
			return strings.Contains(s.entries(hub)[objects[0].ID].Message, "the owner of the namespace is not known")
		})
		require.Nil(t, f.Live(objects[1].ID))
		away.Store(false)
		s.settled(w, objects...)
	})
}

// TestPodsWaitForTheirServiceAccount: the one that the manifests bring is
// somebody else's in the cluster.
func TestPodsWaitForTheirServiceAccount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		f := s.clusters[hub]
		f.Plant(namespace(t, hub))
		theirs := account(t, hub, "kustomize-controller")
		f.Plant(theirs)
		pod, err := bundle.New(hub, "web", map[string]any{
			"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "a", "namespace": "shop"},
			"spec": map[string]any{"serviceAccountName": "kustomize-controller"},
		})
		require.NoError(t, err)
		w, _ := s.start("a")
		objects := []bundle.Object{namespace(t, hub), theirs, pod, config(t, hub, "a", "1")}
		s.commit("dig", objects...)
		s.until("it waits", func() bool {
			return strings.Contains(s.entries(hub)[pod.ID].Message, "waits for ServiceAccount kustomize-controller")
		})
		require.Nil(t, f.Live(pod.ID))
		s.until("the rest goes on", func() bool { return f.Live(objects[3].ID) != nil })
		f.Remove(theirs.ID)
		s.settled(w, objects...)
	})
}
