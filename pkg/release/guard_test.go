package release_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/removal/guard"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// numbered are host names of a domain: n1.lab.example and so on.
func numbered(n int, domain string) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("n%d.%s", i+1, domain))
	}
	return out
}

// names has prod ask for names, each a Service's own ("shop/n1").
func (w *world) names(names ...string) {
	w.Helper()
	intents := prod.Child("traffic-group-intents", "front").Child("dns-intents", "")
	page, err := w.documents.List(context.Background(), intent.ListOptions{Collection: intents.Collection()})
	require.NoError(w, err)
	for _, doc := range page.Items {
		require.NoError(w, w.delete(doc.Path))
	}
	for _, name := range names {
		service, _, _ := strings.Cut(name, ".")
		w.dnsIntent(service, fmt.Sprintf(`{"app":"web","serviceName":%q,"hostnames":[%q]}`, service, name))
	}
}

// newMall is prod with 20 names of record lab, each of a Service of its own, as
// revision 2; revision 1 has four of them.
func newMall(t testing.TB) *world { return newMallOn(t, record("lab.example", ``)) }

func newMallOn(t testing.TB, spec string) *world {
	w := newShop(t)
	w.put(lab, spec)
	names := numbered(20, "lab.example")
	w.open(names...)
	w.names(names[:4]...)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.names(names...)
	w.do(intent.Update, prod)
	w.settle(prod)
	require.Len(t, w.published(prod), 20)
	return w
}

// open and shut have the Services of names offer an address, or none.
func (w *world) open(names ...string) {
	for n, name := range names {
		service, _, _ := strings.Cut(name, ".")
		w.observe(berlin, "shop/"+service, fmt.Sprintf("203.0.113.%d", 100+n))
		w.observe(paris, "shop/"+service)
	}
}

func (w *world) shut(names ...string) {
	for _, name := range names {
		service, _, _ := strings.Cut(name, ".")
		w.observe(berlin, "shop/"+service)
	}
}

// TestWhatIsAskedForStopsBeforeItTakesTooManyNames: an update, a rollback, a record
// or KV change that would take away more than maxRemoval of a record's names, and
// more than 5, is 409 until confirmed by the plan's token.
func TestWhatIsAskedForStopsBeforeItTakesTooManyNames(t *testing.T) {
	t.Parallel()
	names := numbered(20, "lab.example")
	for _, c := range []struct {
		what   string
		change func(w *world)
		action intent.Action // of prod; empty: the record's update
		gone   int           // names that go; 0: it is not stopped
		left   int           // names that are published then
	}{
		{"intents were deleted", func(w *world) { w.names(names[:14]...) }, intent.Update, 6, 14},
		{"no more than five", func(w *world) { w.names(names[:15]...) }, intent.Update, 0, 15},
		{"a rollback to fewer names", func(*world) {}, intent.Rollback, 16, 4},
		{"the record is associated no more", func(w *world) {
			w.associate(eu, "corp")
			w.names("n1.corp.example")
		}, intent.Update, 20, 1},
		{"others take their place", func(w *world) {
			w.names(append(numbered(20, "new.lab.example"), names[:10]...)[10:]...)
		}, intent.Update, 10, 20},
		{"most addresses are refused", func(w *world) {
			w.put(lab, record("lab.example", `,"targetFilter":{"deny":["203.0.113.100/30","203.0.113.104/31"]}`))
		}, "", 6, 14},
		{"few addresses are refused", func(w *world) {
			w.put(lab, record("lab.example", `,"targetFilter":{"deny":["203.0.113.100/30"]}`))
		}, "", 0, 16},
		{"most addresses are dropped by external-dns", func(w *world) {
			w.put(lab, recordWith("lab.example", `"exclude-target-net":["203.0.113.100/30","203.0.113.104/31"]`))
		}, "", 6, 14},
		{"external-dns leaves few addresses", func(w *world) {
			w.put(lab, recordWith("lab.example", `"target-net-filter":["203.0.113.100/30"]`))
		}, "", 16, 4},
		{"external-dns sees to other types alone", func(w *world) {
			w.put(lab, recordWith("lab.example", `"managed-record-types":["AAAA","CNAME"]`))
		}, "", 20, 0},
		{"external-dns leaves the type alone", func(w *world) {
			w.put(lab, recordWith("lab.example", `"exclude-record-types":["A"]`))
		}, "", 20, 0},
		{"the domain is a narrower one", func(w *world) { w.put(lab, record("n1.lab.example", ``)) }, "", 19, 20},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			w := newMall(t)
			c.change(w)
			before, plan := w.keys(), w.planGuarded(c.action)
			_, err := w.tryGuarded(c.action, "")
			if c.gone == 0 {
				require.NoError(t, err)
				require.NotContains(t, strings.Join(plan.Warnings, "\n"), "removes")
				w.settle(prod)
				require.Len(t, w.published(prod), c.left)
				return
			}
			says := fmt.Sprintf(`%d of the 20 names of provider "lab", more than its maxRemoval of 25 %%`, c.gone)
			require.Equal(t, intent.Conflict, intent.CodeOf(err), "%v", err)
			require.ErrorContains(t, err, says)
			require.ErrorContains(t, err, string(lab)+"#/spec/maxRemoval")
			require.Contains(t, strings.Join(plan.Warnings, "\n"), "removes "+says)
			require.Empty(t, plan.Errors)
			require.Equal(t, before, w.keys(), "what is refused leaves no trace")
			_, err = w.tryGuarded(c.action, plan.Token)
			require.NoError(t, err)
			w.outlive()
			require.Len(t, w.published(prod), c.left)
		})
	}
}

// TestAnotherProviderIsConfirmed: the names stay at the former one, where nobody sees
// to them.
func TestAnotherProviderIsConfirmed(t *testing.T) {
	t.Parallel()
	w := newMallOn(t, onAWS)
	w.put(lab, onBIND)
	_, err := w.tryGuarded("", "")
	require.ErrorContains(t, err, `20 of the 20 names of provider "lab", more than its maxRemoval of 25 %`)
	_, err = w.tryGuarded("", w.planGuarded("").Token)
	require.NoError(t, err)
	w.outlive()
	require.Len(t, w.published(prod), 20)
}

// planGuarded and tryGuarded are of prod's action, or, where that is empty, of
// the record's update.
func (w *world) planGuarded(action intent.Action) intent.Plan {
	w.Helper()
	if action != "" {
		return w.plan(prod, action)
	}
	plan, err := w.service.PlanRecord(context.Background(), lab, "")
	require.NoError(w, err)
	return plan
}

func (w *world) tryGuarded(action intent.Action, confirm string) (intent.Accepted, error) {
	switch action {
	case "":
		return w.service.UpdateRecord(context.Background(), lab, "", confirm, "ann")
	case intent.Rollback:
		return w.service.Rollback(context.Background(), prod, 0, confirm, "ann")
	}
	return w.try(action, prod, confirm)
}

// TestATokenConfirmsTheNamesOfItsPlanAlone: one from before, though all documents
// are as they were, confirms nothing new.
func TestATokenConfirmsTheNamesOfItsPlanAlone(t *testing.T) {
	t.Parallel()
	names := numbered(20, "lab.example")
	w := newMall(t)
	w.names(names[:13]...) // 7 go
	few := w.plan(prod, intent.Update)
	w.shut(names[0]) // and an eighth
	_, err := w.try(intent.Update, prod, few.Token)
	require.Equal(t, intent.PreconditionFailed, intent.CodeOf(err), "%v", err)
	require.Len(t, w.published(prod), 20)
	again := w.plan(prod, intent.Update)
	require.NotEqual(t, few.Token, again.Token)
	require.Contains(t, strings.Join(again.Warnings, "\n"), "removes 8 of the 20 names")
	_, err = w.try(intent.Update, prod, again.Token)
	require.NoError(t, err)
}

// TestMaxRemovalIsTheRecordsOwn: as it is deployed, and 100 lets all go.
func TestMaxRemovalIsTheRecordsOwn(t *testing.T) {
	t.Parallel()
	names := numbered(20, "lab.example")
	w := newMall(t)
	w.names(names[:10]...)
	w.put(lab, record("lab.example", `,"maxRemoval":50`))
	_, err := w.try(intent.Update, prod, "")
	require.ErrorContains(t, err, "maxRemoval of 25 %", "it takes effect with the record's update")
	w.updateRecord(lab)
	w.do(intent.Update, prod)
	w.settle(prod)
	require.Len(t, w.published(prod), 10)

	w.names(names[:1]...)
	w.put(lab, record("lab.example", `,"maxRemoval":100`))
	w.updateRecord(lab)
	w.do(intent.Update, prod)
	w.settle(prod)
	require.Len(t, w.published(prod), 1)
}

// TestAnExplicitTerminateIsExempt: so are drains and abandons that were forced.
func TestAnExplicitTerminateIsExempt(t *testing.T) {
	t.Parallel()
	w := newMall(t)
	require.Equal(t, 20, strings.Count(fmt.Sprint(w.plan(prod, intent.Terminate).Names), "delete"))
	w.do(intent.Terminate, prod)
	w.outlive()
	require.Empty(t, w.published(prod))

	w = newMall(t)
	require.NoError(t, w.drain(berlin, true))
	require.NoError(t, w.rest())
	require.Empty(t, w.published(prod))
}

// TestNamesThatOthersGiveDoNotGo: a name is counted when nobody gives it any more.
func TestNamesThatOthersGiveDoNotGo(t *testing.T) {
	t.Parallel()
	names := numbered(20, "lab.example")
	w := newMall(t)
	w.put(test, `{"logicalCloud":"eu","apps":[{"name":"web"}]}`, eu)
	w.put(test.Child("traffic-group-intents", "front"), `{}`)
	for _, name := range names[:10] {
		service, _, _ := strings.Cut(name, ".")
		w.put(test.Child("traffic-group-intents", "front").Child("dns-intents", service), fmt.Sprintf(`{"app":"web","serviceName":%q,"hostnames":[%q]}`, service, name))
	}
	w.do(intent.Instantiate, test)
	w.settle(test)
	w.names(names[9:]...)
	w.do(intent.Update, prod) // 9 go, and test has them
	w.settle(prod, test)
	given := slices.Concat(w.published(prod), w.published(test))
	for _, name := range names {
		require.Contains(t, strings.Join(given, "\n"), ": "+name+" ")
	}
}

// TestWhatNobodyAskedForFreezesAndReports: Services go one after the other, and
// all at once; what would be more than maxRemoval stays as it is published.
func TestWhatNobodyAskedForFreezesAndReports(t *testing.T) {
	t.Parallel()
	names := numbered(20, "lab.example")
	w := newMall(t)
	past := remembering(w)
	for _, name := range names[:5] { // few may go
		w.shut(name)
		w.settle(prod)
	}
	require.Len(t, w.published(prod), 15)
	for _, name := range names[5:12] {
		w.shut(name)
		w.settle(prod)
	}
	frozen := w.published(prod)
	require.Len(t, frozen, 15, "what goes one by one is judged together")
	require.Equal(t, map[intent.Path]int{lab: 7}, w.service.RetainedNames())
	require.Equal(t, []string{"completed", "frozen"}, w.happened(prod)[len(w.happened(prod))-2:], "it is told once")
	require.Equal(t, []state.RetainedNames{{Record: lab, Names: 7, Since: w.clock.Now()}}, w.stored(prod).Retained)
	at := w.clock.Now().Format("15:04")
	toldOnce := func() {
		w.Helper()
		require.Equal(t, []string{at + " Address A -[203.0.113.104] +[] after a gap"}, w.told(past, names[4]))
		for _, name := range names[5:12] {
			require.Equal(t, []string{at + " Held after a gap"}, w.told(past, name))
		}
	}
	toldOnce()

	w.restartOn(w.fake) // another replica
	w.clock.pass(24 * time.Hour)
	w.settle(prod)
	require.Equal(t, frozen, w.published(prod), "time thaws nothing")
	toldOnce()
	require.Equal(t, map[intent.Path]int{lab: 7}, w.service.RetainedNames())

	accepted := w.do(intent.Update, prod)
	w.settle(prod)
	require.Equal(t, frozen, w.published(prod), "nor does an update that nobody has confirmed")
	plan := w.plan(prod, intent.Update)
	require.Contains(t, strings.Join(plan.Warnings, "\n"), `7 names of provider "lab" stay published although no address of them exists any more, because that is more than may be removed at once; this plan's token removes them`)
	confirmed, err := w.try(intent.Update, prod, plan.Token)
	require.NoError(t, err)
	require.Equal(t, accepted, confirmed, "of what the release was made has not changed")
	w.settle(prod)
	require.Len(t, w.published(prod), 8)
	require.Equal(t, []string{"frozen", "accepted", "thawed"}, w.happened(prod)[len(w.happened(prod))-3:])
	require.Empty(t, w.stored(prod).Retained)
	require.Empty(t, w.service.RetainedNames())
}

func (w *world) happened(group intent.Path) []string {
	var out []string
	for _, e := range w.stored(group).Events {
		out = append(out, e.Outcome)
	}
	return out
}

// TestATokenFromBeforeLetsNothingNewGo: the freeze has grown since the plan.
func TestATokenFromBeforeLetsNothingNewGo(t *testing.T) {
	t.Parallel()
	names := numbered(20, "lab.example")
	w := newMall(t)
	w.shut(names[:12]...)
	w.settle(prod)
	plan := w.plan(prod, intent.Update)
	w.shut(names[12])
	w.settle(prod)
	_, err := w.try(intent.Update, prod, plan.Token)
	require.Equal(t, intent.PreconditionFailed, intent.CodeOf(err), "%v", err)
	w.settle(prod)
	require.Len(t, w.published(prod), 20)

	_, err = w.try(intent.Update, prod, w.plan(prod, intent.Update).Token)
	require.NoError(t, err)
	w.shut(names[13:19]...) // and six more, before anybody has taken a step
	w.settle(prod)
	require.Len(t, w.published(prod), 7, "what was confirmed goes, and the rest stays")
}

// TestAConfirmationIsUsedOnce: names that a record's update has taken away come back
// by other addresses, and go again though nobody has asked for that.
func TestAConfirmationIsUsedOnce(t *testing.T) {
	t.Parallel()
	names := numbered(20, "lab.example")
	w := newMall(t)
	w.put(lab, record("lab.example", `,"targetFilter":{"deny":["203.0.113.100/30","203.0.113.104/31"]}`))
	plan, err := w.service.PlanRecord(context.Background(), lab, "")
	require.NoError(t, err)
	_, err = w.service.UpdateRecord(context.Background(), lab, "", plan.Token, "ann")
	require.NoError(t, err)
	w.outlive()
	require.Len(t, w.published(prod), 14)
	require.Empty(t, w.stored(prod).Retained)
	for n, name := range names[:6] {
		service, _, _ := strings.Cut(name, ".")
		w.observe(berlin, "shop/"+service, fmt.Sprintf("203.0.113.%d", 200+n))
	}
	w.settle(prod)
	require.Len(t, w.published(prod), 20)
	w.shut(names[:6]...)
	w.settle(prod)
	require.Len(t, w.published(prod), 20)
	require.Equal(t, map[intent.Path]int{lab: 6}, w.service.RetainedNames())
}

// TestWhatIsOfferedAgainIsPublishedAgain: the freeze ends with the fault, and one
// that is small enough lets the rest go.
func TestWhatIsOfferedAgainIsPublishedAgain(t *testing.T) {
	t.Parallel()
	names := numbered(20, "lab.example")
	w := newMall(t)
	before := w.published(prod)
	w.shut(names...)
	w.settle(prod)
	require.Equal(t, before, w.published(prod), "all at once: nothing goes")
	w.open(names...)
	w.settle(prod)
	require.Equal(t, before, w.published(prod))
	require.Empty(t, w.stored(prod).Retained)

	w.shut(names...)
	w.settle(prod)
	w.open(names[:17]...)
	w.settle(prod)
	require.Len(t, w.published(prod), 17)
	require.Empty(t, w.stored(prod).Retained)
	for _, name := range names { // a Service after the other is made anew
		w.shut(name)
		w.settle(prod)
		w.open(names...)
		w.settle(prod)
		require.Empty(t, w.stored(prod).Retained, name)
	}
}

// TestAFreezeEndsWithWhatItIsOf: the group is terminated, its names are asked for no
// more, or the record may lose them.
func TestAFreezeEndsWithWhatItIsOf(t *testing.T) {
	t.Parallel()
	names := numbered(20, "lab.example")
	for what, c := range map[string]struct {
		do   func(w *world)
		left int
	}{
		"terminate": {func(w *world) { w.do(intent.Terminate, prod) }, 0},
		"other names": {func(w *world) {
			w.names(names[12:]...)
			_, err := w.try(intent.Update, prod, w.plan(prod, intent.Update).Token)
			require.NoError(w, err)
		}, 8},
		"maxRemoval is raised": {func(w *world) {
			w.put(lab, record("lab.example", `,"maxRemoval":60`))
			w.updateRecord(lab)
		}, 8},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newMall(t)
			w.shut(names[:12]...)
			w.settle(prod)
			require.Len(t, w.published(prod), 20)
			c.do(w)
			w.outlive()
			require.Len(t, w.published(prod), c.left)
			require.Empty(t, w.stored(prod).Retained)
		})
	}
}

// TestTwoGroupsOfARecordAreJudgedTogether: neither would lose too much by itself.
func TestTwoGroupsOfARecordAreJudgedTogether(t *testing.T) {
	t.Parallel()
	w := newMall(t)
	names := numbered(4, "more.lab.example")
	w.put(test, `{"logicalCloud":"eu","apps":[{"name":"web"}]}`, eu)
	w.put(test.Child("traffic-group-intents", "front"), `{}`)
	for n, name := range names {
		service := fmt.Sprintf("more%d", n)
		w.put(test.Child("traffic-group-intents", "front").Child("dns-intents", service), fmt.Sprintf(`{"app":"web","serviceName":%q,"hostnames":[%q]}`, service, name))
		w.observe(berlin, "shop/"+service, "203.0.113.9")
		w.observe(paris, "shop/"+service)
	}
	w.do(intent.Instantiate, test)
	w.settle(test)
	w.shut(numbered(4, "lab.example")...)
	w.settle(prod, test)
	require.Len(t, w.published(prod), 16)
	for n := range names {
		w.observe(berlin, fmt.Sprintf("shop/more%d", n))
	}
	w.settle(prod, test)
	require.Len(t, w.published(test), 4, "eight of 24 are more than a quarter")
	w.shut("n5.")
	w.settle(prod, test)
	require.Len(t, w.published(prod), 16, "while names are frozen, no other goes")
}

// TestARemovalIsJudgedInTheTransactionThatWritesIt: two replicas have each seen five
// Services go, and neither what the other has.
func TestARemovalIsJudgedInTheTransactionThatWritesIt(t *testing.T) {
	t.Parallel()
	names := numbered(20, "lab.example")
	w := newMall(t)
	fast := w.service
	slowed := &slow{KV: w.fake}
	w.restartOn(slowed)
	w.settle(prod)
	w.shut(names[:5]...)
	slowed.before = func() {
		w.shut(names[5:10]...)
		w.open(names[:5]...)
		for range 3 {
			_, err := fast.StepGroup(context.Background(), prod)
			w.mayBeRefused(err)
		}
	}
	for range 3 {
		w.mayBeRefused(w.step(prod))
	}
	w.settle(prod)
	require.GreaterOrEqual(t, len(w.published(prod)), 15)
}

// TestNamesThatStayMoveWithTheirRecord: nothing offers them an address in either home.
func TestNamesThatStayMoveWithTheirRecord(t *testing.T) {
	t.Parallel()
	w := newMall(t)
	w.shut(numbered(12, "lab.example")...)
	w.settle(prod)
	w.put(lab, record("lab.example", `,"deployOn":{"clusterProvider":"edge","cluster":"berlin"}`))
	w.put(eu, `{"namespace":"shop"}`)
	w.updateRecord(lab)
	there := func() int { return strings.Count(strings.Join(w.published(prod), "\n"), "edge+berlin lab/public") }
	for n := 0; there() == 0 && n < 5; n++ {
		w.mayBeRefused(w.step(lab))
		w.mayBeRefused(w.step(prod))
	}
	require.Equal(t, 20, there(), "none is missing at first, or the new home would delete it")
	w.settle(prod)
	require.Equal(t, 20, there())
	require.Len(t, w.published(prod), 20, "and have left the former one")
	require.Equal(t, 12, w.stored(prod).Retained[0].Names)
}

// TestUpdateAppContextIsRefusedWithTheRemedy: nobody of EMCO's could confirm.
func TestUpdateAppContextIsRefusedWithTheRemedy(t *testing.T) {
	t.Parallel()
	names := numbered(8, "lab.example")
	w := newOrchestrated(t)
	w.open(names...)
	w.names(names...)
	_, err := w.call(early)
	require.NoError(t, err)
	require.NoError(t, w.service.PostEvent(t.Context(), early, intent.Instantiate))
	w.settle(prod)
	require.Len(t, w.published(prod), 8)

	w.names(names[0])
	w.lay(orchestratedWeb(late))
	_, err = w.call(late)
	require.Equal(t, intent.Conflict, intent.CodeOf(err), "%v", err)
	require.ErrorContains(t, err, `7 of the 8 names of provider "lab"`)
	require.ErrorContains(t, err, "raise the record's maxRemoval and update the record")
	require.Empty(t, w.stored(prod).Prepared[1:], "nothing was released")
	w.put(lab, record("lab.example", `,"maxRemoval":90`))
	w.updateRecord(lab)
	_, err = w.call(late)
	require.NoError(t, err)
	require.NoError(t, w.service.PostEvent(t.Context(), late, intent.Update))
	w.settle(prod)
	require.Len(t, w.published(prod), 1)
}

// TestRemovalsOfLongAgoAreForgotten, at the latest when the next name goes.
func TestRemovalsOfLongAgoAreForgotten(t *testing.T) {
	t.Parallel()
	w, _, all := manyNames(t, 2)
	for n, name := range all {
		w.clock.pass(guard.Window + time.Second)
		_, err := w.service.UnpublishName(ann(name), name, intent.NameRequest{Actor: "ann"})
		require.NoError(t, err)
		items, _, err := w.fake.Range(t.Context(), kv.Range{Prefix: "/signpost/removed/", KeysOnly: true})
		require.NoError(t, err)
		require.Len(t, items, 1)
		require.Contains(t, items[0].Key, all[n])
	}
}
