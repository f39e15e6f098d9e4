package release_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// hastyRecord says nothing of events or an interval.
func hastyRecord(provider string) string {
	return `{"provider":"` + provider + `","external-dns-parameters":{"domain-filter":["lab.example"],"policy":"sync"}}`
}

// asBefore has the pinned record of lab be as a Signpost without a pace left it.
func (w *world) asBefore() {
	w.Helper()
	doc, err := w.documents.Get(w.Context(), intent.Join(intent.LifecycleCollection, string(lab)))
	require.NoError(w, err)
	var stored map[string]any
	require.NoError(w, json.Unmarshal(doc.Body, &stored))
	delete(stored["record"].(map[string]any), "events")
	body, err := json.Marshal(stored)
	require.NoError(w, err)
	_, err = w.documents.Put(w.Context(), intent.Write{Path: doc.Path, Body: body, Refs: []intent.Path{lab, "cluster-providers/edge/clusters/hub"}, Condition: intent.IfRevision(doc.Revision)})
	require.NoError(w, err)
}

// TestEventsAreTheDefaultWhereAReadIsCheap: at first use, and for what an earlier
// Signpost has deployed at the record's next update, never by itself.
func TestEventsAreTheDefaultWhereAReadIsCheap(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(lab, hastyRecord("coredns"))
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Contains(t, w.deployment(labOnHub), `"--events"`)

	w.asBefore()
	w.restartOn(w.fake)
	w.settle(prod)
	require.NotContains(t, w.deployment(labOnHub), `"--events"`)
	w.do(intent.Update, prod)
	w.settle(prod)
	require.NotContains(t, w.deployment(labOnHub), `"--events"`)

	plan, err := w.service.PlanRecord(t.Context(), lab, "")
	require.NoError(t, err)
	require.Contains(t, actions(plan), "update edge+hub Deployment external-dns-lab")
	w.updateRecord(lab)
	w.settle(prod)
	require.Contains(t, w.deployment(labOnHub), `"--events"`)
}

// TestTheIntervalFollowsTheZoneAtTheRecordsUpdate: unless it is not known how
// large the zone is, which changes nothing, and unless the user says.
func TestTheIntervalFollowsTheZoneAtTheRecordsUpdate(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(lab, hastyRecord("aws"))
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.NotContains(t, w.deployment(labOnHub), "--interval")

	w.zone(20_000)
	w.settle(prod)
	require.NotContains(t, w.deployment(labOnHub), "--interval", "it rolls with an update alone")
	w.updateRecord(lab)
	w.settle(prod)
	require.Contains(t, w.deployment(labOnHub), `"--interval=5m0s"`)
	require.Empty(t, w.within(intent.Terminate))
	w.observe(berlin, "shop/web", "203.0.113.11")
	require.Equal(t, "5m1s", w.within(intent.Update))

	w.zone(0)
	w.put(lab, strings.Replace(hastyRecord("aws"), `"provider"`, `"podLabels":{"a":"b"},"provider"`, 1))
	w.updateRecord(lab)
	w.settle(prod)
	require.Contains(t, w.deployment(labOnHub), `"--interval=5m0s"`)

	w.zone(10)
	w.put(lab, strings.Replace(hastyRecord("aws"), `"policy"`, `"interval":"7s","policy"`, 1))
	w.updateRecord(lab)
	w.settle(prod)
	require.Contains(t, w.deployment(labOnHub), `"--interval=7s"`)
}

// TestThePlanTellsHowSoonNamesAreAnswered, where something changes.
func TestThePlanTellsHowSoonNamesAreAnswered(t *testing.T) {
	t.Parallel()
	for reason, c := range map[string]struct{ spec, want string }{
		"by events":                   {hastyRecord("coredns"), "6s"},
		"by the interval":             {record("lab.example", ``), "6s"},
		"by external-dns' default":    {hastyRecord("aws"), "1m1s"},
		"nobody, while it is at rest": {record("lab.example", `,"suspend":true`), ""},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := newShop(t)
			w.put(lab, c.spec)
			require.Equal(t, c.want, w.within(intent.Instantiate))
			w.do(intent.Instantiate, prod)
			w.settle(prod)
			require.Empty(t, w.within(intent.Update), "nothing changes")
		})
	}
}

// within is how soon the first name of prod's plan is told to the provider.
func (w *world) within(action intent.Action) string {
	w.Helper()
	plan := w.plan(prod, action)
	require.NotEmpty(w, plan.Names)
	return plan.Names[0].AnsweredWithin
}

// zone has lab's external-dns be seen to read so many names.
func (w *world) zone(names int) {
	w.Helper()
	writer, err := w.observed.Writer(w.Context(), labOnHub.Cluster, fence)
	require.NoError(w, err)
	require.NoError(w, writer.SetDeployment(w.Context(), "shop-dns", "external-dns-lab", observed.Deployment{Available: true, Sync: &observed.Sync{Names: names}}))
}
