package state

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// TestWhatIsObservedIsMadeAgainAfterAChangeOnly: steps in which neither the contexts nor the
// ledger have changed go through no objects, and wake no prober, which would. After a change, both views are new.
func TestWhatIsObservedIsMadeAgainAfterAChangeOnly(t *testing.T) {
	t.Parallel()
	b := newBoard(t)
	b.cluster.Clock, b.cluster.Signals = &stopped{}, NewSignals()
	p := &Picture{Cluster: b.cluster, Desired: b.desired, Ledger: NewLedger(b.cluster, ledger.New(kvtest.NewFake()))}
	type told struct {
		*Subjects
		*Questions
		applied map[bundle.ID]*Applied
	}
	step := func() told {
		require.NoError(t, p.Desired.Load(t.Context(), p.Ledger.Entries()))
		p.UpdateQuestions()
		p.Publish()
		now, applied := p.TakeApplied()
		return told{now.Subjects, p.TakeQuestions(), applied}
	}
	b.commit("provider", here, b.ofLab("apps/v1", "Deployment", "provider"))
	require.NotEmpty(t, step().How)

	b.commit("web", here, b.ofLab("externaldns.k8s.io/v1alpha1", "DNSEndpoint", "web"))
	wanted := step()
	require.True(t, wanted.Changed["shop/web"].There)
	mark := Mark{Namespace: "shop", Project: "shop", Record: "lab", Scope: "public"}
	require.Equal(t, mark, wanted.Changed["shop/web"].Mark())
	require.Empty(t, wanted.Publishers, "nothing is applied yet")
	still := step()
	require.Same(t, wanted.Subjects, still.Subjects)
	require.Nil(t, still.Questions)

	for id := range p.Desired.Objects() {
		p.Ledger.Set(ledger.Entry{ID: id, UID: "1", Generation: 2, CreatedByUs: true, Status: ledger.Applied})
	}
	web := bundle.EndpointID(here, "shop", "web")
	applied := step()
	require.Len(t, applied.Publishers, 1)
	require.Equal(t, []string{"shop/provider"}, applied.Deployments)
	require.Equal(t, map[bundle.ID]*Applied{web: {mark, Endpoint{UID: "1", Generation: 2}}}, applied.applied)
	<-b.cluster.Signals.Probe
	still = step()
	require.Same(t, applied.Subjects, still.Subjects)
	require.Empty(t, still.applied)
	require.Empty(t, b.cluster.Signals.Probe)
	b.cluster.SetWatches(nil, nil)
	require.Len(t, b.cluster.Signals.Probe, 1, "what it sees is another picture")

	for id, e := range p.Ledger.Entries() {
		e.Generation++
		p.Ledger.Set(ledger.Entry{ID: id, UID: e.UID, Generation: e.Generation, CreatedByUs: true, Status: ledger.Applied})
	}
	again := step()
	require.Equal(t, int64(3), again.applied[web].Generation)
	require.Nil(t, again.Questions, "what is applied again changes nothing that is asked")

	b.commit("web", here)
	require.True(t, step().Changed["shop/web"].Going)
	for id := range p.Ledger.Entries() {
		if id.IsEndpoint() {
			p.Ledger.Drop(id)
		}
	}
	gone := step()
	require.Equal(t, Asked{}, gone.Changed["shop/web"])
	require.Equal(t, map[bundle.ID]*Applied{web: nil}, gone.applied)
}

// TestWhatFollowsFromTheLedgerIsNeverOfAnEarlierOne: whatever becomes of the entries, the
// questions and what is watched are what somebody makes of them who derives them anew.
func TestWhatFollowsFromTheLedgerIsNeverOfAnEarlierOne(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	b := newBoard(t)
	now := &stopped{time.Unix(1000, 0)}
	b.cluster.Clock, b.cluster.Signals = now, NewSignals()
	p := &Picture{Cluster: b.cluster, Desired: b.desired, Ledger: NewLedger(b.cluster, ledger.New(kvtest.NewFake()))}
	objects := []bundle.Object{
		b.ofLab("apps/v1", "Deployment", "provider"), b.ofLab("v1", "ConfigMap", "a"),
		b.ofLab("externaldns.k8s.io/v1alpha1", "DNSEndpoint", "web"), b.ofLab("externaldns.k8s.io/v1alpha1", "DNSEndpoint", "api"),
	}
	asked, applied := map[string]Asked{}, map[bundle.ID]*Applied{}
	for range 2000 {
		id := objects[random.IntN(len(objects))].ID
		switch random.IntN(4) {
		case 0:
			p.Ledger.Drop(id)
		case 1:
			b.commit("web", here, objects[:random.IntN(len(objects)+1)]...)
			require.NoError(t, p.Desired.Load(t.Context(), p.Ledger.Entries()))
		default:
			status := []ledger.Status{ledger.Pending, ledger.Applied, ledger.Retrying}[random.IntN(3)]
			e := ledger.Entry{ID: id, Generation: random.Int64N(3), CreatedByUs: random.IntN(2) == 0, Status: status}
			if want := p.Desired.Object(id); want != nil && random.IntN(3) > 0 {
				e.Digest = want.Digest
			}
			now.Time = now.Add(time.Second)
			e.Since = p.Ledger.Entries()[id].Since
			p.Ledger.Set(e)
		}
		p.UpdateQuestions()
		p.Publish()
		if questions := p.TakeQuestions(); questions != nil {
			maps.Copy(asked, questions.Changed)
			require.Equal(t, map[Mark]*appcontext.Verify(p.ways()), questions.How)
		}
		_, changed := p.TakeApplied()
		maps.Copy(applied, changed)
		for _, o := range objects[2:] {
			require.Equal(t, p.asked(o.ID), asked[o.ID.Namespace+"/"+o.ID.Name])
			require.Equal(t, p.applied(o.ID), applied[o.ID])
		}
		interest, _ := p.interest.of(p, p.Ledger.turns, p.ours)
		homes, kinds := map[string]bool{}, map[cluster.Kind]bool{}
		for id, e := range p.Ledger.Entries() {
			if want := p.Desired.Object(id); want != nil && isExternalDNS(id, want) {
				homes[id.Namespace] = true
			}
			if !IsForeign(e) {
				kinds[cluster.KindOf(id)] = true
			}
		}
		require.Equal(t, slices.Sorted(maps.Keys(homes)), interest.Pods)
		require.ElementsMatch(t, slices.Collect(maps.Keys(kinds)), interest.Kinds)
	}
}

// TestOneChangedDNSEndpointIsToldOfAlone: to tell of it costs the same beside 10 others and beside 300.
func TestOneChangedDNSEndpointIsToldOfAlone(t *testing.T) {
	costs := map[int]float64{}
	for _, others := range []int{10, 300} {
		b := newBoard(t)
		b.cluster.Clock, b.cluster.Signals = &stopped{}, NewSignals()
		p := &Picture{Cluster: b.cluster, Desired: b.desired, Ledger: NewLedger(b.cluster, ledger.New(kvtest.NewFake()))}
		tell := func() (asked, applied int) {
			p.UpdateQuestions()
			p.Publish()
			p.Follow()
			if questions := p.TakeQuestions(); questions != nil {
				asked = len(questions.Changed)
			}
			_, changed := p.TakeApplied()
			return asked, len(changed)
		}
		b.commit("provider", here, b.ofLab("apps/v1", "Deployment", "provider"))
		for n := range others {
			name := fmt.Sprintf("e%d", n)
			b.commit(appcontext.Owner(name), here, b.ofLab("externaldns.k8s.io/v1alpha1", "DNSEndpoint", name))
		}
		require.NoError(t, p.Desired.Load(t.Context(), nil))
		for id := range p.Desired.Objects() {
			p.Ledger.Set(ledger.Entry{ID: id, CreatedByUs: true, Status: ledger.Applied})
		}
		asked, applied := tell()
		require.Equal(t, []int{others, others}, []int{asked, applied})

		one, generation := bundle.EndpointID(here, "shop", "e1"), int64(0)
		costs[others] = testing.AllocsPerRun(100, func() {
			generation++
			p.Ledger.Set(ledger.Entry{ID: one, Generation: generation, CreatedByUs: true, Status: ledger.Applied})
			asked, applied := tell()
			require.Equal(t, []int{0, 1}, []int{asked, applied})
		})
		b.commit("e1", here)
		require.NoError(t, p.Desired.Load(t.Context(), p.Ledger.Entries()))
		asked, applied = tell()
		require.Equal(t, []int{1, 1}, []int{asked, applied})
	}
	require.InDelta(t, costs[10], costs[300], 3)
}

// ofLab is an object of the external-dns of provider lab.
func (b *board) ofLab(version, kind, name string) bundle.Object {
	b.Helper()
	o, err := bundle.Parse(here, "web", fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"namespace":"shop","labels":{%q:"shop",%q:"lab",%q:"public"}}}`,
		version, kind, name, bundle.LabelProject, bundle.LabelRecord, bundle.LabelScope))
	require.NoError(b, err)
	return o
}
