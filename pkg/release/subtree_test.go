package release_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/kv"
	"github.com/signpost-dns/signpost/pkg/nameclaim"
	"github.com/signpost-dns/signpost/pkg/release"
)

// onAWS is a record whose provider answers each name by itself.
const onAWS = `{"provider":"aws","external-dns-parameters":{"domain-filter":["lab.example"]},"releaseTimeout":"70s"}`

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
		"below":                    {record("lab.example", ``), "x.www.lab.example", `"x.www.lab.example" lies below "www.lab.example", which is another project's: CoreDNS answers that with all names below it; give the intent another name, or have an administrator grant x.www.lab.example to this project alone (spec.domains)`},
		"far below":                {record("lab.example", ``), "a.b.c.www.lab.example", `lies below "www.lab.example"`},
		"all that is below":        {record("lab.example", ``), "*.www.lab.example", `grant www.lab.example to this project alone`},
		"above":                    {record("lab.example", ``), "lab.example", `"lab.example" lies above "www.lab.example", which is another project's: CoreDNS would answer it with that, too; give the intent another name, or have an administrator grant lab.example`},
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
			require.NoError(t, w.service.PlantTree(t.Context()))
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
		"a label is no part of one":  {record("lab.example", ``), record("lab.example", ``), "xwww.lab.example"},
		"beside it":                  {record("lab.example", ``), record("lab.example", ``), "shop.lab.example"},
		"the lower one is elsewhere": {record("lab.example", ``), onAWS, "x.www.lab.example"},
		"the upper one is elsewhere": {onAWS, record("lab.example", ``), "x.www.lab.example"},
		"another prefix":             {recordWith("lab.example", `"coredns-prefix":"/one/"`), recordWith("lab.example", `"coredns-prefix":"/two/"`), "x.www.lab.example"},
		"a deeper one":               {record("lab.example", ``), recordWith("lab.example", `"coredns-prefix":"/skydns/bank/"`), "x.www.lab.example"},
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

// asBeforeTrees has all names be claimed as an earlier Signpost did.
func (w *world) asBeforeTrees() {
	w.Helper()
	_, _, err := w.fake.Txn(context.Background(), nil, kv.DeletePrefix("/signpost/name-tree/"), kv.Delete("/signpost/names-planted"))
	require.NoError(w, err)
}

// TestNamesPublishedAlreadyStay, and can be updated, with a warning: the subtree is
// judged for those that are new.
func TestNamesPublishedAlreadyStay(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.put(bankLab, onAWS) // so that both can be published
	w.running(prod)
	w.bankAsks("x.www.lab.example")
	w.running(bankProd)
	w.deployedAs(bankLab, record("lab.example", ``))
	w.asBeforeTrees()

	for _, planted := range []bool{false, true} {
		if planted {
			require.NoError(t, w.service.PlantTree(t.Context()))
		}
		require.Contains(t, w.plan(bankProd, intent.Update).Warnings,
			"resolvers that ask for www.lab.example get the addresses of x.www.lab.example (www.lab.example is another project's), too: CoreDNS answers a name with all names below it")
		require.Contains(t, w.plan(prod, intent.Update).Warnings,
			"resolvers that ask for www.lab.example get the addresses of x.www.lab.example (x.www.lab.example is another project's), too: CoreDNS answers a name with all names below it")
		w.bankAsks("x.www.lab.example", "y.www.lab.example")
		w.refuses(intent.Update, bankProd, `"y.www.lab.example" lies below "www.lab.example"`, string(www(bankProd))+"#/spec/hostnames/1")
		w.bankAsks("x.www.lab.example", "z.lab.example")
	}
	w.do(intent.Update, bankProd)
	w.settle(bankProd, prod)
	w.group(test, "web", "lab.example")
	w.refuses(intent.Instantiate, test, `"lab.example" lies above "x.www.lab.example"`)
}

// deployedAs has a record be deployed otherwise, as if that had been so from the start.
func (w *world) deployedAs(record intent.Path, spec string) {
	w.Helper()
	w.put(record, spec)
	path := intent.Path("lifecycle/" + string(record))
	doc, err := w.documents.Get(context.Background(), path)
	require.NoError(w, err)
	body := strings.Replace(string(doc.Body), `"provider":"aws"`, `"provider":"coredns"`, 1)
	require.NotEqual(w, string(doc.Body), body)
	_, err = w.documents.Put(context.Background(), intent.Write{Path: path, Refs: doc.Refs, Body: []byte(body)})
	require.NoError(w, err)
}

// TestANameThatIsPublishedElsewhereComesIntoNoSubtree: neither by another record, nor
// by another provider of its record.
func TestANameThatIsPublishedElsewhereComesIntoNoSubtree(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.put(bankLab, onAWS)
	w.running(prod)
	w.bankAsks("x.www.lab.example")
	w.running(bankProd)

	w.put(bankLab, record("lab.example", ``))
	_, err := w.service.UpdateRecord(t.Context(), bankLab, "", "ann")
	require.ErrorContains(t, err, "names above or below are another project's")
	w.put(bankLab, onAWS)
	for _, name := range []string{"etcd", "zone"} { // in whatever order they come
		w.put(intent.Join(string(bank), "dns-update-records", name), record("lab.example", ``))
		w.associate(bankCloud, "lab", name)
		w.refuses(intent.Update, bankProd, `"x.www.lab.example" lies below "www.lab.example"`)
	}

	w.do(intent.Terminate, prod)
	w.outlive()
	w.put(bankLab, record("lab.example", ``))
	_, err = w.service.UpdateRecord(t.Context(), bankLab, "", "ann")
	require.NoError(t, err)
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
			require.NoError(t, w.service.PlantTree(t.Context()))
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
// more when it is accepted, and a name above it was published meanwhile.
func TestARequestThatStoodStillPublishesNothingInASubtree(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.bankAsks("x.www.lab.example")
	rival := release.New(w.options)
	first := true
	w.fake.Before = func(op, key string) error {
		if op == "txn" && strings.HasPrefix(key, "/signpost/doc/lifecycle//projects/bank/") && strings.Contains(key, "deployment-intent-groups") && first {
			first = false // it has claimed, and is about to be accepted
			w.clock.pass(2 * 60e9)
			_, err := rival.Instantiate(context.Background(), prod, "", "ann")
			require.NoError(t, err)
			w.settle(prod)
		}
		return nil
	}
	_, err := w.service.Instantiate(t.Context(), bankProd, "", "bob")
	require.NoError(t, err)
	require.False(t, first)
	w.fake.Before = nil
	_, err = w.service.StepGroup(t.Context(), bankProd)
	require.ErrorContains(t, err, "x.www.lab.example was claimed by others meanwhile")
}

// TestASubtreeIsReadByItself: a plan reads neither all claims nor all of the tree,
// once that is planted.
func TestASubtreeIsReadByItself(t *testing.T) {
	t.Parallel()
	w := rivals(t)
	w.running(prod)
	require.NoError(t, w.service.PlantTree(t.Context()))
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
	var keys []nameclaim.Key
	for n := range nameclaim.MostBelow {
		keys = append(keys, nameclaim.Key{View: "public", Name: fmt.Sprintf("n%d.lab.example", n)})
	}
	require.NoError(t, nameclaim.Store{KV: w.fake}.Plant(t.Context(), keys))
	require.NoError(t, w.service.PlantTree(t.Context()))
	w.bankAsks("lab.example")
	w.refuses(intent.Instantiate, bankProd, `more than 10000 names lie below "lab.example", and CoreDNS would answer it with them: whose they are is not judged`)
	w.put(bank, `{"namespace":"bank-dns","domains":["lab.example"]}`)
	w.do(intent.Instantiate, bankProd)
}
