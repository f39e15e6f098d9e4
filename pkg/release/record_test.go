package release_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

func (w *world) updateRecord(record intent.Path) intent.Accepted {
	w.Helper()
	accepted, err := w.service.UpdateRecord(context.Background(), record, "", "", "ann")
	require.NoError(w, err)
	return accepted
}

// TestNothingDeployedChangesBeforeTheRecordsUpdate: neither steps, nor updates
// of its users, nor restarts take up what was written.
func TestNothingDeployedChangesBeforeTheRecordsUpdate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason, spec, says string
	}{
		{"a parameter", `{"provider":"coredns","external-dns-parameters":{"domain-filter":["lab.example"],"interval":"9s","policy":"sync"}}`, "--interval=9s"},
		{"a credential", record("lab.example", `,"credentials":[{"environment":"ETCD_PASSWORD","valueRef":"newid"}]`), `signpost.dev/credentials`},
		{"a version", record("lab.example", `,"version":"v0.21.0"`), "external-dns:v0.21.0"},
		{"an image", record("lab.example", `,"image":"mirror.example/external-dns:v0.20.0"`), "mirror.example/external-dns:v0.20.0"},
		{"a suspension", record("lab.example", `,"suspend":true`), `"replicas":0`},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			w := running(t)
			before := w.deployment(labOnHub)
			w.put("secrets/newid", `{}`)
			w.put(lab, c.spec)
			w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["other.lab.example"]}`)
			w.do(intent.Update, prod)
			w.restartOn(w.fake)
			w.settle(prod)
			require.Equal(t, before, w.deployment(labOnHub))
			require.NotContains(t, before, c.says)

			plan, err := w.service.PlanRecord(t.Context(), lab, "")
			require.NoError(t, err)
			require.Contains(t, actions(plan), "update edge+hub Deployment external-dns-lab")
			require.Equal(t, before, w.deployment(labOnHub), "a plan changes nothing")
			require.Equal(t, int64(2), w.updateRecord(lab).Revision)
			w.settle(prod)
			require.Contains(t, w.deployment(labOnHub), c.says)
			require.Equal(t, int64(2), w.updateRecord(lab).Revision, "an update without a change")
		})
	}
}

// TestUpgradingSignpostNeverRollsExternalDNS: its version is pinned at first
// use, and only a version that the record names replaces it.
func TestUpgradingSignpostNeverRollsExternalDNS(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(lab, record("lab.example", `,"version":"v0.21.0"`))
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.put(lab, record("lab.example", `,"podLabels":{"a":"b"}`)) // names none any more: another default than was pinned
	w.updateRecord(lab)
	w.settle(prod)
	require.Contains(t, w.deployment(labOnHub), "external-dns:v0.21.0")
	snap, err := w.service.RecordSnapshot(t.Context(), lab)
	require.NoError(t, err)
	require.Equal(t, "v0.21.0", snap.Lifecycle.Record.Version)

	w.do(intent.Terminate, prod)
	w.outlive()
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Contains(t, w.deployment(labOnHub), "external-dns:v0.22.0", "first use comes again")
}

func TestThePlanOfAnotherVersionTellsWhatItAlters(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(lab, record("lab.example", `,"version":"v0.21.0"`))
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.put(lab, record("lab.example", `,"version":"v0.22.0"`))
	plan, err := w.service.PlanRecord(t.Context(), lab, "")
	require.NoError(t, err)
	require.Contains(t, strings.Join(plan.Warnings, "\n"), "from external-dns v0.22.0 on, annotations begin with external-dns.kubernetes.io/")
}

func TestAMirrorHoldsTheDefaultImage(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.options.ImageRegistry = "mirror.example:5000"
	w.restartOn(w.fake)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Contains(t, w.deployment(labOnHub), `"image":"mirror.example:5000/external-dns/external-dns:v0.22.0"`)
}

func TestARecordsUpdateReachesNamesAndAllItsProviders(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.associate("cluster-providers/edge/clusters/berlin", "lab")
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.put(lab, record("lab.example", `,"targetFilter":{"deny":["203.0.113.20/32"]},"podLabels":{"a":"b"}`))
	w.updateRecord(lab)
	w.settle(prod)
	require.Equal(t, []string{
		"edge+berlin lab/cluster: www.lab.example A 203.0.113.10",
		"edge+hub lab/public: www.lab.example A 203.0.113.10",
	}, w.published(prod))
	require.Contains(t, w.deployment(labOnHub), `"a":"b"`)
	require.Contains(t, w.deployment(clusterScopeOnBerlin), `"a":"b"`)
}

func TestARecordsOwnerIDNeverChanges(t *testing.T) {
	t.Parallel()
	w := running(t)
	owner := func() string {
		snap, err := w.service.RecordSnapshot(t.Context(), lab)
		require.NoError(t, err)
		return snap.Lifecycle.Record.OwnerID
	}
	first := owner()
	w.put(lab, record("lab.example", `,"podLabels":{"a":"b"}`))
	w.updateRecord(lab)
	require.Equal(t, first, owner())
	w.do(intent.Terminate, prod)
	w.outlive()
	w.do(intent.Instantiate, prod)
	require.Equal(t, first, owner())
}

func TestRefusedRecordUpdatesLeaveNoTrace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason, spec, says string
	}{
		{"a home that does not exist", record("lab.example", `,"deployOn":{"clusterProvider":"edge","cluster":"rome"}`), "cluster edge+rome does not exist"},
		{"an owner id of its own, which its names do not carry", ownerID("lab.example", "mine"), "dns-update-records/lab#/spec/external-dns-parameters/txt-owner-id"},
		{"what cannot work", `{"provider":"coredns","external-dns-parameters":{"domain-filter":["lab.example"],"policy":"sync","registry":"noop"}}`, "dns-update-records/lab#"},
	} {
		w := running(t)
		w.put(lab, c.spec)
		before := w.keys()
		plan, err := w.service.PlanRecord(t.Context(), lab, "")
		require.NoError(t, err)
		require.NotEmpty(t, plan.Errors, c.reason)
		_, err = w.service.UpdateRecord(t.Context(), lab, "", "", "ann")
		require.Equal(t, intent.Conflict, intent.CodeOf(err), c.reason)
		require.Contains(t, fmt.Sprint(err, plan.Errors), c.says)
		require.Equal(t, before, w.keys(), c.reason)
	}
}

func TestARecordsTokenIsBoundToItsRevision(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.put(lab, record("lab.example", `,"podLabels":{"a":"b"}`))
	plan, err := w.service.PlanRecord(t.Context(), lab, "")
	require.NoError(t, err)
	w.put(lab, record("lab.example", `,"podLabels":{"a":"c"}`))
	before := w.keys()
	_, err = w.service.UpdateRecord(t.Context(), lab, "", plan.Token, "ann")
	require.Equal(t, intent.PreconditionFailed, intent.CodeOf(err))
	require.Equal(t, before, w.keys())
	plan, err = w.service.PlanRecord(t.Context(), lab, "")
	require.NoError(t, err)
	_, err = w.service.UpdateRecord(t.Context(), lab, "", plan.Token, "ann")
	require.NoError(t, err)
}

func TestARecordsUpdateSurvivesALostRace(t *testing.T) {
	t.Parallel()
	w := sharers(t)
	w.put(lab, record("lab.example", `,"podLabels":{"a":"b"}`))
	w.do(intent.Terminate, test)
	w.meanwhile("/signpost/doc/lifecycle//"+string(lab), func() {
		require.NoError(t, w.rest()) // notes that names are going
	})
	require.Equal(t, int64(2), w.updateRecord(lab).Revision)
	w.settle(prod, test)
	require.Contains(t, w.deployment(labOnHub), `"a":"b"`)
}

func TestARecordThatNobodyUsesWarnsInItsPlan(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	plan, err := w.service.PlanRecord(t.Context(), lab, "")
	require.NoError(t, err)
	require.Equal(t, []string{"nothing of the provider is deployed: the update takes effect at its first use"}, plan.Warnings)
	snap, err := w.service.RecordSnapshot(t.Context(), lab)
	require.NoError(t, err)
	require.Empty(t, snap.Providers)
	w.updateRecord(lab)
	require.NoError(t, w.rest())
	require.NoError(t, w.delete(lab), "an update deploys nothing")
	w.put(lab, record("lab.example", ``))
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Equal(t, intent.Instantiated, w.state(prod), "another record of the name is pinned anew")
}

func TestPathsOfRecordsAreToldFromThoseOfGroups(t *testing.T) {
	t.Parallel()
	require.True(t, state.IsRecord(lab))
	require.False(t, state.IsRecord(prod))
	require.False(t, state.IsRecord(intent.Path(appcontext.Owner("projects/shop"))))
}

// TestThePlanOfAnUpgradeTellsWhichArgumentsNobodyChecked: a flag that
// external-dns lacks keeps it from starting.
func TestThePlanOfAnUpgradeTellsWhichArgumentsNobodyChecked(t *testing.T) {
	t.Parallel()
	const extra = `,"extraArgs":["--ovh-endpoint=ovh-ca","--log-level=debug"]`
	w := newShop(t)
	w.put(lab, record("lab.example", extra+`,"version":"v0.21.0"`))
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	for version, says := range map[string]bool{"v0.21.0": false, "v0.22.0": true} {
		w.put(lab, record("lab.example", extra+fmt.Sprintf(`,"version":%q`, version)))
		plan, err := w.service.PlanRecord(t.Context(), lab, "")
		require.NoError(t, err)
		require.Equal(t, says, slices.Contains(plan.Warnings, "external-dns v0.22.0 may not know --ovh-endpoint of extraArgs; they are passed on as they are"), "%s: %q", version, plan.Warnings)
	}
}
