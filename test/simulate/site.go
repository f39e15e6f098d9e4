package simulate

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/clustertest"
)

// site is a cluster and what is true of it.
type site struct {
	*clustertest.Fake
	name      string
	version   int64                          // counts what happens to it
	highest   int64                          // resource version that it has given out
	down      bool                           // connections are refused
	diedAt    time.Time                      // since when, of a cluster of an installation
	hung      bool                           // requests are never answered
	hungAt    time.Time                      // since when
	services  map[string]address.Observation // "namespace/name" to what it offers
	history   map[string][]offered           // of each Service
	strangers map[bundle.ID]cluster.Live     // others' objects, as they left them
	applied   map[bundle.ID]map[string]bool  // digests of what was ever there of ours
}

func newSite(name string) *site {
	return &site{
		Fake: clustertest.NewFake("uid of " + name), name: name, version: 1, services: map[string]address.Observation{},
		history: map[string][]offered{}, strangers: map[bundle.ID]cluster.Live{}, applied: map[bundle.ID]map[string]bool{},
	}
}

// offered is what a Service offered from a time on.
type offered struct {
	since time.Time
	address.Observation
}

// lastSeen is what a Service offers, as far as others can know: a cluster that is down was seen before.
func (s *site) lastSeen(service string) offered {
	seen := offered{Observation: s.services[service]}
	if s.down {
		seen = offered{}
		for _, one := range s.history[service] {
			if !one.since.After(s.diedAt) {
				seen = one
			}
		}
	}
	return seen
}

// ready tells whether nothing is known against a Service's endpoints.
func (s offered) ready() bool { return s.Readiness == nil || s.Readiness.Ready > 0 }

// offer has a Service offer addresses; none: there is no such Service.
func (s *site) offer(service string, addresses ...string) {
	o := address.Observation{Found: len(addresses) > 0, Readiness: s.services[service].Readiness}
	for n, a := range addresses {
		o.Candidates = append(o.Candidates, address.Candidate{
			Target: a, Kind: address.LoadBalancer, Field: "status.loadBalancer.ingress[" + strconv.Itoa(n) + "].ip",
		})
	}
	s.becomes(service, o)
}

// turn has a Service lose its last ready endpoint, or have one again.
func (s *site) turn(service string) {
	o := s.services[service]
	ready := 1
	if (offered{Observation: o}).ready() {
		ready = 0
	}
	o.Readiness = &address.Readiness{Ready: ready, Total: 1}
	s.becomes(service, o)
}

func (s *site) becomes(service string, o address.Observation) {
	s.version++
	s.services[service] = o
	s.history[service] = append(s.history[service], offered{time.Now(), o})
}

// was tells whether a Service offered just that at some time since, whether its
// endpoints were ready or not.
func (s *site) was(service string, o address.Observation, since time.Time) bool {
	return len(s.history[service]) == 0 && !o.Found || s.some(service, since, func(one offered) bool {
		return one.Found == o.Found && reflect.DeepEqual(one.Candidates, o.Candidates)
	})
}

// wasReady tells whether at some time since a Service had ready endpoints, or
// had none.
func (s *site) wasReady(service string, ready bool, since time.Time) bool {
	return s.some(service, since, func(one offered) bool { return one.ready() == ready })
}

// some tells whether a Service was in such a state at some time since.
func (s *site) some(service string, since time.Time, such func(offered) bool) bool {
	states := s.history[service]
	for n, one := range states {
		over := n+1 < len(states) && states[n+1].since.Before(since)
		if !over && such(one) {
			return true
		}
	}
	return false
}

// ever tells whether a Service has ever offered a target.
func (s *site) ever(target string) bool {
	for _, states := range s.history {
		for _, one := range states {
			if slices.ContainsFunc(one.Candidates, func(c address.Candidate) bool { return c.Target == target }) {
				return true
			}
		}
	}
	return false
}

// disturb has somebody change the status of an object just before a request.
func (s *site) disturb(c *call) {
	s.version++
	s.Touch(c.about)
}

// linger has deletes be accepted now and end later.
func (s *site) linger(w *world, d time.Duration, do func()) {
	for _, kind := range []string{"ConfigMap", "Namespace", "DNSEndpoint", "Deployment"} {
		s.Finalize(cluster.KindOf(bundle.ID{Kind: kind, Group: groupOf(kind)}), true)
	}
	do()
	for _, kind := range []string{"ConfigMap", "Namespace", "DNSEndpoint", "Deployment"} {
		s.Finalize(cluster.KindOf(bundle.ID{Kind: kind, Group: groupOf(kind)}), false)
	}
	w.after(d, "deletes end on "+s.name, func() { s.version++; s.Finish() })
}

func groupOf(kind string) string {
	switch kind {
	case "DNSEndpoint":
		return "externaldns.k8s.io"
	case "Deployment":
		return "apps"
	case "CustomResourceDefinition":
		return "apiextensions.k8s.io"
	}
	return ""
}

// ours tells whether an object carries the installation's label.
func (s *site) ours(id bundle.ID) bool {
	live := s.Live(id)
	return live != nil && live.Ours(installation)
}

// works tells whether a Deployment of ours is to have pods.
func (s *site) works(id bundle.ID) bool {
	if live := s.Live(id); live == nil || live.Deleting || !live.Ours(installation) {
		return false
	}
	spec, _ := s.Content(id)["spec"].(map[string]any)
	return spec["replicas"] != float64(0)
}

// target is a site as a process reaches it.
type target struct {
	cluster.Target
	process *process
	site    *site
}

func (p *process) connect(s *site) cluster.Target {
	return &target{Target: s.Fake.Target(cluster.Options{Installation: installation}), process: p, site: s}
}

func (t *target) ask(ctx context.Context, verb string, id bundle.ID, do func(ctx context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, cluster.RequestDeadline)
	defer cancel()
	point := ""
	if verb == "create" || verb == "apply" || verb == "delete" {
		point = verb + " in cluster"
	}
	id.Cluster = t.site.name
	c := &call{
		process: t.process, name: t.process.name + " " + verb + " " + id.String(), caller: caller(), point: point,
		expired: func() bool { return within.Err() != nil }, fail: siteFails, may: siteFaults(verb), site: t.site, about: id,
	}
	c.do = func() error {
		if t.site.down {
			return siteFails(refused)
		}
		err := do(context.WithoutCancel(ctx))
		if point != "" {
			t.site.version++
			t.process.world.touched(t.site, id, verb, err)
		}
		return err
	}
	return t.process.world.pass(c)
}

func (t *target) Identity(ctx context.Context) (uid string, err error) {
	err = t.ask(ctx, "identity", bundle.ID{}, func(ctx context.Context) error {
		uid, err = t.Target.Identity(ctx)
		return err
	})
	return uid, err
}

func (t *target) Get(ctx context.Context, id bundle.ID) (live *cluster.Live, err error) {
	err = t.ask(ctx, "get", id, func(ctx context.Context) error {
		live, err = t.Target.Get(ctx, id)
		return err
	})
	return live, err
}

func (t *target) Create(ctx context.Context, o bundle.Object) (live cluster.Live, err error) {
	err = t.ask(ctx, "create", o.ID, func(ctx context.Context) error {
		live, err = t.Target.Create(ctx, o)
		t.site.note(o, live, err)
		return err
	})
	return live, err
}

func (t *target) Apply(ctx context.Context, o bundle.Object, at cluster.Version) (live cluster.Live, err error) {
	err = t.ask(ctx, "apply", o.ID, func(ctx context.Context) error {
		live, err = t.Target.Apply(ctx, o, at)
		t.site.note(o, live, err)
		return err
	})
	return live, err
}

func (t *target) Delete(ctx context.Context, id bundle.ID, at cluster.Version) error {
	return t.ask(ctx, "delete", id, func(ctx context.Context) error { return t.Target.Delete(ctx, id, at) })
}

func (t *target) Established(ctx context.Context, kind cluster.Kind) (ok bool, err error) {
	err = t.ask(ctx, "established", bundle.ID{Group: kind.Group, Kind: kind.Kind}, func(ctx context.Context) error {
		ok, err = t.Target.Established(ctx, kind)
		return err
	})
	return ok, err
}

func (t *target) Occupant(ctx context.Context, namespace string) (by string, err error) {
	err = t.ask(ctx, "occupant", bundle.ID{Kind: "Namespace", Name: namespace}, func(ctx context.Context) error {
		by, err = t.Target.Occupant(ctx, namespace)
		return err
	})
	return by, err
}

// note remembers what was there of ours.
func (s *site) note(o bundle.Object, live cluster.Live, err error) {
	if err != nil {
		return
	}
	s.highest = max(s.highest, number(live.ResourceVersion))
	if s.applied[o.ID] == nil {
		s.applied[o.ID] = map[string]bool{}
	}
	s.applied[o.ID][o.Digest()] = true
}

// view is what a process sees of a site by watching it: the site as it was
// some time ago.
type view struct {
	process *process
	site    *site
	notify  cluster.Notify
	stopped bool

	interest   cluster.Interest
	fresh      bool // the interest has been listed
	version    int64
	broken     bool
	kinds      map[cluster.Kind]bool
	namespaces map[string]bool
	objects    map[bundle.ID]cluster.Live
	services   map[string]address.Observation
	at         int64 // the resource version that was seen
}

// Watch implements cluster.Target.
func (t *target) Watch(_ context.Context, notify cluster.Notify) cluster.Watches {
	v := &view{process: t.process, site: t.site, notify: notify}
	t.process.world.mu.Lock()
	defer t.process.world.mu.Unlock()
	t.process.views = append(t.process.views, v)
	return v
}

// behind tells whether there is something to see.
func (v *view) behind() bool {
	cut := v.site.down || v.site.hung
	return !v.stopped && (cut != v.broken || !cut && (!v.fresh || v.version != v.site.version))
}

// catchUp sees the site as it is now. It tells of single objects, unless it begins to see
// them, or sees them no longer.
func (v *view) catchUp() {
	followed, before, offers := v.fresh && !v.broken, v.objects, v.services
	v.broken = v.site.down || v.site.hung
	if !v.broken {
		v.look()
	}
	v.notify.Workloads()
	if !followed || v.broken {
		v.notify.Objects()
		v.notify.Addresses("", "")
		return
	}
	if changed := differing(before, v.objects); len(changed) > 0 {
		v.notify.Objects(changed...)
	}
	for _, service := range differing(offers, v.services) {
		namespace, name, _ := strings.Cut(service, "/")
		v.notify.Addresses(namespace, name)
	}
}

// differing lists the keys of what is not in both as it is in the other.
func differing[K comparable, V any](before, after map[K]V) []K {
	var ids []K
	for id, live := range after {
		if was, there := before[id]; !there || !reflect.DeepEqual(was, live) {
			ids = append(ids, id)
		}
	}
	for id := range before {
		if _, still := after[id]; !still {
			ids = append(ids, id)
		}
	}
	return ids
}

func (v *view) look() {
	v.fresh, v.version = true, v.site.version
	v.kinds, v.namespaces = map[cluster.Kind]bool{}, map[string]bool{}
	for _, kind := range v.interest.Kinds {
		v.kinds[kind] = true
	}
	for _, namespace := range v.interest.Namespaces {
		v.namespaces[namespace] = true
	}
	v.objects, v.at = map[bundle.ID]cluster.Live{}, v.site.highest
	for _, id := range v.site.Objects() {
		live := v.site.Live(id)
		if v.kinds[cluster.KindOf(id)] && live.Ours(installation) {
			v.objects[id] = *live
		}
	}
	v.services = maps.Clone(v.site.services)
}

func number(version string) int64 {
	n, _ := strconv.ParseInt(version, 10, 64) // the fake's are numbers
	return n
}

// Follow implements cluster.Watches.
func (v *view) Follow(interest cluster.Interest) {
	v.process.world.mu.Lock()
	defer v.process.world.mu.Unlock()
	v.interest = interest
	for _, kind := range interest.Kinds {
		v.fresh = v.fresh && v.kinds[kind]
	}
	for _, namespace := range interest.Namespaces {
		v.fresh = v.fresh && v.namespaces[namespace]
	}
}

// Object implements cluster.Watches.
func (v *view) Object(id bundle.ID, atLeast string) cluster.Sight {
	if v.broken || !v.kinds[cluster.KindOf(id)] || number(atLeast) > v.at {
		return cluster.Sight{}
	}
	id.Cluster = ""
	live, found := v.objects[id]
	if !found {
		return cluster.Sight{Known: true}
	}
	return cluster.Sight{Known: true, Live: &live}
}

// Service implements cluster.Watches.
func (v *view) Service(namespace, name string) (address.Observation, bool) {
	if v.broken || !v.namespaces[namespace] {
		return address.Observation{}, false
	}
	return v.services[namespace+"/"+name], true
}

// Deployment implements cluster.Watches.
func (v *view) Deployment(namespace, name string) (*cluster.Availability, bool) {
	kind := cluster.Kind{Group: "apps", Kind: "Deployment"}
	if v.broken || !v.kinds[kind] {
		return nil, false
	}
	if _, found := v.objects[bundle.ID{Group: kind.Group, Kind: kind.Kind, Namespace: namespace, Name: name}]; !found {
		return nil, true
	}
	return &cluster.Availability{Available: true, Ready: 1}, true
}

// DaemonSet implements cluster.Watches. No story here has any.
func (v *view) DaemonSet(string, string) (*cluster.Availability, bool) { return nil, false }

// Pods implements cluster.Watches. There are none: what external-dns says of
// itself decides nothing.
func (v *view) Pods(string, map[string]string) ([]cluster.Pod, error) { return nil, nil }

// Nodes implements cluster.Watches. No story here has any.
func (v *view) Nodes() ([]placement.Node, bool) { return nil, false }

// Trouble implements cluster.Watches.
func (v *view) Trouble() error {
	if v.broken {
		return siteFails(refused)
	}
	return nil
}

// Stop implements cluster.Watches.
func (v *view) Stop() {
	v.process.world.mu.Lock()
	defer v.process.world.mu.Unlock()
	v.stopped = true
	v.process.views = slices.DeleteFunc(v.process.views, func(other *view) bool { return other == v })
}
