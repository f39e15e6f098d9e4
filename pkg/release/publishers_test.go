package release_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/query"
	"github.com/signpost-dns/signpost/pkg/release/sharing"
)

// giveTwice has prod give www.lab.example to app web on berlin, and to app api
// on paris.
func giveTwice(t testing.TB, spec string) *world {
	w := newShop(t)
	w.put(prod, `{"logicalCloud":"eu","apps":[
		{"name":"web","clusters":[{"clusterProvider":"edge","cluster":"berlin"}]},
		{"name":"api","clusters":[{"clusterProvider":"edge","cluster":"paris"}]}]}`, eu)
	w.put(prod.Child("traffic-group-intents", "front").Child("dns-intents", "api"),
		`{"app":"api","serviceName":"api","hostnames":["www.lab.example"]`+spec+`}`)
	w.observe(paris, "shop/api", "203.0.113.30")
	return w
}

// shares are a plan's warnings about names that are shared.
func shares(plan intent.Plan) []string {
	return slices.DeleteFunc(plan.Warnings, func(text string) bool { return !strings.Contains(text, " share ") })
}

func TestAPlanNamesBothAppServicesThatOneNameIsGivenTo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, spec, version, says string }{
		{"as external-dns merges them", ``, ``, "external-dns publishes the addresses of all of them"},
		{"with another ttl", `,"ttl":30`, ``, "their ttl differs, so external-dns publishes only the addresses of one of them"},
		{"by the built-in publisher, which merges them", ``, builtIn, "the built-in publisher publishes the addresses of all of them"},
		{"in an external-dns that does not merge", ``, `,"version":"v0.20.0"`, "external-dns v0.20.0 publishes only the addresses of one of them; v0.21 and later publish all"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := giveTwice(t, c.spec)
			w.put(lab, record("lab.example", c.version))
			require.Equal(t, []string{`service "api" of app "api" and service "web" of app "web" share www.lab.example of provider "lab": ` + c.says},
				shares(w.plan(prod, "")))
		})
	}
}

func TestAPlanNamesTheGroupsThatGiveOneName(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.group(test, "api", "www.lab.example")
	w.observe(berlin, "shop/api", "203.0.113.30")
	w.do(intent.Instantiate, test)
	w.settle(test)
	require.Equal(t, []string{fmt.Sprintf(`service "web" of app "web" and service "api" of app "api" of %s share www.lab.example of provider "lab": external-dns publishes the addresses of all of them`, test)},
		shares(w.plan(prod, "")))
	w.do(intent.Instantiate, prod)
	require.Equal(t, []sharing.Publisher{
		{Group: test, App: "api", Service: "api"}, {Group: prod, App: "web", Service: "web"},
	}, oneName(t, w.snapshot(test)), "so does the status of each")
	w.do(intent.Terminate, test)
	require.Empty(t, shares(w.plan(prod, intent.Update)))
}

// TestAPlanNamesTheGroupsThatGiveOneNameToTheBuiltInPublisher: no external-dns has to do with it.
func TestAPlanNamesTheGroupsThatGiveOneNameToTheBuiltInPublisher(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(lab, record("lab.example", builtIn))
	w.group(test, "api", "www.lab.example")
	w.observe(berlin, "shop/api", "203.0.113.30")
	w.do(intent.Instantiate, test)
	w.settle(test)
	warned := w.plan(prod, "").Warnings
	require.Contains(t, warned, fmt.Sprintf(`service "web" of app "web" and service "api" of app "api" of %s share www.lab.example of provider "lab": the built-in publisher publishes the addresses of all of them`, test))
	require.NotContains(t, strings.Join(warned, "\n"), "external-dns")
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Equal(t, []string{wwwBuiltIn}, w.published(prod))
	require.Equal(t, []string{publisher + " lab/public: www.lab.example A 203.0.113.30"}, w.published(test), "the warning tells the truth")
}

// TestAPlanShowsASharedNameWithAllItsAddresses, before and after, whether one of its groups comes, drops the name or ends.
func TestAPlanShowsASharedNameWithAllItsAddresses(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.group(test, "api", "www.lab.example")
	w.observe(berlin, "shop/api", "203.0.113.30", "2001:db8::30")
	alone, both := []string{"203.0.113.10", "203.0.113.20"}, []string{"203.0.113.10", "203.0.113.20", "203.0.113.30"}
	six := []string{"2001:db8::30"}
	row := func(kind, action string, before, targets []string) intent.NameChange {
		return intent.NameChange{Name: "www.lab.example", Type: kind, Record: "lab", Action: action, Before: before, Targets: targets}
	}
	rows := func(plan intent.Plan) []intent.NameChange {
		for n := range plan.Names {
			plan.Names[n].AnsweredWithin, plan.Names[n].ClientsWithin, plan.Names[n].Mark, plan.Names[n].AbsentFor = "", "", "", ""
		}
		return slices.DeleteFunc(plan.Names, func(n intent.NameChange) bool { return n.Name != "www.lab.example" })
	}
	require.Equal(t, []intent.NameChange{row("A", "update", alone, both), row("AAAA", "create", nil, six)}, rows(w.plan(test, "")))
	w.do(intent.Instantiate, test)
	w.settle(test)

	lost := []intent.NameChange{row("A", "update", both, alone), row("AAAA", "delete", six, six)}
	stays := fmt.Sprintf("www.lab.example stays in DNS: %s gives it, too", prod)
	ends := w.plan(test, intent.Terminate)
	require.Equal(t, lost, rows(ends))
	require.Contains(t, ends.Warnings, stays)
	w.group(test, "api", "api.lab.example")
	drops := w.plan(test, intent.Update)
	require.Contains(t, drops.Warnings, stays)
	require.Equal(t, lost, rows(drops))

	w.do(intent.Terminate, prod)
	w.settle(prod)
	ends = w.plan(test, intent.Terminate)
	require.Equal(t, "delete", rows(ends)[0].Action, "nobody else has it any more")
	require.NotContains(t, ends.Warnings, stays)
}

// TestThePlanOfAnEndTellsOfNamesWithoutAnAddress, which are not in DNS, and of a name that leaves it although another group gives it.
func TestThePlanOfAnEndTellsOfNamesWithoutAnAddress(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.group(test, "api", "api.lab.example")
	w.do(intent.Instantiate, test)
	w.settle(test)
	ends := w.plan(test, intent.Terminate)
	lacking := intent.NameChange{Name: "api.lab.example", Type: "A", Record: "lab", Action: "delete", Targets: []string{}}
	require.Equal(t, []intent.NameChange{lacking}, ends.Names)
	lacks := "1 host name goes without a change in DNS, because it has no address: api.lab.example"
	require.Contains(t, ends.Warnings, lacks)
	w.group(test, "api", "old.lab.example")
	loses := w.plan(test, intent.Update)
	require.Equal(t, []string{"api.lab.example delete", "old.lab.example create"}, namesIn(loses), "an update that gives it up says the same")
	require.Contains(t, loses.Warnings, lacks)
	w.group(test, "api", "api.lab.example")
	require.Equal(t, []string{"api.lab.example unchanged"}, namesIn(w.plan(test, intent.Update)))
	w.observe(berlin, "shop/api", "203.0.113.30")
	w.settle(test)
	ends = w.plan(test, intent.Terminate)
	require.Len(t, ends.Names, 1)
	require.NotContains(t, ends.Warnings, lacks)

	w.group(test, "api", "www.lab.example")
	w.do(intent.Update, test)
	w.settle(test)
	leaves := fmt.Sprintf("www.lab.example leaves DNS: %s gives it, too, and has no address for it now", test)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.NotContains(t, w.plan(prod, intent.Terminate).Warnings, leaves)
	w.observe(berlin, "shop/api")
	w.settle(test)
	require.Contains(t, w.plan(prod, intent.Terminate).Warnings, leaves)
}

// namesIn are the names of a plan, with what happens to each.
func namesIn(p intent.Plan) []string {
	var out []string
	for _, n := range p.Names {
		out = append(out, n.Name+" "+n.Action)
	}
	return out
}

// TestANameWithoutAnAddressIsNewOnce: a plan does not promise it again.
func TestANameWithoutAnAddressIsNewOnce(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.group(test, "api", "api.lab.example")
	require.Equal(t, "create", w.plan(test, "").Names[0].Action)
	w.do(intent.Instantiate, test)
	w.settle(test)
	require.Equal(t, "unchanged", w.plan(test, intent.Update).Names[0].Action)
	w.observe(berlin, "shop/api", "203.0.113.30")
	require.Equal(t, "create", w.plan(test, intent.Update).Names[0].Action)
}

// oneName are the publishers of the only name of a snapshot.
func oneName(t *testing.T, snap query.Snapshot) []sharing.Publisher {
	t.Helper()
	require.Len(t, snap.Publishers, 1)
	for _, publishers := range snap.Publishers {
		return publishers
	}
	return nil
}

func TestManyNamesThatAreSharedAreOneWarning(t *testing.T) {
	t.Parallel()
	w := giveTwice(t, ``)
	names := `"hostnames":["a.lab.example","b.lab.example","c.lab.example","d.lab.example","e.lab.example"]`
	w.put(www(prod), `{"app":"web","serviceName":"web",`+names+`}`)
	w.put(prod.Child("traffic-group-intents", "front").Child("dns-intents", "api"), `{"app":"api","serviceName":"api",`+names+`}`)
	warnings := shares(w.plan(prod, ""))
	require.Len(t, warnings, 1)
	require.Contains(t, warnings[0], "share a.lab.example, b.lab.example, c.lab.example and 2 more of provider \"lab\"")
}

// TestDrainCountsTheAddressesOfANameInItsRecord: not those of one app service.
func TestDrainCountsTheAddressesOfANameInItsRecord(t *testing.T) {
	t.Parallel()
	w := giveTwice(t, ``)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.NoError(t, w.drain(berlin, false), "the name has an address on paris")
	require.ErrorContains(t, w.drain(paris, false), "edge+paris has the last addresses of www.lab.example")

	w.undrain(berlin)
	w.settle(prod)
	w.group(test, "shop", "www.lab.example")
	w.observe(berlin, "shop/shop", "203.0.113.40")
	w.do(intent.Instantiate, test)
	w.settle(prod, test)
	w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web","clusters":[{"clusterProvider":"edge","cluster":"berlin"}]},
		{"name":"api","clusters":[{"clusterProvider":"edge","cluster":"berlin"}]}]}`, eu)
	w.put(test, `{"logicalCloud":"eu","apps":[{"name":"shop","clusters":[{"clusterProvider":"edge","cluster":"paris"}]}]}`, eu)
	w.observe(paris, "shop/shop", "203.0.113.41")
	w.do(intent.Update, prod)
	w.do(intent.Update, test)
	w.settle(prod, test)
	require.NoError(t, w.drain(berlin, false), "the name has an address of another group on paris")
	require.Error(t, w.drain(paris, false))
}

// TestDrainCountsAddressesThatTheNameMayHave: of its recordTypes.
func TestDrainCountsAddressesThatTheNameMayHave(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"],"recordTypes":["AAAA"]}`)
	w.observe(berlin, "shop/web", "203.0.113.10", "2001:db8::10")
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.ErrorContains(t, w.drain(berlin, false), "edge+berlin has the last addresses of www.lab.example")
}

// TestTheEventOfAnEndTellsWhatLeavesDNS, without addresses that another group gives, too. A name that it gives stays.
func TestTheEventOfAnEndTellsWhatLeavesDNS(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.group(test, "api", "www.lab.example")
	w.observe(berlin, "shop/api", "203.0.113.10", "203.0.113.30")
	w.do(intent.Instantiate, test)
	w.do(intent.Instantiate, prod)
	w.settle(test, prod)
	told := func(group intent.Path) (message string) {
		w.do(intent.Terminate, group)
		w.outlive()
		events, err := w.service.Events(t.Context(), group)
		require.NoError(t, err)
		for _, e := range events {
			if e.Action == intent.Terminate {
				message += e.Outcome + ": " + e.Message + "\n"
			}
		}
		return message
	}
	require.Equal(t, "accepted: stays in DNS without these addresses: www.lab.example A 203.0.113.30\ncompleted: \n", told(test))
	require.Equal(t, "accepted: leaves DNS: www.lab.example A 203.0.113.10, 203.0.113.20\ncompleted: \n", told(prod))
}
