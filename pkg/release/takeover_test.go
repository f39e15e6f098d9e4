package release_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/sample"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/sharing"
)

// bothAsk is prod with its name, and group test, whose intents ask for the same.
func bothAsk(t testing.TB) *world {
	w := running(t)
	w.group(test, "api", wwwName)
	return w
}

func (w *world) takeOver(group intent.Path, action intent.Action, from string) error {
	w.Helper()
	_, err := w.service.TakeOver(ann(group), group, action, from, "", "ann")
	return err
}

// TestATakeoverLeavesNoGap: a name is in a DNSEndpoint of one group or the other
// at each write, and in the end in that of the one which took it over alone.
func TestATakeoverLeavesNoGap(t *testing.T) {
	t.Parallel()
	for _, from := range []string{"prod", "store/v1/prod", string(prod)} {
		w := bothAsk(t)
		gaps := 0
		w.fake.After = func(op, _ string) error {
			if op == "txn" {
				after := w.fake.After
				w.fake.After = nil
				if len(w.published(prod))+len(w.published(test)) == 0 {
					gaps++
				}
				w.fake.After = after
			}
			return nil
		}
		plan, err := w.service.PlanTakeover(ann(test), test, "", from)
		require.NoError(t, err)
		require.Empty(t, plan.Errors)
		require.Contains(t, fmt.Sprint(plan.Warnings), string(prod)+" gives up www.lab.example when "+string(test))
		require.NoError(t, w.takeOver(test, intent.Instantiate, from))
		require.NoError(t, w.rest())
		require.Len(t, w.published(prod), 1, "test has no address yet")
		require.Empty(t, w.published(test))

		w.observe(berlin, "shop/api", "203.0.113.30")
		w.settle(prod, test)
		w.settle(prod, test)
		require.Empty(t, w.published(prod))
		require.Equal(t, []string{"edge+hub lab/public: www.lab.example A 203.0.113.30"}, w.published(test))
		require.Zero(t, gaps)
		require.Equal(t, map[string]string{wwwName: "shop"}, w.claims())
		require.NoError(t, w.takeOver(test, intent.Instantiate, from), "it is idempotent")
	}
}

// TestAPlanOfATakeoverChangesNames, and creates none that the other group publishes.
func TestAPlanOfATakeoverChangesNames(t *testing.T) {
	t.Parallel()
	w := bothAsk(t)
	change := func() intent.NameChange {
		plan, err := w.service.PlanTakeover(ann(test), test, "", "prod")
		require.NoError(t, err)
		require.Len(t, plan.Names, 1)
		plan.Names[0].AnsweredWithin, plan.Names[0].ClientsWithin = "", ""
		return plan.Names[0]
	}
	was := intent.NameChange{Name: wwwName, Type: "A", Record: "lab", Action: "unchanged", Targets: []string{"203.0.113.10", "203.0.113.20"}, Before: []string{"203.0.113.10", "203.0.113.20"}}
	require.Equal(t, was, change(), "the other group goes on while this one has no address")
	w.observe(berlin, "shop/api", "203.0.113.30")
	require.Equal(t, intent.NameChange{Name: wwwName, Type: "A", Record: "lab", Action: "update", Targets: []string{"203.0.113.30"}, Before: []string{"203.0.113.10", "203.0.113.20"}}, change())
}

// TestATakeoverNeedsObjectsOfItsOwn: where the other group has one with other
// contents, it would wait for ever.
func TestATakeoverNeedsObjectsOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newRivals(t)
	w.configMap(test, eu, "c0", "of test")
	plan, err := w.service.PlanTakeover(ann(test), test, intent.Instantiate, "prod")
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(plan.Errors), "ConfigMap shop/c0 on edge+berlin belongs to "+string(prod)+", whose content stays, and no name is taken over without it")
	require.ErrorContains(t, w.takeOver(test, intent.Instantiate, "prod"), "no name is taken over without it")
}

// TestATokenIsOfItsTakeover: that of a plan without one, or with another, does
// not take names over.
func TestATokenIsOfItsTakeover(t *testing.T) {
	t.Parallel()
	w := bothAsk(t)
	alone, err := w.service.Plan(ann(test), test, intent.Instantiate, 0)
	require.NoError(t, err)
	taking, err := w.service.PlanTakeover(ann(test), test, intent.Instantiate, "prod")
	require.NoError(t, err)
	require.NotEqual(t, alone.Token, taking.Token)
	before := w.keys()
	_, err = w.service.TakeOver(ann(test), test, intent.Instantiate, "prod", alone.Token, "ann")
	require.Equal(t, intent.PreconditionFailed, intent.CodeOf(err), "%v", err)
	_, err = w.service.Instantiate(ann(test), test, taking.Token, "ann")
	require.Equal(t, intent.PreconditionFailed, intent.CodeOf(err), "%v", err)
	require.Equal(t, before, w.keys(), "a refusal leaves no trace")
	_, err = w.service.TakeOver(ann(test), test, intent.Instantiate, "prod", taking.Token, "ann")
	require.NoError(t, err)
}

// taken is a world in which test has taken over the name of prod.
func taken(t testing.TB) *world {
	w := bothAsk(t)
	w.observe(berlin, "shop/api", "203.0.113.30")
	require.NoError(t, w.takeOver(test, intent.Instantiate, "prod"))
	w.settle(prod, test)
	w.settle(prod, test)
	require.Empty(t, w.published(prod))
	return w
}

// TestTenThousandLongNamesAreTakenOver: what the lifecycle notes of them fits in a
// document of every store. Ring 1 tries 2,000 of them, and has as much less room.
func TestTenThousandLongNamesAreTakenOver(t *testing.T) {
	t.Parallel()
	const all, each = 20, 500
	parts := sample.Cases(4, all, all)
	w := newShop(t)
	ask := func(group intent.Path, app string) {
		w.put(group, fmt.Sprintf(`{"logicalCloud":"eu","apps":[{"name":%q}]}`, app), eu)
		w.put(group.Child("traffic-group-intents", "front"), `{}`)
		for part := range parts {
			var names []string // of a Service: one DNSEndpoint cannot have them all
			for n := range each {
				names = append(names, longName(part*each+n))
				require.Len(t, names[n], 200)
			}
			raw, err := json.Marshal(names)
			require.NoError(t, err)
			w.put(group.Child("traffic-group-intents", "front").Child("dns-intents", fmt.Sprintf("i%d", part)),
				fmt.Sprintf(`{"app":%q,"serviceName":"%s%d","hostnames":%s}`, app, app, part, raw))
			w.observe(berlin, fmt.Sprintf("shop/%s%d", app, part), "203.0.113.30")
		}
	}
	require.NoError(t, w.delete(www(prod)))
	ask(prod, "web")
	ask(test, "api")
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Len(t, w.published(prod), parts*each)
	require.NoError(t, w.takeOver(test, intent.Instantiate, "prod"))
	w.settle(prod, test)
	require.Empty(t, w.published(prod))
	require.Len(t, w.published(test), parts*each)
	doc, err := w.documents.Get(t.Context(), "lifecycle/"+prod)
	require.NoError(t, err)
	require.Less(t, len(doc.Body), 1<<18*parts/all)
}

// longName is a name of 200 octets.
func longName(n int) string {
	label := strings.Repeat("x", 59)
	return fmt.Sprintf("n%05d.%s.%s.%s.lab.example", n, label, label, label+"xx")
}

// TestWhatWasTakenOverIsNotGivenAgain by an update, until it is taken back, or
// the one that took it over is gone.
func TestWhatWasTakenOverIsNotGivenAgain(t *testing.T) {
	t.Parallel()
	w := taken(t)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example","shop.lab.example"]}`)
	w.refuses(intent.Update, prod, `"www.lab.example" was taken over by `+string(test), string(www(prod))+"#/spec/hostnames/0")
	require.NoError(t, w.takeOver(prod, intent.Update, "test"))
	w.settle(prod, test)
	w.settle(prod, test)
	require.Len(t, w.published(prod), 2)
	require.Empty(t, w.published(test))

}

// TestWhatWasTakenOverIsGivenAgainOnRequest, once the group that took it over is
// gone, although no intent has changed.
func TestWhatWasTakenOverIsGivenAgainOnRequest(t *testing.T) {
	t.Parallel()
	for _, again := range []func(w *world){
		func(w *world) { w.do(intent.Update, prod) },
		func(w *world) {
			_, err := w.service.Update(ann(prod), prod, w.plan(prod, intent.Update).Token, "ann")
			require.NoError(w, err)
		},
		func(w *world) {
			w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example","shop.lab.example"]}`)
			w.do(intent.Update, prod)
		},
	} {
		w := taken(t)
		before := w.keys()
		w.do(intent.Update, prod)
		require.Equal(t, before, w.keys(), "test still has it, and nothing has changed")
		require.Equal(t, []sharing.GivenUp{{Name: wwwName, To: test}}, w.snapshot(prod).GivenUp)
		plan := w.plan(test, intent.Terminate)
		require.Contains(t, plan.Warnings, string(prod)+" still asks for names that this group took over, and its next update publishes them again")
		w.do(intent.Terminate, test)
		w.outlive()
		require.Empty(t, w.published(prod), "nobody asked for it")
		require.Equal(t, []sharing.GivenUp{{Name: wwwName, To: test, Free: true}}, w.snapshot(prod).GivenUp)
		_, err := w.try(intent.Instantiate, prod, "")
		require.ErrorContains(t, err, "names that it gave up are free again; update it")
		again(w)
		w.settle(prod)
		require.Contains(t, fmt.Sprint(w.published(prod)), "www.lab.example A")
		require.Empty(t, w.snapshot(prod).GivenUp)
	}
}

// TestAYieldedNameIsFree when the one that has taken it over is gone: the one that
// had it before holds it no longer, and has to claim it again.
func TestAYieldedNameIsFree(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.group(test, "api", wwwName)
	w.observe(berlin, "shop/api", "203.0.113.30")
	require.NoError(t, w.takeOver(test, intent.Instantiate, "prod"))
	w.settle(prod, test)
	w.settle(prod, test)
	require.Empty(t, w.published(prod))
	w.refuses(intent.Instantiate, bankProd, `"www.lab.example" belongs to another project`)
	w.do(intent.Terminate, test)
	w.refuses(intent.Instantiate, bankProd, `"www.lab.example" belongs to another project`)
	w.outlive()
	w.do(intent.Instantiate, bankProd)
	w.settle(bankProd, prod)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example","shop.lab.example"]}`)
	w.refuses(intent.Update, prod, `"www.lab.example" belongs to another project`)
}

// TestWhatCannotBeTakenOverIsRefused with the reason.
func TestWhatCannotBeTakenOverIsRefused(t *testing.T) {
	t.Parallel()
	w := bothAsk(t)
	for from, why := range map[string]string{
		"test": "is the group itself", "projects/bank/composite-apps/store/v1/deployment-intent-groups/prod": "\"projects/bank/composite-apps/store/v1/deployment-intent-groups/prod\" belongs to another project",
		"a/b": "is neither a deployment intent group", "store//prod": "is neither a deployment intent group", string(lab): "is neither a deployment intent group",
	} {
		_, err := w.service.PlanTakeover(ann(test), test, "", from)
		require.Equal(t, intent.Invalid, intent.CodeOf(err), from)
		require.ErrorContains(t, err, why)
	}
	refuses := func(from, why string) {
		t.Helper()
		before := w.keys()
		err := w.takeOver(test, intent.Instantiate, from)
		require.Equal(t, intent.Conflict, intent.CodeOf(err), "%v", err)
		require.ErrorContains(t, err, why)
		require.Equal(t, before, w.keys(), "a refusal leaves no trace")
	}
	for _, from := range []string{"none", "store/v9/prod", string(prod) + "x"} {
		_, err := w.service.PlanTakeover(ann(test), test, "", from)
		require.Equal(t, intent.NotFound, intent.CodeOf(err), from)
		require.Equal(t, intent.NotFound, intent.CodeOf(w.takeOver(test, intent.Instantiate, from)), from)
	}
	other := prod.Parent().Child("deployment-intent-groups", "other")
	w.group(other, "api", "other.lab.example")
	refuses("other", "projects/shop/composite-apps/store/v1/deployment-intent-groups/other publishes none of the names of this group")
	w.associate(eu, "lab", "corp")
	w.put(corp, record("lab.example", ``))
	w.put(www(test), `{"app":"api","serviceName":"api","hostnames":["www.lab.example"],"records":["corp"]}`)
	refuses("prod", `"www.lab.example" cannot be taken over from `+string(prod)+`: it is published there by record "lab" on edge+hub, here by record "corp" on edge+hub`)
}

// TestADomainIsItsProjects: of the domains that are granted, the longest that a
// name lies in decides; what is published already stays.
func TestADomainIsItsProjects(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.put(bank, `{"namespace":"bank-dns","domains":["lab.example"]}`)
	w.settle(prod)
	require.Len(t, w.published(prod), 1)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["shop.lab.example"]}`)
	w.refuses(intent.Update, prod, `"shop.lab.example" lies in lab.example, which is granted to another project`, string(www(prod))+"#/spec/hostnames/0")
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["*.lab.example"]}`)
	w.refuses(intent.Update, prod, `"*.lab.example" lies in lab.example`)
	w.put(shop, `{"namespace":"shop-dns","domains":["shop.lab.example"]}`)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["shop.lab.example"]}`)
	w.do(intent.Update, prod)
	w.settle(prod)

	w.options.RequireDomains = true
	w.restartOn(w.fake)
	w.put(bank, `{"namespace":"bank-dns"}`)
	w.refuses(intent.Instantiate, bankProd, `"www.lab.example" lies in no domain that is granted to the project`)
	_, err := w.service.Update(context.Background(), prod, "", "ann")
	require.NoError(t, err)
}

// TestAWildcardStandsForGrantedDomains below it, too.
func TestAWildcardStandsForGrantedDomains(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["*.lab.example"]}`)
	w.put(shop, `{"namespace":"shop-dns","domains":["own.lab.example"]}`)
	w.put(bank, `{"namespace":"bank-dns","domains":["pay.lab.example"]}`)
	w.refuses(intent.Instantiate, prod, `"*.lab.example" lies above pay.lab.example, which is granted to another project`)
	w.put(shop, `{"namespace":"shop-dns","domains":["lab.example"]}`)
	w.do(intent.Instantiate, prod)
}
