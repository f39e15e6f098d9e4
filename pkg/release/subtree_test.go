package release_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/dns/verify"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/release/ownership/nameclaim"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// onAWS is a record whose provider answers each name by itself.
const onAWS = `{"provider":"aws","external-dns-parameters":{"aws-zone-type":"public","domain-filter":["lab.example"]},"releaseTimeout":"70s"}`

// onBIND is such a record, too.
const onBIND = `{"provider":"rfc2136","external-dns-parameters":{"domain-filter":["lab.example"],"rfc2136-host":["10.0.0.9"],"rfc2136-zone":["lab.example"],"rfc2136-insecure":true}}`

// bankAsks has the bank's intent give names.
func (w *world) bankAsks(hosts ...string) {
	w.put(www(bankProd), `{"app":"web","serviceName":"web","hostnames":["`+strings.Join(hosts, `","`)+`"]}`)
}

// running has a group published, one that is not yet.
func (w *world) running(group intent.Path) {
	w.Helper()
	w.do(intent.Instantiate, group)
	w.settle(group)
}

// TestANameInASubtreeIsItsOwners: CoreDNS answers a name with all names below it, so
// that who has the one decides on the others, whoever the record says to be.
func TestANameInASubtreeIsItsOwners(t *testing.T) {
	t.Parallel()
	for reason, c := range map[string]struct{ record, host, says string }{
		"below":                    {record("lab.example", ``), "x.www.lab.example", `"x.www.lab.example" lies below "www.lab.example", which is another project's: CoreDNS answers that with all names below it; choose another host name, or have an administrator grant x.www.lab.example to this project alone (spec.domains)`},
		"far below":                {record("lab.example", ``), "a.b.c.www.lab.example", `lies below "www.lab.example"`},
		"all that is below":        {record("lab.example", ``), "*.www.lab.example", `grant www.lab.example to this project alone`},
		"above":                    {record("lab.example", ``), "lab.example", `"lab.example" lies above "www.lab.example", which is another project's: CoreDNS would also answer it with that; choose another host name, or have an administrator grant lab.example`},
		"another word for coredns": {strings.Replace(record("lab.example", ``), `"coredns"`, `"skydns"`, 1), "x.www.lab.example", `lies below`},
		"another address of it":    {strings.Replace(record("lab.example", ``), "10.0.0.5", "etcd.dns", 1), "x.www.lab.example", `lies below`},
		"by a prefix":              {below("/skydns/example/"), "x.www.lab", `"x.www.lab.example", as resolvers may see "x.www.lab" below coredns-prefix /skydns/example/, lies below "www.lab.example"`},
		"by a prefix that names":   {strings.Replace(below("/skydns/example/lab/"), `["lab"]`, `["www"]`, 1), "x.www", `"x.www.lab.example", as`},
		"by the root":              {strings.Replace(below("/"), `["lab"]`, `["skydns"]`, 1), "x.www.lab.example.skydns", `"x.www.lab.example", as`},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := rivals(t)
			w.running(prod)
			w.put(bankLab, c.record)
			w.bankAsks(c.host)
			w.refuses(intent.Instantiate, bankProd, c.says, string(www(bankProd))+"#/spec/hostnames/0")
			require.NotContains(t, fmt.Sprint(w.plan(bankProd, intent.Instantiate)), "shop")
			warnings, err := w.service.NameWarnings(t.Context(), www(bankProd))
			require.NoError(t, err)
			require.Contains(t, fmt.Sprint(warnings), "until then instantiate and update refuse it")
		})
	}
}

// TestWhatIsNoSubtree: labels count, not letters; other providers answer each name by
// itself; and keys below another prefix are another tree.
func TestWhatIsNoSubtree(t *testing.T) {
	t.Parallel()
	for reason, c := range map[string]struct{ shop, bank, host string }{
		"a label is not a part of one": {record("lab.example", ``), record("lab.example", ``), "xwww.lab.example"},
		"beside it":                    {record("lab.example", ``), record("lab.example", ``), "shop.lab.example"},
		"the lower one is elsewhere":   {record("lab.example", ``), onAWS, "x.www.lab.example"},
		"the upper one is elsewhere":   {onAWS, record("lab.example", ``), "x.www.lab.example"},
		"another prefix":               {recordWith("lab.example", `"coredns-prefix":"/one/"`), recordWith("lab.example", `"coredns-prefix":"/two/"`), "x.www.lab.example"},
		"a deeper one":                 {record("lab.example", ``), recordWith("lab.example", `"coredns-prefix":"/skydns/bank/"`), "x.www.lab.example"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := rivals(t)
			w.put(lab, c.shop)
			w.put(bankLab, c.bank)
			w.running(prod)
			w.bankAsks(c.host)
			w.running(bankProd)
		})
	}
}

// TestGrantsDecideOnSubtreesBeforeTheFirstPublisher, where they tell the two apart.
func TestGrantsDecideOnSubtreesBeforeTheFirstPublisher(t *testing.T) {
	t.Parallel()
	for reason, c := range map[string]struct {
		shop, bank, host string
		allowed          bool
	}{
		"the very name":               {``, `"x.www.lab.example"`, "x.www.lab.example", true},
		"a domain that holds both":    {``, `"lab.example"`, "x.www.lab.example", true},
		"the longest one":             {`"lab.example"`, `"x.www.lab.example"`, "x.www.lab.example", true},
		"both have it":                {`"lab.example"`, `"lab.example"`, "x.www.lab.example", false},
		"the upper one, to the upper": {``, `"lab.example"`, "lab.example", true},
		"another one":                 {``, `"corp.example"`, "x.www.lab.example", false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := rivals(t)
			w.running(prod)
			w.bankAsks(c.host)
			w.refuses(intent.Instantiate, bankProd, "another project's: CoreDNS")
			w.put(shop, `{"namespace":"shop-dns","domains":[`+c.shop+`]}`)
			w.put(bank, `{"namespace":"bank-dns","domains":[`+c.bank+`]}`)
			if !c.allowed {
				w.refuses(intent.Instantiate, bankProd, "another project's: CoreDNS")
				return
			}
			require.Contains(t, fmt.Sprint(w.plan(bankProd, intent.Instantiate).Warnings), "CoreDNS answers a name with all names below it")
			w.running(bankProd)
		})
	}
}

// TestASubtreeIsFreeAgain when the name is that holds it.
func TestASubtreeIsFreeAgain(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.running(prod)
	w.bankAsks("x.www.lab.example", "lab.example")
	w.do(intent.Terminate, prod)
	require.NoError(t, w.rest())
	w.refuses(intent.Instantiate, bankProd, "another project's: CoreDNS")
	w.outlive()
	w.running(bankProd)
	w.refuses(intent.Instantiate, prod, `"www.lab.example" lies above "x.www.lab.example"`, `"www.lab.example" lies below "lab.example"`)
	leaves, _, err := w.fake.Range(t.Context(), kv.Range{Prefix: "/signpost/name-tree/", KeysOnly: true})
	require.NoError(t, err)
	require.Len(t, leaves, 2, "those that are claimed")
}

// TestNamesPublishedAlreadyStay, and can be updated, with a warning: the subtree is
// judged for those that are new.
func TestNamesPublishedAlreadyStay(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.running(prod)
	w.put(bank, `{"namespace":"bank-dns","domains":["x.www.lab.example"]}`) // so that both can be published
	w.bankAsks("x.www.lab.example")
	w.running(bankProd)
	w.put(bank, `{"namespace":"bank-dns"}`)

	require.Contains(t, w.plan(bankProd, intent.Update).Warnings,
		"resolvers that ask for www.lab.example get the addresses of x.www.lab.example (www.lab.example belongs to another project), too: CoreDNS answers a name with all names below it")
	require.Contains(t, w.plan(prod, intent.Update).Warnings,
		"resolvers that ask for www.lab.example get the addresses of x.www.lab.example (x.www.lab.example belongs to another project), too: CoreDNS answers a name with all names below it")
	w.bankAsks("x.www.lab.example", "y.www.lab.example")
	w.refuses(intent.Update, bankProd, `"y.www.lab.example" lies below "www.lab.example"`, string(www(bankProd))+"#/spec/hostnames/1")
	w.bankAsks("x.www.lab.example", "z.lab.example")
	w.do(intent.Update, bankProd)
	w.settle(bankProd, prod)
	w.group(test, "web", "lab.example")
	w.refuses(intent.Instantiate, test, `"lab.example" lies above "x.www.lab.example"`)
}

// TestANameThatIsPublishedElsewhereComesIntoNoSubtree: neither by another record, nor
// by another provider of its record, which keeps it as long as it is in use.
func TestANameThatIsPublishedElsewhereComesIntoNoSubtree(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.put(bankLab, onAWS)
	w.running(prod)
	w.bankAsks("x.www.lab.example")
	w.running(bankProd)

	w.put(bankLab, record("lab.example", ``))
	_, err := w.service.UpdateRecord(t.Context(), bankLab, "", "", "ann")
	require.ErrorContains(t, err, "only one of the two answers a name with all names below it")
	w.put(bankLab, onAWS)
	for _, name := range []string{"etcd", "zone"} { // in whatever order they come
		w.put(intent.Join(string(bank), "dns-update-records", name), record("lab.example", ``))
		w.associate(bankCloud, "lab", name)
		w.refuses(intent.Update, bankProd, `"x.www.lab.example" lies below "www.lab.example"`)
	}
}

// TestANameThatWasLeftElsewhereComesIntoNoSubtree: it is the project's still, but no
// key of the etcd that its record says now.
func TestANameThatWasLeftElsewhereComesIntoNoSubtree(t *testing.T) {
	t.Parallel()
	for reason, c := range map[string]struct{ was, is string }{
		"by another provider": {strings.Replace(onAWS, `"domain-filter"`, `"policy":"upsert-only","domain-filter"`, 1), record("lab.example", ``)},
		"below another prefix": {
			recordWith("lab.example", `"coredns-prefix":"/junk/","policy":"upsert-only"`), recordWith("lab.example", `"policy":"upsert-only"`),
		},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := rivals(t)
			w.running(prod)
			w.put(bankLab, c.was)
			w.bankAsks("x.www.lab.example")
			w.running(bankProd)
			w.do(intent.Terminate, bankProd)
			w.outlive()
			require.Equal(t, "bank", w.claims()["x.www.lab.example"])
			w.put(bankLab, c.is)
			w.refuses(intent.Instantiate, bankProd, `"x.www.lab.example" lies below "www.lab.example"`)
		})
	}
}

// TestANameThatWasLeftInAnEtcdHoldsItsSubtree, whatever its record says since.
func TestANameThatWasLeftInAnEtcdHoldsItsSubtree(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.put(bankLab, recordWith("lab.example", `"policy":"upsert-only"`))
	w.bankAsks("x.www.lab.example")
	w.running(bankProd)
	for range 2 {
		w.do(intent.Terminate, bankProd)
		w.outlive()
		w.refuses(intent.Instantiate, prod, `"www.lab.example" lies above "x.www.lab.example"`)
		w.put(bankLab, strings.Replace(onAWS, `"domain-filter"`, `"policy":"upsert-only","domain-filter"`, 1))
		w.refuses(intent.Instantiate, prod, `"www.lab.example" lies above "x.www.lab.example"`)
		w.running(bankProd)
	}
}

// TestNamesLeftBehindByADeletedRecordAreToldOf: nobody holds them any more, but CoreDNS
// answers the name above with them.
func TestNamesLeftBehindByADeletedRecordAreToldOf(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.put(bankLab, recordWith("lab.example", `"policy":"upsert-only"`))
	w.bankAsks("x.www.lab.example")
	w.running(bankProd)
	w.do(intent.Terminate, bankProd)
	w.outlive()
	w.refuses(intent.Instantiate, prod, `"www.lab.example" lies above "x.www.lab.example"`)
	w.put(bankCloud.Child("kv-pairs", "dns-update-record-list"), `{"kv":[]}`)
	require.NoError(t, w.delete(bankLab))
	w.answers("www.lab.example", verify.Holding{Types: []string{"A"}})
	require.Contains(t, fmt.Sprint(w.plan(prod, intent.Instantiate).Warnings), "or the answer comes from names below it, which a deleted provider left in the etcd")
	w.do(intent.Instantiate, prod)
}

// TestARecordThatMovedWhileItsReleaseWasAcceptedPublishesNothing: the names of the
// release are claimed as none of an etcd, and the record is of one since.
func TestARecordThatMovedWhileItsReleaseWasAcceptedPublishesNothing(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.running(prod)
	w.put(bankLab, onAWS)
	w.bankAsks("x.www.lab.example")
	w.undeployed(bankLab, func() {
		w.put(bankLab, record("lab.example", ``))
		_, err := w.service.UpdateRecord(context.Background(), bankLab, "", "", "bob")
		require.NoError(t, err)
	})
	_, err := w.service.StepGroup(t.Context(), bankProd)
	require.ErrorContains(t, err, `provider "lab" are in other zones since`)
}

// undeployed has bankProd be accepted, and its record be let go of as one that nobody
// uses just before that, after which something else happens.
func (w *world) undeployed(record intent.Path, then func()) {
	w.Helper()
	first := true
	w.fake.Before = func(op, key string) error {
		if op == "txn" && strings.HasPrefix(key, "/signpost/doc/lifecycle//projects/bank/") && strings.Contains(key, "deployment-intent-groups") && first {
			first = false // its record is pinned, and it is about to be accepted
			require.NoError(w, w.service.StepRecord(context.Background(), record))
			then()
		}
		return nil
	}
	_, err := w.service.Instantiate(context.Background(), bankProd, "", "bob")
	require.NoError(w, err)
	require.False(w, first)
	w.fake.Before = nil
}

// TestARecordThatIsAboutToBeDeployedStaysInItsPlace: a release that was just accepted
// relies on it.
func TestARecordThatIsAboutToBeDeployedStaysInItsPlace(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.running(prod)
	w.put(bankLab, onAWS)
	w.bankAsks("x.www.lab.example")
	w.undeployed(bankLab, func() {})
	w.put(bankLab, record("lab.example", ``))
	_, err := w.service.UpdateRecord(t.Context(), bankLab, "", "", "bob")
	require.ErrorContains(t, err, "only one of the two answers a name with all names below it")
	other := intent.Path(strings.Replace(string(bankProd), "/prod", "/other", 1))
	w.put(other, `{"logicalCloud":"eu","apps":[{"name":"web"}]}`, bankCloud)
	w.put(other.Child("traffic-group-intents", "front"), `{}`)
	w.put(www(other), `{"app":"web","serviceName":"web","hostnames":["other.lab.example"]}`)
	_, err = w.service.Instantiate(t.Context(), other, "", "bob")
	require.ErrorContains(t, err, "has just come into use with its names in another place")
}

// TestANameInAnEtcdAndElsewhereHasASubtree, in whatever order its records come, and
// whichever of them was first.
func TestANameInAnEtcdAndElsewhereHasASubtree(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"aws", "zone"} {
		for _, later := range []bool{false, true} {
			w := rivals(t)
			other := intent.Join(string(shop), "dns-update-records", name)
			w.put(other, onAWS)
			if later {
				w.associate(eu, name)
				w.running(prod)
			}
			w.associate(eu, "lab", name)
			w.do(map[bool]intent.Action{true: intent.Update, false: intent.Instantiate}[later], prod)
			w.settle(prod)
			w.bankAsks("x.www.lab.example")
			w.refuses(intent.Instantiate, bankProd, `"x.www.lab.example" lies below "www.lab.example"`)
			w.bankAsks("lab.example")
			w.refuses(intent.Instantiate, bankProd, `"lab.example" lies above "www.lab.example"`)
		}
	}
}

// TestWithinAProjectASubtreeIsToldOf: of one group, and of several.
func TestWithinAProjectASubtreeIsToldOf(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.lab.example","x.www.lab.example","y.www.lab.example"]}`)
	both := "resolvers that ask for www.lab.example get the addresses of x.www.lab.example, y.www.lab.example, too: CoreDNS answers a name with all names below it"
	require.Contains(t, w.plan(prod, intent.Instantiate).Warnings, both)
	w.running(prod)
	w.group(test, "web", "lab.example")
	require.Contains(t, w.plan(test, intent.Instantiate).Warnings,
		"resolvers that ask for lab.example get the addresses of www.lab.example, x.www.lab.example, y.www.lab.example, too: CoreDNS answers a name with all names below it")
	w.running(test)
}

// TestOfTwoThatAskAtOnceForAnUpperAndALowerNameOneGetsIt at most, also where both have
// looked before either has claimed.
func TestOfTwoThatAskAtOnceForAnUpperAndALowerNameOneGetsIt(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.bankAsks("x.www.lab.example")
	rival := release.New(w.options)
	first := true
	w.fake.Before = func(op, key string) error {
		if op == "txn" && strings.HasPrefix(key, "/signpost/name/") && first {
			first = false // prod has looked, and is about to claim
			_, err := rival.Instantiate(context.Background(), bankProd, "", "bob")
			require.NoError(t, err)
		}
		return nil
	}
	_, err := w.service.Instantiate(t.Context(), prod, "", "ann")
	require.False(t, first)
	require.Equal(t, intent.Conflict, intent.CodeOf(err))
	require.ErrorContains(t, err, `"www.lab.example" lies above "x.www.lab.example"`)
	require.Equal(t, map[string]string{"x.www.lab.example": "bank"}, w.claims(), "it has taken its own back")
}

// TestARequestThatStoodStillPublishesNothingInASubtree: its claim does not hold any
// more when it is accepted, and a name above it was published meanwhile. So it is where
// the project publishes the name already, but elsewhere.
func TestARequestThatStoodStillPublishesNothingInASubtree(t *testing.T) {
	t.Parallel()
	for _, elsewhere := range []bool{false, true} {
		w := rivals(t)
		w.bankAsks("x.www.lab.example")
		if elsewhere {
			w.put(bankLab, onAWS)
			w.running(bankProd)
			w.put(intent.Join(string(bank), "dns-update-records", "etcd"), record("lab.example", ``))
			w.associate(bankCloud, "etcd")
		}
		rival := release.New(w.options)
		first := true
		w.fake.Before = func(op, key string) error {
			if op == "txn" && strings.HasPrefix(key, "/signpost/doc/lifecycle//projects/bank/") && strings.Contains(key, "deployment-intent-groups") && first {
				first = false // it has claimed, and is about to be accepted
				w.clock.pass(2 * 60e9)
				_, err := rival.SweepClaims(context.Background())
				require.NoError(t, err)
				_, err = rival.Instantiate(context.Background(), prod, "", "ann")
				require.NoError(t, err)
				w.settle(prod)
			}
			return nil
		}
		_, err := w.try(map[bool]intent.Action{true: intent.Update, false: intent.Instantiate}[elsewhere], bankProd, "")
		require.NoError(t, err)
		require.False(t, first)
		w.fake.Before = nil
		_, err = w.service.StepGroup(t.Context(), bankProd)
		require.ErrorContains(t, err, "x.www.lab.example; update with other names")
	}
}

// TestASubtreeIsReadByItself: a plan reads neither all claims nor all of the tree.
func TestASubtreeIsReadByItself(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.running(prod)
	w.fake.Before = func(op, key string) error {
		if op == "range" && key == "/signpost/name/" {
			return errors.New("all claims are read")
		}
		return nil
	}
	w.bankAsks("x.www.lab.example")
	w.refuses(intent.Instantiate, bankProd, "lies below")
}

// TestManyNamesBelowNeedAGrant: they are not judged one by one.
func TestManyNamesBelowNeedAGrant(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.running(prod)
	var many []nameclaim.Change
	for n := range nameclaim.MostBelow {
		many = append(many, nameclaim.Change{
			Key:   nameclaim.Key{View: "public", Name: fmt.Sprintf("n%d.lab.example", n)},
			Claim: nameclaim.Claim{Project: "shop", Entries: []nameclaim.Entry{{UID: "1", Trees: []string{"/skydns/"}}}},
		})
	}
	require.NoError(t, nameclaim.Store{KV: w.fake}.Write(t.Context(), many))
	w.bankAsks("lab.example")
	w.refuses(intent.Instantiate, bankProd, `more than 10000 names lie below "lab.example", and CoreDNS would answer it with them, so their owners are not checked; choose another host name`)
	w.put(bank, `{"namespace":"bank-dns","domains":["lab.example"]}`)
	w.do(intent.Instantiate, bankProd)
}
