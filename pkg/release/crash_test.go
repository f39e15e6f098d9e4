package release_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

var errCrashed = errors.New("the process is dead")

// mortal is the store as a process sees it that dies at one of its writes:
// from then on nothing that it asks for happens.
type mortal struct {
	kv.KV
	writes int  // how many it has asked for
	last   int  // the write at which it dies, 0: never
	after  bool // it dies when the write has happened, and does not learn of it
	dead   bool
}

func (m *mortal) Txn(ctx context.Context, when []kv.Compare, then ...kv.Op) (bool, int64, error) {
	if m.dead {
		return false, 0, errCrashed
	}
	m.writes++
	if m.dead = m.writes == m.last; !m.dead {
		return m.KV.Txn(ctx, when, then...)
	}
	if m.after {
		_, _, _ = m.KV.Txn(ctx, when, then...)
	}
	return false, 0, errCrashed
}

func (m *mortal) Get(ctx context.Context, key string) (*kv.Item, int64, error) {
	if m.dead {
		return nil, 0, errCrashed
	}
	return m.KV.Get(ctx, key)
}

func (m *mortal) Range(ctx context.Context, r kv.Range) ([]kv.Item, int64, error) {
	if m.dead {
		return nil, 0, errCrashed
	}
	return m.KV.Range(ctx, r)
}

// life is a story in parts, told to a process that may die once.
type life struct {
	*world
	process *mortal
	acked   map[string]intent.Accepted // what requests were answered, by the part
}

// part tells one part of the story. After a crash another process begins, and
// whoever asked asks again.
func (l *life) part(do func() error) {
	l.Helper()
	err := do()
	if errors.Is(err, errCrashed) {
		l.restartOn(l.fake)
		l.process.dead = false
		err = do()
	}
	require.NoError(l, err)
}

func (l *life) ask(part string, action intent.Action, group intent.Path) {
	l.Helper()
	l.part(func() error {
		accepted, err := l.try(action, group, "")
		if err == nil {
			l.acked[part] = accepted
		}
		return err
	})
}

// told tells a whole story, and answers what is to be compared wherever it
// rests.
func (l *life) told(tell func(l *life, rest func())) []string {
	l.Helper()
	var chapters []string
	tell(l, func() {
		l.Helper()
		l.part(l.rest)
		chapters = append(chapters, l.picture())
	})
	return chapters
}

// tellGroup is the whole life of a deployment intent group.
func tellGroup(l *life, rest func()) {
	l.ask("instantiate", intent.Instantiate, prod)
	rest()
	l.observe(berlin, "shop/web", "203.0.113.11")
	rest()
	l.associate(eu, "lab", "corp")
	l.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["www.corp.example","new.lab.example"]}`)
	l.ask("update", intent.Update, prod)
	rest()
	l.askRollback(prod)
	rest()
	l.put(lab, strings.Replace(record("lab.example", ``), `"sync"`, `"upsert-only"`, 1))
	l.part(func() error { _, err := l.service.UpdateRecord(context.Background(), lab, "", "", "ann"); return err })
	rest()
	l.ask("terminate", intent.Terminate, prod)
	rest()
	l.clock.pass(70 * time.Second)
	rest()
}

// tellCloud is the whole life of a logical cloud's DNS.
func tellCloud(l *life, rest func()) {
	l.ask("instantiate", intent.Instantiate, eu)
	rest()
	l.resolve(`[{"domain":"bar.com","nameservers":["9.9.9.9"]}]`, `,"nodePlacement":{"nodeSelector":{"disktype":"ssd"}}`)
	l.nodes[paris] = []placement.Node{{Name: "p1", Labels: map[string]string{"disktype": "ssd"}}}
	l.ask("update", intent.Update, eu)
	rest()
	l.askRollback(eu)
	rest()
	l.ask("terminate", intent.Terminate, eu)
	rest()
}

// tellOrchestrated is the life of a group that EMCO's orchestrator deploys.
func tellOrchestrated(l *life, rest func()) {
	l.podsAsk(podsNone)
	l.writeContext(firstContext)
	l.extend(firstContext, "")
	l.tell(firstContext, "Instantiate", "")
	l.post(firstContext, intent.Instantiate)
	rest()
	l.serve("two.lab.example")
	l.writeContext(secondContext)
	l.extend(secondContext, firstContext)
	l.replace(firstContext, secondContext)
	l.post(secondContext, intent.Update)
	rest()
	l.tell(firstContext, "Update", secondContext)
	l.post(firstContext, intent.Update)
	rest()
	l.tell(secondContext, "UpdateDelete", firstContext)
	l.replace(firstContext, secondContext)
	rest() // by the state alone
	l.part(func() error { return l.service.TerminateContext(context.Background(), secondContext) })
	l.tell(secondContext, "Terminate", "")
	l.post(secondContext, intent.Terminate)
	rest()
	l.clock.pass(70 * time.Second)
	rest()
	l.vanish(firstContext)
	l.vanish(secondContext)
}

// extend is UpdateAppContext.
func (l *life) extend(id, from string) {
	l.Helper()
	l.part(func() error {
		_, err := l.service.UpdateContext(context.Background(), id, "front", from)
		return err
	})
}

func (l *life) post(id string, event intent.Action) {
	l.Helper()
	l.part(func() error { return l.service.PostEvent(context.Background(), id, event) })
}

// tellAutopath is the life of pods that rely on the DNS of their logical cloud.
func tellAutopath(l *life, rest func()) {
	l.ask("instantiate the logical cloud", intent.Instantiate, eu)
	rest()
	l.ask("instantiate", intent.Instantiate, prod)
	rest()
	l.resolve(`[]`, ``)
	l.part(func() error { return l.refused(intent.Update, eu) })
	rest()
	l.put(webPods, ndots1)
	l.ask("update", intent.Update, prod)
	rest()
	l.ask("withdraw", intent.Update, eu)
	rest()
	l.offering(`{}`, `,"nodeLocalDNS":{"localIP":"169.254.99.1"}`)
	l.ask("offer another", intent.Update, eu)
	rest()
	l.put(webPods, autopathWeb)
	l.ask("rely on another", intent.Update, prod)
	rest()
	l.part(func() error { return l.refused(intent.Terminate, eu) })
	l.ask("terminate", intent.Terminate, prod)
	rest()
	l.ask("terminate the logical cloud", intent.Terminate, eu)
	rest()
}

// refused asks for what is to be refused.
func (l *life) refused(action intent.Action, owner intent.Path) error {
	_, err := l.try(action, owner, "")
	if intent.CodeOf(err) == intent.Conflict {
		return nil
	}
	require.Error(l, err)
	return err
}

func (l *life) askRollback(owner intent.Path) {
	l.Helper()
	l.part(func() error {
		accepted, err := l.service.Rollback(context.Background(), owner, 1, "", "ann")
		l.acked["rollback"] = accepted
		return err
	})
}

// picture is what has become of the world: the current contexts with their
// objects, the lifecycles, and what is in the clusters. Ids of contexts and of
// offers, which are random, and revisions of the store, which depend on what was
// tried, are not in it.
func (l *life) picture() string {
	l.Helper()
	var out strings.Builder
	pointers, _, err := l.contexts.Pointers(context.Background())
	require.NoError(l, err)
	ids := l.offerIDs()
	revisions := regexp.MustCompile(`,"noted":{[^}]*}`) // when DNSEndpoints went
	for _, p := range pointers {
		fmt.Fprintln(&out, p.Owner, p.ContextID != "", p.Clusters, p.Services, p.Withdrawn)
		for _, o := range l.bundle(p.Owner) {
			fmt.Fprintln(&out, " ", o.App, o.ID, string(o.JSON))
		}
	}
	page, err := l.documents.List(context.Background(), intent.ListOptions{Collection: intent.LifecycleCollection})
	require.NoError(l, err)
	for _, doc := range page.Items {
		var known struct {
			ContextID string
			Seq       int64
			History   []struct {
				ContextID string
				Seq       int64
			}
			Prepared []state.Prepared
		}
		require.NoError(l, json.Unmarshal(doc.Body, &known))
		ids[known.ContextID] = fmt.Sprintf("release-%d", known.Seq)
		for _, past := range known.History {
			ids[past.ContextID] = fmt.Sprintf("release-%d", past.Seq)
		}
		for _, p := range known.Prepared {
			ids[p.ContextID] = "release-for-" + p.AppContext
		}
		text := fmt.Sprintln(doc.Path, doc.Refs, revisions.ReplaceAllString(string(doc.Body), ""))
		fmt.Fprint(&out, named(text, ids))
	}
	for _, id := range []string{firstContext, secondContext, thirdContext} {
		fmt.Fprintln(&out, named(fmt.Sprint(l.below("/context/"+id+"/")), ids))
	}
	l.reliesOnWhatIsOffered()
	fmt.Fprintln(&out, strings.Join(l.inClusters(), "\n"))
	return out.String()
}

// named is a text with names in place of ids.
func named(text string, ids map[string]string) string {
	for id, name := range ids {
		if id != "" {
			text = strings.ReplaceAll(text, id, name)
		}
	}
	return text
}

func newLife(w *world, last int, after bool) *life {
	l := &life{world: w, acked: map[string]intent.Accepted{}}
	l.process = &mortal{KV: l.fake, last: last, after: after}
	l.restartOn(l.process)
	return l
}

// TestCrashesAtAnyWriteLoseNothing: wherever a process dies in the course of
// instantiate, update, rollback and terminate, whoever comes after it brings the world to
// where it would have been (I1, I2, I10).
func TestCrashesAtAnyWriteLoseNothing(t *testing.T) {
	t.Parallel()
	for name, story := range map[string]struct {
		begin  func(t testing.TB) *world
		tell   func(l *life, rest func())
		owners []intent.Path
	}{
		"group":           {newShop, tellGroup, []intent.Path{prod}},
		"logical cloud":   {newCloud, tellCloud, []intent.Path{eu}},
		"autopath":        {newOffer, tellAutopath, []intent.Path{eu, prod}},
		"group of EMCO's": {newShop, tellOrchestrated, []intent.Path{prod}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			crash(t, story.begin, story.tell, story.owners...)
		})
	}
}

// newOffer is a shop without names, whose DNS and pods ask for autopath.
func newOffer(t testing.TB) *world {
	w := newPods(t, autopathWeb)
	require.NoError(t, w.delete(www(prod)))
	w.offering(`{}`, ``)
	w.nodes = map[string][]placement.Node{berlin: {linux("b1")}, paris: {linux("p1")}}
	return w
}

func crash(t *testing.T, begin func(t testing.TB) *world, tell func(l *life, rest func()), owners ...intent.Path) {
	undisturbed := newLife(begin(t), 0, false)
	want := undisturbed.told(tell)
	for _, owner := range owners {
		require.Equal(t, intent.Terminated, undisturbed.state(owner))
	}
	require.Empty(t, undisturbed.inClusters())
	require.Greater(t, undisturbed.process.writes, 20)
	deaths(t, undisturbed.process.writes, func(last int, after bool) {
		name := fmt.Sprintf("before write %d", last)
		if after {
			name = fmt.Sprintf("after write %d", last)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLife(begin(t), last, after)
			got := l.told(tell)
			for n := range want {
				require.Equal(t, want[n], got[n], "after part %d", n)
			}
			for part, accepted := range undisturbed.acked {
				require.Equal(t, accepted.Revision, l.acked[part].Revision, part)
			}
			l.nothingIsLeftBehind(owners...)
		})
	})
}

// nothingIsLeftBehind checks that a sweep removes what dead writers have
// claimed: every context that is still there is some owner's current or
// previous one, every release is some revision's, and there is no offer.
func (l *life) nothingIsLeftBehind(owners ...intent.Path) {
	l.Helper()
	l.clock.pass(time.Hour)
	require.NoError(l, l.contexts.Sweep(context.Background(), time.Minute))
	require.NoError(l, l.service.Sweep(context.Background(), time.Minute))
	l.clock.pass(time.Hour)
	require.NoError(l, l.service.Sweep(context.Background(), time.Minute))
	kept := map[string]bool{}
	pointers, _, err := l.contexts.Pointers(context.Background())
	require.NoError(l, err)
	for _, p := range pointers {
		kept[p.ContextID], kept[p.Previous] = true, true
	}
	claimed := map[string]bool{}
	for _, owner := range owners {
		known := l.snapshot(owner).Lifecycle
		for _, past := range append(known.History, state.Past{ContextID: known.ContextID}) {
			claimed[past.ContextID] = true
		}
	}
	require.Empty(l, l.offers())
	for key := range l.keys() {
		if id, ok := strings.CutPrefix(key, "/signpost/release/"); ok {
			id, _, _ = strings.Cut(id, "/")
			require.True(l, claimed[id], key)
		}
		require.False(l, strings.HasPrefix(key, "/signpost/claim/"), key)
		if id, ok := strings.CutPrefix(key, "/context/"); ok {
			id, _, _ = strings.Cut(id, "/")
			require.True(l, kept[id], key)
		}
	}
}

// TestAnAcknowledgedRequestSurvivesItsProcess: it dies right after the answer,
// before any step (I1).
func TestAnAcknowledgedRequestSurvivesItsProcess(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	accepted := w.do(intent.Instantiate, prod)
	w.restartOn(w.fake)
	w.settle(prod)
	require.Equal(t, accepted.ContextID, w.snapshot(prod).Lifecycle.ContextID)
	require.Len(t, w.published(prod), 1)
}

// TestAnAcknowledgedRequestIsNotOverwritten: a step that read the lifecycle
// before the request was accepted loses (I1).
func TestAnAcknowledgedRequestIsNotOverwritten(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.do(intent.Instantiate, prod)
	require.NoError(t, w.step(prod))
	w.applyAll()
	w.meanwhile("/signpost/doc/lifecycle//"+string(prod), func() { w.do(intent.Terminate, prod) })
	_, err := w.service.StepGroup(t.Context(), prod)
	require.Equal(t, appcontext.ErrStale, intent.CodeOf(err))
	require.Equal(t, intent.Terminating, w.state(prod))
}

// TestAStepThatStoodStillCommitsNothingOfOld: before any of its reads, others
// accept and commit two releases of the group and of its record. The step puts
// nothing of old over them (I2).
func TestAStepThatStoodStillCommitsNothingOfOld(t *testing.T) {
	t.Parallel()
	for _, owner := range []intent.Path{prod, lab} {
		for read, over := 1, false; !over; read++ {
			w := running(t)
			reads := 0
			w.fake.Before = func(op, _ string) error {
				reads++
				if reads != read || op == "txn" {
					return nil
				}
				w.fake.Before = nil
				w.releaseAgain("second")
				w.releaseAgain("third")
				return nil
			}
			require.NoError(t, w.step(owner))
			if over = w.fake.Before != nil && reads < read; over {
				require.Greater(t, read, 5)
				break
			}
			if w.fake.Before != nil {
				continue // it was a write
			}
			require.Equal(t, []string{hub + " lab/public: third.lab.example A 203.0.113.10,203.0.113.20"}, w.published(prod), "read %d", read)
			require.Contains(t, w.deployment(labOnHub), `"turn":"third"`, "read %d", read)
			w.settle(prod)
		}
	}
}

// releaseAgain has the group and its record released with something new, and
// settled.
func (w *world) releaseAgain(name string) {
	w.Helper()
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["`+name+`.lab.example"]}`)
	w.do(intent.Update, prod)
	w.put(lab, record("lab.example", `,"podLabels":{"turn":"`+name+`"}`))
	_, err := w.service.UpdateRecord(context.Background(), lab, "", "", "ann")
	require.NoError(w, err)
	w.settle(prod)
}

// TestAnOutageIsNoFailureOfTheRelease: steps fail while the store does not
// answer, and go on when it does.
func TestAnOutageIsNoFailureOfTheRelease(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.do(intent.Instantiate, prod)
	w.fake.Before = func(op, _ string) error {
		if op == "txn" {
			return &intent.Error{Code: intent.Unavailable, Detail: "no leader"}
		}
		return nil
	}
	_, err := w.service.StepGroup(t.Context(), prod)
	require.Equal(t, intent.Unavailable, intent.CodeOf(err))
	w.fake.Before = nil
	require.Equal(t, intent.Instantiating, w.state(prod))
	w.settle(prod)
	require.Equal(t, intent.Instantiated, w.state(prod))
}

// TestAReleaseThatCannotBeCommittedIsFailedAndRetried: Failed tells why, and
// ends by itself when the reason does.
func TestAReleaseThatCannotBeCommittedIsFailedAndRetried(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.do(intent.Instantiate, prod)
	w.fake.Before = func(op, key string) error {
		if op == "txn" && key == pointerOf(prod) {
			return &intent.Error{Code: intent.TooLarge, Detail: "a transaction of 2 MiB"}
		}
		return nil
	}
	_, err := w.service.StepGroup(t.Context(), prod)
	require.ErrorContains(t, err, "2 MiB")
	_, err = w.service.StepGroup(t.Context(), prod)
	require.Error(t, err)
	require.Equal(t, intent.Failed, w.state(prod))
	require.Equal(t, "a transaction of 2 MiB", w.snapshot(prod).Lifecycle.Failure)
	events, err := w.service.Events(t.Context(), prod)
	require.NoError(t, err)
	require.Len(t, events, 2, "it is told once")
	require.Equal(t, "failed", events[1].Outcome)

	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":["less.lab.example"]}`)
	require.Equal(t, int64(2), w.do(intent.Instantiate, prod).Revision, "what failed may be instantiated again")
	w.fake.Before = nil
	w.settle(prod)
	require.Equal(t, intent.Instantiated, w.state(prod))
	require.Empty(t, w.snapshot(prod).Lifecycle.Failure)
}
