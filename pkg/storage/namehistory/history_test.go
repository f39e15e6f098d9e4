package namehistory_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/namehistory"
)

const (
	www               = "www.shop.example"
	owner intent.Path = "projects/shop/names/www.shop.example"
)

// world is a history over a store, with a clock that a story sets.
type world struct {
	*namehistory.History
	t         *testing.T
	fake      *kvtest.Fake
	documents intent.Store
	now       time.Time
	lost      int
	log       bytes.Buffer
	published map[string]string // digest of what the owner publishes, by host name
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, fake: kvtest.NewFake(), now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), published: map[string]string{}}
	clock := func() time.Time { return w.now }
	w.documents = etcd.New(w.fake, etcd.WithClock(clock))
	w.History = w.replica()
	w.project("shop")
	return w
}

// replica is another process over the same store.
func (w *world) replica() *namehistory.History {
	return namehistory.New(namehistory.Options{
		Documents: w.documents, Bytes: 1 << 20, Lost: func() { w.lost++ }, Now: func() time.Time { return w.now },
		Logger: slog.New(slog.DiscardHandler), Changes: slog.New(slog.NewTextHandler(&w.log, nil)),
	})
}

func (w *world) project(name string) {
	w.t.Helper()
	_, err := w.documents.Put(w.t.Context(), intent.Write{Path: intent.Join("projects", name), Body: []byte(`{}`)})
	require.NoError(w.t, err)
}

// turn notes that a target comes, or goes with a minus, for a reason, a while later.
func (w *world) turn(host, reason, target string, later time.Duration) {
	w.now = w.now.Add(later)
	change := intent.TargetChange{Type: "A", Provider: "lab"}
	if gone, is := strings.CutPrefix(target, "-"); is {
		change.Removed = []string{gone}
	} else {
		change.Added = []string{target}
	}
	w.note(w.History, host, reason, change)
}

func (w *world) note(by *namehistory.History, host, reason string, changes ...intent.TargetChange) {
	before := w.published[host]
	w.published[host] = fmt.Sprint(w.now.UnixNano())
	by.Changed(intent.NameChanges{Host: host, Before: before, After: w.published[host], Turns: []intent.NameTurn{{
		Time: w.now, Project: "shop", Owner: owner, Cause: intent.Cause{Reason: reason, Cluster: "dc+one"}, Changes: changes,
	}}})
}

// told is the history of a name, the oldest first, in a line each.
func (w *world) told(host string) []string {
	w.t.Helper()
	w.Flush(w.t.Context())
	turns, err := w.Of(w.t.Context(), host, func(string) bool { return true })
	require.NoError(w.t, err)
	lines := []string{}
	for _, turn := range slices.Backward(turns) {
		line := turn.Cause.Reason
		for _, c := range turn.Changes {
			line += fmt.Sprintf(" -%v +%v", c.Removed, c.Added)
			if !c.Answered.IsZero() {
				line += " answered " + c.Answered.Format("15:04:05")
			}
		}
		if turn.Times > 0 {
			line += fmt.Sprintf(" %d times until %s", turn.Times, turn.Last.Format("15:04:05"))
		}
		if turn.Gap {
			line += " after a gap"
		}
		lines = append(lines, line)
	}
	return lines
}

// TestFlappingIsOneChange: changes of one cause that come back within five minutes.
func TestFlappingIsOneChange(t *testing.T) {
	w := newWorld(t)
	w.turn(www, intent.CauseRelease, "a", 0)
	for range 7 {
		w.turn(www, intent.CauseReadiness, "-a", time.Minute)
		w.turn(www, intent.CauseAddress, "a", time.Minute) // nobody says why it is back
	}
	require.Equal(t, []string{"Release -[] +[a]", "Readiness 14 times until 12:14:00"}, w.told(www))
	w.turn(www, intent.CauseReadiness, "-a", time.Minute)
	require.Equal(t, "Readiness -[a] +[] 15 times until 12:15:00", w.told(www)[1], "what is left of it is told")
	w.turn(www, intent.CauseAddress, "a", 6*time.Minute)
	require.Equal(t, "Readiness -[] +[a]", w.told(www)[2], "later is another time")

	const mail = "mail.shop.example"
	w.turn(mail, intent.CauseRelease, "a", 0)
	w.turn(mail, intent.CauseAddress, "b", time.Minute)
	w.turn(mail, intent.CauseAddress, "c", time.Minute)
	w.turn(mail, intent.CauseAddress, "-c", time.Minute)
	w.turn(mail, intent.CauseAddress, "c", time.Minute)
	require.Equal(t, []string{"Release -[] +[a]", "Address -[] +[b]", "Address -[] +[c] 3 times until 12:25:00"}, w.told(mail), "another address does not come back")
}

// TestAGapIsMarked where the last change that is kept does not lead to the next one.
func TestAGapIsMarked(t *testing.T) {
	w := newWorld(t)
	w.turn(www, intent.CauseRelease, "a", 0)
	w.Flush(t.Context())
	w.turn(www, intent.CauseAddress, "b", time.Hour)
	w.History = w.replica() // the process has died before it wrote that
	w.turn(www, intent.CauseAddress, "c", time.Hour)
	w.turn(www, intent.CauseAddress, "d", time.Hour)
	require.Equal(t, []string{"Release -[] +[a]", "Address -[] +[c] after a gap", "Address -[] +[d]"}, w.told(www))
	require.Zero(t, w.lost, "the dead tell nobody")
}

// TestTheQueueIsBounded: by name, and by the number of names. A change that has no room
// is counted, and shows as a gap.
func TestTheQueueIsBounded(t *testing.T) {
	w := newWorld(t)
	for range 25 {
		w.turn(www, intent.CauseAddress, "a", time.Hour)
	}
	require.Equal(t, 5, w.lost)
	require.Len(t, w.told(www), 20)
	w.turn(www, intent.CauseAddress, "b", time.Hour)
	require.Equal(t, "Address -[] +[b] after a gap", w.told(www)[20])

	for n := range 20_010 {
		w.turn(fmt.Sprintf("n%d.shop.example", n), intent.CauseRelease, "a", 0)
	}
	require.Equal(t, 15, w.lost)
}

// TestAStoreThatFailsIsWrittenLater, in the same order.
func TestAStoreThatFailsIsWrittenLater(t *testing.T) {
	w := newWorld(t)
	w.turn(www, intent.CauseRelease, "a", 0)
	w.turn("mail.shop.example", intent.CauseRelease, "a", 0)
	w.fake.Before = func(string, string) error { return &intent.Error{Code: intent.Unavailable, Err: errors.New("broken")} }
	w.Flush(t.Context())
	w.turn(www, intent.CauseAddress, "b", time.Hour)
	w.Flush(t.Context())
	w.fake.Before = nil
	require.Equal(t, []string{"Release -[] +[a]", "Address -[] +[b]"}, w.told(www))
	require.Len(t, w.told("mail.shop.example"), 1)
	require.Zero(t, w.lost)
}

// TestReplicasWriteOneHistory: the loser of a race reads again.
func TestReplicasWriteOneHistory(t *testing.T) {
	w := newWorld(t)
	w.turn(www, intent.CauseRelease, "a", 0)
	w.Flush(t.Context())
	other := w.replica()
	w.note(w.History, www, intent.CauseAddress, intent.TargetChange{Type: "A", Added: []string{"b"}})
	w.now = w.now.Add(time.Hour)
	w.note(other, www, intent.CauseDrain, intent.TargetChange{Type: "A", Removed: []string{"a"}})
	raced := false
	w.fake.Before = func(op, _ string) error {
		if op == "txn" && !raced {
			raced = true
			w.Flush(t.Context())
		}
		return nil
	}
	other.Flush(t.Context())
	require.Equal(t, []string{"Release -[] +[a]", "Address -[] +[b]", "Drain -[a] +[]"}, w.told(www))
}

// TestRunWritesWhatWaits every second, and the rest at its end.
func TestRunWritesWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		kept := func() int {
			turns, err := w.Of(t.Context(), www, func(string) bool { return true })
			require.NoError(t, err)
			return len(turns)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		ended := make(chan error)
		go func() { ended <- w.Run(ctx) }()
		w.turn(www, intent.CauseRelease, "a", 0)
		require.Zero(t, kept(), "nobody waits for it")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, 1, kept())
		w.turn(www, intent.CauseAddress, "b", time.Hour)
		stop()
		require.NoError(t, <-ended)
		require.Equal(t, 2, kept())
	})
}

// TestQuickChangesTellWhenEachWasAnswered though all of them wait to be written together.
func TestQuickChangesTellWhenEachWasAnswered(t *testing.T) {
	w := newWorld(t)
	for _, target := range []string{"a", "b", "c"} {
		w.turn(www, intent.CauseRelease, target, time.Second)
		w.Heard(intent.NameHeard{Project: "shop", Host: www, Type: "A", Right: true, Since: w.now.Add(100 * time.Millisecond)})
	}
	require.Equal(t, []string{"Release -[] +[a] answered 12:00:01", "Release -[] +[b] answered 12:00:02", "Release -[] +[c] answered 12:00:03"}, w.told(www))
}

// TestAnAnswerIsToTheChangesOfAllOwners that give the name: servers answer what they give together.
func TestAnAnswerIsToTheChangesOfAllOwners(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, by := range []intent.Path{owner, "projects/shop/names/other"} {
		before := ""
		for _, target := range []string{"203.0.113.1", "203.0.113.2"} {
			w.now = w.now.Add(time.Second)
			w.Changed(intent.NameChanges{Host: www, Before: before, After: target, Turns: []intent.NameTurn{{
				Time: w.now, Project: "shop", Owner: by, Cause: intent.Cause{Reason: "Address"}, Changes: []intent.TargetChange{{Type: "A", Added: []string{target}}},
			}}})
			before = target
		}
	}
	w.now = w.now.Add(time.Second)
	w.Heard(intent.NameHeard{Project: "shop", Host: www, Type: "A", Right: true, Since: w.now})
	require.Equal(t, []string{
		"Address -[] +[203.0.113.1]", "Address -[] +[203.0.113.2] answered 12:00:05",
		"Address -[] +[203.0.113.1]", "Address -[] +[203.0.113.2] answered 12:00:05",
	}, w.told(www), "an earlier change of an owner may never have been seen")
}

// TestAnAnswerIsToAllCausesOfAChange: a failover drains one cluster and undrains another in one write.
func TestAnAnswerIsToAllCausesOfAChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.turn(www, intent.CauseRelease, "a", time.Second)
	w.now = w.now.Add(time.Second)
	turn := func(reason string, change intent.TargetChange) intent.NameTurn {
		change.Type = "A"
		return intent.NameTurn{Time: w.now, Project: "shop", Owner: owner, Cause: intent.Cause{Reason: reason}, Changes: []intent.TargetChange{change}}
	}
	w.Changed(intent.NameChanges{Host: www, Before: w.published[www], After: "b", Turns: []intent.NameTurn{
		turn(intent.CauseDrain, intent.TargetChange{Removed: []string{"a"}}), turn(intent.CauseUndrain, intent.TargetChange{Added: []string{"b"}}),
	}})
	w.Heard(intent.NameHeard{Project: "shop", Host: www, Type: "A", Right: true, Since: w.now.Add(time.Second)})
	require.Equal(t, []string{"Release -[] +[a]", "Drain -[a] +[] answered 12:00:03", "Undrain -[] +[b] answered 12:00:03"}, w.told(www), "an earlier change is another one")
}

// TestAChangeTellsWhenItWasAnswered, by all servers for the first time, and when they
// answer otherwise though nothing else was published.
func TestAChangeTellsWhenItWasAnswered(t *testing.T) {
	w := newWorld(t)
	hear := func(right bool, later time.Duration) {
		w.now = w.now.Add(later)
		w.Heard(intent.NameHeard{Project: "shop", Host: www, Type: "A", Right: right, Message: "10.0.0.53:53 answers b", Since: w.now})
	}
	hear(true, 0)
	require.Empty(t, w.told(www), "of a name without changes nothing is kept")
	w.turn(www, intent.CauseRelease, "a", time.Minute)
	hear(false, time.Second)
	hear(true, time.Second)
	require.Equal(t, []string{"Release -[] +[a] answered 12:01:02"}, w.told(www), "servers may take their time")
	hear(true, time.Hour)
	require.Equal(t, []string{"Release -[] +[a] answered 12:01:02"}, w.told(www), "once is enough")
	hear(false, time.Hour)
	require.Equal(t, "Answers -[] +[]", w.told(www)[1])
	hear(true, time.Minute)
	require.Equal(t, "Answers -[] +[] answered 14:02:02", w.told(www)[1])
	hear(false, time.Minute)
	require.Equal(t, "Answers -[] +[] 2 times until 14:03:02", w.told(www)[1])

	w.turn(www, intent.CauseAddress, "b", time.Hour)
	w.Heard(intent.NameHeard{Project: "shop", Host: www, Type: "A", Right: true, Since: w.now.Add(-time.Second)})
	require.Equal(t, "Address -[] +[b]", w.told(www)[2], "that was about what was published before")
}

// TestANameIsBounded by number, age, bytes, and targets of one change.
func TestANameIsBounded(t *testing.T) {
	w := newWorld(t)
	for n := range 120 {
		w.turn(www, intent.CauseAddress, fmt.Sprint("t", n), time.Hour)
		w.Flush(t.Context())
	}
	lines := w.told(www)
	require.Len(t, lines, 100)
	require.Equal(t, "Address -[] +[t119]", lines[99])
	w.turn(www, intent.CauseAddress, "last", 29*24*time.Hour)
	require.Len(t, w.told(www), 26, "the others are older than 30 days")

	many := make([]string, 1000)
	for n := range many {
		many[n] = strings.Repeat("x", 200) + fmt.Sprint(n)
	}
	for range 30 {
		w.now = w.now.Add(time.Minute)
		w.note(w.History, www, intent.CauseRelease, intent.TargetChange{Type: "CNAME", Added: many})
		w.Flush(t.Context())
	}
	turns, err := w.Of(t.Context(), www, func(string) bool { return true })
	require.NoError(t, err)
	require.Less(t, len(turns), 10, "64 KiB at most")
	require.Len(t, turns[0].Changes[0].Added, 50)
	require.Equal(t, 950, turns[0].Changes[0].LeftOut)
}

// TestAProjectIsBounded: the oldest changes of the names with most changes go first, also
// while it is written.
func TestAProjectIsBounded(t *testing.T) {
	w := newWorld(t)
	w.Bytes = 20_000
	for n := range 90 {
		w.turn(www, intent.CauseAddress, fmt.Sprint("t", n), time.Hour)
		w.Flush(t.Context())
	}
	for n := range 20 {
		w.turn(fmt.Sprintf("n%d.shop.example", n), intent.CauseRelease, "a", time.Minute)
	}
	w.Flush(t.Context())
	damaged := intent.Write{Path: intent.Join(intent.NameHistoryCollection, "damaged"), Body: []byte(`[]`), Condition: intent.Always()}
	_, err := w.documents.Put(t.Context(), damaged)
	require.NoError(t, err)
	require.NoError(t, w.Prune(t.Context()), "a damaged document keeps the others from nothing")
	long := w.told(www)
	require.Less(t, len(long), 80)
	require.Greater(t, len(long), 20)
	require.Equal(t, "Address -[] +[t89]", long[len(long)-1])
	for n := range 20 {
		require.Len(t, w.told(fmt.Sprintf("n%d.shop.example", n)), 1)
	}
	for n := range 200 {
		w.turn(fmt.Sprintf("m%d.shop.example", n), intent.CauseRelease, "a", time.Minute)
		w.Flush(t.Context())
	}
	docs, err := w.documents.List(t.Context(), intent.ListOptions{Collection: intent.NameHistoryCollection})
	require.NoError(t, err)
	bytes := 0
	for _, doc := range docs.Items {
		bytes += len(doc.Body)
	}
	require.LessOrEqual(t, bytes, 22_000, "a tenth more at most, while it is written")
	require.Len(t, w.told("m199.shop.example"), 1, "the newest stay")
	w.now = w.now.Add(31 * 24 * time.Hour)
	require.NoError(t, w.Prune(t.Context()))
	docs, err = w.documents.List(t.Context(), intent.ListOptions{Collection: intent.NameHistoryCollection})
	require.NoError(t, err)
	require.Empty(t, docs.Items)
}

// TestNobodySeesAnothersProject: neither one that the caller may not read, nor the one
// before of the same name.
func TestNobodySeesAnothersProject(t *testing.T) {
	w := newWorld(t)
	w.turn(www, intent.CauseRelease, "a", 0)
	require.Len(t, w.told(www), 1)
	turns, err := w.Of(t.Context(), www, func(project string) bool { return project == "bakery" })
	require.NoError(t, err)
	require.Empty(t, turns)
	for _, other := range []string{"shop.example", "ww", "www.shop.example.org"} {
		require.Empty(t, w.told(other))
	}
	require.NoError(t, w.documents.Delete(t.Context(), "projects/shop", intent.Always()))
	require.Empty(t, w.told(www))
	w.turn(www, intent.CauseAddress, "b", 0)
	require.Empty(t, w.told(www), "nobody could read it")
	w.project("shop")
	require.Empty(t, w.told(www), "it is another team's")
}

// TestChangesGoToTheLog, for those who keep it for longer, and so does the first answer to
// each.
func TestChangesGoToTheLog(t *testing.T) {
	w := newWorld(t)
	w.turn(www, intent.CauseDrain, "-a", 0)
	w.Flush(t.Context())
	require.Contains(t, w.log.String(), `msg="a host name has changed" name=www.shop.example project=shop owner=projects/shop/names/www.shop.example gap=false changed=2026-11-01T12:00:00Z cause="map[cluster:dc+one message: reason:Drain]" changes="[map[provider:lab removed:[a] type:A]]"`)
	w.log.Reset()
	heard := intent.NameHeard{Project: "shop", Host: www, Type: "A", Right: true, Since: w.now.Add(time.Second)}
	for range 2 {
		w.Heard(heard)
		w.Flush(t.Context())
	}
	require.Equal(t, 1, strings.Count(w.log.String(), `msg="the servers answer a host name" name=www.shop.example project=shop type=A right=true since=2026-11-01T12:00:01Z`), w.log.String())
	w.log.Reset()
	w.Heard(intent.NameHeard{Project: "shop", Host: www, Type: "A", Message: "192.0.2.99", Since: w.now.Add(time.Minute)})
	w.Flush(t.Context())
	require.Contains(t, w.log.String(), `msg="the servers answer a host name" name=www.shop.example project=shop type=A right=false`)
}
