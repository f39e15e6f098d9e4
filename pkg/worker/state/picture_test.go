package state

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// TestWhatIsObservedIsMadeAgainAfterAChangeOnly: steps in which neither the contexts nor the
// ledger have changed go through no objects. After a change, both views are new.
func TestWhatIsObservedIsMadeAgainAfterAChangeOnly(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	b.cluster.Clock, b.cluster.Signals = &stopped{}, NewSignals()
	p := &Picture{Cluster: b.cluster, Desired: b.desired, Ledger: NewLedger(b.cluster, ledger.New(kvtest.NewFake()))}
	step := func() Snapshot {
		require.NoError(t, p.Desired.Load(t.Context(), p.Ledger.Entries()))
		p.UpdateQuestions()
		p.Publish()
		return p.Snapshot()
	}
	b.commit("provider", here, b.ofLab("apps/v1", "Deployment", "provider"))
	require.NotEmpty(t, step().Questions.How)

	b.commit("web", here, b.ofLab("externaldns.k8s.io/v1alpha1", "DNSEndpoint", "web"))
	wanted := step()
	require.Contains(t, wanted.Questions.Endpoints, "shop/web")
	require.Equal(t, Mark{Namespace: "shop", Project: "shop", Record: "lab", Scope: "public"}, wanted.Questions.Mark("shop/web"))
	require.Empty(t, wanted.Subjects.Publishers, "nothing is applied yet")
	require.Same(t, wanted.Subjects, step().Subjects)
	require.Same(t, wanted.Questions, step().Questions)

	for id := range p.Desired.Objects() {
		p.Ledger.Set(ledger.Entry{ID: id, UID: "1", Generation: 2, CreatedByUs: true, Status: ledger.Applied})
	}
	applied := step()
	require.Len(t, applied.Subjects.Publishers, 1)
	require.Equal(t, []string{"shop/provider"}, applied.Subjects.Deployments)
	require.Len(t, applied.Subjects.Publishers[0].Endpoints, 1)
	require.Equal(t, "1", applied.Subjects.Publishers[0].Endpoints[0].UID)
	require.Equal(t, int64(2), applied.Subjects.Publishers[0].Endpoints[0].Generation)
	require.Same(t, applied.Subjects, step().Subjects)

	asked := p.questions.value
	for id, e := range p.Ledger.Entries() {
		e.Generation++
		p.Ledger.Set(ledger.Entry{ID: id, UID: e.UID, Generation: e.Generation, CreatedByUs: true, Status: ledger.Applied})
	}
	again := step()
	require.Equal(t, int64(3), again.Subjects.Publishers[0].Endpoints[0].Generation)
	require.Same(t, asked, p.questions.value, "what is applied again changes nothing that is asked")

	b.commit("web", here)
	require.Contains(t, step().Questions.Going, "shop/web")
	for id := range p.Ledger.Entries() {
		if id.IsEndpoint() {
			p.Ledger.Drop(id)
		}
	}
	gone := step()
	require.Empty(t, gone.Questions.Going)
	require.Empty(t, gone.Subjects.Publishers[0].Endpoints)
}

// TestWhatFollowsFromTheLedgerIsNeverOfAnEarlierOne: whatever becomes of the entries, the
// questions and what is watched are what somebody makes of them who derives them anew.
func TestWhatFollowsFromTheLedgerIsNeverOfAnEarlierOne(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	b := newBoard(t)
	b.cluster.Clock, b.cluster.Signals = &stopped{}, NewSignals()
	p := &Picture{Cluster: b.cluster, Desired: b.desired, Ledger: NewLedger(b.cluster, ledger.New(kvtest.NewFake()))}
	objects := []bundle.Object{
		b.ofLab("apps/v1", "Deployment", "provider"), b.ofLab("v1", "ConfigMap", "a"),
		b.ofLab("externaldns.k8s.io/v1alpha1", "DNSEndpoint", "web"), b.ofLab("externaldns.k8s.io/v1alpha1", "DNSEndpoint", "api"),
	}
	for range 500 {
		id := objects[random.IntN(len(objects))].ID
		switch random.IntN(4) {
		case 0:
			p.Ledger.Drop(id)
		case 1:
			b.commit("web", here, objects[:random.IntN(len(objects)+1)]...)
			require.NoError(t, p.Desired.Load(t.Context(), p.Ledger.Entries()))
		default:
			status := []ledger.Status{ledger.Pending, ledger.Applied, ledger.Retrying}[random.IntN(3)]
			p.Ledger.Set(ledger.Entry{ID: id, Generation: random.Int64N(3), CreatedByUs: random.IntN(2) == 0, Status: status})
		}
		p.UpdateQuestions()
		require.True(t, p.ask().equal(p.Snapshot().Questions))
		interest, _ := p.interest.of(p, p.Ledger.turns, p.ours)
		require.Equal(t, p.ours().Pods, interest.Pods)
		require.ElementsMatch(t, p.ours().Kinds, interest.Kinds)
	}
}

// ofLab is an object of the external-dns of provider lab.
func (b *board) ofLab(version, kind, name string) bundle.Object {
	b.Helper()
	o, err := bundle.Parse(here, "web", fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"namespace":"shop","labels":{%q:"shop",%q:"lab",%q:"public"}}}`,
		version, kind, name, bundle.LabelProject, bundle.LabelRecord, bundle.LabelScope))
	require.NoError(b, err)
	return o
}
