package release_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// newMarket is a shop with more to follow: three Services, names of two records
// in two scopes, all of one group.
func newMarket(t testing.TB) *world {
	w := newShop(t)
	w.associate(eu, "lab", "corp")
	for _, cluster := range []string{berlin, paris} {
		w.associate(clusterPath(t, cluster), "corp")
	}
	w.dnsIntent("api", `{"app":"web","serviceName":"api","hostnames":["api.lab.example","api.corp.example"]}`)
	w.dnsIntent("db", `{"app":"web","serviceName":"db","hostnames":["db.lab.example"],"ttl":30}`)
	w.dnsIntent("inside", `{"app":"web","serviceName":"web","hostnames":["web.corp.example"],"scope":"cluster"}`)
	w.observe(berlin, "shop/api", "203.0.113.12")
	w.observe(paris, "shop/db", "203.0.113.23", "2001:db8::23")
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	return w
}

func (w *world) dnsIntent(name, spec string) {
	w.Helper()
	w.put(prod.Child("traffic-group-intents", "front").Child("dns-intents", name), spec)
}

func (w *world) fold(service string) render.Selection {
	w.Helper()
	fold, err := w.service.ReconcileService(context.Background(), prod, service)
	require.NoError(w, err)
	return fold
}

// TestAChangedAddressTouchesOneDNSEndpoint: what is written is the DNSEndpoint,
// and that it was, whatever else the group has.
func TestAChangedAddressTouchesOneDNSEndpoint(t *testing.T) {
	t.Parallel()
	w := newMarket(t)
	w.observe(paris, "shop/db", "203.0.113.99")
	before, was := w.keys(), w.snapshot(prod).Objects
	require.Equal(t, render.Selection{}, w.fold("shop/web"), "another Service")
	require.Equal(t, render.Selection{Wrote: true}, w.fold("shop/db"))
	var changed []string
	for key, revision := range w.keys() {
		if before[key] != revision {
			changed = append(changed, key)
		}
	}
	changes := slices.DeleteFunc(bundle.Diff(was, w.snapshot(prod).Objects), func(c bundle.Change) bool { return c.Action == bundle.Unchanged })
	require.Len(t, changes, 1)
	require.Equal(t, bundle.Update, changes[0].Action)
	require.ElementsMatch(t, []string{
		"/context/" + w.pointer(prod).ContextID + "/app/web/cluster/edge+hub/resource/" + changes[0].ID.Name + "+DNSEndpoint/",
		"/signpost/current/touched/" + string(prod),
		"/signpost/moved",
	}, changed)
	require.Equal(t, render.Selection{}, w.fold("shop/db"), "it is done")
}

// TestAFoldLeavesToTheWholeStepWhatItDoesNotKnow: nothing is written.
func TestAFoldLeavesToTheWholeStepWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what string
		do   func(w *world)
	}{
		{"a replica that has just begun", func(w *world) { w.restartOn(w.fake) }},
		{"a Service's last address is gone", func(w *world) { w.observe(berlin, "shop/api") }},
		{"a cluster is drained", func(w *world) { require.NoError(w, w.drain(paris, true)) }},
		{"the group is suspended", func(w *world) { w.suspend(prod, true) }},
		{"a record was updated", func(w *world) {
			w.put(lab, record("lab.example", `,"targetFilter":{"deny":["203.0.113.99/32"]}`))
			w.updateRecord(lab)
		}},
		{"another release was accepted", func(w *world) {
			w.dnsIntent("new", `{"app":"web","serviceName":"new","hostnames":["new.lab.example"]}`)
			w.do(intent.Update, prod)
		}},
		{"the group is terminated", func(w *world) { w.do(intent.Terminate, prod) }},
		{"another replica has committed another release", func(w *world) {
			mine := w.service
			w.restartOn(w.fake)
			w.dnsIntent("new", `{"app":"web","serviceName":"new","hostnames":["new.lab.example"]}`)
			w.do(intent.Update, prod)
			w.settle(prod)
			w.service = mine
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			w := newMarket(t)
			w.observe(berlin, "shop/api", "203.0.113.99")
			c.do(w)
			before := w.keys()
			require.Equal(t, render.Selection{Whole: true}, w.fold("shop/api"))
			require.Equal(t, before, w.keys())
		})
	}
}

// TestAServiceThatIsNotKnownIsLeftToTheWholeStep: another replica has made a
// release current that names it.
func TestAServiceThatIsNotKnownIsLeftToTheWholeStep(t *testing.T) {
	t.Parallel()
	w := newMarket(t)
	require.Equal(t, render.Selection{Whole: true}, w.fold("shop/new"))
}

// TestASlowReplicaNeverWritesAnOlderFold: between what it has read and its
// write, another observation comes, and perhaps somebody else who follows it.
func TestASlowReplicaNeverWritesAnOlderFold(t *testing.T) {
	t.Parallel()
	for name, faster := range map[string]bool{"alone": false, "with a faster one": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newMarket(t)
			fast := w.service
			slowed := &slow{KV: w.fake}
			w.restartOn(slowed)
			w.settle(prod)
			w.observe(berlin, "shop/api", "203.0.113.98")
			slowed.before = func() {
				w.observe(berlin, "shop/api", "203.0.113.99")
				if faster {
					_, err := fast.ReconcileService(context.Background(), prod, "shop/api")
					require.NoError(t, err)
				}
			}
			w.fold("shop/api")
			require.Contains(t, w.published(prod), "edge+hub lab/public: api.lab.example A 203.0.113.99")
			for _, text := range slowed.wrote {
				require.NotContains(t, text, "203.0.113.98")
			}
		})
	}
}

// slow does something right before the next transaction, and knows what was
// written.
type slow struct {
	kv.KV
	before func()
	wrote  []string
}

func (s *slow) Txn(ctx context.Context, when []kv.Compare, then ...kv.Op) (bool, int64, error) {
	if do := s.before; do != nil {
		s.before = nil
		do()
	}
	done, revision, err := s.KV.Txn(ctx, when, then...)
	if done {
		for _, op := range then {
			s.wrote = append(s.wrote, string(op.Value))
		}
	}
	return done, revision, err
}

// TestFoldingOneServiceIsFoldingTheWholeGroup: after any history, a replica that
// follows single Services holds, byte for byte, what one holds that does
// everything anew each time (I8), and a whole step finds nothing to do there.
func TestFoldingOneServiceIsFoldingTheWholeGroup(t *testing.T) {
	t.Parallel()
	for _, seed := range seeds(t, 2, 4, 20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			single, whole := newMarket(t), newMarket(t)
			random, folds := rand.New(rand.NewPCG(seed, 7)), 0
			for n := range deeds {
				service, do := happening(random)
				do(single)
				do(whole)
				if service == "" {
					continue // nobody has told either
				}
				whole.settle(prod)
				if fold := single.fold(service); fold.Whole {
					single.settle(prod)
				} else {
					folds++
				}
				require.Equal(t, texts(whole.bundle(appcontext.Owner(prod))), texts(single.bundle(appcontext.Owner(prod))), "deed %d", n)
				before := single.keys()
				settled, err := single.service.StepGroup(context.Background(), prod)
				require.NoError(t, err)
				require.True(t, settled)
				require.Equal(t, before, single.keys(), "deed %d", n)
			}
			require.NotZero(t, folds)
		})
	}
}

func texts(b bundle.Bundle) []string {
	var out []string
	for _, o := range b {
		out = append(out, o.ID.String()+" "+string(o.JSON))
	}
	return out
}

// happening is something that happens to a world, and the Service whose addresses it
// changes; without one, something that they follow from.
func happening(random *rand.Rand) (service string, do func(w *world)) {
	cluster := []string{berlin, paris}[random.IntN(2)]
	const rarely = 12
	switch random.IntN(rarely) {
	case 0:
		return "", func(w *world) { require.NoError(w, w.drain(cluster, true)) }
	case 1:
		return "", func(w *world) { w.undrain(cluster) }
	case 2:
		denied := random.IntN(10)
		return "", func(w *world) {
			w.put(lab, record("lab.example", fmt.Sprintf(`,"targetFilter":{"deny":["203.0.113.%d/32"]}`, denied)))
			w.updateRecord(lab)
			w.clock.pass(time.Second)
		}
	}
	service = "shop/" + []string{"web", "api", "db"}[random.IntN(3)]
	var addresses []string
	for range random.IntN(4) {
		addresses = append(addresses, []string{"203.0.113.%d", "2001:db8::%d", "10.0.0.%d"}[random.IntN(3)])
		last := len(addresses) - 1
		addresses[last] = fmt.Sprintf(addresses[last], random.IntN(10))
	}
	return service, func(w *world) { w.observe(cluster, service, addresses...) }
}

// TestABurstIsWrittenOnceEach150Milliseconds: the first change at once, the last one not
// later than 150 ms after it came, and at most one write in each such time.
func TestABurstIsWrittenOnceEach150Milliseconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newMarket(t)
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- release.NewController(w.service).Run(ctx) }()
		time.Sleep(time.Second) // the bubble's: everybody has come to rest then
		writes := w.writesOf(ctx, "/signpost/current/touched/"+string(prod))
		began := time.Now()
		const changes, apart = 97, 10 * time.Millisecond // the last 960 ms after the first
		for n := range changes {
			w.observe(berlin, "shop/web", fmt.Sprintf("203.0.113.%d", n+1))
			synctest.Wait()
			if n == 0 {
				require.Len(t, *writes, 1, "at once")
			}
			time.Sleep(apart)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		require.Contains(t, w.published(prod), "edge+hub lab/public: www.lab.example A 203.0.113.20,203.0.113.97")
		require.Len(t, *writes, 8)
		for n, at := range *writes {
			require.Equal(t, time.Duration(n)*150*time.Millisecond, at.Sub(began))
		}
		end()
		require.NoError(t, <-ended)
	})
}

// writesOf are the times at which a key is written from now on.
func (w *world) writesOf(ctx context.Context, key string) *[]time.Time {
	times := &[]time.Time{}
	batches := w.fake.Watch(ctx, key, 0)
	go func() {
		for batch := range batches {
			for range batch.Events {
				*times = append(*times, time.Now())
			}
		}
	}()
	return times
}
