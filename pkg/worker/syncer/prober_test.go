package syncer

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/clustertest"
)

// marked is an object of record lab.
func marked(t *testing.T, apiVersion, kind, named, spec string) bundle.Object {
	t.Helper()
	o, err := bundle.New(hub, "web", map[string]any{
		"apiVersion": apiVersion, "kind": kind, "spec": spec,
		"metadata": map[string]any{"name": named, "namespace": "shop", "labels": map[string]string{
			bundle.LabelProject: "shop", bundle.LabelRecord: "lab", bundle.LabelScope: "public"}},
	})
	require.NoError(t, err)
	return o
}

func publishing(t *testing.T, spec string) []bundle.Object {
	return []bundle.Object{
		namespace(t, hub), definition(t, hub),
		marked(t, "apps/v1", "Deployment", "external-dns-lab", ""), marked(t, "externaldns.k8s.io/v1alpha1", "DNSEndpoint", "web", spec),
	}
}

// runs is a pod of record lab that runs.
func runs(name string) cluster.Pod {
	return cluster.Pod{
		Name: name, Ready: true, Created: time.Now(), Args: []string{"--interval=5s"}, Ports: map[string]int32{"metrics": 7979},
		Labels: map[string]string{bundle.LabelProject: "shop", bundle.LabelRecord: "lab", bundle.LabelScope: "public"},
	}
}

// answer is what an external-dns serves whose last synchronization began at a
// time, in seconds of its own clock, and whose last success ended at another.
func answer(began, synced, failures float64) cluster.Metrics {
	return cluster.Metrics{
		{Name: "external_dns_controller_last_reconcile_timestamp_seconds", Value: began},
		{Name: "external_dns_controller_last_sync_timestamp_seconds", Value: synced},
		{Name: "external_dns_controller_consecutive_soft_errors", Value: failures},
		{Name: "external_dns_registry_errors_total", Value: failures},
		{Name: "external_dns_source_errors_total", Value: 0},
	}
}

// hasty is a clock that runs faster than the real one.
type hasty struct{ began time.Time }

const haste = 20

func (h hasty) Now() time.Time { return h.began.Add(haste * time.Since(h.began)) }

func (h hasty) After(d time.Duration) <-chan time.Time { return time.After(d / haste) }

// published is a scene where external-dns of record lab runs.
func published(t *testing.T) (*scene, *clustertest.Fake, []bundle.Object) {
	t.Helper()
	s := newScene(t, hub)
	s.clock = hasty{time.Now()}
	f := s.clusters[hub]
	w, _ := s.start("a")
	objects := publishing(t, "1")
	s.commit("dig", objects...)
	s.settled(w, objects...)
	f.SetAvailability("shop", "external-dns-lab", cluster.Availability{Available: true, Ready: 1})
	return s, f, objects
}

func (s *scene) sync() observed.Sync {
	s.t.Helper()
	d, err := s.observed.Deployment(s.t.Context(), hub, "shop", "external-dns-lab")
	require.NoError(s.t, err)
	if d == nil || d.Sync == nil {
		return observed.Sync{}
	}
	return *d.Sync
}

func (s *scene) message() string {
	s.t.Helper()
	d, err := s.observed.Deployment(s.t.Context(), hub, "shop", "external-dns-lab")
	require.NoError(s.t, err)
	if d == nil {
		return ""
	}
	return d.Message
}

// through tells whether the DNSEndpoint is published as it was applied.
func (s *scene) through(id bundle.ID) bool {
	s.t.Helper()
	published, err := s.observed.Published(s.t.Context(), hub, "shop", id.Name)
	require.NoError(s.t, err)
	e := s.entries(hub)[id]
	return published[id.Name].Of(e.UID, e.Generation)
}

func TestNameIsPublishedOnceItsReadingHasBeenSynchronized(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, f, objects := published(t)
		id := objects[3].ID
		f.SetPod("shop", runs("lab-1"))
		f.SetMetrics("shop", "lab-1", answer(1000, 1001, 0))
		s.until("external-dns was asked", func() bool { return s.sync().Last.Equal(time.Unix(1001, 0)) })
		assert.False(t, s.through(id), "it has synchronized, and not read the DNSEndpoint (I6)")

		f.SetMetrics("shop", "lab-1", answer(1005, 1001, 0)) // it has begun
		f.Note(id)                                           // and read
		f.Forget()
		s.until("it is asked again", func() bool { return asked(f) > 1 })
		assert.False(t, s.through(id), "what it has read is not through yet (I6)")

		f.SetMetrics("shop", "lab-1", answer(1005, 1006, 0))
		s.until("it is published", func() bool { return s.through(id) })
		published, err := s.observed.Published(t.Context(), hub, "shop", "web")
		require.NoError(t, err)
		assert.Equal(t, time.Unix(1006, 0).UTC(), published["web"].At)

		s.commit("dig", publishing(t, "2")...)
		s.until("a change is not published", func() bool { return !s.through(id) })
		f.SetMetrics("shop", "lab-1", answer(1010, 1011, 0)) // it was on its way before the change
		s.until("another synchronization is seen", func() bool { return s.sync().Last.Equal(time.Unix(1011, 0)) })
		assert.False(t, s.through(id), "without having read the change (I6)")
		f.Note(id)
		f.SetMetrics("shop", "lab-1", answer(1015, 1016, 0))
		s.until("the change is published", func() bool { return s.through(id) })
	})
}

func asked(f *clustertest.Fake) int {
	count := 0
	for _, r := range f.Requests() {
		if r.Verb == "metrics" {
			count++
		}
	}
	return count
}

func TestClocksOfExternalDNSAreComparedWithThemselvesAlone(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]float64{"years behind": 1000, "years ahead": 9e9} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, f, objects := published(t)
			f.Note(objects[3].ID)
			f.SetMetrics("shop", "lab-1", answer(at, at-5, 0))
			f.SetPod("shop", runs("lab-1"))
			s.until("it is asked", func() bool { return asked(f) > 0 })
			assert.False(t, s.through(objects[3].ID))
			f.SetMetrics("shop", "lab-1", answer(at, at+1, 0))
			s.until("it is published", func() bool { return s.through(objects[3].ID) })
		})
	}
}

func TestWhatFailsIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, f, objects := published(t)
		f.Note(objects[3].ID)
		f.SetMetrics("shop", "lab-1", answer(1005, 1001, 4))
		f.SetPod("shop", runs("lab-1"))
		s.until("the failures are told", func() bool {
			return strings.Contains(s.sync().Failing, "its last 4 synchronizations have failed (errors since it started: 4 from the DNS provider")
		})
		assert.Equal(t, time.Unix(1001, 0).UTC(), s.sync().Last)
		assert.False(t, s.through(objects[3].ID))
		f.SetMetrics("shop", "lab-1", answer(1010, 1011, 0))
		s.until("that they have ended, too", func() bool { return s.sync().Failing == "" && s.through(objects[3].ID) })
		assert.Contains(t, s.log.String(), "external-dns is unhealthy")
		assert.Contains(t, s.log.String(), "external-dns is healthy again")
	})
}

func TestPodsTellWhatAilsThem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, f, objects := published(t)
		pod := runs("lab-1")
		f.SetMetrics("shop", "lab-1", answer(1000, 1001, 0))
		f.Note(objects[3].ID)
		f.SetPod("shop", pod)
		s.until("it is published", func() bool { return s.through(objects[3].ID) })

		pod.Ready, pod.Trouble = false, "crash loop"
		f.SetPod("shop", pod)
		s.until("a crash loop is told", func() bool { return s.message() == "crash loop" && s.sync().Unread == "its pod is not ready" })
		assert.Equal(t, time.Unix(1001, 0).UTC(), s.sync().Last, "what was seen stays")

		waiting := runs("lab-2")
		waiting.Ready, waiting.Waiting, waiting.Secrets, waiting.Created = false, true, []string{"tsig"}, time.Now().Add(time.Second)
		f.SetPod("shop", waiting)
		s.until("a missing Secret is told by its name", func() bool {
			return s.message() == "pod lab-2 cannot start: there is no Secret shop/tsig"
		})
		f.Plant(object(t, hub, "v1", "Secret", "shop", "tsig", ""))
		s.until("it is told no more once it is there", func() bool { return s.message() == "" })
		f.RemovePod("shop", "lab-1")
		f.RemovePod("shop", "lab-2")
		s.until("no pod is told", func() bool { return s.sync().Unread == "it has no pod" })
	})
}

func TestWhatMayNotBeSeenIsUnknownWithTheReason(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, f, objects := published(t)
		f.Note(objects[3].ID)
		f.SetPod("shop", runs("lab-1")) // and nothing answers
		s.until("metrics that do not answer are told", func() bool {
			return strings.Contains(s.sync().Unread, "its metrics cannot be read: error trying to reach service")
		})
		waiting := func() float64 { return s.metric("signpost_external_dns_unpublished_endpoints") }
		s.until("what waits is told", func() bool { return waiting() > 0 })
		f.Podless(&fault.Error{Fault: fault.Refused, Code: 403, Message: "pods is forbidden"})
		s.until("pods that may not be watched are told", func() bool { return s.sync().Unread == "its pods cannot be watched: pods is forbidden" })
		s.until("what waits is not known", func() bool { return waiting() == 0 })
		f.Podless(nil)
		f.SetMetrics("shop", "lab-1", cluster.Metrics{{Name: "go_goroutines", Value: 7}})
		f.RemovePod("shop", "lab-1")
		s.until("no pod", func() bool { return s.sync().Unread == "it has no pod" })
		f.SetPod("shop", runs("lab-1"))
		s.until("strange metrics are told", func() bool { return strings.Contains(s.sync().Unread, "not external-dns'") })
		assert.False(t, s.through(objects[3].ID))
	})
}

func TestAHungExternalDNSHoldsUpNothingElse(t *testing.T) {
	t.Parallel()
	s, f, _ := published(t)
	entered, release := make(chan struct{}, 1), make(chan struct{})
	f.SetMetrics("shop", "lab-1", answer(1000, 1001, 0))
	f.Before = func(_ context.Context, verb string, _ bundle.ID) error {
		if verb == "metrics" {
			select {
			case entered <- struct{}{}:
			default:
			}
			<-release
		}
		return nil
	}
	defer close(release)
	f.SetPod("shop", runs("lab-1"))
	<-entered
	more := append(publishing(t, "2"), config(t, hub, "a", "1"))
	s.commit("dig", more...)
	s.until("objects are applied meanwhile (I7)", func() bool { return s.entries(hub)[more[4].ID].Digest == more[4].Digest() })
	f.SetAvailability("shop", "external-dns-lab", cluster.Availability{Message: "0 of 1"})
	s.until("and observations written", func() bool { return s.message() == "0 of 1" })
}

func TestLastSynchronizationOutlivesItsPod(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	s.clock = hasty{time.Now()}
	f := s.clusters[hub]
	_, stop := s.start("a")
	s.commit("dig", publishing(t, "1")...)
	f.SetMetrics("shop", "lab-1", answer(1000, 1001, 0))
	f.SetPod("shop", runs("lab-1"))
	s.until("it is told", func() bool { return s.sync().Last.Equal(time.Unix(1001, 0)) })
	stop()
	f.RemovePod("shop", "lab-1")
	s.start("b")
	s.until("the next worker finds no pod", func() bool { return s.sync().Unread == "it has no pod" })
	assert.Equal(t, time.Unix(1001, 0).UTC(), s.sync().Last, "when it synchronized last is as true as before")
}

// A worker that takes over finds what is published where the one before left
// it, and writes nothing anew.
func TestWhatIsPublishedStaysOverATakeover(t *testing.T) {
	t.Parallel()
	s := newScene(t, hub)
	s.clock = hasty{time.Now()}
	f := s.clusters[hub]
	w, stop := s.start("a")
	objects := publishing(t, "1")
	s.commit("dig", objects...)
	s.settled(w, objects...)
	f.Note(objects[3].ID)
	f.SetMetrics("shop", "lab-1", answer(1000, 1001, 0))
	f.SetPod("shop", runs("lab-1"))
	s.until("it is published", func() bool { return s.through(objects[3].ID) })
	stop()
	f.SetMetrics("shop", "lab-1", answer(1020, 1021, 0))
	s.start("b")
	s.until("the next one looks", func() bool { return s.sync().Last.Equal(time.Unix(1021, 0)) })
	published, err := s.observed.Published(t.Context(), hub, "shop", "web")
	require.NoError(t, err)
	assert.Equal(t, time.Unix(1001, 0).UTC(), published["web"].At, "since when it is published")

	s.commit("dig", objects[:3]...)
	s.until("what is gone is forgotten", func() bool {
		published, err := s.observed.Published(t.Context(), hub, "shop", "web")
		return err == nil && len(published) == 0
	})
	s.commit("dig")
	s.until("nothing is left", func() bool {
		items, _, err := s.kv.Range(t.Context(), kv.Range{Prefix: "/signpost/observed/"})
		return err == nil && len(items) == 0
	})
}
