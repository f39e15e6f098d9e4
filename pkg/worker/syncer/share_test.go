package syncer

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/clustertest"
)

// TestKeysAreSharedWithAStrangersObject: ours are put in, changed, put back and
// taken out key by key; strangers' keys stay untouched (I4).
func TestKeysAreSharedWithAStrangersObject(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	f := s.clusters[hub]
	f.Plant(clustertest.Object(t, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "dns"}}))
	f.Plant(clustertest.Object(t, map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]string{"theirs.server": "x"},
		"metadata": map[string]any{"name": "coredns-custom", "namespace": "dns"},
	}))
	shared := func(value string) bundle.Object {
		o := clustertest.Keyed(t, "ours.server", value)
		o.Cluster = hub
		return o
	}
	id := shared("").ID
	holds := func(why, ours string) {
		t.Helper()
		s.until(why, func() bool {
			data := f.Data(id)
			return data["theirs.server"] == "x" && data["ours.server"] == ours
		})
	}
	s.start("a")
	s.commit("cloud", shared("1"))
	holds("our key is put in", "1")
	s.until("it is applied", func() bool { return s.entries(hub)[id].Status == ledger.Applied })
	entry := s.entries(hub)[id]
	assert.False(t, entry.CreatedByUs)
	assert.True(t, entry.Held())
	assert.NotContains(t, f.Live(id).Labels, bundle.LabelInstallation, "no label of ours belongs on somebody else's object")

	s.commit("cloud", shared("2"))
	holds("a changed key is put in", "2")

	f.Plant(clustertest.Object(t, map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]string{"theirs.server": "x"},
		"metadata": map[string]any{"name": "coredns-custom", "namespace": "dns"},
	}))
	s.changed <- hub // the next probe, ahead of its time
	holds("a key that was taken out by hand is put back", "2")

	s.commit("cloud")
	holds("our key is taken out", "")
	s.until("nothing of ours is left", func() bool { return len(s.entries(hub)) == 0 })
	assert.NotNil(t, f.Live(id), "the object is not ours to remove")
}

func TestASharedObjectAndAWholeOneOfItsNameGiveWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, hub)
		f := s.clusters[hub]
		f.Plant(clustertest.Object(t, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "dns"}}))
		theirs := clustertest.Object(t, map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]string{"theirs.server": "x"},
			"metadata": map[string]any{"name": "coredns-custom", "namespace": "dns"},
		})
		f.Plant(theirs)
		keys, whole := clustertest.Keyed(t, "ours.server", "1"), clustertest.Object(t, map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]string{"whole.server": "1"},
			"metadata": map[string]any{"name": "coredns-custom", "namespace": "dns"},
		})
		keys.Cluster, whole.Cluster = hub, hub
		id := keys.ID
		becomes := func(why string, status ledger.Status, data map[string]string) {
			t.Helper()
			s.until(why, func() bool {
				e := s.entries(hub)[id]
				return e.Status == status && !e.Going && assert.ObjectsAreEqual(data, f.Data(id))
			})
		}
		s.start("a")
		s.commit("cloud", whole)
		becomes("somebody else's is in the way", ledger.Failed, map[string]string{"theirs.server": "x"})
		s.commit("cloud", keys)
		becomes("our key is put into it", ledger.Applied, map[string]string{"theirs.server": "x", "ours.server": "1"})
		s.commit("cloud", whole)
		becomes("it is taken out, and it is in the way again", ledger.Failed, map[string]string{"theirs.server": "x"})

		f.Remove(id)
		becomes("a whole one is made", ledger.Applied, map[string]string{"whole.server": "1"})
		s.commit("cloud", keys)
		becomes("it goes, for one that is not ours", ledger.Applied, map[string]string{"ours.server": "1"})
		assert.NotContains(t, f.Live(id).Labels, bundle.LabelInstallation)
		s.commit("cloud")
		s.until("nothing of ours is left", func() bool { return len(s.entries(hub)) == 0 })
		assert.Empty(t, f.Data(id))
	})
}
