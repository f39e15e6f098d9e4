package apply

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/clustertest"
	"github.com/signpost-dns/signpost/pkg/worker/state"
)

// TestAKeyThatMayHaveBeenPutInIsTakenOut: the answer was lost, and then nobody
// wanted it any more (I5).
func TestAKeyThatMayHaveBeenPutInIsTakenOut(t *testing.T) {
	t.Parallel()
	entry := ledger.Entry{ID: clustertest.Keyed(t, "a", "1").ID, Status: ledger.Pending, Shared: true}
	assert.Equal(t, remove, decide(entry.ID, nil, &entry, cluster.Sight{}).operation)
	entry.Status = ledger.Applied
	assert.Equal(t, remove, decide(entry.ID, nil, &entry, cluster.Sight{}).operation)
}

// TestAStrangersObjectIsNeverAppliedWhole: after a failed attempt, too, its keys
// alone are written.
func TestAStrangersObjectIsNeverAppliedWhole(t *testing.T) {
	t.Parallel()
	f := clustertest.NewFake("uid")
	o := clustertest.Keyed(t, "a", "1")
	f.Plant(clustertest.Object(t, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "dns"}}))
	p := &performer{target: f.Target(cluster.Options{Installation: "k7wq2m9x"}), installation: "k7wq2m9x"}
	want := &state.Wanted{Object: o, Digest: o.Digest()}
	for _, operation := range []operation{create, apply} {
		got := p.perform(t.Context(), action{operation: operation, id: o.ID, want: want}, ledger.Entry{ID: o.ID, Shared: true, UID: "u", Status: ledger.Retrying})
		assert.Equal(t, ledger.Applied, got.entry.Status)
		assert.Equal(t, "share", f.Requests()[len(f.Requests())-1].Verb)
	}
}

// TestAnObjectThatIsSharedFromNowOnBeginsAnew: whoever's it was before is
// settled first, so that nothing of ours stays in it and nothing of strangers'
// goes (I4, I5).
func TestAnObjectThatIsSharedFromNowOnBeginsAnew(t *testing.T) {
	t.Parallel()
	id := clustertest.Keyed(t, "a", "1").ID
	whole, keys := &state.Wanted{Digest: "w"}, &state.Wanted{Digest: "k", Marks: cluster.Marks{Annotations: map[string]string{bundle.AnnotationKeys: bundle.OwnKeys}}}
	for _, c := range []struct {
		why   string
		want  *state.Wanted
		entry ledger.Entry
	}{
		{"in conflict", keys, ledger.Entry{ID: id, Status: ledger.Failed}},
		{"perhaps made, the answer was lost", keys, ledger.Entry{ID: id, Status: ledger.Pending}},
		{"made by us", keys, ledger.Entry{ID: id, Status: ledger.Applied, CreatedByUs: true, UID: "u", Digest: "w"}},
		{"our keys are in it", whole, ledger.Entry{ID: id, Status: ledger.Applied, Shared: true, UID: "u", Digest: "k"}},
		{"our keys may be in it", whole, ledger.Entry{ID: id, Status: ledger.Retrying, Shared: true}},
	} {
		got := decide(id, c.want, &c.entry, cluster.Sight{})
		assert.Equal(t, remove, got.operation, c.why)
		assert.Nil(t, got.want, c.why)
	}
}
