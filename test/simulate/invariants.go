package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/plan/provider"
	"github.com/signpost-dns/signpost/pkg/plan/workloads"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

// breaks notes that an invariant does not hold. The first one counts.
func (w *world) breaks(invariant, format string, values ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken == nil {
		w.broken = &Broken{Invariant: invariant, What: fmt.Sprintf(format, values...)}
	}
}

// written looks at what a transaction has just changed.
func (w *world) written(by *process, ops []kv.Op) {
	for _, op := range ops {
		switch {
		case strings.HasPrefix(op.Key, "/signpost/ledger/"), strings.HasPrefix(op.Key, "/signpost/cluster/"), strings.HasPrefix(op.Key, "/signpost/observed/"):
			w.checkOwner(by, op.Key)
		}
		switch {
		case strings.HasPrefix(op.Key, "/signpost/doc/"):
			w.checkReferences(op)
			w.noteDrained(op)
		case strings.HasPrefix(op.Key, "/signpost/current/"):
			w.checkPointer(ownerOf(op.Key))
		case strings.HasPrefix(op.Key, "/signpost/ledger/") && !op.Delete:
			w.checkEntry(op)
		case strings.Contains(op.Key, "/service/") && !op.Delete:
			w.checkObservation(op)
		case strings.Contains(op.Key, "/service/"):
			w.forgotten[observedService(op.Key)] = time.Now()
		case strings.HasPrefix(op.Key, "/signpost/observed/") && strings.HasSuffix(op.Key, "/reachability") && !op.Delete:
			w.noteReach(op)
		}
	}
}

// ownerOf is whose pointer a key is, or what stands beside it.
func ownerOf(key string) appcontext.Owner {
	return appcontext.Owner(strings.TrimPrefix(strings.TrimPrefix(key, "/signpost/current/"), "touched/"))
}

// checkOwner: what is written about a cluster is written by the worker that
// owns it (I10).
func (w *world) checkOwner(by *process, key string) {
	name, _, _ := strings.Cut(strings.SplitN(key, "/", 4)[3], "/")
	item, _, err := w.kv.Get(context.Background(), "/signpost/workers/"+name)
	if err != nil || item == nil || string(item.Value) != by.name {
		w.breaks("I10", "%s, which does not own %s, writes %s", by.name, name, key)
	}
}

// checkReferences: no document refers to one that does not exist (I10).
func (w *world) checkReferences(op kv.Op) {
	path := pathOf(op.Key)
	if !op.Delete {
		refs, err := refsIn(op.Value)
		if err != nil {
			w.breaks("I1", "%s is damaged: %v", path, err)
		}
		for _, to := range refs {
			if !w.read(to, nil) {
				w.breaks("I10", "%s refers to %s, which does not exist", path, to)
			}
		}
		return
	}
	items, _, _ := w.kv.Range(context.Background(), kv.Range{Prefix: "/signpost/doc/"}) // the fake's own
	for _, item := range items {
		if refs, err := refsIn(item.Value); err == nil && slices.Contains(refs, path) {
			w.breaks("I10", "%s was deleted, and %s refers to it", path, pathOf(item.Key))
		}
	}
}

// refsIn are the documents that a stored document refers to.
func refsIn(value []byte) (refs []intent.Path, err error) {
	var doc struct{ Refs map[string][]string }
	err = json.Unmarshal(value, &doc)
	for collection, names := range doc.Refs {
		for _, name := range names {
			refs = append(refs, intent.Join(collection, name))
		}
	}
	return refs, err
}

func pathOf(key string) intent.Path {
	return intent.Path(strings.Replace(strings.TrimPrefix(key, "/signpost/doc/"), "//", "/", 1))
}

// checkEntry: the ledger claims Applied only of what was applied (I6).
func (w *world) checkEntry(op kv.Op) {
	var e ledger.Entry
	segments := strings.Split(strings.TrimPrefix(op.Key, "/signpost/ledger/"), "/")
	if json.Unmarshal(op.Value, &e) != nil || len(segments) != 5 || e.Status != ledger.Applied || !e.CreatedByUs {
		return
	}
	id := bundle.ID{Cluster: segments[0], Group: segments[1], Kind: segments[2], Namespace: segments[3], Name: segments[4]}
	if id.Group == "core" {
		id.Group = ""
	}
	if id.Namespace == "_" {
		id.Namespace = ""
	}
	if !w.sites[id.Cluster].applied[id][e.Digest] {
		w.breaks("I6", "the ledger says that %s is applied with a content that it never had", id)
	}
}

// stale is how old a picture of a cluster may be when it is written down: as
// long as a process may stand still, and some.
const stale = 90 * time.Second

// observedService is the cluster and the Service of a key, as "cluster namespace/name".
func observedService(key string) string {
	cluster, service, _ := strings.Cut(strings.TrimPrefix(key, "/signpost/observed/"), "/service/")
	return cluster + " " + service
}

// checkObservation: what is written down of a Service was true a short time
// ago (I11: unknown is not empty).
func (w *world) checkObservation(op kv.Op) {
	segments := strings.Split(strings.TrimPrefix(op.Key, "/signpost/observed/"), "/")
	var o address.Observation
	if err := json.Unmarshal(op.Value, &o); err != nil || len(segments) != 4 {
		return
	}
	service := segments[2] + "/" + segments[3]
	if !w.sites[segments[0]].was(service, o, time.Now().Add(-stale)) {
		w.breaks("I11", "%s on %s was never seen to offer %s", service, segments[0], op.Value)
	}
	delete(w.forgotten, segments[0]+" "+service)
	w.noteReadiness(segments[0], service, o)
	for _, c := range o.Candidates {
		key := segments[0] + " " + service + " " + c.Target
		if _, known := w.known[key]; !known {
			w.known[key] = time.Now()
		}
	}
	for key := range w.known {
		if rest, ok := strings.CutPrefix(key, segments[0]+" "+service+" "); ok &&
			!slices.ContainsFunc(o.Candidates, func(c address.Candidate) bool { return c.Target == rest }) {
			delete(w.known, key)
		}
	}
}

// checkPointer: what has become current is a whole bundle of one release (I2),
// and publishes no less than before unless something else was observed (I11).
func (w *world) checkPointer(owner appcontext.Owner) {
	ctx := context.Background()
	contexts := appcontext.NewStore(w.kv, time.Now)
	p, err := contexts.Current(ctx, owner)
	if err != nil {
		w.breaks("I2", "the pointer of %s: %v", owner, err)
		return
	}
	objects, err := contexts.Objects(ctx, p)
	if err != nil {
		w.breaks("I2", "the context of %s: %v", owner, err)
		return
	}
	for name := range p.Clusters {
		key := bundleKey(owner, name)
		w.bundles[key] = append(w.bundles[key], whole{p.Revision(), digestOf(objects, name)})
	}
	if record, scope, name, is := owner.Provider(); is {
		w.checkProvider(objects, intent.Path(record), intent.Scope(scope), name, p.ContextID != "")
		return
	}
	if p.ContextID == "" {
		delete(w.published, owner)
		w.forgive(owner)
		return
	}
	r, err := oracle{world: w}.release(p.ContextID)
	if err != nil {
		w.breaks("I2", "the release %s of %s: %v", p.ContextID, owner, err)
		return
	}
	w.checkWhole(owner, r, objects)
	w.checkTargets(owner, p, r, objects)
	w.checkCrowd(owner, r, objects)
	w.checkNames(objects...)
}

// whole is what an owner had on a cluster from a revision of the store on.
type whole struct {
	since  int64
	digest string
}

func bundleKey(owner appcontext.Owner, name string) string { return string(owner) + " on " + name }

func digestOf(objects []bundle.Object, name string) string {
	var out strings.Builder
	for _, o := range objects {
		if o.Cluster == name {
			out.WriteString(o.ID.String() + " " + o.Digest() + "\n")
		}
	}
	return out.String()
}

// checkWhole compares a group's bundle with its release: the workloads byte by
// byte, of the DNSEndpoints that they are the release's.
func (w *world) checkWhole(owner appcontext.Owner, r state.Release, objects []bundle.Object) {
	if appcontext.Owner(r.Group.Path) != owner {
		w.breaks("I2", "the context of %s is of a release of %s", owner, r.Group.Path)
	}
	should, _, err := workloads.Render(context.Background(), r.Group)
	if err != nil {
		w.breaks("I2", "%v", err)
	}
	possible := map[string]bool{}
	for _, b := range r.Group.Bindings {
		for _, at := range w.homes(b) {
			possible[at.Cluster+" "+endpoints.Name(r.Group, at)] = true
		}
	}
	for _, want := range should {
		if !slices.ContainsFunc(objects, func(o bundle.Object) bool { return o.ID == want.ID && bytes.Equal(o.JSON, want.JSON) }) {
			w.breaks("I2", "the bundle of %s lacks %s, or has another", owner, want.ID)
		}
	}
	for _, o := range objects {
		is := func(want bundle.Object) bool { return want.ID == o.ID }
		if !slices.ContainsFunc(should, is) && (o.Kind != bundle.EndpointKind || !possible[o.Cluster+" "+o.Name]) {
			w.breaks("I2", "the bundle of %s has %s, which is not of its release", owner, o.ID)
		}
	}
}

func (w *world) checkProvider(objects []bundle.Object, record intent.Path, scope intent.Scope, name string, there bool) {
	if !there {
		return
	}
	should, _, err := provider.Render(plan.Provider{Record: oracle{world: w}.record(record), Scope: scope, Cluster: name})
	if err != nil {
		w.breaks("I2", "%v", err)
	}
	same := func(a, b bundle.Object) bool { return a.ID == b.ID }
	if !slices.EqualFunc(objects, should, same) {
		w.breaks("I2", "the bundle of external-dns of %s on %s is not whole", record, name)
	}
}

// publication is what a group publishes.
type publication struct {
	context string
	targets map[string]time.Time // "binding host target" to since when
}

func (w *world) checkTargets(owner appcontext.Owner, p appcontext.Pointer, r state.Release, objects []bundle.Object) {
	l, _ := w.lifecycle(intent.Path(owner))
	before := w.published[owner]
	now := publication{context: p.ContextID, targets: map[string]time.Time{}}
	for _, b := range unyielded(r.Group, l).Bindings {
		name, some := endpoints.Name(r.Group, b), false
		for _, target := range w.targets(r.Group, b, objects) {
			key := name + " " + target
			now.targets[key], some = time.Now(), true
			if since, was := before.targets[key]; was {
				now.targets[key] = since
			}
		}
		for key, since := range before.targets {
			target, mine := strings.CutPrefix(key, name+" ")
			if _, still := now.targets[key]; mine && !still && before.context == p.ContextID {
				w.checkShrink(owner, b, target, since, l.Since, some)
			}
		}
	}
	w.published[owner] = now
}

// homes is a binding at each home that its record may have. A name in one cluster alone asks for a home there, and
// follows its provider if somebody else's release has given that another one meanwhile.
func (w *world) homes(b plan.Binding) []plan.Binding {
	if !w.profile.operators && !w.profile.named || b.Scope != intent.Public {
		return []plan.Binding{b}
	}
	var out []plan.Binding
	for _, b.Cluster = range w.siteNames() {
		out = append(out, b)
	}
	return out
}

// targets are what a group's objects publish for a binding.
func (w *world) targets(g plan.Group, b plan.Binding, objects []bundle.Object) []string {
	var out []string
	for _, at := range w.homes(b) {
		name := endpoints.Name(g, at)
		for _, o := range objects {
			if o.Name == name && o.Kind == bundle.EndpointKind && o.Cluster == at.Cluster {
				out = append(out, targetsOf(o)...)
			}
		}
	}
	return out
}

// checkShrink: a target goes only if a cluster was seen not to offer it, or is
// drained, or was seen not to be healthy while there is some other target. What was
// forgotten before the release was accepted is not known any more: nobody wanted it then.
func (w *world) checkShrink(owner appcontext.Owner, b plan.Binding, target string, since, accepted time.Time, some bool) {
	for _, source := range b.Sources {
		service := source + " " + b.Namespace + "/" + b.Service
		forgotten, is := w.forgotten[service]
		if w.withholds(source) || w.excused(source, b, some) || is && forgotten.Before(accepted) {
			continue
		}
		known, is := w.known[service+" "+target]
		if is && !known.After(since) {
			w.breaks("I11", "%s no longer publishes %s, which %s was seen to offer all the time", owner, target, source)
		}
	}
}

func targetsOf(o bundle.Object) []string {
	var content struct {
		Spec struct {
			Endpoints []struct {
				DNSName string
				Targets []string
			}
		}
	}
	var out []string
	if json.Unmarshal(o.JSON, &content) == nil {
		for _, e := range content.Spec.Endpoints {
			for _, target := range e.Targets {
				if !slices.Contains(out, target) {
					out = append(out, target)
				}
			}
		}
	}
	return out
}

// touched looks at a cluster after a write: strangers' objects are as their
// owners left them (I4).
func (w *world) touched(s *site, id bundle.ID, verb string, err error) {
	if err != nil {
		return
	}
	id.Cluster = ""
	w.checkStranger(s, id, verb)
	w.checkApplied(s, id)
	w.checkAlone(s, id)
}

// checkAlone: no two external-dns of a record work on the same names at once,
// also while it moves (I10). Every external-dns here is one of public names.
func (w *world) checkAlone(s *site, id bundle.ID) {
	if id.Kind != "Deployment" || !s.works(id) {
		return
	}
	for _, name := range w.siteNames() {
		if name != s.name && w.sites[name].works(id) {
			w.breaks("I10", "%s works on %s and on %s at once", id, s.name, name)
		}
	}
}

func (w *world) checkStranger(s *site, id bundle.ID, verb string) {
	left, theirs := s.strangers[id]
	if !theirs {
		return
	}
	if now := s.Live(id); now == nil || now.Version != left.Version {
		w.breaks("I4", "%s of %s on %s, which is a stranger's", verb, id, s.name)
	}
}

// reader is the app contexts as the workers read them. Whatever it reads is a
// bundle that was current as a whole (I2).
type reader struct {
	*appcontext.Store
	world *world
}

// ObjectsOn implements syncer.Contexts.
func (r *reader) ObjectsOn(ctx context.Context, p appcontext.Pointer, name string) (bundle.Bundle, int64, error) {
	objects, revision, err := r.Store.ObjectsOn(ctx, p, name)
	if err == nil && len(objects) > 0 {
		if was := r.world.bundleAt(bundleKey(p.Owner, name), revision); was != digestOf(objects, name) {
			r.world.breaks("I2", "a reader of %s on %s got objects that were not current together at %d", p.Owner, name, revision)
		}
	}
	return objects, revision, err
}
