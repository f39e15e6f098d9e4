package release_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Documents of another project, which has the same zone.
const (
	bank      intent.Path = "projects/bank"
	bankLab               = bank + "/dns-update-records/lab"
	bankCloud             = bank + "/logical-clouds/eu"
	bankProd              = bank + "/composite-apps/store/v1/deployment-intent-groups/prod"

	wwwName = "www.lab.example"
)

// rivals are two projects that ask for one name.
func rivals(t testing.TB) *world {
	w := newShop(t)
	w.put(bank, `{"namespace":"bank-dns"}`)
	w.put(bankLab, record("lab.example", ``))
	w.put(bankCloud, `{"namespace":"bank","controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`)
	w.member(bankCloud, "paris")
	w.associate(bankCloud, "lab")
	w.put(bank+"/composite-apps/store/v1", `{"compositeAppVersion":"v1"}`)
	w.put(bankProd, `{"logicalCloud":"eu","apps":[{"name":"web"}]}`, bankCloud)
	w.put(bankProd.Child("traffic-group-intents", "front"), `{}`)
	w.put(www(bankProd), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"]}`)
	w.observe(paris, "bank/web", "203.0.113.66")
	return w
}

// claims are whose names are, as the store has it: names by project.
func (w *world) claims() map[string]string {
	w.Helper()
	items, _, err := w.fake.Range(context.Background(), kv.Range{Prefix: "/signpost/name/public/"})
	require.NoError(w, err)
	out := map[string]string{}
	for _, item := range items {
		_, project, _ := strings.Cut(string(item.Value), `"project":"`)
		project, _, _ = strings.Cut(project, `"`)
		out[item.Key[strings.LastIndexByte(item.Key, '/')+1:]] = project
	}
	return out
}

// TestASecondClaimantIsRefused, by the plan and by the actions, and learns who
// the owner is if it may know of it; when the owner's name is gone, it gets it.
func TestASecondClaimantIsRefused(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.refuses(intent.Instantiate, bankProd, `"www.lab.example" belongs to another project; choose another host name`, string(www(bankProd))+"#/spec/hostnames/0")
	require.NotContains(t, fmt.Sprint(w.plan(bankProd, intent.Instantiate)), "shop")

	all := intent.As(context.Background(), intent.Actor{Reads: func(string) bool { return true }})
	_, err := w.service.Instantiate(all, bankProd, "", "root")
	require.ErrorContains(t, err, `"www.lab.example" belongs to project "shop", published by `+string(prod)+`; terminate that`)

	w.do(intent.Terminate, prod)
	require.NoError(t, w.rest())
	w.refuses(intent.Instantiate, bankProd, `"www.lab.example" belongs to another project`)
	w.outlive()
	require.Empty(t, w.claims(), "it was freed")
	w.do(intent.Instantiate, bankProd)
	w.settle(bankProd)
	require.Equal(t, map[string]string{wwwName: "bank"}, w.claims())
	w.refuses(intent.Instantiate, prod, `"www.lab.example" belongs to another project`)
}

// TestANameIsFreedAfterTheDeadline: an update that no longer gives a name frees
// it when its external-dns, which goes on to run, had releaseTimeout for it.
func TestANameIsFreedAfterTheDeadline(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["shop.lab.example"]}`)
	w.do(intent.Update, prod)
	w.settle(prod)
	w.refuses(intent.Instantiate, bankProd, `"www.lab.example" belongs to another project`)
	w.outlive()
	require.Equal(t, map[string]string{"shop.lab.example": "shop"}, w.claims())
	w.do(intent.Instantiate, bankProd)
	w.settle(bankProd, prod)

	w.do(intent.Update, prod) // nothing has changed
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["shop.lab.example","www.lab.example"]}`)
	w.refuses(intent.Update, prod, `"www.lab.example" belongs to another project`, string(www(prod))+"#/spec/hostnames/1")
}

// TestANameInAClusterThatIsAwayIsNotFree: its external-dns goes on publishing what
// an update gave up, until the cluster is back and the DNSEndpoint gone, and has
// releaseTimeout from then on.
func TestANameInAClusterThatIsAwayIsNotFree(t *testing.T) {
	t.Parallel()
	w := neighbours(t)
	w.down[hub] = true
	require.NoError(t, w.delete(www(prod)))
	w.do(intent.Update, prod)
	for range 3 {
		w.outlive()
	}
	w.refuses(intent.Instantiate, bankProd, `"www.lab.example" belongs to another project`)
	w.down[hub] = false
	require.NoError(t, w.rest())
	w.refuses(intent.Instantiate, bankProd, `"www.lab.example" belongs to another project`)
	w.outlive()
	w.do(intent.Instantiate, bankProd)
}

// TestANameOutlivesItsGroup: one that was terminated, deleted and made anew holds
// the names of its last life until they are gone, as any other does.
func TestANameOutlivesItsGroup(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.group(test, "api", "api.lab.example") // its external-dns is prod's, and goes on to run
	w.observe(berlin, "shop/api", "203.0.113.30")
	w.do(intent.Instantiate, prod)
	w.do(intent.Instantiate, test)
	w.settle(prod, test)
	w.do(intent.Terminate, prod)
	require.NoError(t, w.rest())
	require.Equal(t, intent.Terminated, w.state(prod))
	for _, path := range []intent.Path{www(prod), prod.Child("traffic-group-intents", "front"), prod} {
		require.NoError(t, w.delete(path))
	}
	w.refuses(intent.Instantiate, bankProd, `"www.lab.example" belongs to another project`)
	w.group(prod, "web", "shop.lab.example")
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.refuses(intent.Instantiate, bankProd, `"www.lab.example" belongs to another project`)
	w.outlive()
	require.Equal(t, map[string]string{"api.lab.example": "shop", "shop.lab.example": "shop"}, w.claims())
	w.do(intent.Instantiate, bankProd)
}

// TestANameThatIsLeftBehindStaysItsProjects, where its external-dns never
// deletes, until the record is deleted: its data is still in DNS.
func TestANameThatIsLeftBehindStaysItsProjects(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.put(lab, strings.Replace(record("lab.example", ``), `"sync"`, `"upsert-only"`, 1))
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	for range 2 { // it comes and goes
		w.do(intent.Terminate, prod)
		w.outlive()
		w.outlive()
		require.Equal(t, map[string]string{wwwName: "shop"}, w.claims())
		w.refuses(intent.Instantiate, bankProd, `"www.lab.example" belongs to another project`)
		w.do(intent.Instantiate, prod)
		w.settle(prod)
	}
	w.do(intent.Terminate, prod)
	w.outlive()
	w.outlive()
	require.NoError(t, w.delete(lab))
	w.do(intent.Instantiate, bankProd)
	w.settle(bankProd)
}

// TestOfTwoClaimantsOnePublishes, whatever clocks say: one that was taken for
// dead, and lost its claim, is accepted, and publishes nothing. It is told.
func TestOfTwoClaimantsOnePublishes(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	rival := w.options
	rival.Now = func() time.Time { return w.clock.Now().Add(2 * time.Minute) } // a clock that is ahead
	w.fake.Before = func(op, key string) error {
		if op == "txn" && strings.HasPrefix(key, "/signpost/release/") {
			w.fake.Before = nil // what prod claims is pending
			_, err := release.New(rival).Instantiate(ann(bankProd), bankProd, "", "ann")
			require.NoError(t, err)
		}
		return nil
	}
	w.do(intent.Instantiate, prod)
	require.Equal(t, map[string]string{wwwName: "bank"}, w.claims())
	_, err := w.service.StepGroup(context.Background(), prod)
	require.ErrorContains(t, err, "no name of revision 1 is published: others have claimed www.lab.example; update with other names")
	require.Equal(t, intent.Failed, w.state(prod))
	require.Empty(t, w.published(prod))
	_, err = w.service.StepGroup(context.Background(), bankProd)
	require.NoError(t, err)
	require.Len(t, w.published(bankProd), 1)

	w.do(intent.Terminate, bankProd)
	for range 3 {
		w.mayBeRefused(w.rest()) // prod has failed as yet
		w.clock.pass(70 * time.Second)
	}
	w.settle(prod)
	require.Equal(t, intent.Instantiated, w.state(prod), "it goes on by itself when the name is free")
	require.Equal(t, map[string]string{wwwName: "shop"}, w.claims())
}

// TestALateStepPublishesNoNameThatWasFreed: it has confirmed its names and is
// about to publish them, when their group is terminated, and another project
// gets them.
func TestALateStepPublishesNoNameThatWasFreed(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.do(intent.Instantiate, prod)
	w.meanwhile("/signpost/current/"+string(prod), func() {
		w.do(intent.Terminate, prod)
		w.settle(prod)
		w.clock.pass(time.Hour)
		require.NoError(t, w.rest())
		w.do(intent.Instantiate, bankProd)
		w.settle(bankProd)
	})
	_, err := w.service.StepGroup(t.Context(), prod)
	require.Equal(t, appcontext.ErrStale, intent.CodeOf(err), "%v", err)
	require.Equal(t, map[string]string{wwwName: "bank"}, w.claims())
	w.oneWinner()
}

// TestADeadRequestHoldsNoNameForEver: a crash at any write of an acceptance
// keeps nobody out for longer than a minute.
func TestADeadRequestHoldsNoNameForEver(t *testing.T) {
	t.Parallel()
	for last := 1; ; last++ {
		for _, after := range []bool{false, true} {
			w := rivals(t)
			dead := &mortal{KV: w.fake, last: last, after: after}
			w.restartOn(dead)
			_, err := w.try(intent.Instantiate, prod, "")
			if err == nil {
				return
			}
			require.ErrorIs(t, err, errCrashed)
			w.restartOn(w.fake)
			if l := w.snapshot(prod).Lifecycle; l.Seq > 0 {
				continue // it was accepted
			}
			w.clock.pass(61 * time.Second)
			w.do(intent.Instantiate, bankProd)
			w.settle(bankProd)
			require.Equal(t, map[string]string{wwwName: "bank"}, w.claims())
		}
	}
}

// TestWhatNobodyHoldsIsSweptAway: what requests that died have claimed, and what
// was left behind through a record that is deleted; a bounded number at a time.
func TestWhatNobodyHoldsIsSweptAway(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.put(bankLab, strings.Replace(record("lab.example", ``), `"sync"`, `"upsert-only"`, 1))
	w.put(www(bankProd), `{"app":"web","serviceName":"web","hostnames":["bank.lab.example"]}`)
	w.do(intent.Instantiate, prod)
	w.do(intent.Instantiate, bankProd)
	w.settle(prod, bankProd)
	w.do(intent.Terminate, bankProd)
	w.outlive()
	w.outlive()
	dead := nameclaim.Claim{Project: "shop", Entries: []nameclaim.Entry{{Group: test, UID: "u", Context: "c", Since: w.clock.Now()}}}
	var changes []nameclaim.Change
	for n := range 1500 {
		changes = append(changes, nameclaim.Change{Key: nameclaim.Key{View: "public", Name: fmt.Sprintf("n%d.lab.example", n)}, Claim: dead})
	}
	require.NoError(t, nameclaim.Store{KV: w.fake}.Write(t.Context(), changes))
	sweep := func() (names int) {
		counts, err := w.service.SweepClaims(t.Context())
		require.NoError(t, err)
		return counts["public"]
	}
	require.Equal(t, 1502, sweep(), "they may be under way")
	require.Equal(t, 1502, sweep())
	w.clock.pass(time.Minute)
	require.Greater(t, sweep(), 500, "a part of them")
	sweep()
	require.Equal(t, map[string]string{wwwName: "shop", "bank.lab.example": "bank"}, w.claims())
	for _, path := range []intent.Path{www(bankProd), bankProd.Child("traffic-group-intents", "front"), bankProd, bankCloud.Child("kv-pairs", intent.AssociationName), bankLab} {
		require.NoError(t, w.delete(path))
	}
	require.Equal(t, 1, sweep())
	require.Equal(t, map[string]string{wwwName: "shop"}, w.claims())
}

// TestAClockFarAheadHoldsNoName: a request that died, and whose clock was a day
// ahead, keeps nobody out until then.
func TestAClockFarAheadHoldsNoName(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.fake.Before = func(op, key string) error {
		if op == "txn" && strings.HasPrefix(key, "/signpost/release/") {
			return errCrashed
		}
		return nil
	}
	ahead := w.options
	ahead.Now = func() time.Time { return w.clock.Now().Add(24 * time.Hour) }
	_, err := release.New(ahead).Instantiate(ann(prod), prod, "", "ann")
	require.ErrorIs(t, err, errCrashed)
	w.fake.Before = nil
	require.Equal(t, map[string]string{wwwName: "shop"}, w.claims())
	w.do(intent.Instantiate, bankProd)
	w.settle(bankProd)
	require.Equal(t, map[string]string{wwwName: "bank"}, w.claims())
}

// TestARefusedRequestGivesBackWhatItClaimed, so that nobody waits for it.
func TestARefusedRequestGivesBackWhatItClaimed(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.fake.Before = func(op, key string) error {
		if op == "txn" && strings.HasPrefix(key, "/signpost/release/") {
			return &intent.Error{Code: intent.Conflict, Detail: "not now"}
		}
		return nil
	}
	_, err := w.try(intent.Instantiate, prod, "")
	require.ErrorContains(t, err, "not now")
	w.fake.Before = nil
	require.Empty(t, w.claims())
	w.do(intent.Instantiate, bankProd)
}

// TestAnUnchangedStepAsksForNoClaim: what a step reads does not grow by names
// having owners.
func TestAnUnchangedStepAsksForNoClaim(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.fake.Before = func(_, key string) error {
		if strings.HasPrefix(key, "/signpost/name/") {
			return errors.New("asked for " + key)
		}
		return nil
	}
	w.settle(prod)
	w.observe(berlin, "shop/web", "203.0.113.11")
	w.settle(prod)
}

// TestANamesViewIsPrivateToItsZones: two private zones may have one name, and
// one in a cluster is another thing than a public one.
func TestANamesViewIsPrivateToItsZones(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	private := func(zone string) string {
		return fmt.Sprintf(`{"provider":"aws","external-dns-parameters":{"aws-zone-type":"private","zone-id-filter":[%q]}}`, zone)
	}
	w.put(lab, private("/hostedzone/Z1"))
	w.put(bankLab, private("/hostedzone/Z2"))
	w.do(intent.Instantiate, prod)
	w.do(intent.Instantiate, bankProd)
	w.settle(prod, bankProd)
	require.Empty(t, w.claims())

	w = rivals(t)
	w.put(lab, private("/hostedzone/Z1"))
	w.put(bankLab, private("/hostedzone/Z1"))
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.refuses(intent.Instantiate, bankProd, `"www.lab.example" belongs to another project`)
}

// TestAZoneIsOneView, however its id is spelled, and whatever others there are. External-dns
// takes an id for the end of one: what that could be of is one view, too.
func TestAZoneIsOneView(t *testing.T) {
	t.Parallel()
	const one, two = "Z2FDTNDATAQYW2", "Z0123456789ABCDEFGHIJ"
	private := func(ids string) string {
		return `{"provider":"aws","external-dns-parameters":{"aws-zone-type":"private","zone-id-filter":` + ids + `},"releaseTimeout":"70s"}`
	}
	for other, shared := range map[string]bool{
		`["` + one + `","` + two + `"]`: true, `["/hostedzone/` + two + `","` + one + `"]`: true, `"` + two + `,` + one + `"`: true,
		`["` + one + `"]`: true, `"` + two + `"`: true, `["Z3M3LMPEXAMPLE","` + two + `"]`: true, `"` + one[2:] + `"`: true,
		`["Z3M3LMPEXAMPLE"]`: false, `"/hostedzone/Z1"`: false,
	} {
		w := rivals(t)
		w.put(lab, private(`["/hostedzone/`+one+`","`+two+`"]`))
		w.put(bankLab, private(other))
		w.do(intent.Instantiate, prod)
		w.settle(prod)
		if !shared {
			w.do(intent.Instantiate, bankProd)
			continue
		}
		w.refuses(intent.Instantiate, bankProd, `"www.lab.example" belongs to another project`)
		w.do(intent.Terminate, prod)
		w.outlive()
		w.outlive()
		w.do(intent.Instantiate, bankProd)
	}
}

// TestPrivateZonesThatAreNotIdentifiedAreOneView of a provider.
func TestPrivateZonesThatAreNotIdentifiedAreOneView(t *testing.T) {
	t.Parallel()
	for spec, other := range map[string]string{
		`{"provider":"aws","external-dns-parameters":{"aws-zone-type":"private"}}`: `{"provider":"aws","external-dns-parameters":{"aws-zone-type":"Private","zone-id-filter":[]}}`,
		`{"provider":"azure-private-dns","external-dns-parameters":{}}`:            `{"provider":"azure-private-dns","external-dns-parameters":{"azure-resource-group":""}}`,
	} {
		w := rivals(t)
		w.put(lab, spec)
		w.put(bankLab, other)
		w.do(intent.Instantiate, prod)
		w.settle(prod)
		w.refuses(intent.Instantiate, bankProd, `"www.lab.example" belongs to another project`)
	}
}

// TestARecordThatDoesNotSayItsKindOfZonesHasNamesInBoth: external-dns sees to both.
func TestARecordThatDoesNotSayItsKindOfZonesHasNamesInBoth(t *testing.T) {
	t.Parallel()
	const zone = `"zone-id-filter":["Z2FDTNDATAQYW2"]`
	for reason, c := range map[string]struct {
		theirs, mine string
		refused      bool
	}{
		"a zone, whatever its kind":    {`"aws-zone-type":"private",` + zone, zone, true},
		"the same the other way round": {zone, `"aws-zone-type":"private",` + zone, true},
		"no zone, of whatever kind":    {`"aws-zone-type":"private"`, ``, true},
		"a public name, in any case":   {`"aws-zone-type":"public"`, zone, true},
		"another zone":                 {`"aws-zone-type":"private",` + zone, `"aws-zone-type":"private","zone-id-filter":["Z3M3LMPEXAMPLE"]`, false},
		"public zones alone":           {`"aws-zone-type":"private",` + zone, `"aws-zone-type":"public",` + zone, false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := rivals(t)
			w.put(lab, `{"provider":"aws","external-dns-parameters":{`+c.theirs+`}}`)
			w.put(bankLab, `{"provider":"aws","external-dns-parameters":{`+c.mine+`}}`)
			w.running(prod)
			if c.refused {
				w.refuses(intent.Instantiate, bankProd, `"www.lab.example" belongs to another project`)
				return
			}
			w.running(bankProd)
		})
	}
}

// TestAZoneThatARecordLeavesIsFreedAlone: where a name is given in one zone still,
// that stays the project's.
func TestAZoneThatARecordLeavesIsFreedAlone(t *testing.T) {
	t.Parallel()
	private := func(zones string) string {
		return `{"provider":"aws","external-dns-parameters":{"aws-zone-type":"private","domain-filter":"lab.example","zone-id-filter":` + zones + `},"releaseTimeout":"70s"}`
	}
	for left, stays := range map[string]string{"Z1": "Z2", "Z2": "Z1"} {
		w := rivals(t)
		w.associate(eu, "lab", "corp")
		w.group(test, "api", "api.corp.example") // corp's external-dns goes on to run
		w.observe(berlin, "shop/api", "203.0.113.30")
		w.put(lab, private(`["/hostedzone/Z1","/hostedzone/Z2"]`))
		w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example","www.corp.example"]}`)
		w.do(intent.Instantiate, prod)
		w.do(intent.Instantiate, test)
		w.settle(prod, test)
		w.do(intent.Terminate, prod)
		w.outlive()
		require.Empty(t, w.deployment(labOnHub))
		require.NotEmpty(t, w.snapshot(prod).Lifecycle.PendingRelease, "the name of corp is still to go")
		w.put(lab, private(`["/hostedzone/`+stays+`","/hostedzone/Z3"]`))
		w.do(intent.Instantiate, prod)
		w.settle(prod)
		w.outlive()
		require.Empty(t, w.snapshot(prod).Lifecycle.PendingRelease)
		inZones, _, err := w.fake.Range(t.Context(), kv.Range{Prefix: "/signpost/name/private-", KeysOnly: true})
		require.NoError(t, err)
		require.Len(t, inZones, 2, "the claim in the zone that was left is gone")
		for zone, free := range map[string]bool{left: true, stays: false, "Z3": false} {
			w.put(bankLab, private(`"/hostedzone/`+zone+`"`))
			require.Equal(t, free, len(w.plan(bankProd, intent.Instantiate).Errors) == 0, zone)
		}
	}
}

// TestARecordInUseKeepsItsView: its names are claimed in there.
func TestARecordInUseKeepsItsView(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	aws := func(kind, zones string) string {
		return `{"provider":"aws","external-dns-parameters":{"aws-zone-type":"` + kind + `","zone-id-filter":` + zones + `}}`
	}
	w.put(lab, aws("private", `["/hostedzone/Z1"]`))
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	for _, other := range []string{aws("public", `["/hostedzone/Z1"]`), aws("private", `["/hostedzone/Z1","/hostedzone/Z2"]`), aws("private", `[]`)} {
		w.put(lab, other)
		_, err := w.service.UpdateRecord(context.Background(), lab, "", "", "ann")
		require.Equal(t, intent.Conflict, intent.CodeOf(err))
		require.ErrorContains(t, err, "the names of the provider would move to other zones")
	}
}

// TestTypesOfOneNameAreJudgedWithItsClaim: two groups of a project share a name,
// and are warned, unless DNS does not allow the types of both.
func TestTypesOfOneNameAreJudgedWithItsClaim(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.associate(eu, "lab", "corp")
	w.put(corp, record("lab.example", ``)) // another external-dns of the same zone
	w.group(test, "api", wwwName)
	w.put(www(test), `{"app":"api","serviceName":"api","hostnames":["www.lab.example"],"recordTypes":["CNAME"],"records":["corp"]}`)
	w.refuses(intent.Instantiate, test, `"www.lab.example" is published by `+string(prod)+` with other types: DNS allows no CNAME beside other types`)
	w.put(www(test), `{"app":"api","serviceName":"api","hostnames":["www.lab.example"],"records":["lab"]}`)
	w.do(intent.Instantiate, test)
	w.settle(prod, test)
	w.do(intent.Terminate, prod)
	w.outlive()
	require.Equal(t, map[string]string{wwwName: "shop"}, w.claims(), "test still gives it")
}

// TestALogicalCloudsNamespaceIsItsProjects: another project's apps come to no
// namespace of a cluster in which it has a logical cloud. Who may see the owner is
// told whose it is.
func TestALogicalCloudsNamespaceIsItsProjects(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.put(www(bankProd), `{"app":"web","serviceName":"web","hostnames":["bank.lab.example"]}`)
	w.put(bankCloud, `{"namespace":"shop","controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`)
	const refusal = `namespace "shop" of cluster edge+paris is another project's; give the logical cloud or the app another namespace`
	w.refuses(intent.Instantiate, bankProd, refusal, string(bankCloud)+"#/spec/namespace")
	all := intent.As(t.Context(), intent.Actor{Reads: func(string) bool { return true }})
	_, err := w.service.Instantiate(all, bankProd, "", "root")
	require.ErrorContains(t, err, `namespace "shop" of cluster edge+paris is project "shop"'s, for `+string(eu))
	w.put(bankCloud, `{"namespace":"bank","controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`)
	w.put(bankProd, `{"logicalCloud":"eu","apps":[{"name":"web","namespace":"shop"}]}`, bankCloud)
	w.refuses(intent.Instantiate, bankProd, refusal)
	w.put(bankProd, `{"logicalCloud":"eu","apps":[{"name":"web"}]}`, bankCloud)
	w.do(intent.Instantiate, bankProd)
	w.settle(bankProd)
}

// TestANamespaceIsBidFor: a crash at any write of an acceptance keeps nobody out of
// a namespace for longer than a minute, be it that of a logical cloud or of an app.
func TestANamespaceIsBidFor(t *testing.T) {
	t.Parallel()
	for _, of := range []struct{ cloud, app string }{{"common", "own"}, {"shop", "common"}} {
		for last := 1; ; last++ {
			w := rivals(t)
			w.put(www(bankProd), `{"app":"web","serviceName":"web","hostnames":["bank.lab.example"]}`)
			w.put(bankProd, `{"logicalCloud":"eu","apps":[{"name":"web","namespace":"common"}]}`, bankCloud)
			w.put(eu, fmt.Sprintf(`{"namespace":%q,"controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`, of.cloud))
			w.put(prod, fmt.Sprintf(`{"logicalCloud":"eu","apps":[{"name":"web","namespace":%q}]}`, of.app), eu)
			w.restartOn(&mortal{KV: w.fake, last: last, after: true})
			_, err := w.try(intent.Instantiate, prod, "")
			w.restartOn(w.fake)
			if err != nil && w.snapshot(prod).Lifecycle.Seq == 0 {
				w.clock.pass(61 * time.Second)
				w.do(intent.Instantiate, bankProd)
				w.settle(bankProd)
				w.refuses(intent.Instantiate, prod, `namespace "common" of cluster edge+paris is another project's`)
				continue
			}
			w.settle(prod)
			w.refuses(intent.Instantiate, bankProd, `namespace "common" of cluster edge+paris is another project's`, string(bankProd)+"#/spec/apps")
			break
		}
	}
}

// TestANamespaceIsKeptByItsLogicalCloud: one entry for all of its groups, until it
// is deleted.
func TestANamespaceIsKeptByItsLogicalCloud(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.put(www(bankProd), `{"app":"web","serviceName":"web","hostnames":["bank.lab.example"]}`)
	w.put(bankProd, `{"logicalCloud":"eu","apps":[{"name":"web","namespace":"shop"}]}`, bankCloud)
	w.group(test, "api", "api.lab.example")
	w.observe(berlin, "shop/api", "203.0.113.30")
	w.do(intent.Instantiate, prod)
	w.do(intent.Instantiate, test)
	w.settle(prod, test)
	require.Equal(t, []string{"edge+berlin shop: shop", "edge+hub shop-dns: shop", "edge+paris shop: shop"}, w.namespaces(), "of apps, and of external-dns")
	items, _, err := w.fake.Range(t.Context(), kv.Range{Prefix: "/signpost/name/namespace-"})
	require.NoError(t, err)
	for _, item := range items {
		require.Equal(t, 1, strings.Count(string(item.Value), `"uid"`), string(item.Value))
	}
	w.do(intent.Terminate, prod)
	w.do(intent.Terminate, test)
	w.outlive()
	w.outlive()
	w.refuses(intent.Instantiate, bankProd, `namespace "shop" of cluster edge+paris is another project's`)
	for _, group := range []intent.Path{prod, test} {
		for _, path := range []intent.Path{www(group), group.Child("traffic-group-intents", "front"), group} {
			require.NoError(t, w.delete(path))
		}
	}
	for _, path := range []intent.Path{eu.Child("cluster-references", "berlin"), eu.Child("cluster-references", "paris"), eu.Child("kv-pairs", intent.AssociationName), eu} {
		require.NoError(t, w.delete(path))
	}
	w.do(intent.Instantiate, bankProd)
	w.settle(bankProd)
}

// TestOfTwoInOneNamespaceOneIsThere: one that was taken for dead, and whose
// namespace another project has got, is accepted and puts nothing there.
func TestOfTwoInOneNamespaceOneIsThere(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.put(www(bankProd), `{"app":"web","serviceName":"web","hostnames":["bank.lab.example"]}`)
	w.put(bankProd, `{"logicalCloud":"eu","apps":[{"name":"web","namespace":"shop"}]}`, bankCloud)
	rival := w.options
	rival.Now = func() time.Time { return w.clock.Now().Add(2 * time.Minute) } // a clock that is ahead
	w.fake.Before = func(op, key string) error {
		if op == "txn" && strings.HasPrefix(key, "/signpost/release/") {
			w.fake.Before = nil
			_, err := release.New(rival).Instantiate(ann(bankProd), bankProd, "", "ann")
			require.NoError(t, err)
		}
		return nil
	}
	w.do(intent.Instantiate, prod)
	_, err := w.service.StepGroup(t.Context(), prod)
	require.ErrorContains(t, err, `namespace "shop" of cluster edge+paris; update with other names`)
	require.Equal(t, intent.Failed, w.state(prod))
	require.Empty(t, w.snapshot(prod).Objects)
}

// TestRacingClaimsEndWithOneWinner: whatever two projects ask for at once, over
// several replicas whose clocks are minutes apart, a name is never in current
// contexts of both (I12).
func TestRacingClaimsEndWithOneWinner(t *testing.T) {
	t.Parallel()
	const replicas, deeds = 4, 40
	for _, seed := range seeds(t, 1, 3, 30) {
		w := rivals(t)
		var all sync.WaitGroup
		for replica := range uint64(replicas) {
			options, random := w.options, rand.New(rand.NewPCG(seed, replica))
			skew := time.Duration(random.IntN(10)-5) * time.Minute
			options.Now = func() time.Time { return w.clock.Now().Add(skew) }
			service := release.New(options)
			all.Go(func() {
				for range deeds {
					w.rivalDeed(service, random)
					w.oneWinner()
				}
			})
		}
		all.Wait()
		for range 4 {
			w.mayBeRefused(w.rest())
			w.clock.pass(6 * time.Minute)
		}
		w.oneWinner()
		for _, group := range []intent.Path{prod, bankProd} {
			require.Contains(t, []intent.State{intent.Created, intent.Instantiated, intent.Terminated}, w.state(group), "%d: %v", seed, w.snapshot(group).Lifecycle.Failure)
		}
	}
}

func (w *world) rivalDeed(service *release.Service, random *rand.Rand) {
	group := []intent.Path{prod, bankProd}[random.IntN(2)]
	ctx := ann(group)
	var err error
	switch random.IntN(8) {
	case 0, 1:
		_, err = service.Instantiate(ctx, group, "", "ann")
	case 2:
		_, err = service.Terminate(ctx, group, false, "", "cid")
	case 3:
		w.clock.pass(20 * time.Second)
		_, swept := service.SweepClaims(ctx)
		err = errors.Join(service.Sweep(ctx, time.Minute), swept)
	default:
		_, err = service.StepGroup(ctx, group)
	}
	w.mayBeRefused(err)
}

// oneWinner checks that the name is in current contexts of one project only.
func (w *world) oneWinner() {
	w.Helper()
	ctx := context.Background()
	pointers, _, err := w.contexts.Pointers(ctx) // at one revision
	require.NoError(w, err)
	var have []string
	for _, p := range pointers {
		objects, err := w.contexts.Objects(ctx, p)
		if intent.CodeOf(err) == appcontext.ErrStale {
			return
		}
		if err != nil {
			assert.Fail(w, "read", "%v", err)
		}
		for _, o := range objects {
			if strings.Contains(string(o.JSON), wwwName) && o.Kind == "DNSEndpoint" {
				have = append(have, string(p.Owner))
			}
		}
	}
	assert.LessOrEqual(w, len(slices.Compact(have)), 1, "%v", have)
}

// TestAWriteWarnsOfNamesThatCannotBeHad, of other projects as far as who asks may
// know: the names are another project's, or lie in a domain of another's.
func TestAWriteWarnsOfNamesThatCannotBeHad(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	warned := func(ctx context.Context, group intent.Path) (told []string) {
		t.Helper()
		warnings, err := w.service.NameWarnings(ctx, www(group))
		require.NoError(t, err)
		for _, warning := range warnings {
			told = append(told, warning.Parameter+" "+warning.Message)
		}
		return told
	}
	all := intent.As(context.Background(), intent.Actor{Reads: func(string) bool { return true }})
	require.Empty(t, warned(all, bankProd), "the name is nobody's yet")
	w.do(intent.Instantiate, prod)
	taken := `hostnames/0 "www.lab.example" belongs to another project; choose another host name; until then instantiate and update refuse it`
	require.Equal(t, []string{taken}, warned(ann(bankProd), bankProd))
	require.Contains(t, strings.Join(warned(all, bankProd), "\n"), `belongs to project "shop", published by `+string(prod))
	require.Empty(t, warned(ann(prod), prod), "it is its own")

	w.associate(bankCloud)
	unserved := `hostnames/0 no provider serves "www.lab.example": associate one whose domain-filter or zones cover it with logical cloud "eu" or with the app's clusters; until then instantiate and update refuse it`
	require.Equal(t, []string{unserved, taken}, warned(ann(bankProd), bankProd))
	w.put(www(bankProd), `{"app":"web","serviceName":"web","hostnames":["www.lab.example"],"scope":"cluster"}`)
	require.Equal(t, []string{unserved}, warned(ann(bankProd), bankProd), "it is to be in a cluster's own view")
	w.associate(bankCloud, "lab")
	w.put(www(bankProd), `{"app":"web","serviceName":"web","hostnames":["free.lab.example","new.lab.example"]}`)
	require.Empty(t, warned(ann(bankProd), bankProd))
	w.put("projects/shop", `{"namespace":"shop-dns","domains":["new.lab.example"]}`)
	require.Equal(t, []string{
		`hostnames/1 "new.lab.example" lies in new.lab.example, which is granted to another project; choose another host name; until then instantiate and update refuse it`,
	}, warned(ann(bankProd), bankProd))
	require.Contains(t, warned(all, bankProd)[0], "granted to shop")
	_, err := w.service.NameWarnings(all, www(bankProd)+"-none")
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
}

func TestAWriteWarnsOfNamesThatNoRecordServes(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example","www.elsewhere.example"]}`)
	warnings, err := w.service.NameWarnings(t.Context(), www(prod))
	require.NoError(t, err)
	require.Equal(t, []intent.Warning{{
		Parameter: "hostnames/1",
		Message:   `no provider serves "www.elsewhere.example": associate one whose domain-filter or zones cover it with logical cloud "eu" or with the app's clusters; until then instantiate and update refuse it`,
	}}, warnings)

	w.put(www(prod), `{"app":"other","serviceName":"web","hostnames":["www.lab.example"]}`)
	warnings, err = w.service.NameWarnings(t.Context(), www(prod))
	require.NoError(t, err)
	require.Empty(t, warnings, "what else a plan refuses is said there")
}

// TestZonesOfARecordInUseMayBecomeFewer: the names are claimed in all that stay.
func TestZonesOfARecordInUseMayBecomeFewer(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	aws := func(more string) {
		w.put(lab, `{"provider":"aws","external-dns-parameters":{"domain-filter":["lab.example"]`+more+`},"deployOn":{"clusterProvider":"edge","cluster":"hub"}}`)
	}
	aws(`,"zone-id-filter":["Z0123456789AA","Z0123456789BB"]`)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	aws(`,"zone-id-filter":["Z0123456789AA"]`)
	_, err := w.service.UpdateRecord(t.Context(), lab, "", "", "tester")
	require.NoError(t, err)
	aws(`,"zone-id-filter":["Z0123456789AA"],"aws-zone-type":"public"`)
	_, err = w.service.UpdateRecord(t.Context(), lab, "", "", "tester")
	require.NoError(t, err)
	aws(`,"zone-id-filter":["Z0123456789CC"]`)
	_, err = w.service.UpdateRecord(t.Context(), lab, "", "", "tester")
	require.ErrorContains(t, err, "would move to other zones")
}

// TestARequestThatTriesAgainTakesItsBytesOnce from the rate of its project.
func TestARequestThatTriesAgainTakesItsBytesOnce(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	var took []int
	w.options.TakeBytes = func(_ context.Context, _ intent.Path, bytes int) error { took = append(took, bytes); return nil }
	w.restartOn(w.fake)
	tries := 0
	w.fake.Before = func(_, key string) error {
		if strings.HasPrefix(key, "/signpost/release/") && tries == 0 {
			tries++
			return &intent.Error{Code: intent.PreconditionFailed, Detail: "others were first"}
		}
		return nil
	}
	w.do(intent.Instantiate, prod)
	require.Equal(t, 1, tries)
	require.Len(t, took, 1)
}
