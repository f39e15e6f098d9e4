package reconcile

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/cleanup"
	"github.com/signpost-dns/signpost/pkg/release/follow"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/offers"
	"github.com/signpost-dns/signpost/pkg/release/ownership"
	"github.com/signpost-dns/signpost/pkg/release/providers"
	"github.com/signpost-dns/signpost/pkg/release/removal"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

const (
	prod  intent.Path = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"
	lab   intent.Path = "projects/shop/dns-update-records/lab"
	hub               = "edge+hub"
	paris             = "edge+paris"
)

var (
	onHub   = state.Use{Record: lab, Scope: intent.Public, Cluster: hub}
	onParis = state.Use{Record: lab, Scope: intent.Public, Cluster: paris}
	atHub   = intent.Path("cluster-providers/edge/clusters/hub")
	noon    = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
)

// world is what a reconciler works on: a store of which each table says what is in it.
type world struct {
	testing.TB
	*Reconciler
}

func newWorld(t testing.TB) *world {
	fake, now := kvtest.NewFake(), func() time.Time { return noon }
	store := &state.Store{
		Documents: etcd.New(fake), KV: fake, Contexts: appcontext.NewStore(fake, now), Ledger: ledger.New(fake), Observed: observed.New(fake),
		Now: now, Logger: slog.New(slog.DiscardHandler), Wakeups: &state.Wakeups{},
	}
	reader := &inputs.Reader{Store: store}
	resolver := &resolve.Resolver{Store: store, Inputs: reader}
	owners, guard := &ownership.Registry{Store: store}, &removal.Guard{Store: store}
	renderer := &render.Renderer{Store: store, Resolver: resolver, Ownership: owners, Removal: guard}
	return &world{TB: t, Reconciler: &Reconciler{
		Store: store, Ownership: owners, Removal: guard, Renderer: renderer, Offers: &offers.Keeper{Store: store},
		Follower:         &follow.Follower{Store: store, EMCO: emco.NewStore(fake, now), Inputs: reader},
		Providers:        &providers.Updater{Store: store, Resolver: resolver, Ownership: owners, Removal: guard, Renderer: renderer, Cleanups: &cleanup.Keeper{Store: store}},
		SyncOrchestrated: func(context.Context, intent.Path, *state.Lifecycle) (bool, error) { return false, nil },
	}}
}

func (w *world) put(path intent.Path, body string) {
	_, err := w.Documents.Put(w.Context(), intent.Write{Path: path, Body: []byte(body)})
	require.NoError(w, err)
}

// objects are those of the context that a pointer names.
func (w *world) objects(p appcontext.Pointer) bundle.Bundle {
	objects, err := w.Contexts.Objects(w.Context(), p)
	require.NoError(w, err)
	return objects
}

// record pins the record lab at a home.
func (w *world) record(home string, moving bool) {
	ref, _ := intent.ParseCluster(home)
	w.put(ref.Path(), `{}`)
	w.put(lab, `{}`)
	_, err := w.SwapRecord(w.Context(), lab, state.RecordLifecycle{Seq: 1, Deployed: true, Moving: moving, Record: plan.Record{Path: lab, Name: "lab", Home: &ref}})
	require.NoError(w, err)
}

// release stores the release of prod, with a name in lab on hub.
func (w *world) release() {
	frozen, err := state.NewRelease(plan.Group{
		Path: prod, Project: plan.Project{Name: "shop"}, Clusters: []plan.Cluster{{Name: hub}}, Bindings: []plan.Binding{{Record: "lab", Scope: intent.Public, Cluster: hub}},
	}, nil)
	require.NoError(w, err)
	packed, err := w.Pack(frozen)
	require.NoError(w, err)
	require.NoError(w, w.SaveRelease(w.Context(), "11", packed))
}

// current commits a context of prod with one object, and has it applied or not.
func (w *world) current(applied bool) appcontext.Pointer {
	object := objectOn(hub)
	pointer, err := w.Contexts.Commit(w.Context(), appcontext.Pointer{Owner: state.GroupOwner(prod)}, appcontext.Context{ID: "11", Objects: bundle.Bundle{object}})
	require.NoError(w, err)
	if applied {
		w.holds(ledger.Entry{ID: object.ID, UID: "u", Digest: object.Digest(), Owners: []string{string(prod)}, CreatedByUs: true, Status: ledger.Applied})
	}
	return pointer
}

// cleansUp has the external-dns of lab outlive a DNSEndpoint that is there still.
func (w *world) cleansUp() {
	_, err := w.Contexts.Commit(w.Context(), appcontext.Pointer{Owner: onHub.Owner()}, appcontext.Context{ID: "12", Objects: bundle.Bundle{objectOn(hub)}})
	require.NoError(w, err)
	require.NoError(w, cleanup.Of(w.Store, onHub).Note(w.Context(), []cleanup.Cleanup{{Endpoint: "web"}}, w.Now()))
	w.holds(ledger.Entry{ID: bundle.ID{Cluster: hub, Kind: bundle.EndpointKind, Name: "web"}, CreatedByUs: true, Status: ledger.Applied})
}

func (w *world) holds(e ledger.Entry) {
	require.NoError(w, w.Ledger.Write(w.Context(), kv.Compare{Key: "/nobody"}, []ledger.Entry{e}, nil))
}

func objectOn(cluster string) bundle.Object {
	o, err := bundle.Parse(cluster, "web", []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web","namespace":"shop"}}`))
	if err != nil {
		panic(err)
	}
	return o
}

// TestEachReconcilerByItself: the lifecycle that it is given, in a world, the one that
// it leaves, and whether the step goes on.
func TestEachReconcilerByItself(t *testing.T) {
	t.Parallel()
	done := intent.Event{Time: noon, Actor: intent.Itself, Action: intent.Update, Revision: 1, Outcome: "completed"}
	running := state.Lifecycle{Seq: 1, ContextID: "11", Wanted: intent.Update}
	settled := running
	settled.Settled = true
	ended := settled
	ended.Wanted = intent.Terminate
	with := func(l state.Lifecycle, change func(l *state.Lifecycle)) state.Lifecycle { change(&l); return l }
	for _, c := range []struct {
		what, reconciler string
		given            func(w *world, on *step)
		in               state.Lifecycle
		outcome          state.Outcome
		out              state.Lifecycle
	}{
		{
			what: "a group that is suspended rests", reconciler: "suspension", in: running, outcome: state.AtRest, out: running,
			given: func(w *world, on *step) { w.put(prod, `{"spec":{"suspend":true}}`); on.pointer = w.current(false) },
		},
		{
			what: "what is to be terminated does not", reconciler: "suspension", in: ended, out: ended,
			given: func(w *world, _ *step) { w.put(prod, `{"spec":{"suspend":true}}`) },
		},

		{
			what: "the record is at home", reconciler: "moves", given: func(w *world, _ *step) { w.record(hub, false) },
			in:  with(running, func(l *state.Lifecycle) { l.Uses = []state.Use{onHub} }),
			out: with(running, func(l *state.Lifecycle) { l.Uses = []state.Use{onHub} }),
		},
		{
			what: "the record has moved: that is stored before anything follows", reconciler: "moves", outcome: state.Again,
			given: func(w *world, _ *step) { w.record(paris, true); w.release() },
			in:    with(running, func(l *state.Lifecycle) { l.Uses, l.Refs = []state.Use{onHub}, []intent.Path{atHub} }),
			out: with(running, func(l *state.Lifecycle) {
				l.Uses, l.Former, l.RemovedClusters = []state.Use{onParis}, []state.Use{onHub}, []string{}
				l.Refs = []intent.Path{atHub, "cluster-providers/edge/clusters/paris"}
			}),
		},
		{
			what: "the move is over: what is in the former home has to go", reconciler: "moves", outcome: state.Again,
			given: func(w *world, _ *step) { w.record(paris, false); w.release() },
			in:    with(running, func(l *state.Lifecycle) { l.Uses, l.Former = []state.Use{onParis}, []state.Use{onHub} }),
			out:   with(running, func(l *state.Lifecycle) { l.Uses, l.RemovedClusters = []state.Use{onParis}, []string{hub} }),
		},

		{
			what: "the context is as it should be, so that nothing fails any more", reconciler: "context",
			given: func(w *world, on *step) {
				on.pointer, on.before = w.current(false), bundle.Bundle{objectOn(hub)}
				on.next = render.Desired{Context: appcontext.Context{ID: "11", Objects: on.before}, Losses: &removal.Result{}}
			},
			in: with(running, func(l *state.Lifecycle) { l.Failure = "too large" }), out: running,
		},

		{what: "no provider is left", reconciler: "leaving", in: running, out: running},
		{
			what: "providers that the context relies on no longer are drained", reconciler: "leaving",
			in: with(running, func(l *state.Lifecycle) {
				l.Uses, l.Leaving, l.Refs = []state.Use{onHub}, []state.Use{onHub, onParis}, []intent.Path{lab, prod}
			}),
			out: with(running, func(l *state.Lifecycle) {
				l.Uses, l.Draining, l.Refs = []state.Use{onHub}, []state.Use{onParis}, []intent.Path{lab, prod}
			}),
		},

		{
			what: "one that the group has just left counts it still", reconciler: "draining", given: func(_ *world, on *step) { on.read.Draining = nil },
			in:  with(settled, func(l *state.Lifecycle) { l.Draining = []state.Use{onHub} }),
			out: with(settled, func(l *state.Lifecycle) { l.Draining = []state.Use{onHub} }),
		},
		{
			what: "one that is gone", reconciler: "draining", given: func(w *world, _ *step) { w.record(hub, false) },
			in: with(settled, func(l *state.Lifecycle) { l.Draining = []state.Use{onHub} }), out: settled,
		},
		{
			what: "one whose names are in the cluster still", reconciler: "draining", given: func(w *world, _ *step) { w.record(hub, false); w.cleansUp() },
			in:  with(settled, func(l *state.Lifecycle) { l.Draining = []state.Use{onHub} }),
			out: with(settled, func(l *state.Lifecycle) { l.Draining = []state.Use{onHub} }),
		},

		{
			what: "a cluster that holds something, and one that does not", reconciler: "removed clusters", given: func(w *world, _ *step) { w.current(true) },
			in: with(settled, func(l *state.Lifecycle) {
				l.RemovedClusters, l.Refs = []string{hub, paris}, []intent.Path{atHub, "cluster-providers/edge/clusters/paris"}
			}),
			out: with(settled, func(l *state.Lifecycle) { l.RemovedClusters, l.Refs = []string{hub}, []intent.Path{atHub} }),
		},

		{
			what: "not all is applied", reconciler: "completion", in: running, out: running,
			given: func(w *world, on *step) { on.pointer = w.current(false); on.before = w.objects(on.pointer) },
		},
		{
			what: "all is applied of what waits for nodes", reconciler: "completion", in: running, out: running,
			given: func(w *world, on *step) { on.pointer, on.next.Undecided = w.current(true), true },
		},
		{
			what: "all is applied", reconciler: "completion", in: running,
			given: func(w *world, on *step) { on.pointer = w.current(true); on.before = w.objects(on.pointer) },
			out:   with(settled, func(l *state.Lifecycle) { l.Done, l.Events = noon, []intent.Event{done} }),
		},
		{
			what: "not all is drained", reconciler: "completion",
			in:  with(ended, func(l *state.Lifecycle) { l.Settled, l.Draining = false, []state.Use{onHub} }),
			out: with(ended, func(l *state.Lifecycle) { l.Settled, l.Draining = false, []state.Use{onHub} }),
		},

		{
			what: "nothing is taken over for nothing", reconciler: "takeover",
			in: with(ended, func(l *state.Lifecycle) { l.Taking = "projects/shop/composite-apps/old" }), out: ended,
		},
		{
			what: "a takeover waits for what takes", reconciler: "takeover",
			in:  with(running, func(l *state.Lifecycle) { l.Taking = "projects/shop/composite-apps/old" }),
			out: with(running, func(l *state.Lifecycle) { l.Taking = "projects/shop/composite-apps/old" }),
		},

		{what: "all is done", reconciler: "freed names", in: settled, outcome: state.AtRest, out: settled},
		{what: "it is not applied yet", reconciler: "freed names", in: running, outcome: state.Again, out: running},
		{
			what: "something newer may have come", reconciler: "freed names", in: settled, outcome: state.Again, out: settled,
			given: func(_ *world, on *step) { on.wrote = true },
		},
		{
			what: "the names of a release that is gone are nobody's", reconciler: "freed names", outcome: state.AtRest,
			in:  with(ended, func(l *state.Lifecycle) { l.PendingRelease = []string{"10"} }),
			out: with(ended, func(l *state.Lifecycle) { l.Cleared = noon }),
		},
	} {
		t.Run(c.reconciler+": "+c.what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			on := &step{group: prod, read: c.in, lifecycle: c.in, pointer: appcontext.Pointer{Owner: state.GroupOwner(prod)}}
			if c.given != nil {
				c.given(w, on)
			}
			outcome, err := w.named(c.reconciler)(t.Context(), on)
			require.NoError(t, err)
			require.Equal(t, c.outcome, outcome)
			want, err := json.Marshal(c.out)
			require.NoError(t, err)
			is, err := json.Marshal(on.lifecycle)
			require.NoError(t, err)
			require.Equal(t, string(want), string(is))
		})
	}
}

func (w *world) named(reconciler string) func(context.Context, *step) (state.Outcome, error) {
	for _, r := range w.reconcilers() {
		if r.Name == reconciler {
			return r.Reconcile
		}
	}
	require.Fail(w, "no reconciler is called "+reconciler)
	return nil
}
