package nameindex

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/plan/provider"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

const (
	hub  = "edge+hub"
	prod = intent.Path("projects/shop/composite-apps/store/v1/deployment-intent-groups/prod")
)

// world is an Index, its Feed, and the stores that the Feed reads.
type world struct {
	*testing.T
	fake  *kvtest.Fake
	store *state.Store
	index *Index
	feed  *Feed
	down  atomic.Bool // etcd does not answer

	known   map[string]*observed.Published // by "namespace/name" of the DNSEndpoint
	answers map[string]*observed.Answers   // likewise
}

// newWorld makes the stores. told says whether the store of documents tells of changes.
func newWorld(t *testing.T, told bool) *world {
	fake := kvtest.NewFake()
	documents := etcd.New(fake)
	w := &world{T: t, fake: fake, index: New(time.Now), known: map[string]*observed.Published{}, answers: map[string]*observed.Answers{}}
	fake.Before = func(string, string) error {
		if w.down.Load() {
			return &intent.Error{Code: intent.Unavailable, Detail: "etcd does not answer"}
		}
		return nil
	}
	w.store = &state.Store{Documents: documents, KV: fake, Ledger: ledger.New(fake), Observed: observed.New(fake), Now: time.Now, Logger: slog.New(slog.DiscardHandler)}
	w.feed = &Feed{Store: w.store, Index: w.index}
	if told {
		w.feed.Watch = documents.Watch
	}
	return w
}

// run runs the Feed until the test ends.
func (w *world) run() {
	ctx, end := context.WithCancel(w.Context())
	done := make(chan error)
	go func() { done <- w.feed.Run(ctx) }()
	w.Cleanup(func() {
		end()
		require.NoError(w, <-done)
	})
	synctest.Wait()
}

// nameOwner is the path of a name document.
func nameOwner(project, host string) intent.Path {
	return intent.Join("projects", project, "names", host)
}

// groupOf is the release of an owner that gives host names, in the public scope, with
// addresses of clusters.
func groupOf(owner intent.Path, record string, sources []string, hosts ...string) plan.Group {
	project := owner.Segment("projects")
	b := plan.Binding{App: "web", Service: "web", Namespace: project, Record: record, Scope: intent.Public, Cluster: hub, Sources: sources}
	for _, host := range hosts {
		b.Hosts = append(b.Hosts, plan.Host{Name: host})
	}
	return plan.Group{Path: owner, Name: owner.Name(), Project: plan.Project{Name: project, Namespace: project + "-dns"}, Bindings: []plan.Binding{b}}
}

// put stores an owner's lifecycle with a release.
func (w *world) put(g plan.Group, is state.Lifecycle) {
	w.Helper()
	release, err := state.NewRelease(g, nil)
	require.NoError(w, err)
	raw, err := w.store.Pack(release)
	require.NoError(w, err)
	is.ContextID = fmt.Sprintf("%d", w.fake.Revision()+1)
	another := state.Store{KV: w.store.KV} // which remembers nothing for the one that reads
	require.NoError(w, another.SaveRelease(w.Context(), is.ContextID, raw))
	body, err := json.Marshal(is)
	require.NoError(w, err)
	_, err = w.store.Documents.Put(w.Context(), intent.Write{Path: state.LifecyclePath(g.Path), Body: body, Condition: intent.Always()})
	require.NoError(w, err)
}

// deployed is the lifecycle of an owner that is in the clusters.
func deployed() state.Lifecycle {
	return state.Lifecycle{Seq: 1, Wanted: intent.Instantiate, Settled: true}
}

func instantiated() *state.Lifecycle {
	l := deployed()
	return &l
}

// fence holds always: the world has one worker.
func fence() kv.Compare { return kv.Compare{Key: "/nobody"} }

func (w *world) writer(cluster string) *observed.Writer {
	w.Helper()
	writer, err := w.store.Observed.Writer(w.Context(), cluster, fence())
	require.NoError(w, err)
	return writer
}

// apply has the cluster hold the DNSEndpoint of a group in a generation.
func (w *world) apply(g plan.Group, generation int64, status ledger.Status) {
	w.Helper()
	message := ""
	if status == ledger.Failed {
		message = "the cluster says why"
	}
	require.NoError(w, w.store.Ledger.Write(w.Context(), fence(), []ledger.Entry{{ID: endpoints.ID(g, g.Bindings[0]), UID: "u", Generation: generation, Status: status, Message: message}}, nil))
}

// answer has the servers answer a verdict for the names of a group, with a message.
func (w *world) answer(g plan.Group, verdict, message string) {
	w.Helper()
	names := w.answers[g.Project.Namespace+"/"+endpoints.Name(g, g.Bindings[0])].Names
	for n := range names {
		names[n].Verdict, names[n].Message = verdict, message
	}
	require.NoError(w, w.writer(hub).SetAnswers(w.Context(), w.answers))
}

// reach has the hub be reached, or not.
func (w *world) reach(r observed.Reachability) {
	w.Helper()
	require.NoError(w, w.writer(hub).SetReachability(w.Context(), r))
}

// asked has the servers have been asked for the names of a group at a time.
func (w *world) asked(g plan.Group, at time.Time, verdict, message string) {
	w.Helper()
	names := w.answers[g.Project.Namespace+"/"+endpoints.Name(g, g.Bindings[0])].Names
	for n := range names {
		names[n].Answers = []intent.Answer{{Server: "192.0.2.53:53", At: at}}
	}
	w.answer(g, verdict, message)
}

// sync has external-dns put the DNSEndpoint through in a generation, and the servers
// answer a verdict for its names.
func (w *world) sync(g plan.Group, generation int64, verdict string) {
	w.Helper()
	b := g.Bindings[0]
	writer := w.writer(b.Cluster)
	at := g.Project.Namespace + "/" + endpoints.Name(g, b)
	require.NoError(w, writer.SetReachability(w.Context(), observed.Reachability{Reachable: true, Since: time.Now()}))
	require.NoError(w, writer.SetDeployment(w.Context(), g.Project.Namespace, provider.DeploymentName(b.Record, b.Scope), observed.Deployment{Available: true, Sync: &observed.Sync{}}))
	w.known[at] = &observed.Published{UID: "u", Generation: generation}
	require.NoError(w, writer.ChangePublished(w.Context(), w.known, map[string]bool{}))
	answers := &observed.Answers{}
	for _, host := range b.Hosts {
		answers.Names = append(answers.Names, observed.NameAnswer{Name: host.Name, Type: "A", Verdict: verdict})
	}
	w.answers[at] = answers
	require.NoError(w, writer.SetAnswers(w.Context(), w.answers))
}

// published publishes host names of an owner, so that the servers answer them.
func (w *world) published(owner intent.Path, record string, hosts ...string) plan.Group {
	w.Helper()
	g := groupOf(owner, record, []string{"edge+berlin"}, hosts...)
	w.put(g, deployed())
	w.apply(g, 1, ledger.Applied)
	w.sync(g, 1, "Matches")
	return g
}

// find is what a query finds, a line for each name, once the Feed has come to rest.
func (w *world) find(q intent.NameQuery) []string {
	w.Helper()
	synctest.Wait()
	if q.Limit == 0 {
		q.Limit = 100
	}
	if q.Sees == nil {
		q.Sees = func(string) bool { return true }
	}
	page, err := w.index.FindNames(q)
	require.NoError(w, err)
	return lines(page)
}

func lines(page intent.NamePage) []string {
	var out []string
	for _, n := range page.Items {
		out = append(out, strings.Join([]string{n.Name, n.Owner.Name(), n.Provider, string(n.State), n.Published, n.Verified}, " "))
	}
	return out
}

// endpointID is the DNSEndpoint of a group.
func endpointID(g plan.Group) bundle.ID { return endpoints.ID(g, g.Bindings[0]) }

// seesOnly is the right to read some projects.
func seesOnly(projects ...string) func(string) bool {
	return func(project string) bool { return slices.Contains(projects, project) }
}

// damage spoils what is stored of observations and ledgers.
func (w *world) damage() {
	w.Helper()
	for _, prefix := range []string{"/signpost/observed/", "/signpost/ledger/"} {
		items, _, err := w.fake.Range(w.Context(), kv.Range{Prefix: prefix})
		require.NoError(w, err)
		require.NotEmpty(w, items)
		for _, item := range items {
			_, _, err := w.fake.Txn(w.Context(), nil, kv.Put(item.Key, []byte("{")))
			require.NoError(w, err)
		}
	}
}
