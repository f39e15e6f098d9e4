// Package simulate runs replicas of Signpost, with the real code of releases,
// sync and stores, in a world whose edges and time it owns: a store, clusters
// and users that do by chance, from a seed, what they do at their worst.
//
// Every request at an edge waits until the scheduler lets it through, alone;
// everything between two requests runs by itself until all of it waits again
// (testing/synctest). So a seed is a whole history: the same seed, the same
// history, and one that fails can be run again.
package simulate

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// The names that the world speaks of.
const (
	shop intent.Path = "projects/shop"
	lab  intent.Path = "projects/shop/dns-update-records/lab"
	corp intent.Path = "projects/shop/dns-update-records/corp"
	eu   intent.Path = "projects/shop/logical-clouds/eu"
	prod intent.Path = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"
	test intent.Path = "projects/shop/composite-apps/store/v1/deployment-intent-groups/test"

	hub    = "edge+hub"
	berlin = "edge+berlin"
	paris  = "edge+paris"
)

// profile is how bad a world is.
type profile struct {
	replicas int
	actions  int     // of users, clusters and fate
	faults   float64 // how likely a request fails in one way or another
	crashes  float64 // how likely a process dies at a write
	crashAt  string  // the point at which a process dies, once; crashes is not used then

	operators bool // drain clusters, suspend groups and move records, too
	skewed    bool // clocks go wrong, each by its own
	sick      bool // Services lose their endpoints, and clusters are away for long
	crowded   bool // a record has many names, whose Services come and go
	rivalled  bool // two projects ask for the same names
	named     bool // a name is its own release
	regions   bool // an installation of five clusters, of which names move to others
}

// world is everything there is.
type world struct {
	seed       uint64
	random     *rand.Rand
	profile    profile
	calm       bool // nothing goes wrong any more
	kv         *kvtest.Fake
	sites      map[string]*site
	replicas   []*process
	lives      map[int]int
	registered map[string]time.Time // by process: until when others count it; zero: as long as it lives
	events     []*event
	trace      *trace
	steps      int
	crashes    int
	points     map[string]int // crashes by point
	faults     map[fault]int
	running    sync.WaitGroup
	users      *users

	published map[appcontext.Owner]publication
	known     map[string]time.Time // "cluster service target" to since when the store says so
	forgotten map[string]time.Time // "cluster service" to when the store was told to forget it
	withheld  map[string]time.Time // clusters that were ever drained, to until when; zero: they are
	health    health
	crowd     crowd
	turns     map[string]int // of a Service's endpoints, by "cluster service"
	installed []owner        // of an installation of regions

	stoodStill bool // a process did

	mu      sync.Mutex // what processes' goroutines reach
	pending []*call
	arrived chan struct{}
	round   int
	bundles map[string][]whole // by owner and cluster: what was current, in order
	broken  *Broken
}

func newWorld(seed uint64, p profile, all func(string)) *world {
	w := &world{
		seed: seed, random: rand.New(rand.NewPCG(seed, 1)), profile: p, kv: kvtest.NewFake(),
		sites: map[string]*site{}, replicas: make([]*process, p.replicas), lives: map[int]int{}, registered: map[string]time.Time{},
		trace: newTrace(all), points: map[string]int{}, faults: map[fault]int{},
		published: map[appcontext.Owner]publication{}, known: map[string]time.Time{}, forgotten: map[string]time.Time{}, withheld: map[string]time.Time{},
		arrived: make(chan struct{}, 1), bundles: map[string][]whole{}, health: newHealth(), crowd: newCrowd(), turns: map[string]int{},
	}
	for _, name := range w.siteNames() {
		w.sites[name] = newSite(name)
	}
	w.users = newUsers(w)
	if p.regions {
		w.install()
	} else {
		w.furnish()
	}
	return w
}

func (w *world) siteNames() []string {
	if w.profile.regions {
		return []string{berlin, boston, dallas, hub, paris}
	}
	return []string{berlin, hub, paris}
}

// bundleAt is what was current at a revision of the store.
func (w *world) bundleAt(key string, revision int64) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	digest := ""
	for _, one := range w.bundles[key] {
		if one.since <= revision {
			digest = one.digest
		}
	}
	return digest
}

// furnish puts the documents of the main story there, and the Services.
func (w *world) furnish() {
	u := w.users
	u.put("cluster-providers/edge", `{}`)
	for _, name := range []string{"hub", "berlin", "paris"} {
		u.put(intent.Join("cluster-providers/edge/clusters", name), `{"kubeconfigRef":"sealed","labels":{"region":"eu"}}`)
	}
	for nth, group := range w.groups() {
		app := appOf(group)
		w.foundProject(projectOf(group))
		u.put(group, spec(app, 1), cloudOf(group))
		u.put(group.Child("traffic-group-intents", "front"), `{}`)
		u.put(www(group), w.profile.names(app, app+".lab.example"))
		for n, name := range []string{berlin, paris} {
			w.sites[name].offer(serviceOf(group), fmt.Sprintf("203.0.113.%d%d", 1+nth, n))
		}
	}
	w.fillStalls()
}

// foundProject puts the documents of a project there that its groups share, unless
// they are there.
func (w *world) foundProject(project intent.Path) {
	u, cloud := w.users, project.Child("logical-clouds", "eu")
	if w.read(project, nil) {
		return
	}
	u.put(project, fmt.Sprintf(`{"namespace":"%s-dns","namespaces":[%q]}`, project.Name(), project.Name())) // strangers may have made it
	u.put(project.Child("dns-update-records", lab.Name()), record("lab.example", "sync"))
	u.put(project.Child("dns-update-records", corp.Name()), record("corp.example", "sync"))
	u.put(cloud, fmt.Sprintf(`{"namespace":%q,"controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`, project.Name()))
	for _, name := range []string{"berlin", "paris"} {
		u.put(cloud.Child("cluster-references", name), fmt.Sprintf(`{"clusterProvider":"edge","cluster":%q}`, name), intent.Join("cluster-providers/edge/clusters", name))
	}
	u.put(association(cloud), `{"kv":[{"key1":"lab"}]}`)
	u.put(project.Child("composite-apps", "store/v1"), `{"compositeAppVersion":"v1"}`)
}

func projectOf(group intent.Path) intent.Path {
	return intent.Join("projects", group.Segment("projects"))
}

func cloudOf(group intent.Path) intent.Path { return projectOf(group).Child("logical-clouds", "eu") }

// serviceOf is the Service of a group's app, as "namespace/name".
func serviceOf(group intent.Path) string { return projectOf(group).Name() + "/" + appOf(group) }

func record(domain, policy string) string {
	return fmt.Sprintf(`{"provider":"coredns","external-dns-parameters":{"domain-filter":[%q],"interval":"5s","policy":%q},
		"environment":{"ETCD_URLS":"http://10.0.0.5:2379"},"releaseTimeout":"10s"}`, domain, policy)
}

func spec(app string, edition int) string {
	return fmt.Sprintf(`{"logicalCloud":"eu","apps":[{"name":%q,"manifests":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s-settings"},"data":{"edition":"%d"}}]}]}`, app, app, edition)
}

// encode writes as JSON what always can be.
func encode(value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return raw
}

func association(of intent.Path) intent.Path { return of.Child("kv-pairs", intent.AssociationName) }

func www(group intent.Path) intent.Path {
	return group.Child("traffic-group-intents", "front").Child("dns-intents", "www")
}

// read decodes a stored document into something, nil for nothing, and tells
// whether it exists.
func (w *world) read(path intent.Path, into any) bool {
	doc, err := etcd.New(w.kv).Get(context.Background(), path)
	if err != nil {
		return false
	}
	return into == nil || json.Unmarshal(doc.Body, into) == nil
}

// lifecycle is the stored lifecycle of a group or a name, and whether there is one.
func (w *world) lifecycle(owner intent.Path) (state.Lifecycle, bool) {
	doc, err := etcd.New(w.kv).Get(context.Background(), state.LifecyclePath(owner))
	if err != nil {
		return state.Lifecycle{}, false
	}
	l, err := state.ReadLifecycle(doc)
	return l, err == nil
}

// body is a stored document's, empty when it does not exist.
func (w *world) body(path intent.Path) string {
	doc, err := etcd.New(w.kv).Get(context.Background(), path)
	if err != nil {
		return ""
	}
	return string(doc.Body)
}

// History is what a run tells.
type History struct {
	Hash   uint64
	Steps  int
	Took   time.Duration // virtual
	Points map[string]int
	Faults map[fault]int
	Broken *Broken
	Tail   string
}

// Bounds of virtual time.
const (
	chaosAtMost    = 150 * time.Second // for the script
	convergeWithin = 240 * time.Second // once nothing goes wrong any more (I3)
	othersWithin   = 120 * time.Second // for the other clusters, while one hangs (I7)
	remain         = 12 * time.Second  // what has converged must stay so: more than a scan and a probe
)

// live runs a world from its beginning to its rest.
func (w *world) live() History {
	w.beginAll()
	w.users.plan()
	w.run(w.users.done, chaosAtMost)
	w.settle()
	w.close()
	return w.told()
}

// told is the history of a world that is closed.
func (w *world) told() History {
	return History{
		Hash: w.trace.hash.Sum64(), Steps: w.steps, Took: time.Since(w.trace.began), Points: w.points, Faults: w.faults,
		Broken: w.broken, Tail: w.trace.tail(),
	}
}

// settle ends all that goes wrong, and checks that the world converges.
func (w *world) settle() {
	w.trace.add("-- calm")
	w.calm = true
	hung := ""
	if w.random.IntN(3) == 0 {
		hung = w.siteNames()[w.random.IntN(3)]
	}
	for _, name := range w.siteNames() {
		s := w.sites[name]
		s.down, s.hung = false, false
		s.version++
	}
	w.keepStill()
	if hung != "" && !w.moves() {
		w.sites[hung].hung, w.sites[hung].hungAt = true, time.Now()
		if w.profile.sick {
			w.run(func() bool { return false }, 2*unreachableAfter)
		}
		w.converge("I7", othersWithin, hung)
		w.sites[hung].hung = false
	}
	w.converge("I3", convergeWithin+w.longestDoubt(), "")
	w.makeRoom()
	w.run(func() bool { return false }, remain)
	if w.broken == nil {
		w.converge("I3", 0, "")
	}
	w.users.check()
}

// converge waits until all clusters but one are as they should be.
func (w *world) converge(invariant string, within time.Duration, except string) {
	looked, found := "", []string{}
	look := func() bool {
		if now := w.picture(); now != looked {
			looked, found = now, oracle{w, except}.differences()
			if except == "" {
				found = append(found, oracle{world: w}.atRest()...)
			}
		}
		return len(found) == 0
	}
	if !w.run(look, within) && w.broken == nil {
		w.breaks(w.blame(invariant, found), "after %s: %v", within, found)
	}
}

// blame names the invariant that says most about what was found.
func (w *world) blame(invariant string, found []string) string {
	some := func(what, kind string) bool {
		return slices.ContainsFunc(found, func(s string) bool { return strings.HasPrefix(s, what) && strings.Contains(s, kind) })
	}
	switch {
	case some("missing: ", "Deployment.apps"), some("left behind: ", "Deployment.apps"):
		return "I10"
	case invariant == "I3" && some("left behind: ", ""):
		return "I5"
	}
	return invariant
}

// picture changes whenever something does.
func (w *world) picture() string {
	out := fmt.Sprint(w.kv.Revision())
	for _, name := range w.siteNames() {
		out += fmt.Sprint(" ", w.sites[name].version)
	}
	return out
}

// close ends all processes and waits for their goroutines.
func (w *world) close() {
	for _, p := range w.living() {
		w.crash(p)
	}
	w.running.Wait()
}

// plant puts a stranger's object there, or changes it.
func (w *world) plant(s *site, o bundle.Object) {
	s.version++
	s.Plant(o)
	local := o.ID
	local.Cluster = ""
	live := s.Live(local)
	s.highest = max(s.highest, number(live.ResourceVersion))
	s.strangers[local] = *live
}
