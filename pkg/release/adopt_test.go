package release_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// legacyShop runs beside an external-dns that had one of the two names before.
func legacyShop(t testing.TB) *world {
	w := newShop(t)
	w.put(lab, `{"provider":"aws","external-dns-parameters":{"domain-filter":["lab.example"],"policy":"sync"},"releaseTimeout":"70s"}`)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example","new.lab.example"]}`)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.answers("www.lab.example", verify.Holding{Types: []string{"A"}, Owner: "legacy"})
	return w
}

// own is the owner id of record lab.
func (w *world) own() string {
	w.Helper()
	doc, err := w.documents.Get(w.Context(), lab)
	require.NoError(w, err)
	return plan.OwnerID("k7wq2m9xhdr4", doc.UID)
}

func (w *world) planAdoption(from string) intent.Plan {
	w.Helper()
	p, err := w.service.PlanRecord(ann(lab), lab, from)
	require.NoError(w, err)
	return p
}

// adopting is what a record's status tells of an adoption.
func (w *world) adopting() *intent.Adoption {
	w.Helper()
	snap, err := w.service.RecordSnapshot(w.Context(), lab)
	require.NoError(w, err)
	return snap.Lifecycle.Adopting
}

// TestNamesAreAdoptedOnceAndNothingIsDeletedMeanwhile: external-dns has the
// other's owner id and may not delete until the names are seen to be its own, and
// is as it was then.
func TestNamesAreAdoptedOnceAndNothingIsDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	w := legacyShop(t)
	before := w.deployment(labOnHub)
	require.Contains(t, before, "--policy=sync")
	p := w.planAdoption("legacy")
	require.Empty(t, p.Errors)
	require.Contains(t, p.Warnings, `www.lab.example, marked with owner id "legacy", become names of this provider, and no other names with that mark; until then, the provider's external-dns deletes nothing`)
	require.Contains(t, actions(p), "update edge+hub Deployment external-dns-lab")
	w.settle(prod)
	require.Equal(t, before, w.deployment(labOnHub), "a plan changes nothing")

	without, err := w.service.PlanRecord(t.Context(), lab, "")
	require.NoError(t, err)
	_, err = w.service.UpdateRecord(t.Context(), lab, "legacy", without.Token, "ann")
	require.Equal(t, intent.PreconditionFailed, intent.CodeOf(err), "the token is of an update alone")
	accepted, err := w.service.UpdateRecord(t.Context(), lab, "legacy", p.Token, "ann")
	require.NoError(t, err)
	w.settle(prod)
	adopting := w.deployment(labOnHub)
	for _, says := range []string{`"--migrate-from-txt-owner=legacy"`, `"--policy=upsert-only"`, `"signpost.dev/adoption":"legacy"`} {
		require.Contains(t, adopting, says)
	}
	require.NotContains(t, adopting, "--policy=sync")
	require.Equal(t, &intent.Adoption{From: "legacy", Names: []string{"www.lab.example"}, Since: w.clock.Now()}, w.adopting())

	again, err := w.service.UpdateRecord(t.Context(), lab, "legacy", "", "ann")
	require.NoError(t, err)
	require.Equal(t, accepted, again, "it is under way")
	require.Equal(t, accepted, w.updateRecord(lab), "an update without a change does not end it")
	require.NotContains(t, actions(w.plan(prod, intent.Update)), "update edge+hub Deployment external-dns-lab", "nor does one of its users")
	w.do(intent.Update, prod)
	w.settle(prod)
	require.Equal(t, adopting, w.deployment(labOnHub), "its mark is the other's still")

	w.answers("www.lab.example", verify.Holding{Types: []string{"A"}, Owner: w.own()})
	w.settle(prod)
	require.Equal(t, before, w.deployment(labOnHub))
	require.Nil(t, w.adopting())
	snap, err := w.service.RecordSnapshot(t.Context(), lab)
	require.NoError(t, err)
	var told []string
	for _, e := range snap.Lifecycle.Events {
		told = append(told, e.Outcome+" "+e.Message)
	}
	require.Equal(t, []string{"accepted adopts www.lab.example from owner id legacy", "completed adopted www.lab.example from owner id legacy"}, told)
	require.Contains(t, w.planAdoption("legacy").Errors[0].Detail, `none of the provider's 2 names is marked with owner id "legacy"`, "there is nothing left of it")
}

// TestTheBuiltInPublisherAdopts names that an external-dns has marked, and records that nobody has.
func TestTheBuiltInPublisherAdopts(t *testing.T) {
	t.Parallel()
	for from, held := range map[string]verify.Holding{
		"legacy":   {Types: []string{"A"}, Owner: "legacy"},
		"unmarked": {Types: []string{"A"}},
	} {
		w := newShop(t)
		w.put(lab, record("lab.example", builtIn))
		w.answers("www.lab.example", held)
		require.Contains(t, about("www.lab.example", w.plan(prod, intent.Instantiate).Warnings)[0], "then update the provider with adopt="+from)
		w.do(intent.Instantiate, prod)
		w.settle(prod)
		settings := func() string { return string(w.bundle(providerOwner(labBuiltIn))[0].JSON) }
		before := settings()
		_, err := w.service.UpdateRecord(t.Context(), lab, from, "", "ann")
		require.NoError(t, err)
		w.settle(prod)
		require.Contains(t, settings(), `"adopts":"`+from+`"`)
		w.settle(prod)
		require.NotEqual(t, before, settings(), "the publisher has not said that it is done")
		w.answers("www.lab.example", verify.Holding{Types: []string{"A"}, Owner: w.own()})
		writer, err := w.observed.Writer(t.Context(), publisher, fence)
		require.NoError(t, err)
		tell := func(since time.Time) {
			require.NoError(t, writer.SetDeployment(t.Context(), "shop-dns", "external-dns-lab", observed.Deployment{Available: true, Sync: &observed.Sync{Adopted: from, AdoptedSince: since}}))
			w.settle(prod)
		}
		first := w.adopting().Since
		tell(first)
		require.Equal(t, before, settings())

		w.answers("www.lab.example", held)
		w.clock.pass(time.Second)
		_, err = w.service.UpdateRecord(t.Context(), lab, from, "", "ann")
		require.NoError(t, err, "a second time, at once")
		w.settle(prod)
		require.NotNil(t, w.adopting(), "the publisher has told of the first adoption only")
		tell(first)
		require.NotNil(t, w.adopting())
		w.answers("www.lab.example", verify.Holding{Types: []string{"A"}, Owner: w.own()})
		tell(w.adopting().Since)
		require.Nil(t, w.adopting())
		require.Equal(t, before, settings())
		require.Contains(t, w.planAdoption(from).Errors[0].Detail, "none of the provider's 1 names")
		w.service.LookupExisting = func(context.Context, string, externaldns.InDNS, []netip.AddrPort) (verify.Holding, error) {
			return verify.Holding{}, context.DeadlineExceeded
		}
		require.Contains(t, w.planAdoption(from).Warnings, `1 of the provider's 1 names could not be looked up in time; the publisher adopts those of them that owner id "`+from+`" has`)
	}
}

// TestAnAdoptionEndsWithItsNames: what was adopted by then is deleted as the
// record asks for.
func TestAnAdoptionEndsWithItsNames(t *testing.T) {
	t.Parallel()
	w := legacyShop(t)
	_, err := w.service.UpdateRecord(t.Context(), lab, "legacy", "", "ann")
	require.NoError(t, err)
	w.settle(prod)
	w.do(intent.Terminate, prod)
	w.settle()
	require.Contains(t, w.deployment(labOnHub), "--policy=sync")
	require.NotContains(t, w.deployment(labOnHub), "legacy")
	w.outlive()
	require.Empty(t, w.deployment(labOnHub))
	require.Nil(t, w.adopting())
}

// TestAnAdoptionThatCannotWorkIsRefused, with what would.
func TestAnAdoptionThatCannotWorkIsRefused(t *testing.T) {
	t.Parallel()
	held := func(owner string, types ...string) func(*world) {
		return func(w *world) {
			w.answers("www.lab.example", verify.Holding{Types: types, Owner: owner})
		}
	}
	on := func(provider, more string) func(*world) {
		return func(w *world) {
			w.put(lab, `{"provider":"`+provider+`","external-dns-parameters":{"domain-filter":["lab.example"]`+more+`}}`)
		}
	}
	for _, c := range []struct {
		reason, from string
		given        func(*world)
		says         string
	}{
		{"nobody's mark", "other", func(*world) {}, `none of the provider's 2 names is marked with owner id "other"`},
		{"a provider that keeps the former mark", "legacy", on("rfc2136", `,"rfc2136-host":"192.0.2.53","rfc2136-zone":"lab.example","rfc2136-insecure":true`), "with provider rfc2136, external-dns v0.22.0 cannot replace a mark; it can with aws, azure, azure-dns, azure-private-dns, pdns"},
		{"a provider that Signpost itself could write to", "legacy", on("rfc2136", `,"rfc2136-host":"192.0.2.53","rfc2136-zone":"lab.example","rfc2136-insecure":true`), "Let Signpost itself write the names (deployOn: {publisher: built-in}), which replaces marks"},
		{"records without marks, and an external-dns", "unmarked", func(*world) {}, "an external-dns takes over no records without a mark; let Signpost itself write the names"},
		{"another registry", "legacy", on("aws", `,"registry":"noop","policy":"upsert-only"`), "the provider has registry noop"},
		{"nothing may change", "legacy", on("aws", `,"policy":"create-only"`), "create-only, which changes no mark"},
		{"nothing is changed", "legacy", on("aws", `,"dry-run":true`), "dry-run"},
		{"a suspended record", "legacy", func(w *world) {
			w.put(lab, `{"provider":"aws","external-dns-parameters":{"domain-filter":["lab.example"]},"suspend":true}`)
		}, "the provider is suspended"},
		{"an alias", "legacy", held("legacy", "CNAME"), "www.lab.example has CNAME, and would have A, which needs a deletion in between; delete the name at the DNS provider, or change recordTypes"},
		{"affixes", "legacy", func(w *world) {
			w.answers("www.lab.example", verify.Holding{Types: []string{"A"}, Owner: "legacy", Elsewhere: true})
		}, "the mark of www.lab.example is not where this provider's external-dns looks"},
		{"of this installation", "sp-k7wq2m9x-00000000", func(*world) {}, "has the form of Signpost's generated owner ids"},
		{"another record's", "corp-id", func(w *world) {
			w.put(corp, ownerID("corp.example", "corp-id"))
			w.associate(eu, "lab", "corp")
			w.group(test, "web", "www.corp.example")
			w.do(intent.Instantiate, test)
			w.settle(test)
		}, `owner id "corp-id" belongs to projects/shop/dns-update-records/corp`},
		{"that of names that another record left behind", "corp-id", func(w *world) {
			w.put(corp, strings.Replace(ownerID("corp.example", "corp-id"), `"policy":"sync"`, `"policy":"upsert-only"`, 1))
			w.associate(eu, "lab", "corp")
			w.group(test, "web", "www.corp.example")
			w.running(test)
			w.do(intent.Terminate, test)
			w.outlive()
			w.clock.pass(time.Hour)
			require.NoError(t, w.rest())
		}, `owner id "corp-id" belongs to projects/shop/dns-update-records/corp`},
		{"not in use", "legacy", func(w *world) {
			w.do(intent.Terminate, prod)
			w.outlive()
		}, "query parameter adopt: the provider publishes no name yet"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			w := legacyShop(t)
			c.given(w)
			p := w.planAdoption(c.from)
			require.NotEmpty(t, p.Errors)
			require.Equal(t, string(lab)+"#", p.Errors[0].Pointer)
			require.Contains(t, p.Errors[0].Detail, "query parameter adopt: ")
			require.Contains(t, p.Errors[0].Detail, c.says)
			_, err := w.service.UpdateRecord(t.Context(), lab, c.from, p.Token, "ann")
			require.Equal(t, intent.Conflict, intent.CodeOf(err))
			require.Nil(t, w.adopting())
		})
	}
	w := legacyShop(t)
	require.Contains(t, w.planAdoption(w.own()).Errors[0].Detail, "is the provider's own owner id")
}

// TestAPlanTellsThatANameCouldBeAdopted, before it is asked for.
func TestAPlanTellsThatANameCouldBeAdopted(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.on53()
	w.answers("www.lab.example", verify.Holding{Types: []string{"A"}, Owner: "legacy"})
	require.Equal(t, []string{
		`www.lab.example exists already (A), and belongs to the external-dns with owner id "legacy"; provider lab leaves it alone until it adopts it: stop that external-dns, then update the provider with adopt=legacy`,
	}, about("www.lab.example", w.plan(prod, intent.Instantiate).Warnings))
}

// TestAdoptionTellsOfTypesThatStay: addresses of a family that nothing here gives.
func TestAdoptionTellsOfTypesThatStay(t *testing.T) {
	t.Parallel()
	w := legacyShop(t)
	w.answers("www.lab.example", verify.Holding{Types: []string{"A", "AAAA"}, Owner: "legacy"})
	p := w.planAdoption("legacy")
	require.Empty(t, p.Errors)
	require.Contains(t, p.Warnings, "www.lab.example has AAAA, which no intent publishes: they stay as they are; delete them at the DNS provider")
}

// TestOneAdoptionAtATime, and none is made impossible while it is under way.
func TestOneAdoptionAtATime(t *testing.T) {
	t.Parallel()
	w := legacyShop(t)
	_, err := w.service.UpdateRecord(t.Context(), lab, "legacy", "", "ann")
	require.NoError(t, err)
	require.Contains(t, w.planAdoption("other").Errors[0].Detail, `names with owner id "legacy" are being adopted; adopt others when that is done`)
	w.put(lab, `{"provider":"aws","external-dns-parameters":{"domain-filter":["lab.example"],"policy":"create-only"}}`)
	p, err := w.service.PlanRecord(t.Context(), lab, "")
	require.NoError(t, err)
	require.Contains(t, p.Errors[0].Detail, `names with owner id "legacy" are still being adopted, and the provider has policy create-only`)
}
