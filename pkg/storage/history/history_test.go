package history_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/history"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

const (
	shop intent.Path = "projects/shop"
	lab  intent.Path = "projects/shop/dns-update-records/lab"
	prod intent.Path = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"
)

// world is a history over a store, with a clock that a story sets.
type world struct {
	*history.History
	t         *testing.T
	fake      *kvtest.Fake
	documents intent.Store
	now       time.Time
	lost      int
	log       bytes.Buffer
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, fake: kvtest.NewFake(), now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return w.now }
	w.documents = etcd.New(w.fake, etcd.WithClock(clock))
	w.History = history.New(history.Options{
		Documents: w.documents, Lost: func() { w.lost++ }, Now: clock, Logger: slog.New(slog.NewTextHandler(&w.log, nil)),
	})
	return w
}

// anna is the context of a request of hers.
func (w *world) anna(request string) context.Context {
	return intent.As(w.t.Context(), intent.Actor{Subject: "anna", RequestID: request})
}

// write stores a document as a request does, a second later than the last.
func (w *world) write(path intent.Path, body string) intent.Document {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	before := w.find(path)
	after, err := w.documents.Put(w.t.Context(), intent.Write{Path: path, Body: []byte(body)})
	require.NoError(w.t, err)
	w.Wrote(w.anna("r1"), before, &after)
	return after
}

// remove deletes a document as a request does.
func (w *world) remove(path intent.Path) {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	before := w.find(path)
	require.NoError(w.t, w.documents.Delete(w.t.Context(), path, intent.Always()))
	w.Wrote(w.anna("r2"), before, nil)
}

func (w *world) find(path intent.Path) *intent.Document {
	doc, err := w.documents.Get(w.t.Context(), path)
	if intent.CodeOf(err) == intent.NotFound {
		return nil
	}
	require.NoError(w.t, err)
	return &doc
}

// all is what has happened to a top document, by pages.
func (w *world) all(top intent.Path, limit int) []intent.Event {
	w.t.Helper()
	var all []intent.Event
	after := ""
	for {
		page, err := w.Page(w.t.Context(), top, limit, after)
		require.NoError(w.t, err)
		require.LessOrEqual(w.t, len(page.Items), limit)
		all = append(all, page.Items...)
		if after = page.Continue; after == "" {
			return all
		}
	}
}

// told is what the events say, in a line each.
func told(events []intent.Event) []string {
	lines := []string{}
	for _, e := range events {
		lines = append(lines, strings.Join([]string{e.Actor, string(e.Action), string(e.Path), e.Outcome, e.Message}, " "))
	}
	return lines
}

// TestWritesAreKept: who, by which request, what, and how it was before and
// after; the newest first.
func TestWritesAreKept(t *testing.T) {
	w := newWorld(t)
	w.write(shop, `{"spec":{"namespace":"a"}}`)
	w.write(lab, `{"spec":{"provider":"coredns","ttl":5}}`)
	w.write(lab, `{"spec":{"provider":"coredns","ttl":9,"hostnames":["a"]}}`)
	w.remove(lab)
	want := []string{
		"anna delete projects/shop/dns-update-records/lab deleted ",
		"anna replace projects/shop/dns-update-records/lab stored changes /spec/hostnames, /spec/ttl",
		"anna create projects/shop/dns-update-records/lab stored ",
		"anna create projects/shop stored ",
	}
	for _, limit := range []int{1, 2, 3, 100} {
		require.Equal(t, want, told(w.all(shop, limit)), limit)
	}
	events := w.all(shop, 10)
	require.Equal(t, "r2", events[0].RequestID)
	require.JSONEq(t, `{"spec":{"provider":"coredns","ttl":9,"hostnames":["a"]}}`, string(events[0].Before))
	require.Empty(t, events[0].After)
	require.JSONEq(t, `{"spec":{"provider":"coredns","ttl":5}}`, string(events[1].Before))
	require.JSONEq(t, `{"spec":{"provider":"coredns","ttl":9,"hostnames":["a"]}}`, string(events[1].After))
	require.EqualValues(t, 2, events[1].Revision)
	require.Empty(t, events[2].Before)
	require.Zero(t, w.lost)
}

func TestAWriteThatChangesNothingIsNoEvent(t *testing.T) {
	w := newWorld(t)
	w.write(shop, `{"spec":{}}`)
	w.write(shop, `{"spec":{}}`)
	require.Len(t, w.all(shop, 10), 1)
}

// TestWhatOwnersTellIsKept: requests and their outcomes, beside the writes.
func TestWhatOwnersTellIsKept(t *testing.T) {
	w := newWorld(t)
	w.write(shop, `{}`)
	w.now = w.now.Add(time.Second)
	w.Told(t.Context(), prod,
		intent.Event{Time: w.now, Actor: "anna", Action: intent.Instantiate, Revision: 1, Outcome: "accepted"},
		intent.Event{Time: w.now.Add(time.Second), Actor: "signpost", Action: intent.Instantiate, Revision: 1, Outcome: "completed"},
	)
	w.Told(t.Context(), prod)
	require.Equal(t, []string{
		"signpost instantiate " + string(prod) + " completed ",
		"anna instantiate " + string(prod) + " accepted ",
		"anna create projects/shop stored ",
	}, told(w.all(shop, 10)))
}

// TestADrainIsKeptOnce: whoever tells of it again, by another request too, adds nothing. The rest of that moment stays apart.
func TestADrainIsKeptOnce(t *testing.T) {
	w := newWorld(t)
	w.write(shop, `{}`)
	e := intent.Event{Time: w.now, Actor: "olga", Action: intent.Drain, Outcome: "completed", Message: "flood"}
	kept, err := w.Kept(t.Context(), prod, e)
	require.NoError(t, err)
	require.False(t, kept)
	w.Told(t.Context(), prod, e)
	again := e
	again.RequestID = "r2"
	w.Told(t.Context(), prod, again)
	kept, err = w.Kept(t.Context(), prod, again)
	require.NoError(t, err)
	require.True(t, kept)
	other := e
	other.Action = intent.Undrain
	w.Told(t.Context(), prod, other)
	w.Told(t.Context(), prod+"2", e)
	require.Len(t, w.all(shop, 10), 4, "the project, the drain, the undrain and the drain of another")
	_, err = w.Kept(t.Context(), "projects/gone/x/y", e)
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
}

// TestOnesWritesAreThoseBelowIt: of the document and what is below it, oldest
// first, since it was created last.
func TestOnesWritesAreThoseBelowIt(t *testing.T) {
	w := newWorld(t)
	w.write(shop, `{}`)
	w.write(prod, `{"spec":{"n":1}}`)
	w.remove(prod)
	w.write(prod, `{"spec":{"n":2}}`)
	w.write(prod+"/traffic-group-intents/dns", `{}`)
	w.write(prod+"2", `{}`)
	w.write(lab, `{}`)
	w.Told(t.Context(), prod, intent.Event{Time: w.now, Action: intent.Instantiate, Outcome: "accepted"})
	w.write(prod, `{"spec":{"n":3}}`)
	writes, err := w.Writes(t.Context(), prod)
	require.NoError(t, err)
	require.Equal(t, []string{
		"anna create " + string(prod) + " stored ",
		"anna create " + string(prod) + "/traffic-group-intents/dns stored ",
		"anna replace " + string(prod) + " stored changes /spec/n",
	}, told(writes))
}

// TestManyWritesAreFound, over more than one page.
func TestManyWritesAreFound(t *testing.T) {
	w := newWorld(t)
	w.write(shop, `{}`)
	for range 250 {
		w.Told(t.Context(), prod, intent.Event{Time: w.now, Action: intent.Update})
	}
	w.now = w.now.Add(-time.Hour)
	w.write(prod, `{}`)
	writes, err := w.Writes(t.Context(), prod)
	require.NoError(t, err)
	require.Len(t, writes, 1)
}

// TestAnotherProjectOfTheNameSeesNothing: it may be another team's.
func TestAnotherProjectOfTheNameSeesNothing(t *testing.T) {
	w := newWorld(t)
	w.write(shop, `{"spec":{"namespace":"theirs"}}`)
	w.write(lab, `{}`)
	w.remove(lab)
	w.remove(shop)
	require.Zero(t, w.lost, "the end of a project is kept, too")
	_, err := w.Page(t.Context(), shop, 10, "")
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
	w.write(shop, `{"spec":{"namespace":"ours"}}`)
	require.Equal(t, []string{"anna create projects/shop stored "}, told(w.all(shop, 10)))
}

// TestNoSecretIsKept: neither the ids of sealed values, nor what somebody has
// written where it does not belong (I9).
func TestNoSecretIsKept(t *testing.T) {
	for _, c := range []struct{ name, body, kept string }{
		{"sealed values", `{"spec":{"credentials":[{"name":"A","valueRef":"id"}],"kubeconfigRef":"id"}}`, `{"spec":{"credentials":[{"name":"A"}]}}`},
		{"variables", `{"environment":{"PDNS_PASSWORD":"s","MODE":"m"}}`, `{"environment":{"PDNS_PASSWORD":"***","MODE":"m"}}`},
		{"variables of pods", `{"env":[{"name":"DB_PASSWORD","value":"s"},{"name":"MODE","value":"m"}]}`, `{"env":[{"name":"DB_PASSWORD","value":"***"},{"name":"MODE","value":"m"}]}`},
		{"fields", `{"apiKey":"s","private-key":"s","auth.token":"s","key":"k"}`, `{"apiKey":"***","private-key":"***","auth.token":"***","key":"k"}`},
		{"pairs", `{"kv":[{"db-password":"s"},{"list":["lab"]}]}`, `{"kv":[{"db-password":"***"},{"list":["lab"]}]}`},
		{"what is not a string", `{"password":1234,"pin.password":null,"needs_password":true,"tokens":["s",["t"]],"Authorization":"Bearer s"}`, `{"password":"***","pin.password":null,"needs_password":true,"tokens":"***","Authorization":"***"}`},
		{"what is within", `{"password":{"value":"s","of":{"name":"s"}}}`, `{"password":{"value":"***","of":{"name":"s"}}}`},
		{"where Kubernetes keeps one", `{"volumes":[{"secret":{"secretName":"a","items":[{"key":"b","path":"c"}]}},{"serviceAccountToken":{"path":"d"}}],"imagePullSecrets":[{"name":"e"}]}`,
			`{"volumes":[{"secret":{"secretName":"a","items":[{"key":"b","path":"c"}]}},{"serviceAccountToken":{"path":"d"}}],"imagePullSecrets":[{"name":"e"}]}`},
		{"flags and values apart", `{"args":["--webhook-token","s","--interval","5s"]}`, `{"args":["--webhook-token","***","--interval","5s"]}`},
		{"flags", `{"extraArgs":["--webhook-token=s","--interval=5s","--txt-prefix"]}`, `{"extraArgs":["--webhook-token=***","--interval=5s","--txt-prefix"]}`},
		{"URLs", `{"a":"https://u:s@host/x and http://u@h","b":"https://host/@x"}`, `{"a":"https://***@host/x and http://***@h","b":"https://host/@x"}`},
		{"Secrets", `{"manifests":[{"kind":"Secret","data":{"a":"s"},"stringData":{"b":"s"},"type":"t"}]}`, `{"manifests":[{"kind":"Secret","data":"***","stringData":"***","type":"t"}]}`},
		{"what is not a string", `{"automountServiceAccountToken":true,"serviceAccountToken":{"path":"p"}}`, `{"automountServiceAccountToken":true,"serviceAccountToken":{"path":"p"}}`},
	} {
		w := newWorld(t)
		w.write(shop, c.body)
		require.JSONEq(t, c.kept, string(w.all(shop, 10)[0].After), c.name)
	}
}

// TestWhatIsLargeIsToldWithoutIt: where it was changed is told all the same.
func TestWhatIsLargeIsToldWithoutIt(t *testing.T) {
	w := newWorld(t)
	w.write(shop, `{"a":"`+strings.Repeat("x", history.MaxDocument)+`"}`)
	w.write(shop, `{"a":"`+strings.Repeat("y", history.MaxDocument)+`"}`)
	for _, e := range w.all(shop, 10) {
		require.Empty(t, e.Before)
		require.Empty(t, e.After)
	}
	require.Equal(t, "changes /a", w.all(shop, 10)[0].Message)
}

func TestWhereADocumentWasChanged(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"within", `{"a":{"b":[1,2]}}`, `{"a":{"b":[1,3]}}`, "changes /a/b/1"},
		{"longer", `{"a":[1]}`, `{"a":[1,2]}`, "changes /a"},
		{"another kind", `{"a":{}}`, `{"a":[]}`, "changes /a"},
		{"and back", `{"a":[]}`, `{"a":{}}`, "changes /a"},
		{"null is not nothing", `{"a":null}`, `{}`, "changes /a"},
		{"keys are escaped", `{"a/b~":1}`, `{"a/b~":2}`, "changes /a~1b~0"},
		{"keys are bounded", `{"` + strings.Repeat("k", 200) + `":1}`, `{}`, "changes /" + strings.Repeat("k", 100) + "…"},
		{"many", `{}`, `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1}`, "changes /a, /b, /c, /d, /e, /f, /g, /h, /i, /j and 2 more"},
	} {
		w := newWorld(t)
		w.write(shop, c.before)
		w.write(shop, c.after)
		require.Equal(t, c.want, w.all(shop, 10)[0].Message, c.name)
	}
}

// TestAnEventThatCannotBeKeptIsCounted, and logged with who did what.
func TestAnEventThatCannotBeKeptIsCounted(t *testing.T) {
	for _, failing := range []string{"range", "txn"} {
		w := newWorld(t)
		doc := w.write(shop, `{"spec":{}}`)
		w.fake.Before = func(op, _ string) error {
			if op == failing || failing == "range" {
				return errors.New("broken")
			}
			return nil
		}
		w.Wrote(w.anna("r7"), nil, &doc)
		require.Equal(t, 1, w.lost, failing)
		require.Contains(t, w.log.String(), "requestID=r7", failing)
		require.Contains(t, w.log.String(), "actor=anna", failing)
	}
}

// TestWhoHangsUpIsNotedAllTheSame: the write is done by then.
func TestWhoHangsUpIsNotedAllTheSame(t *testing.T) {
	w := newWorld(t)
	doc := w.write(shop, `{}`)
	gone, hangUp := context.WithCancel(w.anna("r3"))
	hangUp()
	w.Wrote(gone, nil, &doc)
	require.Zero(t, w.lost)
	require.Len(t, w.all(shop, 10), 2)
}

// TestHistoryIsPruned by age and by number, of each project.
func TestHistoryIsPruned(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		name       string
		age        time.Duration
		count      int
		shop, blog int
	}{
		{"neither", 0, 0, 6, 3},
		{"nothing is too much", 10 * day, 10, 6, 3},
		{"by number", 10 * day, 4, 4, 3},
		{"by number alone", 0, 2, 2, 2},
		{"by age", 2 * day, 10, 3, 0},
		{"by age alone", 2 * day, 0, 3, 0},
		{"by both", 2 * day, 2, 2, 0},
	} {
		w := newWorld(t)
		w.write(shop, `{"n":1}`)
		w.write(shop, `{"n":2}`)
		w.write(shop, `{"n":3}`)
		w.write("projects/blog", `{"n":1}`)
		w.write("projects/blog", `{"n":2}`)
		w.write("projects/blog", `{"n":3}`)
		w.now = w.now.Add(2 * day)
		w.write(shop, `{"n":4}`)
		w.write(shop, `{"n":5}`)
		w.write(shop, `{"n":6}`)
		require.NoError(t, w.Prune(t.Context(), c.age, c.count))
		kept := w.all(shop, 100)
		require.Len(t, kept, c.shop, c.name)
		require.JSONEq(t, `{"n":6}`, string(kept[0].After), c.name)
		require.Len(t, w.all("projects/blog", 100), c.blog, c.name)
	}
}

// TestHistoryIsBoundedWhileItIsWritten: a project that writes much has a tenth more
// than the count at most, and pushes nobody else's events out.
func TestHistoryIsBoundedWhileItIsWritten(t *testing.T) {
	w := newWorld(t)
	w.Count = 20
	w.write("projects/blog", `{"n":0}`)
	for n := range 200 {
		w.write(shop, `{"n":`+strconv.Itoa(n)+`}`)
		kept := len(w.all(shop, 100))
		require.LessOrEqual(t, kept, 22)
		require.GreaterOrEqual(t, kept, min(n+1, 20))
	}
	require.JSONEq(t, `{"n":199}`, string(w.all(shop, 100)[0].After), "the newest are kept")
	require.Len(t, w.all("projects/blog", 100), 1)
	require.Zero(t, w.lost)

	w.Count = 0
	for n := range 30 {
		w.write("projects/blog", `{"n":`+strconv.Itoa(n+1)+`}`)
	}
	require.Len(t, w.all("projects/blog", 100), 31, "without a count there is no bound")
}

// TestAHistoryThatCannotBeBoundedIsTold: what was written is kept all the same.
func TestAHistoryThatCannotBeBoundedIsTold(t *testing.T) {
	w := newWorld(t)
	w.Count = 10
	w.fake.Before = func(op, _ string) error {
		if op == "range" {
			return errors.New("broken")
		}
		return nil
	}
	for n := range 15 {
		w.write(shop, `{"n":`+strconv.Itoa(n)+`}`)
	}
	w.fake.Before = nil
	require.Len(t, w.all(shop, 100), 15)
	require.Zero(t, w.lost)
	require.Contains(t, w.log.String(), "the history is not bounded")
	w.write(shop, `{"n":15}`)
	require.Len(t, w.all(shop, 100), 10, "the next one makes up for it")
}

// TestWhoPrunesBesideAnotherGoesOn, and faults of the store are told.
func TestWhoPrunesBesideAnotherGoesOn(t *testing.T) {
	w := newWorld(t)
	for n := range 5 {
		w.write(shop, `{"n":`+string(rune('0'+n))+`}`)
	}
	w.fake.Before = func(op, _ string) error {
		if op == "txn" {
			w.fake.Before = nil
			require.NoError(t, w.Prune(context.Background(), 0, 1))
		}
		return nil
	}
	require.NoError(t, w.Prune(t.Context(), 0, 1))
	require.Len(t, w.all(shop, 10), 1)

	broken := errors.New("broken")
	w.fake.Before = func(string, string) error { return broken }
	require.ErrorIs(t, w.Prune(t.Context(), 0, 1), broken)
	_, err := w.Page(t.Context(), shop, 1, "")
	require.ErrorIs(t, err, broken)
	_, err = w.Writes(t.Context(), prod)
	require.ErrorIs(t, err, broken)
}

// TestEventsOfAllProjectsAreOneList, the newest first, by pages, without documents: of the
// projects that may be read.
func TestEventsOfAllProjectsAreOneList(t *testing.T) {
	w := newWorld(t)
	for n := range 25 {
		w.write(shop, `{"n":`+strconv.Itoa(n)+`}`)
		w.write("projects/blog", `{"n":`+strconv.Itoa(n)+`}`)
		w.write("cluster-providers/edge", `{"n":`+strconv.Itoa(n)+`}`)
	}
	all := func(limit int, reads func(string) bool) []string {
		var lines []string
		after := ""
		for {
			page, err := w.All(t.Context(), reads, limit, after)
			require.NoError(t, err)
			require.LessOrEqual(t, len(page.Items), limit)
			for _, e := range page.Items {
				require.Empty(t, e.After)
				lines = append(lines, e.Time.Format("04:05 ")+string(e.Path))
			}
			if after = page.Continue; after == "" {
				return lines
			}
		}
	}
	everything := all(100, func(string) bool { return true })
	require.Len(t, everything, 75)
	require.Equal(t, []string{"01:15 cluster-providers/edge", "01:14 projects/blog", "01:13 projects/shop"}, everything[:3])
	require.IsDecreasing(t, everything)
	for _, limit := range []int{1, 2, 7, 75} {
		require.Equal(t, everything, all(limit, func(string) bool { return true }), limit)
	}
	own := all(10, func(project string) bool { return project == "shop" })
	require.Len(t, own, 25)
	require.NotContains(t, strings.Join(own, " "), "blog")
	require.Empty(t, all(10, func(string) bool { return false }))
	_, err := w.All(t.Context(), func(string) bool { return true }, 10, "?")
	require.Equal(t, intent.Invalid, intent.CodeOf(err))
}
