package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

const (
	publisherName = "_publisher.shop+lab"
	owner         = "sp-1"
)

// zone is a DNS server with one zone, and the Writer that reaches it.
type zone struct {
	mu      sync.Mutex
	names   map[string][]publisher.Set
	changes []publisher.Change
	reads   int
	fails   error                    // of each call
	refuses error                    // of each write
	unread  func(name string) error  // why a name cannot be read; nil: all can
	partly  bool                     // the names that can be read are answered without the others
	takes   time.Duration            // a read
	opens   time.Duration            // a writer
	others  map[string]bool          // names of another owner
	hold    func(c publisher.Change) // is called before each write; nil: nothing
	lists   func() error             // is called by Owned; nil: the zone cannot be listed
}

func newZone() *zone { return &zone{names: map[string][]publisher.Set{}, others: map[string]bool{}} }

func (z *zone) Read(_ context.Context, names []string, types ...string) (map[string]publisher.State, error) {
	z.mu.Lock()
	takes := z.takes
	z.mu.Unlock()
	time.Sleep(takes)
	z.mu.Lock()
	defer z.mu.Unlock()
	z.reads++
	if z.fails != nil {
		return nil, z.fails
	}
	states, unread := map[string]publisher.State{}, publisher.Unread{}
	for _, name := range names {
		if z.unread != nil {
			if err := z.unread(name); err != nil && !z.partly {
				return nil, err
			} else if err != nil {
				unread[name] = err
				continue
			}
		}
		state := publisher.State{Name: name}
		for _, set := range z.names[name] {
			if slices.Contains(slices.Concat(publisher.Managed(), types), set.Type) {
				state.Sets = append(state.Sets, set)
			}
		}
		states[name] = state
	}
	return states, unread.Err()
}

func (z *zone) Write(_ context.Context, c publisher.Change) error {
	if z.hold != nil {
		z.hold(c)
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	switch {
	case z.fails != nil:
		return z.fails
	case z.refuses != nil:
		return z.refuses
	case z.others[c.Before.Name]:
		return fault.Errorf(publisher.Foreign, "it belongs to another owner")
	case !slices.EqualFunc(z.names[c.Before.Name], c.Before.Sets, publisher.SameRecords):
		return fault.Errorf(fault.Stale, "it has changed")
	case slices.EqualFunc(c.Before.Sets, c.After, publisher.SameRecords):
		return nil
	}
	z.changes = append(z.changes, c)
	var sets []publisher.Set
	for _, set := range c.After {
		set.Mark.Owner = owner
		sets = append(sets, set)
	}
	if z.names[c.Before.Name] = sets; len(sets) == 0 {
		delete(z.names, c.Before.Name)
	}
	return nil
}

func (z *zone) Close() {}

func (z *zone) Owned(context.Context) ([]publisher.Set, error) {
	if z.lists == nil {
		return nil, fault.Errorf(publisher.Unlisted, "it cannot be listed")
	}
	if err := z.lists(); err != nil {
		return nil, err
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	return slices.Concat(slices.Collect(maps.Values(z.names))...), nil
}

// is has a name have an address by somebody else's hand.
func (z *zone) is(name, address string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.names[name] = []publisher.Set{{Name: name, Type: "A", TTL: 30, Targets: []string{address}, Mark: publisher.Mark{Owner: owner}}}
}

// has are the addresses of a name.
func (z *zone) has(name string) []string {
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, set := range z.names[name] {
		return set.Targets
	}
	return nil
}

func (z *zone) fail(err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.fails = err
}

func (z *zone) refuse(err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.refuses = err
}

func (z *zone) slow(takes time.Duration) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.takes = takes
}

func (z *zone) counts() (writes, reads int) {
	z.mu.Lock()
	defer z.mu.Unlock()
	return len(z.changes), z.reads
}

// served is a Target that publishes, as its worker sees it.
type served struct {
	*Target
	watches cluster.Watches
}

func begin(t *testing.T, store kv.KV, z *zone) served {
	t.Helper()
	target := New(publisherName, Settings{
		KV: store, Options: cluster.Options{Installation: "inst-1"},
		Open: func(context.Context, bundle.Publisher) (publisher.Writer, error) {
			time.Sleep(z.opens)
			return z, nil
		},
	})
	w := target.Watch(t.Context(), cluster.Quiet())
	synctest.Wait()
	return served{target, w}
}

// end has the publisher end as a worker ends it.
func (p served) end() {
	p.watches.Stop()
	synctest.Wait()
}

// published tells whether a DNSEndpoint is told to be published, and in which state.
func (p served) published(id bundle.ID) (cluster.Published, bool) {
	return p.watches.(cluster.BuiltIn).Published(id)
}

func (p served) told() cluster.Publishing { return p.watches.(cluster.BuiltIn).Publishing() }

// available is what the worker is told of the publisher as a whole.
func (p served) available(t *testing.T) *cluster.Availability {
	t.Helper()
	id := settings(t, false).ID
	seen, known := p.watches.Deployment(id.Namespace, id.Name)
	require.True(t, known)
	return seen
}

func settings(t *testing.T, stopped bool) bundle.Object {
	t.Helper()
	return settingsOf(t, bundle.Publisher{Provider: "coredns", OwnerID: owner, Interval: time.Minute, Stopped: stopped})
}

func settingsOf(t *testing.T, spec bundle.Publisher) bundle.Object {
	t.Helper()
	o, err := bundle.New(publisherName, "external-dns", map[string]any{
		"apiVersion": "signpost.dev/v1", "kind": "Publisher", "metadata": map[string]any{"name": "external-dns-lab", "namespace": "shop-dns"},
		"spec": spec,
	})
	require.NoError(t, err)
	return o
}

// endpoint is a DNSEndpoint with A records.
func endpoint(t *testing.T, name string, hosts map[string][]string) bundle.Object {
	t.Helper()
	var list []any
	for host, targets := range hosts {
		list = append(list, map[string]any{"dnsName": host, "recordType": "A", "targets": targets, "recordTTL": 30})
	}
	return endpointOf(t, name, list...)
}

func endpointOf(t *testing.T, name string, list ...any) bundle.Object {
	t.Helper()
	raw, err := json.Marshal(map[string]any{
		"apiVersion": "externaldns.k8s.io/v1alpha1", "kind": "DNSEndpoint",
		"metadata": map[string]any{"name": name, "namespace": "shop-dns", "labels": map[string]string{bundle.LabelRecord: "lab", bundle.LabelScope: "public"}},
		"spec":     map[string]any{"endpoints": list},
	})
	require.NoError(t, err)
	o, err := bundle.Stored(publisherName, "web", raw)
	require.NoError(t, err)
	return o
}

// apply applies objects as a worker does.
func (p served) apply(t *testing.T, objects ...bundle.Object) {
	t.Helper()
	for _, o := range objects {
		live, err := p.Get(t.Context(), o.ID)
		require.NoError(t, err)
		if live == nil {
			_, err = p.Create(t.Context(), o)
		} else {
			_, err = p.Apply(t.Context(), o, live.Version)
		}
		require.NoError(t, err)
	}
	synctest.Wait()
}

func (p served) remove(t *testing.T, id bundle.ID) {
	t.Helper()
	live, err := p.Get(t.Context(), id)
	require.NoError(t, err)
	require.NotNil(t, live)
	require.NoError(t, p.Delete(t.Context(), id, live.Version))
	synctest.Wait()
}

func (p served) removed(o bundle.Object, names ...string) bool {
	return p.watches.(cluster.BuiltIn).Removed(o.ID, names)
}

func www(t *testing.T, addresses ...string) bundle.Object {
	t.Helper()
	return endpoint(t, "web", map[string][]string{"www.lab.example": addresses})
}

// TestNamesOfADeletedDNSEndpointAreToldToBeRemovedWhenTheyAre: not while the DNSEndpoint is there, not while the server
// fails, and not by what was told of an earlier DNSEndpoint of the name.
func TestNamesOfADeletedDNSEndpointAreToldToBeRemovedWhenTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		p := begin(t, kvtest.NewFake(), z)
		const name = "www.lab.example"
		object := www(t, "203.0.113.1")
		p.apply(t, settings(t, false))
		require.False(t, p.removed(object, name), "of what was never there nothing is known")
		p.apply(t, object)
		require.False(t, p.removed(object, name), "it is there")
		p.remove(t, object.ID)
		require.Empty(t, z.has(name))
		require.True(t, p.removed(object, name))

		p.apply(t, object)
		require.False(t, p.removed(object, name), "it is there again")
		z.fail(errors.New("away"))
		p.remove(t, object.ID)
		require.False(t, p.removed(object, name), "the server is away")
		z.fail(nil)
		time.Sleep(retryLongest)
		synctest.Wait()
		require.Empty(t, z.has(name))
		require.True(t, p.removed(object, name))

		p.apply(t, object)
		z.refuse(errors.New("read-only"))
		p.remove(t, object.ID)
		require.False(t, p.removed(object, name), "the server refuses the removal")
		require.True(t, p.removed(object, "other.lab.example"))
		z.refuse(nil)
		time.Sleep(retryLongest)
		synctest.Wait()
		require.True(t, p.removed(object, name))

		p.apply(t, object)
		z.hold = func(publisher.Change) { time.Sleep(time.Second) }
		p.remove(t, object.ID)
		require.False(t, p.removed(object, name), "it is being removed")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.True(t, p.removed(object, name))

		p.apply(t, settings(t, true))
		require.False(t, p.removed(object, name), "a stopped publisher knows nothing")
		p.end()
	})
}

// TestRemovalsAreForgotten once they were told some time ago, and after a day.
func TestRemovalsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begin(t, kvtest.NewFake(), newZone())
		p.apply(t, settings(t, false))
		vanish := func(name string) bundle.Object {
			object := endpoint(t, name, map[string][]string{name + ".lab.example": {"203.0.113.1"}})
			p.apply(t, object)
			p.remove(t, object.ID)
			return object
		}
		told, untold := vanish("told"), vanish("untold")
		require.True(t, p.removed(told, "told.lab.example"))
		time.Sleep(toldFor)
		require.True(t, p.removed(told, "told.lab.example"), "who was told may ask again")
		time.Sleep(time.Minute)
		vanish("next")
		require.False(t, p.removed(told, "told.lab.example"))
		require.Len(t, p.view.removed.at, 2)
		time.Sleep(cluster.RemovedFor - time.Hour)
		vanish("later")
		require.True(t, p.removed(untold, "untold.lab.example"))
		time.Sleep(time.Hour + time.Minute)
		last := vanish("last")
		require.True(t, p.removed(last, "last.lab.example"))
		require.Len(t, p.view.removed.at, 2, "later and last")
		p.end()
	})
}

func TestADNSEndpointIsPublishedAtOnceByOneWriteForEachName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		p := begin(t, kvtest.NewFake(), z)
		p.apply(t, settings(t, false), endpoint(t, "web", map[string][]string{"a.lab.example": {"203.0.113.1"}, "b.lab.example": {"203.0.113.2"}}))
		require.Equal(t, []string{"203.0.113.1"}, z.has("a.lab.example"))

		began, readsBefore := z.counts()
		p.apply(t, endpoint(t, "web", map[string][]string{"a.lab.example": {"203.0.113.9"}, "b.lab.example": {"203.0.113.2"}}))
		require.Equal(t, []string{"203.0.113.9"}, z.has("a.lab.example"))
		writes, reads := z.counts()
		require.Equal(t, 1, writes-began, "only the name that changes is written")
		require.Equal(t, readsBefore+1, reads, "only that name is read")
		require.Equal(t, "crd/shop-dns/web", z.changes[writes-1].After[0].Mark.Resource)

		p.remove(t, endpoint(t, "web", nil).ID)
		require.Empty(t, z.names)
		p.end()
	})
}

// TestPublishedIsToldOnlyOfWhatWasWritten: I6 for the built-in publisher.
func TestPublishedIsToldOnlyOfWhatWasWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		p := begin(t, kvtest.NewFake(), z)
		p.apply(t, settings(t, false))
		z.fail(errors.New("SERVFAIL from 192.0.2.53"))
		p.apply(t, www(t, "203.0.113.1"))
		_, is := p.published(www(t).ID)
		require.False(t, is)
		require.Contains(t, p.told().Failing, "SERVFAIL from 192.0.2.53", "a failure is told in the server's words")

		z.fail(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		id := www(t).ID
		live := p.watches.Object(id, "").Live
		told, _ := p.published(id)
		require.Equal(t, live.Generation, told.Generation)
		require.Empty(t, p.told().Failing)

		z.fail(errors.New("SERVFAIL from 192.0.2.53"))
		p.apply(t, www(t, "203.0.113.2"))
		_, is = p.published(id)
		require.False(t, is, "another address was not written")
		z.fail(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		told, _ = p.published(id)
		require.Equal(t, live.Generation+1, told.Generation)

		z.others["cake.lab.example"] = true
		p.apply(t, endpoint(t, "cake", map[string][]string{"cake.lab.example": {"203.0.113.1"}}))
		_, is = p.published(endpoint(t, "cake", nil).ID)
		require.False(t, is)
		require.Contains(t, p.told().Failing, "cake.lab.example is left alone: it belongs to another owner")
		p.end()
	})
}

// TestASetIsRecordedBeforeEachTimeThatItIsMade: also if somebody else had the name when it was first to be written, and
// if the set went by somebody's hand. A crash amid a write by steps leaves a set without a mark, which only the record
// shows to be Signpost's own.
func TestASetIsRecordedBeforeEachTimeThatItIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z, store := newZone(), kvtest.NewFake()
		const name = "www.lab.example"
		p := begin(t, store, z)
		var recorded string
		z.hold = func(publisher.Change) {
			item, _, err := store.Get(t.Context(), p.nameKey(name))
			if recorded = ""; err == nil && item != nil {
				recorded = string(item.Value)
			}
		}
		z.is(name, "198.51.100.1")
		z.others[name] = true
		p.apply(t, settings(t, false), www(t, "203.0.113.1"))
		require.Contains(t, p.told().Failing, "is left alone")
		require.NotContains(t, recorded, "203.0.113.1", "nothing is made")

		gone := func() {
			z.mu.Lock()
			defer z.mu.Unlock()
			delete(z.names, name)
			delete(z.others, name)
		}
		gone()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"203.0.113.1"}, z.has(name))
		require.Contains(t, recorded, "203.0.113.1")

		p.apply(t, www(t, "203.0.113.2"))
		require.NotContains(t, recorded, "203.0.113.2", "a set that is there is changed at once")
		gone()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"203.0.113.2"}, z.has(name))
		require.Contains(t, recorded, "203.0.113.2")
		p.end()
	})
}

func TestAStoppedPublisherWritesNothingAndRemovesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		p := begin(t, kvtest.NewFake(), z)
		p.apply(t, www(t, "203.0.113.1"))
		require.Empty(t, z.names, "without settings there is no publisher yet")
		p.apply(t, settings(t, true))
		require.Empty(t, z.names)
		require.Equal(t, "it is stopped", p.told().Waiting)
		p.apply(t, settings(t, false))
		require.Equal(t, []string{"203.0.113.1"}, z.has("www.lab.example"))
		p.apply(t, settings(t, true))
		p.remove(t, www(t).ID)
		require.Equal(t, []string{"203.0.113.1"}, z.has("www.lab.example"), "its names stay for who publishes them next")
		p.remove(t, settings(t, true).ID)
		require.NotEmpty(t, z.names)
		p.end()
	})
}

// TestASuccessorRemovesWhatWasLeftBehind: a name whose DNSEndpoint went while nobody
// published is removed by the next publisher.
func TestASuccessorRemovesWhatWasLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z, store := newZone(), kvtest.NewFake()
		p := begin(t, store, z)
		p.apply(t, settings(t, false), www(t, "203.0.113.1"))
		p.end()
		idle := New(publisherName, p.Settings)
		live, err := idle.Get(t.Context(), www(t).ID)
		require.NoError(t, err)
		require.NoError(t, idle.Delete(t.Context(), www(t).ID, live.Version))
		began := time.Now()
		p = begin(t, store, z)
		require.Empty(t, z.names)
		require.Zero(t, time.Since(began), "the first one has given the fence back")
		p.end()
	})
}

// TestATypeOfRecordsThatWentMeanwhileIsRemoved: a type that the name was to have is read and
// removed, too, if its document lost the type while nobody published. It is asked for only then.
func TestATypeOfRecordsThatWentMeanwhileIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z, store := newZone(), kvtest.NewFake()
		p := begin(t, store, z)
		p.apply(t, settings(t, false), www(t, "203.0.113.1"))
		text := endpointOf(t, "web", map[string]any{"dnsName": "www.lab.example", "recordType": "A", "targets": []string{"203.0.113.1"}, "recordTTL": 30},
			map[string]any{"dnsName": "www.lab.example", "recordType": "TXT", "targets": []string{`"a b"`}, "recordTTL": 30})
		p.apply(t, text)
		require.Len(t, z.names["www.lab.example"], 2)
		p.end()
		idle := New(publisherName, p.Settings)
		live, err := idle.Get(t.Context(), text.ID)
		require.NoError(t, err)
		_, err = idle.Apply(t.Context(), www(t, "203.0.113.1"), live.Version)
		require.NoError(t, err)
		p = begin(t, store, z)
		require.Len(t, z.names["www.lab.example"], 1)
		require.Equal(t, []string{"203.0.113.1"}, z.has("www.lab.example"))
		p.end()
	})
}

// TestAClosedPublisherHasGivenTheFenceBack: a process that ends may close its store next.
func TestAClosedPublisherHasGivenTheFenceBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z, store := newZone(), kvtest.NewFake()
		p := begin(t, store, z)
		p.apply(t, settings(t, false), www(t, "203.0.113.1"))
		p.watches.Stop()
		p.Close()
		item, _, err := store.Get(t.Context(), p.fenceKey())
		require.NoError(t, err)
		require.Contains(t, string(item.Value), `"closed":true`)
	})
}

// TestASuccessorOfADeadPublisherWaitsAndReadsTwice: the dead one may still write for as
// long as a lease and a request last.
func TestASuccessorOfADeadPublisherWaitsAndReadsTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z, store := newZone(), kvtest.NewFake()
		dead := begin(t, store, z)
		dead.apply(t, settings(t, false), www(t, "203.0.113.1"))
		z2 := newZone()
		z2.names = z.names
		p := begin(t, store, z2)
		p.apply(t, www(t, "203.0.113.2"))
		time.Sleep(lease + cluster.RequestDeadline - time.Second)
		synctest.Wait()
		writes, _ := z2.counts()
		require.Zero(t, writes, "it waits")
		require.Contains(t, p.told().Waiting, "an earlier publisher may still be writing")

		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"203.0.113.2"}, z2.has("www.lab.example"))
		_, reads := z2.counts()
		z2.is("www.lab.example", "203.0.113.1") // the dead one's last write
		time.Sleep(cluster.RequestDeadline)
		synctest.Wait()
		_, again := z2.counts()
		require.Greater(t, again, reads, "it reads again, one request later")
		require.Equal(t, []string{"203.0.113.2"}, z2.has("www.lab.example"), "and puts right what it finds")
		p.end()
		dead.end()
	})
}

// TestAPublisherWithoutTheFenceWritesNothing: one that stood still does not write again
// after another has taken over.
func TestAPublisherWithoutTheFenceWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z, store := newZone(), kvtest.NewFake()
		old := begin(t, store, z)
		old.apply(t, settings(t, false), www(t, "203.0.113.1"))
		p := begin(t, store, newZone())
		writes, _ := z.counts()
		old.apply(t, www(t, "203.0.113.7"))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		after, _ := z.counts()
		require.Equal(t, writes, after)
		require.Equal(t, errTaken.Error(), old.told().Waiting)
		old.end()
		time.Sleep(time.Minute)
		p.end()
	})
}

// TestANameIsRecordedBeforeItsFirstWrite: after a crash between the write and the mark, the
// next publisher knows the name for its own.
func TestANameIsRecordedBeforeItsFirstWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z, store := newZone(), kvtest.NewFake()
		recorded := false
		z.hold = func(publisher.Change) {
			item, _, err := store.Get(context.Background(), Prefix+publisherName+"/name/www.lab.example")
			recorded = err == nil && item != nil
		}
		dead := begin(t, store, z) // it never ends, as kill -9 leaves it
		dead.apply(t, settings(t, false), www(t, "203.0.113.1"))
		require.True(t, recorded)

		z2 := newZone()
		p := begin(t, store, z2)
		time.Sleep(lease + cluster.RequestDeadline + time.Second)
		synctest.Wait()
		require.NotEmpty(t, z2.changes)
		require.Equal(t, []string{"203.0.113.1"}, z2.changes[0].Intended[0].Targets)
		p.remove(t, www(t).ID)
		item, _, err := store.Get(t.Context(), Prefix+publisherName+"/name/www.lab.example")
		require.NoError(t, err)
		require.Nil(t, item, "a name that is gone is not remembered")
		p.end()
		dead.end()
	})
}

// TestARecordThatWasThereIsNotRecordedAsIntended, though it equals what is wanted: somebody else has written it.
func TestARecordThatWasThereIsNotRecordedAsIntended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z, store := newZone(), kvtest.NewFake()
		z.names["www.lab.example"] = []publisher.Set{{Name: "www.lab.example", Type: "A", TTL: 30, Targets: []string{"203.0.113.1"}}}
		var seen []publisher.Change
		z.hold = func(c publisher.Change) { seen = append(seen, c) }
		p := begin(t, store, z)
		p.apply(t, settings(t, false), www(t, "203.0.113.1"))
		require.NotEmpty(t, seen)
		require.Empty(t, seen[0].Intended)
		p.end()
	})
}

func TestNamesOfSeveralDNSEndpointsArePublishedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		p := begin(t, kvtest.NewFake(), z)
		p.apply(t, settings(t, false), www(t, "203.0.113.2"), endpoint(t, "other", map[string][]string{"www.lab.example": {"203.0.113.1"}}))
		require.Equal(t, []string{"203.0.113.1", "203.0.113.2"}, z.has("www.lab.example"))
		p.remove(t, endpoint(t, "other", nil).ID)
		require.Equal(t, []string{"203.0.113.2"}, z.has("www.lab.example"))
		p.end()
	})
}

// TestTheSlowCheckPutsRightWhatSomebodyElseChanged: once in each interval.
func TestTheSlowCheckPutsRightWhatSomebodyElseChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		p := begin(t, kvtest.NewFake(), z)
		p.apply(t, settings(t, false), www(t, "203.0.113.1"))
		z.is("www.lab.example", "203.0.113.66")
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		require.Equal(t, []string{"203.0.113.1"}, z.has("www.lab.example"))
		p.end()
	})
}

func TestAVersionIsNeverOverwrittenUnseen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begin(t, kvtest.NewFake(), newZone())
		made, err := p.Create(t.Context(), www(t, "203.0.113.1"))
		require.NoError(t, err)
		_, err = p.Create(t.Context(), www(t, "203.0.113.2"))
		require.Equal(t, cluster.Exists, fault.Of(err))
		changed, err := p.Apply(t.Context(), www(t, "203.0.113.2"), made.Version)
		require.NoError(t, err)
		require.Equal(t, made.UID, changed.UID)
		require.Equal(t, int64(2), changed.Generation)
		_, err = p.Apply(t.Context(), www(t, "203.0.113.3"), made.Version)
		require.Equal(t, fault.Stale, fault.Of(err))
		require.Equal(t, fault.Stale, fault.Of(p.Delete(t.Context(), www(t).ID, made.Version)))
		again, err := p.Apply(t.Context(), www(t, "203.0.113.2"), changed.Version)
		require.NoError(t, err)
		require.Equal(t, changed, again, "the same changes nothing")
		_, err = p.Create(t.Context(), bundle.Object{ID: bundle.ID{Cluster: publisherName, Kind: "ConfigMap", Name: "a"}, JSON: []byte(`{"apiVersion":"v1"}`)})
		require.Equal(t, fault.Refused, fault.Of(err))
		p.end()
	})
}

// TestAChangeDoesNotWaitForTheLookAtAllNames: neither while the zone is read for the first
// time, nor in the look of each interval.
func TestAChangeDoesNotWaitForTheLookAtAllNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const reads = 20
		many := map[string][]string{}
		for n := range reads * publisher.Most {
			many[fmt.Sprintf("name-%04d.lab.example", n)] = []string{"203.0.113.2"}
		}
		z := newZone()
		p := begin(t, kvtest.NewFake(), z)
		p.apply(t, www(t, "203.0.113.1"), endpoint(t, "many", many))
		z.slow(time.Second)
		p.apply(t, settings(t, false))
		for n, interval := range []time.Duration{0, time.Minute} {
			time.Sleep(interval + time.Second)
			address := fmt.Sprintf("203.0.113.1%d", n)
			_, before := z.counts()
			p.apply(t, www(t, address))
			time.Sleep(2 * time.Second)
			synctest.Wait()
			require.Equal(t, []string{address}, z.has("www.lab.example"))
			_, after := z.counts()
			require.Less(t, after-before, 4, "the other names were not read first")
			time.Sleep((reads + 2) * time.Second)
			synctest.Wait()
			require.Len(t, z.names, len(many)+1, "the look went on to its end")
			_, is := p.published(endpoint(t, "many", nil).ID)
			require.True(t, is)
			time.Sleep(time.Minute - (reads+5)*time.Second - interval)
		}
		p.end()
	})
}

// TestAFailingServerIsTriedLessAndLessOften: also when the interval is over meanwhile.
func TestAFailingServerIsTriedLessAndLessOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		p := begin(t, kvtest.NewFake(), z)
		p.apply(t, settings(t, false), www(t, "203.0.113.1"))
		z.fail(errors.New("SERVFAIL from 192.0.2.53"))
		_, before := z.counts()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		_, after := z.counts()
		require.InDelta(t, 10*time.Minute/retryLongest, after-before, 10)
		z.fail(nil)
		p.apply(t, www(t, "203.0.113.9"))
		time.Sleep(retryLongest)
		synctest.Wait()
		require.Equal(t, []string{"203.0.113.9"}, z.has("www.lab.example"))
		p.end()
	})
}

// TestAPublisherWhoseServersDoNotAnswerIsNotAvailable: a restart of a server takes less long, and a publisher that
// has never worked need not be waited for.
func TestAPublisherWhoseServersDoNotAnswerIsNotAvailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		p := begin(t, kvtest.NewFake(), z)
		p.apply(t, settings(t, false), www(t, "203.0.113.1"))
		require.Equal(t, &cluster.Availability{Available: true, Desired: 1, Ready: 1}, p.available(t))

		z.fail(errors.New("connection refused"))
		p.apply(t, www(t, "203.0.113.9"))
		since := time.Now().UTC().Format(time.RFC3339)
		require.True(t, p.available(t).Available, "the server may only be starting again")
		time.Sleep(failingLong + retryLongest)
		synctest.Wait()
		require.Equal(t, &cluster.Availability{Desired: 1, Message: "the built-in publisher does not work since " + since + ": connection refused"}, p.available(t))

		z.fail(nil)
		time.Sleep(retryLongest)
		synctest.Wait()
		require.Equal(t, &cluster.Availability{Available: true, Desired: 1, Ready: 1}, p.available(t))
		z.fail(errors.New("connection refused"))
		p.apply(t, www(t, "203.0.113.1"))
		require.True(t, p.available(t).Available, "an outage does not last from the one before")
		p.apply(t, settings(t, true))
		require.True(t, p.available(t).Available, "it is stopped")
		p.end()

		p = begin(t, kvtest.NewFake(), z)
		p.apply(t, settings(t, false), www(t, "203.0.113.1"))
		require.False(t, p.available(t).Available, "it has never worked")
		p.end()
	})
}

func TestWishesFollowTheDNSEndpointsThatChange(t *testing.T) {
	object := func(revision int64, name string, hosts map[string][]string) held {
		return held{object: endpoint(t, name, hosts), revision: revision}
	}
	w := newWishes()
	take := func(changed ...held) []string {
		objects := map[bundle.ID]*held{}
		for _, one := range changed {
			objects[one.object.ID] = &one
		}
		return w.take(objects)
	}
	a := object(1, "a", map[string][]string{"www.lab.example": {"203.0.113.1"}, "a.lab.example": {"203.0.113.1"}})
	b := object(2, "b", map[string][]string{"www.lab.example": {"203.0.113.2"}})
	require.ElementsMatch(t, []string{"www.lab.example", "a.lab.example"}, take(a, b))
	require.Equal(t, []string{"203.0.113.1", "203.0.113.2"}, w.sets["www.lab.example"][0].Targets)
	require.Equal(t, "crd/shop-dns/a", w.sets["www.lab.example"][0].Mark.Resource, "the first gives the mark")
	require.Empty(t, take(a, b))
	require.Empty(t, take(object(3, "b", map[string][]string{"www.lab.example": {"203.0.113.2"}})), "another revision says the same")
	require.Equal(t, []string{"www.lab.example"}, w.take(map[bundle.ID]*held{b.object.ID: nil}))
	require.Equal(t, []string{"203.0.113.1"}, w.sets["www.lab.example"][0].Targets)
	require.ElementsMatch(t, []string{"www.lab.example", "a.lab.example"}, w.take(map[bundle.ID]*held{a.object.ID: nil}))
	require.Empty(t, w.sets)
	require.Empty(t, w.given)
}

// TestTheWholeZoneIsLookedThrough for names that nobody gives, which are told, and stay.
func TestTheWholeZoneIsLookedThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		z.lists = func() error { return nil }
		for n := range 5 {
			z.is(fmt.Sprintf("old%d.lab.example", n), "203.0.113.9")
		}
		p := begin(t, kvtest.NewFake(), z)
		p.apply(t, settings(t, false), www(t, "203.0.113.1"))
		require.Empty(t, p.told().Zone, "it is not looked through at once")
		time.Sleep(shortestZoneCheck + time.Minute)
		synctest.Wait()
		require.Equal(t, "the DNS server has names of this provider that nobody gives: old0.lab.example, old1.lab.example, old2.lab.example and 2 more; "+
			"publish them and remove them, or remove their records and marks by hand", p.told().Zone)
		require.Equal(t, 5, *p.told().Strays)
		require.Empty(t, p.told().Failing)
		require.Equal(t, []string{"203.0.113.9"}, z.has("old0.lab.example"), "it stays")

		var hosts = map[string][]string{}
		for n := range 5 {
			hosts[fmt.Sprintf("old%d.lab.example", n)] = []string{"203.0.113.1"}
		}
		p.apply(t, endpoint(t, "old", hosts))
		time.Sleep(2 * shortestZoneCheck)
		synctest.Wait()
		require.Empty(t, p.told().Zone)
		require.Zero(t, *p.told().Strays)
		p.end()
	})
}

// TestAZoneThatCannotBeLookedThroughFailsNoName: a refusal is told, and names are published while the server takes its time.
func TestAZoneThatCannotBeLookedThroughFailsNoName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z, listing, goOn := newZone(), false, make(chan struct{})
		z.lists = func() error {
			listing = true
			<-goOn
			return fault.Errorf(fault.Refused, "it refuses")
		}
		p := begin(t, kvtest.NewFake(), z)
		p.apply(t, settings(t, false), www(t, "203.0.113.1"))
		time.Sleep(shortestZoneCheck + time.Minute)
		synctest.Wait()
		require.True(t, listing)
		p.apply(t, www(t, "203.0.113.2"))
		synctest.Wait()
		require.Equal(t, []string{"203.0.113.2"}, z.has("www.lab.example"))
		close(goOn)
		synctest.Wait()
		told := p.told()
		require.Equal(t, "the zone was not looked through for names that nobody gives: it refuses", told.Zone)
		require.Nil(t, told.Strays)
		require.Empty(t, told.Failing)
		_, is := p.published(www(t).ID)
		require.True(t, is)
		p.end()
	})
}

// TestAZoneThatCannotBeListedSaysNothing, because its provider is so.
func TestAZoneThatCannotBeListedSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begin(t, kvtest.NewFake(), newZone())
		p.apply(t, settings(t, false), www(t, "203.0.113.1"))
		time.Sleep(3 * shortestZoneCheck)
		synctest.Wait()
		require.Empty(t, p.told().Zone)
		require.Nil(t, p.told().Strays)
		p.end()
	})
}

// TestWhatWasFoundStaysWhenTheNextLookFails, with why it has failed.
func TestWhatWasFoundStaysWhenTheNextLookFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		var refuses atomic.Bool
		z.lists = func() error {
			if refuses.Load() {
				return fault.Errorf(fault.Refused, "it refuses")
			}
			return nil
		}
		z.is("old.lab.example", "203.0.113.9")
		p := begin(t, kvtest.NewFake(), z)
		p.apply(t, settings(t, false), www(t, "203.0.113.1"))
		time.Sleep(shortestZoneCheck + time.Minute)
		synctest.Wait()
		found := p.told().Zone
		require.Contains(t, found, "that nobody gives: old.lab.example;")

		refuses.Store(true)
		time.Sleep(2 * shortestZoneCheck)
		synctest.Wait()
		failed := found + "; the zone was not looked through for names that nobody gives: it refuses"
		require.Equal(t, failed, p.told().Zone)
		require.Equal(t, 1, *p.told().Strays)
		time.Sleep(2 * shortestZoneCheck)
		synctest.Wait()
		require.Equal(t, failed, p.told().Zone, "the reason is told once")

		refuses.Store(false)
		time.Sleep(2 * shortestZoneCheck)
		synctest.Wait()
		require.Equal(t, found, p.told().Zone)
		p.end()
	})
}

// TestANameThatFailsDoesNotKeepTheZoneFromBeingLookedThrough: the check begins once all names were looked at.
func TestANameThatFailsDoesNotKeepTheZoneFromBeingLookedThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z, writes := newZone(), 0
		z.lists = func() error { return nil }
		z.hold = func(c publisher.Change) { // somebody else writes the name each time
			writes++
			z.is(c.Before.Name, fmt.Sprintf("198.51.100.%d", writes%250))
		}
		z.is("old.lab.example", "203.0.113.9")
		p := begin(t, kvtest.NewFake(), z)
		p.apply(t, www(t, "203.0.113.1"), settings(t, false)) // so that there is never no name
		time.Sleep(shortestZoneCheck + time.Minute)
		synctest.Wait()
		require.Contains(t, p.told().Failing, "www.lab.example keeps changing")
		require.Zero(t, p.told().Synced)
		require.NotNil(t, p.told().Strays)
		require.Equal(t, 1, *p.told().Strays)
		p.end()
	})
}

// TestTheFirstLookAtAllNamesGoesBeforeTheZone: neither an unknown record nor an unread name sets the time of the check.
func TestTheFirstLookAtAllNamesGoesBeforeTheZone(t *testing.T) {
	l := newLoop(New(publisherName, Settings{}), cluster.Notify{})
	l.writer = newZone()
	l.checkZone(t.Context())
	require.Zero(t, l.zone.next, "what was written before is not known")
	l.recorded, l.unread = map[string][]publisher.Set{}, []string{"www.lab.example"}
	l.checkZone(t.Context())
	require.Zero(t, l.zone.next, "a name was not looked at")
	l.unread = nil
	l.checkZone(t.Context())
	require.NotZero(t, l.zone.next)
}

// TestAnotherCountOfStrayNamesIsTold, though no text changes.
func TestAnotherCountOfStrayNamesIsTold(t *testing.T) {
	one, same, two := 1, 1, 2
	require.True(t, equal(cluster.Publishing{Strays: &one}, cluster.Publishing{Strays: &same}))
	require.False(t, equal(cluster.Publishing{Strays: &one}, cluster.Publishing{Strays: &two}))
	require.False(t, equal(cluster.Publishing{}, cluster.Publishing{Strays: &one}))
	require.False(t, equal(cluster.Publishing{Strays: &one}, cluster.Publishing{}))
}

// TestWhatTheZoneSaysIsClipped: anybody who may write there may write anything.
func TestWhatTheZoneSaysIsClipped(t *testing.T) {
	told := strayNames(map[string]string{"old\n.lab.example": "crd/\x1b[31m\xff" + strings.Repeat("ä", 200)})
	require.Contains(t, told, ": old\ufffd.lab.example (crd/\ufffd[31m\ufffd"+strings.Repeat("ä", 90)+"…); publish")
	require.Contains(t, strayNames(map[string]string{strings.Repeat("a", 1<<20): ""}), ": "+strings.Repeat("a", 253)+"…; publish")
}

// TestAChangeCostsTheSameBesideManyDNSEndpoints: the bytes that are allocated, from the write of the object until its name is published.
func TestAChangeCostsTheSameBesideManyDNSEndpoints(t *testing.T) { //nolint:paralleltest // it counts what the process allocates
	cost := func(many int) (bytes uint64) {
		synctest.Test(t, func(t *testing.T) {
			z := newZone()
			p := begin(t, kvtest.NewFake(), z)
			p.apply(t, settings(t, false))
			for n := range many {
				name := fmt.Sprintf("n%d", n)
				p.apply(t, endpoint(t, name, map[string][]string{name + ".lab.example": {"203.0.113.1"}}))
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			const turns = 10
			for n := range turns {
				p.apply(t, www(t, fmt.Sprintf("203.0.113.%d", n+1)))
			}
			runtime.ReadMemStats(&after)
			require.Equal(t, []string{"203.0.113.10"}, z.has("www.lab.example"))
			bytes = (after.TotalAlloc - before.TotalAlloc) / turns
			p.end()
		})
		return bytes
	}
	few := cost(10)
	require.Less(t, cost(1000), few+few/5)
}

// TestNothingIsDoneByFormerSettings: objects that change while a writer is opened are those of the settings that came meanwhile.
func TestNothingIsDoneByFormerSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		p := begin(t, kvtest.NewFake(), z)
		p.apply(t, settings(t, false), www(t, "203.0.113.1"))
		p.apply(t, settings(t, true))
		z.opens = time.Second
		p.apply(t, settings(t, false)) // its writer is being opened
		p.apply(t, settings(t, true), endpoint(t, "late", map[string][]string{"late.lab.example": {"203.0.113.1"}}))
		p.remove(t, www(t).ID)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"203.0.113.1"}, z.has("www.lab.example"), "it is stopped")
		require.Empty(t, z.has("late.lab.example"))

		p.apply(t, settings(t, false))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Empty(t, z.has("www.lab.example"))
		require.True(t, p.removed(www(t), "www.lab.example"))
		require.Equal(t, []string{"203.0.113.1"}, z.has("late.lab.example"))
		p.end()
	})
}

// TestAStoppedPublisherTellsOfNoDNSEndpoint, and of all when it goes on, also of those without names.
func TestAStoppedPublisherTellsOfNoDNSEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z := newZone()
		p := begin(t, kvtest.NewFake(), z)
		all := []bundle.Object{www(t, "203.0.113.1"), endpoint(t, "none", nil)}
		p.apply(t, append(all, settings(t, false))...)
		for _, stopped := range []bool{false, true, false} {
			p.apply(t, settings(t, stopped))
			for _, o := range all {
				_, is := p.published(o.ID)
				require.Equal(t, !stopped, is, o.ID)
			}
		}
		other := bundle.Publisher{Provider: "coredns", OwnerID: owner, Interval: time.Hour}
		z.fail(errors.New("another server, which is away"))
		p.apply(t, settingsOf(t, other))
		_, is := p.published(www(t).ID)
		require.False(t, is, "it is published elsewhere")
		p.end()
	})
}

// torn is a store whose watches may miss what happens, until they say so.
type torn struct {
	kv.KV
	deaf atomic.Bool
	tear chan struct{}
}

func (s *torn) Watch(ctx context.Context, prefix string, from int64) <-chan kv.Batch {
	out := make(chan kv.Batch)
	go func() {
		defer close(out)
		heard := s.KV.Watch(ctx, prefix, from)
		for {
			var next kv.Batch
			select {
			case <-ctx.Done():
				return
			case <-s.tear:
				next.Compacted = true
			case next = <-heard:
			}
			if !s.deaf.Load() {
				select {
				case <-ctx.Done():
					return
				case out <- next:
				}
			}
		}
	}()
	return out
}

// TestChangesThatNobodyToldOfAreFollowed once the watch has said that it missed some.
func TestChangesThatNobodyToldOfAreFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z, store := newZone(), &torn{KV: kvtest.NewFake(), tear: make(chan struct{})}
		p := begin(t, store, z)
		p.apply(t, settings(t, false), www(t, "203.0.113.1"), endpoint(t, "old", map[string][]string{"old.lab.example": {"203.0.113.1"}}))
		store.deaf.Store(true)
		another := served{New(publisherName, p.Settings), nil}
		another.apply(t, www(t, "203.0.113.2"), endpoint(t, "new", map[string][]string{"new.lab.example": {"203.0.113.1"}}))
		another.remove(t, endpoint(t, "old", nil).ID)
		require.NotEmpty(t, z.has("old.lab.example"))
		store.deaf.Store(false)
		store.tear <- struct{}{}
		synctest.Wait()
		require.Equal(t, []string{"203.0.113.2"}, z.has("www.lab.example"))
		require.Equal(t, []string{"203.0.113.1"}, z.has("new.lab.example"))
		require.Empty(t, z.has("old.lab.example"))
		for name, is := range map[string]bool{"web": true, "new": true, "old": false} {
			_, told := p.published(endpoint(t, name, nil).ID)
			require.Equal(t, is, told, name)
		}
		p.end()
	})
}

// TestRecordedNamesThatNobodyWantsAreLeft until they are removed, also by the publisher that comes next.
func TestRecordedNamesThatNobodyWantsAreLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		z, store := newZone(), kvtest.NewFake()
		p := begin(t, store, z)
		p.apply(t, settings(t, false), www(t, "203.0.113.1"))
		z.refuse(errors.New("read-only"))
		p.remove(t, www(t).ID)
		require.Equal(t, map[string]bool{"www.lab.example": true}, p.watches.(*watches).loop.obsolete)
		p.end()

		p = begin(t, store, z)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, map[string]bool{"www.lab.example": true}, p.watches.(*watches).loop.obsolete)
		p.apply(t, www(t, "203.0.113.1"))
		z.refuse(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Empty(t, p.watches.(*watches).loop.obsolete, "it is wanted again")
		require.NotEmpty(t, z.has("www.lab.example"))
		p.end()
	})
}
