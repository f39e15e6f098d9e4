package release_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/release"
	"github.com/signpost-dns/signpost/pkg/release/query"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/release/state/packed"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/documents/names"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
	"github.com/signpost-dns/signpost/pkg/storage/snapshot"
)

// Documents that the stories speak of.
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

// labOnHub is the external-dns that the main story uses.
var labOnHub = state.Use{Record: lab, Scope: intent.Public, Cluster: hub}

// clock tells the time that a story sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// world is a Service with its documents, and with clusters that do at once
// what their worker would have them do.
type world struct {
	testing.TB
	fake      *kvtest.Fake
	clock     *clock
	documents intent.Store // writes the users' documents
	contexts  *appcontext.Store
	ledger    *ledger.Ledger
	observed  *observed.Store
	options   release.Options
	service   *release.Service

	nodes     map[string][]placement.Node // of clusters that tell
	down      map[string]bool             // clusters that do not answer
	strangers map[string]bool             // "Kind name" of others' objects that are in the way

	begin func(owner intent.Path) (end func()) // is called around each step; nil: nobody counts
}

// packer is that of all worlds.
var packer = sync.OnceValue(func() *packed.Packer { return new(packed.Packer) })

// newWorld is a world without documents.
func newWorld(t testing.TB) *world {
	fake := kvtest.NewFake()
	c := &clock{now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
	w := &world{
		TB: t, fake: fake, clock: c,
		documents: etcd.New(fake, etcd.WithClock(c.Now), etcd.WithRandom(rand.NewChaCha8([32]byte{1}))),
		contexts:  appcontext.NewStore(fake, c.Now),
		ledger:    ledger.New(fake), observed: observed.New(fake),
		down: map[string]bool{}, strangers: map[string]bool{},
	}
	w.restartOn(fake)
	return w
}

// restartOn makes a new Service over the same data, as after a crash.
func (w *world) restartOn(below kv.KV) {
	store := &snapshot.Store{KV: below}
	w.options = release.Options{
		Documents: names.New(etcd.New(store, etcd.WithClock(w.clock.Now))), KV: store, DocumentKey: etcd.Key,
		Contexts: appcontext.NewStore(store, w.clock.Now), Ledger: ledger.New(store), Observed: observed.New(store),
		Installation: "k7wq2m9xhdr4", ControllerCluster: w.options.ControllerCluster, ImageRegistry: w.options.ImageRegistry, Quotas: w.options.Quotas, RequireDomains: w.options.RequireDomains,
		Packer: packer(), Live: w.options.Live, Now: w.clock.Now, Logger: slog.New(slog.DiscardHandler),
		TakeBytes: w.options.TakeBytes, OrchestratedNamespaces: w.options.OrchestratedNamespaces,
	}
	w.service = release.New(w.options)
}

// newShop is a world in which the main story was posted: two edges that offer
// a Service web, one record, and a group prod with one name.
func newShop(t testing.TB) *world {
	w := newWorld(t)
	w.put(shop, `{"namespace":"shop-dns"}`)
	w.put("cluster-providers/edge", `{}`)
	for _, name := range []string{"hub", "berlin", "paris"} {
		w.put(intent.Join("cluster-providers/edge/clusters", name), `{"kubeconfigRef":"sealed"}`)
	}
	w.put(lab, record("lab.example", ``))
	w.put(corp, record("corp.example", ``))
	w.put(eu, `{"namespace":"shop","controllerCluster":{"clusterProvider":"edge","cluster":"hub"}}`)
	w.member(eu, "berlin")
	w.member(eu, "paris")
	w.associate(eu, "lab")
	w.put("projects/shop/composite-apps/store/v1", `{"compositeAppVersion":"v1"}`)
	w.group(prod, "web", "www.lab.example")
	w.observe(berlin, "shop/web", "203.0.113.10")
	w.observe(paris, "shop/web", "203.0.113.20")
	return w
}

// record is the spec of a record for a domain; more is further JSON fields.
func record(domain, more string) string {
	return fmt.Sprintf(`{"provider":"coredns","external-dns-parameters":{"domain-filter":[%q],"interval":"5s","policy":"sync"},
		"environment":{"ETCD_URLS":"http://10.0.0.5:2379"},"releaseTimeout":"70s"%s}`, domain, more)
}

// recordWith is a record with more parameters.
func recordWith(domain, parameters string) string {
	return strings.Replace(record(domain, ``), `"policy":"sync"`, `"policy":"sync",`+parameters, 1)
}

// group puts a group with one app of one service, and a DNS intent for it.
func (w *world) group(path intent.Path, app, hostname string) {
	w.put(path, fmt.Sprintf(`{"logicalCloud":"eu","apps":[{"name":%q}]}`, app), eu)
	w.put(path.Child("traffic-group-intents", "front"), `{}`)
	w.put(www(path), fmt.Sprintf(`{"app":%q,"serviceName":%q,"hostnames":[%q]}`, app, app, hostname))
}

// www is the DNS intent of a group.
func www(group intent.Path) intent.Path {
	return group.Child("traffic-group-intents", "front").Child("dns-intents", "www")
}

func (w *world) member(cloud intent.Path, cluster string) {
	w.put(cloud.Child("cluster-references", cluster), fmt.Sprintf(`{"clusterProvider":"edge","cluster":%q}`, cluster),
		intent.Join("cluster-providers/edge/clusters", cluster))
}

// associate writes the records of a logical cloud or cluster.
func (w *world) associate(owner intent.Path, records ...string) {
	var pairs []string
	for n, name := range records {
		pairs = append(pairs, fmt.Sprintf(`{"key%d":%q}`, n+1, name))
	}
	w.put(owner.Child("kv-pairs", intent.AssociationName), `{"kv":[`+strings.Join(pairs, ",")+`]}`)
}

// put stores a document as the API does: its parent and refs must stay.
func (w *world) put(path intent.Path, spec string, refs ...intent.Path) {
	w.Helper()
	name, _, _ := strings.Cut(path.Name(), "/")
	body := fmt.Sprintf(`{"metadata":{"name":%q},"spec":%s}`, name, spec)
	if parent := path.Parent(); parent != "" {
		refs = append(refs, parent)
	}
	_, err := w.documents.Put(context.Background(), intent.Write{Path: path, Refs: refs, Body: []byte(body)})
	require.NoError(w, err)
}

func (w *world) delete(path intent.Path) error {
	return w.documents.Delete(context.Background(), path, intent.Always())
}

// fence holds always: a world has one worker.
var fence = kv.Compare{Key: "/nobody"}

// observe has a cluster offer addresses for a Service ("namespace/name").
func (w *world) observe(cluster, service string, addresses ...string) {
	w.Helper()
	o := address.Observation{Found: true}
	for n, a := range addresses {
		o.Candidates = append(o.Candidates, address.Candidate{Target: a, Field: fmt.Sprintf("status.loadBalancer.ingress[%d].ip", n)})
	}
	namespace, name, _ := strings.Cut(service, "/")
	writer, err := w.observed.Writer(context.Background(), cluster, fence)
	require.NoError(w, err)
	require.NoError(w, writer.SetService(context.Background(), namespace, name, o))
}

// applyAll plays the worker of every cluster that answers: what current
// contexts hold is applied, what they no longer hold is gone. Of a cluster
// that does not answer, only what is to be done is noted.
func (w *world) applyAll() {
	w.Helper()
	ctx := context.Background()
	pointers, _, err := w.contexts.Pointers(ctx)
	require.NoError(w, err)
	w.judge(pointers)
	clusters, err := w.ledger.Clusters(ctx)
	require.NoError(w, err)
	for _, p := range pointers {
		clusters = slices.AppendSeq(clusters, maps.Keys(p.Clusters))
	}
	slices.Sort(clusters)
	for _, cluster := range slices.Compact(clusters) {
		w.apply(cluster, pointers)
	}
}

func (w *world) apply(cluster string, pointers []appcontext.Pointer) {
	w.Helper()
	ctx := context.Background()
	abandoned, err := w.ledger.Abandoned(ctx, cluster)
	require.NoError(w, err)
	if abandoned != nil {
		return // it has no worker
	}
	wanted := map[bundle.ID]ledger.Entry{}
	for _, p := range pointers {
		if len(p.Clusters[cluster]) == 0 {
			continue
		}
		objects, _, err := w.contexts.ObjectsOn(ctx, p, cluster)
		if intent.CodeOf(err) == appcontext.ErrStale {
			return // others are at work: the next round applies it
		}
		require.NoError(w, err)
		for _, o := range objects {
			w.want(wanted, string(p.Owner), o)
		}
	}
	entries, err := w.ledger.Cluster(ctx, cluster)
	require.NoError(w, err)
	var puts []ledger.Entry
	var removes []bundle.ID
	for _, e := range entries {
		switch _, still := wanted[e.ID]; {
		case still:
		case w.down[cluster]:
			if !e.Going {
				e.Going, e.Status, e.Message = true, ledger.Retrying, "it does not answer"
				puts = append(puts, e)
			}
		default:
			removes = append(removes, e.ID)
		}
	}
	for id, e := range wanted {
		at := slices.IndexFunc(entries, func(known ledger.Entry) bool { return known.ID == id })
		if e.Since = w.clock.Now(); at >= 0 && entries[at].Status == e.Status && entries[at].Digest == e.Digest {
			e.Since = entries[at].Since
		}
		if at < 0 || !w.down[cluster] && !entries[at].Equal(e) {
			puts = append(puts, e)
		}
	}
	require.NoError(w, w.ledger.Write(ctx, fence, puts, removes))
}

// want adds an owner's object to what a cluster is to have.
func (w *world) want(wanted map[bundle.ID]ledger.Entry, owner string, o bundle.Object) {
	e, shared := wanted[o.ID]
	if shared {
		e.Owners = append(e.Owners, owner)
		wanted[o.ID] = e
		return
	}
	e = ledger.Entry{ID: o.ID, UID: "u", Digest: o.Digest(), Owners: []string{owner}, CreatedByUs: true, Status: ledger.Applied}
	switch {
	case w.down[o.Cluster]:
		e.Digest, e.Status, e.Message = "", ledger.Retrying, "it does not answer"
	case w.strangers[o.Kind+" "+o.Name] && o.Kind == "Namespace":
		e.UID, e.CreatedByUs = "", false // it is used as it is
	case w.strangers[o.Kind+" "+o.Name]:
		e.Digest, e.CreatedByUs, e.Status, e.Message = "", false, ledger.Failed, "conflict: it is not ours"
	}
	wanted[o.ID] = e
}

// rounds is how often everybody takes a step until a world has to be at rest.
const rounds = 40

var errRestless = errors.New("the world does not come to rest")

// rest has the controller and the workers take turns until nothing changes.
// It answers the error of a step that did not just lose a race. Who changed
// nothing takes another turn once something has changed since.
func (w *world) rest() error {
	_, err := w.restAll()
	return err
}

// restAll is rest, and tells what the last step of each group said: that it is settled.
func (w *world) restAll() (settled map[intent.Path]bool, err error) {
	const workers intent.Path = "" // beside the paths of owners
	settled, idle := map[intent.Path]bool{}, map[intent.Path]int64{}
	turn := func(who intent.Path, take func() error) error {
		before := w.fake.Revision()
		if at, idled := idle[who]; idled && at == before {
			return nil
		}
		err := take()
		if w.fake.Revision() == before {
			idle[who] = before
		}
		return err
	}
	for range rounds {
		before := w.fake.Revision()
		page, err := w.documents.List(context.Background(), intent.ListOptions{Collection: intent.LifecycleCollection})
		if err != nil {
			return nil, err
		}
		for _, doc := range page.Items {
			owner := intent.Path(strings.TrimPrefix(string(doc.Path), intent.LifecycleCollection+"/"))
			take := func() (err error) { settled[owner], err = w.stepped(owner); return err }
			if err := turn(owner, take); err != nil {
				return nil, err
			}
		}
		if err := turn(workers, func() error { w.applyAll(); return nil }); err != nil {
			return nil, err
		}
		if w.fake.Revision() == before {
			return settled, nil
		}
	}
	return nil, errRestless
}

func (w *world) step(owner intent.Path) error {
	_, err := w.stepped(owner)
	return err
}

// stepped is step, and tells whether a group is settled.
func (w *world) stepped(owner intent.Path) (settled bool, err error) {
	if w.begin != nil {
		defer w.begin(owner)()
	}
	if state.IsRecord(owner) {
		err = w.service.StepRecord(context.Background(), owner)
	} else {
		settled, err = w.service.StepGroup(context.Background(), owner)
	}
	if intent.CodeOf(err) == appcontext.ErrStale {
		return false, nil
	}
	return settled, err
}

// settle lets the world come to rest, and the groups with it.
func (w *world) settle(groups ...intent.Path) {
	w.Helper()
	settled, err := w.restAll()
	require.NoError(w, err)
	for _, group := range groups {
		if !settled[group] {
			require.Fail(w, "not settled", "%s is %s", group, w.state(group))
		}
	}
}

// outlive lets as much time pass as external-dns outlives its names.
func (w *world) outlive() {
	w.Helper()
	require.NoError(w, w.rest())
	w.clock.pass(70 * time.Second)
	require.NoError(w, w.rest())
}

// do asks for an action, which must be accepted.
func (w *world) do(action intent.Action, group intent.Path) intent.Accepted {
	w.Helper()
	accepted, err := w.try(action, group, "")
	require.NoError(w, err)
	return accepted
}

func (w *world) try(action intent.Action, group intent.Path, confirm string) (intent.Accepted, error) {
	call := w.service.Instantiate
	switch action {
	case intent.Update:
		call = w.service.Update
	case intent.Terminate:
		return w.service.Terminate(ann(group), group, false, confirm, "ann")
	}
	return call(ann(group), group, confirm, "ann")
}

// ann asks for something of a group; she has rights on its project alone.
func ann(group intent.Path) context.Context {
	own := group.Segment("projects")
	return intent.As(context.Background(), intent.Actor{Subject: "ann", Reads: func(project string) bool { return project == own }})
}

// running is prod of the main story, instantiated.
func running(t testing.TB) *world {
	w := newShop(t)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	return w
}

func (w *world) snapshot(group intent.Path) query.Snapshot {
	w.Helper()
	snap, err := w.service.Snapshot(context.Background(), group)
	require.NoError(w, err)
	return snap
}

func (w *world) state(group intent.Path) intent.State {
	w.Helper()
	snap := w.snapshot(group)
	return snap.Lifecycle.State()
}

func (w *world) plan(group intent.Path, action intent.Action) intent.Plan {
	w.Helper()
	plan, err := w.service.Plan(ann(group), group, action, 0)
	require.NoError(w, err)
	return plan
}

// objects are what an owner's current context holds, as "cluster Kind name".
func (w *world) objects(owner appcontext.Owner) []string {
	w.Helper()
	out := []string{}
	for _, o := range w.bundle(owner) {
		out = append(out, o.Cluster+" "+o.Kind+" "+o.Name)
	}
	return out
}

func (w *world) bundle(owner appcontext.Owner) bundle.Bundle {
	w.Helper()
	pointer, err := w.contexts.Current(context.Background(), owner)
	require.NoError(w, err)
	objects, err := w.contexts.Objects(context.Background(), pointer)
	require.NoError(w, err)
	return objects
}

// deployment is the Deployment of an external-dns in its current context,
// empty when it has none.
func (w *world) deployment(use state.Use) string {
	w.Helper()
	for _, o := range w.bundle(providerOwner(use)) {
		if o.Kind == "Deployment" {
			return string(o.JSON)
		}
	}
	return ""
}

func providerOwner(use state.Use) appcontext.Owner {
	return appcontext.ProviderOwner(string(use.Record), string(use.Scope), use.Cluster)
}

// published are the names of a group's current context with their targets, as
// "cluster record/scope: name type targets".
func (w *world) published(group intent.Path) []string {
	w.Helper()
	out := []string{}
	for _, o := range w.bundle(appcontext.Owner(group)) {
		var content struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				Endpoints []struct {
					DNSName, RecordType string
					Targets             []string
				}
			}
		}
		require.NoError(w, json.Unmarshal(o.JSON, &content))
		labels := content.Metadata.Labels
		for _, e := range content.Spec.Endpoints {
			out = append(out, fmt.Sprintf("%s %s/%s: %s %s %s", o.Cluster, labels[bundle.LabelRecord], labels[bundle.LabelScope],
				e.DNSName, e.RecordType, strings.Join(e.Targets, ",")))
		}
	}
	slices.Sort(out)
	return out
}

// inClusters are the objects that clusters hold, as "cluster Kind name", but
// for namespaces and definitions.
func (w *world) inClusters() []string {
	w.Helper()
	clusters, err := w.ledger.Clusters(context.Background())
	require.NoError(w, err)
	out := []string{}
	for _, cluster := range clusters {
		entries, err := w.ledger.Cluster(context.Background(), cluster)
		require.NoError(w, err)
		for _, e := range entries {
			if e.ID.Kind != "Namespace" && e.ID.Kind != "CustomResourceDefinition" {
				out = append(out, e.ID.Cluster+" "+e.ID.Kind+" "+e.ID.Name)
			}
		}
	}
	return out
}

// keys is the whole store, key by key, with the revisions that wrote them.
func (w *world) keys() map[string]int64 {
	w.Helper()
	items, _, err := w.fake.Range(context.Background(), kv.Range{})
	require.NoError(w, err)
	out := map[string]int64{}
	for _, item := range items {
		out[item.Key] = item.ModRevision
	}
	return out
}

// refuses checks that an action answers the code and says each of texts, that
// its plan says the same, and that the store is as it was.
func (w *world) refuses(action intent.Action, group intent.Path, texts ...string) {
	w.Helper()
	before := w.keys()
	plan := w.plan(group, action)
	require.NotEmpty(w, plan.Errors)
	_, err := w.try(action, group, "")
	require.Equal(w, intent.Conflict, intent.CodeOf(err), "%v", err)
	for _, text := range texts {
		require.ErrorContains(w, err, text)
		require.Contains(w, fmt.Sprint(plan.Errors), text)
	}
	require.Equal(w, before, w.keys(), "a refusal leaves no trace")
}
