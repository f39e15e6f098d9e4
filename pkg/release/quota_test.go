package release_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/access/throttle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// quotas sets those of a project of the story.
func (w *world) quotas(quotas string) {
	w.put(shop, `{"namespace":"shop-dns","quotas":{`+quotas+`}}`)
}

func TestAProjectPublishesNoMoreNamesThanItsQuota(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.quotas(`"names":2`)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.group(test, "web", "test.lab.example")
	w.do(intent.Instantiate, test)
	w.settle(test)

	w.hostnames(test, "test.lab.example", "more.lab.example")
	w.refuses(intent.Update, test, "projects/shop#/spec/quotas/names", "would publish 3 names, but may have 2", "have an admin raise")
	w.hostnames(test, "other.lab.example")
	w.do(intent.Update, test)
	w.settle(test)

	w.quotas(`"names":1`)
	w.hostnames(test, "another.lab.example")
	w.do(intent.Update, test) // who takes no more than they have is not refused
	w.settle(test)
	w.do(intent.Terminate, prod)
	w.settle(prod)
	w.refuses(intent.Instantiate, prod, "would publish 2 names, but may have 1")
	w.quotas(`"names":2`)
	w.do(intent.Instantiate, prod)
}

func TestAProjectRunsNoMoreExternalDNSThanItsQuota(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.quotas(`"externalDNS":1`)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.group(test, "web", "test.lab.example")
	w.do(intent.Instantiate, test) // one that runs already is shared
	w.settle(test)

	w.associate(eu, "lab", "corp")
	w.hostnames(test, "test.lab.example", "www.corp.example")
	w.refuses(intent.Update, test, "projects/shop#/spec/quotas/externalDNS", "would run 2 external-dns, but may have 1")
	w.quotas(``)
	w.do(intent.Update, test)
}

// TestAProjectHasNoMoreObjectsThanItsQuota: each counts on every cluster that has
// it, and nothing is made of what is too much.
func TestAProjectHasNoMoreObjectsThanItsQuota(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.quotas(`"objects":10`)
	w.configMaps(prod, 3)
	w.do(intent.Instantiate, prod) // on two clusters, and a DNSEndpoint
	w.settle(prod)
	w.configMaps(test, 2)
	w.refuses(intent.Instantiate, test, "projects/shop#/spec/quotas/objects", "would have 11 objects in clusters, but may have 10", "have an admin raise")
	require.Empty(t, w.plan(test, intent.Instantiate).Objects)
	w.configMaps(test, 1)
	w.do(intent.Instantiate, test)
	w.settle(test)

	w.quotas(`"objects":1`)
	w.configMaps(prod, 2)
	w.do(intent.Update, prod) // what is there may become less
	w.settle(prod)
	w.configMaps(prod, 3)
	w.refuses(intent.Update, prod, "would have 9 objects in clusters, but may have 1")
	w.do(intent.Terminate, prod)
	w.refuses(intent.Instantiate, prod, "would have 9 objects in clusters, but may have 1")
	w.quotas(`"objects":10`)
	w.do(intent.Instantiate, prod)
}

// TestAGroupHasABoundOfObjects whatever the quota is.
func TestAGroupHasABoundOfObjects(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.configMaps(prod, 10_001)
	w.refuses(intent.Instantiate, prod, string(prod)+"#/spec/apps", "would have 10001 objects on edge+berlin, but may have 10000 on one cluster: divide its apps")
	for n := range 4 {
		name := fmt.Sprint("more", n)
		w.put(intent.Join("cluster-providers/edge/clusters", name), `{"kubeconfigRef":"sealed"}`)
		w.member(eu, name)
	}
	w.configMaps(prod, 9000)
	w.refuses(intent.Instantiate, prod, string(prod)+"#/spec/apps", "would have 54001 objects on its clusters, but may have 50000: divide its apps")
	require.Empty(t, w.plan(prod, intent.Instantiate).Objects)
}

// TestALargePlanWaitsForItsRoom, which it gives back. A termination, and few objects,
// wait for nobody.
func TestALargePlanWaitsForItsRoom(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.service.Room = throttle.NewBytes(4<<20, time.Millisecond)
	w.configMaps(test, 499)
	w.configMaps(prod, 501)
	w.do(intent.Instantiate, prod)
	_, full := w.service.Room.Take(t.Context(), "shop", 2<<20)
	require.True(t, full, "what was taken has been given back")
	w.plan(test, intent.Instantiate)
	_, err := w.try(intent.Update, prod, "")
	require.Equal(t, intent.Unavailable, intent.CodeOf(err))
	require.ErrorContains(t, err, "too little memory for a plan of 1003 objects")
	w.do(intent.Terminate, prod)
}

// configMaps gives a group's app so many objects.
func (w *world) configMaps(group intent.Path, n int) {
	w.Helper()
	items := make([]string, n)
	for at := range items {
		items[at] = fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s-%d"}}`, group.Name(), at)
	}
	w.put(group, `{"logicalCloud":"eu","apps":[{"name":"web","manifests":[{"apiVersion":"v1","kind":"List","items":[`+strings.Join(items, ",")+`]}]}]}`, eu)
}

// TestQuotasOfTheServerAreForProjectsWithoutOnes: --max-names and --max-external-dns.
func TestQuotasOfTheServerAreForProjectsWithoutOnes(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	none := 0
	w.options.Quotas = intent.Quotas{Names: &none, ExternalDNS: &none}
	w.restartOn(w.fake)
	w.refuses(intent.Instantiate, prod, "would publish 1 names, but may have 0", "would run 1 external-dns, but may have 0")
	w.quotas(`"names":1`)
	w.refuses(intent.Instantiate, prod, "would run 1 external-dns, but may have 0")
	w.quotas(`"names":1,"externalDNS":1`)
	w.do(intent.Instantiate, prod)
	w.do(intent.Terminate, prod) // which no quota keeps from
}

// hostnames gives the DNS intent of a group these host names.
func (w *world) hostnames(group intent.Path, names ...string) {
	w.Helper()
	w.put(www(group), `{"app":"web","serviceName":"web","hostnames":["`+strings.Join(names, `","`)+`"]}`)
}

// TestAReleaseCountsWithWhatItHasOnItsClusters, before anything of it is written.
func TestAReleaseCountsWithWhatItHasOnItsClusters(t *testing.T) {
	t.Parallel()
	const size = 40_000
	w := newShop(t)
	var taken []int
	var full error
	w.options.TakeBytes = func(_ context.Context, project intent.Path, bytes int) error {
		require.Equal(t, shop, project)
		taken = append(taken, bytes)
		return full
	}
	w.restartOn(w.fake)
	config := func(filler string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large"},"data":{"x":%q}}`, strings.Repeat(filler, size))
	}
	w.deploys(config("x"))
	w.do(intent.Instantiate, prod)
	w.do(intent.Instantiate, prod)
	require.Len(t, taken, 1, "what changes nothing takes nothing")
	require.Greater(t, taken[0], 2*size, "it is stored for each of two clusters")
	require.Less(t, taken[0], 3*size)
	w.settle(prod)
	w.deploys(config("y"))
	w.do(intent.Update, prod)
	w.settle(prod)

	full = &intent.Error{Code: intent.TooMany, Detail: "spec.quotas.bytes"}
	before := w.keys()
	for name, action := range map[string]func() error{
		"rollback": func() error { _, err := w.service.Rollback(t.Context(), prod, 0, "", "ann"); return err },
		"a release": func() error {
			w.deploys(config("z"))
			before = w.keys()
			_, err := w.try(intent.Update, prod, "")
			return err
		},
	} {
		require.Equal(t, intent.TooMany, intent.CodeOf(action()), name)
		require.Equal(t, before, w.keys(), name)
	}
	w.do(intent.Terminate, prod)
	require.Len(t, taken, 4, "what goes takes nothing")
}

// TestASuspendedGroupKeepsAsManyReleasesAsAnother: no step comes that would let old
// ones go.
func TestASuspendedGroupKeepsAsManyReleasesAsAnother(t *testing.T) {
	t.Parallel()
	w := running(t)
	w.suspend(prod, true)
	w.settle(prod)
	for n := range 15 {
		w.hostnames(prod, "www.lab.example", fmt.Sprintf("n%d.lab.example", n%2))
		w.do(intent.Update, prod)
	}
	require.Len(t, w.snapshot(prod).Lifecycle.History, 10)
	stored := map[string]bool{}
	for key := range w.keys() {
		if id, is := strings.CutPrefix(key, "/signpost/release/"); is {
			stored[strings.Split(id, "/")[0]] = true
		}
	}
	require.LessOrEqual(t, len(stored), 13, "the current one, ten earlier ones, and those that give names back")
	_, err := w.service.Rollback(t.Context(), prod, 0, "", "ann")
	require.NoError(t, err)
}

// TestAProjectsCountIsNeverBelowWhatItHas: acceptances add to it, and only those subtract
// who read everything. At the quota, what there is decides, with and without a count.
func TestAProjectsCountIsNeverBelowWhatItHas(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	count := func() string {
		item, _, err := w.fake.Get(t.Context(), "/signpost/taken/shop")
		require.NoError(t, err)
		if item == nil {
			return ""
		}
		return string(item.Value)
	}
	sweep := func() {
		w.clock.pass(time.Minute)
		require.NoError(t, w.service.Sweep(t.Context(), time.Minute))
	}
	one := `{"names":1,"objects":1,"uses":["projects/shop/dns-update-records/lab public edge+hub"]}`
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Empty(t, count(), "the project has no quota")
	w.quotas(`"names":2`)
	w.group(test, "web", "test.lab.example")
	w.do(intent.Instantiate, test)
	w.settle(test)
	two := strings.Replace(one, `"names":1,"objects":1`, `"names":2,"objects":2`, 1)
	require.JSONEq(t, two, count())

	w.do(intent.Terminate, test)
	w.settle(test)
	require.JSONEq(t, two, count(), "a termination does not subtract")
	w.do(intent.Instantiate, test)
	w.settle(test)
	require.JSONEq(t, two, count(), "it was judged by what there is, and corrected")
	w.hostnames(test, "test.lab.example", "more.lab.example")
	w.refuses(intent.Update, test, "would publish 3 names, but may have 2")
	w.do(intent.Terminate, test)
	w.settle(test)
	sweep()
	require.JSONEq(t, one, count())
	w.refuses(intent.Instantiate, test, "would publish 3 names, but may have 2")

	w.outlive()
	w.do(intent.Terminate, prod)
	w.settle()
	sweep()
	require.Empty(t, count())
	w.do(intent.Instantiate, test)
	require.Contains(t, count(), `"names":2`)
	w.refuses(intent.Instantiate, prod, "would publish 3 names, but may have 2")
	w.quotas(``)
	w.do(intent.Instantiate, prod)
	require.Empty(t, count(), "nobody counts what no quota bounds")
}

// newCounting is a project that counts one name, and has two groups that are not accepted yet: test, and the one that it answers.
func newCounting(t *testing.T) (w *world, third intent.Path) {
	t.Helper()
	w = newShop(t)
	w.quotas(`"names":10`)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	w.group(test, "web", "test.lab.example")
	third = intent.Join("projects/shop/composite-apps/store/v1/deployment-intent-groups", "third")
	w.group(third, "web", "third.lab.example")
	return w, third
}

// TestTwoAcceptancesAreBothCounted though one changes the count that the other has read.
func TestTwoAcceptancesAreBothCounted(t *testing.T) {
	t.Parallel()
	w, third := newCounting(t)
	w.fake.Before = func(op, key string) error {
		if op == "txn" && strings.HasPrefix(key, "/signpost/release/") {
			w.fake.Before = nil
			w.do(intent.Instantiate, third)
		}
		return nil
	}
	w.do(intent.Instantiate, test)
	item, _, err := w.fake.Get(t.Context(), "/signpost/taken/shop")
	require.NoError(t, err)
	require.Contains(t, string(item.Value), `"names":3,`)
}

// TestACountThatWasWrittenHereIsNotReadAgain though another acceptance has written it since this one was judged.
func TestACountThatWasWrittenHereIsNotReadAgain(t *testing.T) {
	t.Parallel()
	w, third := newCounting(t)
	writes, reads := 0, 0
	watched := func(op, key string) error {
		switch {
		case op == "txn" && strings.HasPrefix(key, "/signpost/release/"):
			writes++
		case op == "get" && key == "/signpost/taken/shop":
			reads++
		}
		return nil
	}
	w.fake.Before = func(op, key string) error {
		if op == "txn" && strings.HasPrefix(key, "/signpost/name/") {
			w.fake.Before = nil
			w.do(intent.Instantiate, third)
			w.fake.Before = watched
		}
		return nil
	}
	w.do(intent.Instantiate, test)
	require.Equal(t, []int{1, 0}, []int{writes, reads})
	w.fake.Before = nil
	item, _, err := w.fake.Get(t.Context(), "/signpost/taken/shop")
	require.NoError(t, err)
	require.Contains(t, string(item.Value), `"names":3,`)
}
