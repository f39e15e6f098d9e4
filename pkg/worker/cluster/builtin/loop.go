package builtin

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// The rhythm of a publisher.
const (
	parallel      = 8                      // writes at a time
	staleReads    = 4                      // of a name that changes at the same time
	shortestCheck = 10 * time.Second       // between two looks at all names
	retryFirst    = 500 * time.Millisecond // after a failure, doubled each time
	retryLongest  = 30 * time.Second       // and at most
	failingLong   = 15 * time.Second       // from when on a publisher that has worked is not available
)

// loop brings the names of a publisher's DNSEndpoints to the DNS servers. Its goroutine is
// the only one that uses what stands before said, but for changed, which the view locks.
type loop struct {
	target *Target
	notify cluster.Notify
	woken  chan struct{}

	session string // names this loop in the fence
	fence   *fence // nil: not taken yet
	taken   bool   // another publisher has the fence
	opened
	backlog
	recorded map[string][]publisher.Set // names that were written or are about to be, with their first sets; nil: not known
	wishes   wishes                     // what the names are to have
	done     map[string][]publisher.Set // what the names were last seen to have
	urgent   map[string]bool            // names that have changed or failed: they do not wait for all of unread
	unread   []string                   // names that the present look at all names has not come to
	failures map[string]*failure        // by name; "" is all of it
	skipped  map[string]string          // names that are left alone, with the reasons
	check    time.Time                  // when the next look at all names begins; zero: now
	zone     zoneCheck
	course

	said said
}

// opened is a writer, and the settings that it was opened with.
type opened struct {
	writer   publisher.Writer
	spec     bundle.Publisher
	settings int64 // their revision
}

// backlog is what a loop has still to take up, to remove and to tell.
type backlog struct {
	changed  map[bundle.ID]bool // objects of the view that have changed; nil: any may have
	turn     int64              // of the view, up to which objects were taken up
	obsolete map[string]bool    // names that are recorded, and not wanted
	untold   map[bundle.ID]bool // DNSEndpoints that may be published, or not be any more
}

func newLoop(t *Target, notify cluster.Notify) *loop {
	return &loop{
		target: t, notify: notify, woken: make(chan struct{}, 1), session: rand.Text(), wishes: newWishes(),
		done: map[string][]publisher.Set{}, urgent: map[string]bool{}, failures: map[string]*failure{}, skipped: map[string]string{},
		backlog: backlog{obsolete: map[string]bool{}, untold: map[bundle.ID]bool{}},
	}
}

// wake has the loop look soon.
func (l *loop) wake() {
	select {
	case l.woken <- struct{}{}:
	default:
	}
}

// run publishes until ctx ends.
func (l *loop) run(ctx context.Context) {
	defer l.end(ctx)
	for ctx.Err() == nil {
		if !l.pause(ctx, l.step(ctx)) {
			return
		}
	}
}

// pause waits until the time is over or there is something to do; false when ctx ends.
func (l *loop) pause(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-l.woken:
	case <-timer.C:
	}
	return true
}

// end gives the fence back, so that the next publisher need not wait, and closes the writer.
func (l *loop) end(ctx context.Context) {
	l.close()
	if l.fence != nil && !l.taken {
		l.fence.release(context.WithoutCancel(ctx))
	}
}

func (l *loop) close() {
	if l.writer != nil {
		l.writer.Close()
	}
	l.writer, l.recorded, l.unread, l.check, l.synced, l.worked = nil, nil, nil, time.Time{}, time.Time{}, false
	l.zone.drop()
	l.said.come(progress{})
	l.forget()
	clear(l.obsolete)
	clear(l.done)
	clear(l.urgent)
	clear(l.failures)
	clear(l.skipped)
}

// idle is how long a publisher without anything to do sleeps.
const idle = time.Minute

// step does what is to be done now, and answers when the next step is due at the latest.
func (l *loop) step(ctx context.Context) time.Duration {
	object, known := l.target.view.settings()
	if !known {
		l.close()
		l.tellNothing("it has no settings yet")
		return idle
	}
	settings, err := bundle.ReadPublisher(object.object)
	if err != nil || settings.Stopped {
		l.close()
		l.tellNothing("it is stopped")
		return idle
	}
	if l.taken {
		l.tellNothing(errTaken.Error())
		return idle
	}
	wait, err := l.own(ctx)
	if err != nil {
		l.fail("", err)
		l.tellNothing("")
		return l.due()
	}
	if wait > 0 {
		l.tellNothing("an earlier publisher may still be writing; it begins in " + wait.Round(time.Second).String())
		return wait
	}
	if err := l.open(ctx, object, settings); err != nil {
		l.fail("", err)
		l.tellNothing("")
		return l.due()
	}
	l.publish(ctx)
	l.reach()
	l.checkZone(ctx)
	l.tellPublished()
	l.tell("")
	return l.due()
}

// own makes sure that no other publisher writes, and answers how long to wait for one.
func (l *loop) own(ctx context.Context) (time.Duration, error) {
	if l.fence == nil {
		taken, err := takeFence(ctx, l.target, l.session)
		if err != nil {
			return 0, err
		}
		l.fence = taken
	}
	return max(0, l.fence.from.Sub(l.target.Now())), nil
}

// open makes the writer, unless it is there with these settings.
func (l *loop) open(ctx context.Context, object held, settings bundle.Publisher) error {
	if l.writer != nil && l.settings == object.revision {
		return nil
	}
	l.close()
	writer, err := l.target.Open(ctx, settings)
	if err != nil {
		return err
	}
	l.writer, l.settings, l.spec = writer, object.revision, settings
	return nil
}

// publish writes the names that have changed. Once in each interval, it looks at all names,
// some at a time, and a change does not wait for the rest of them.
func (l *loop) publish(ctx context.Context) {
	if !l.takeUp() {
		return // the next step, which is due, follows the new settings
	}
	if f := l.failures[""]; f != nil && l.target.Now().Before(f.next) {
		return
	}
	if l.recorded == nil {
		recorded, err := l.fence.records(ctx)
		if err != nil {
			l.fail("", err)
			return
		}
		l.recorded = recorded
		for name := range recorded {
			l.outdate(name)
		}
	}
	l.begin()
	fresh, failed := l.hurried()
	for ctx.Err() == nil {
		names, changed := l.next(&fresh, &failed)
		if len(names) == 0 {
			break
		}
		if err := l.write(ctx, names, l.wishes.sets); err != nil {
			l.failTogether(names, err)
			return
		}
		if !changed && len(l.woken) > 0 {
			return // to be back at once
		}
	}
	delete(l.failures, "")
	l.failed = time.Time{}
	maps.DeleteFunc(l.failures, func(name string, _ *failure) bool { return !l.concerns(name) })
	maps.DeleteFunc(l.skipped, func(name, _ string) bool { return !l.concerns(name) })
	if len(l.failures) == 0 {
		l.synced = l.target.Now()
	}
}

// takeUp takes up the objects that have changed. It takes up none if there are other settings than those of the writer.
func (l *loop) takeUp() (ok bool) {
	now, ok := l.target.view.take(l, l.settings)
	if !ok {
		return false
	}
	if now.all {
		for id := range l.wishes.objects {
			if _, there := now.changed[id]; !there {
				now.changed[id] = nil
			}
		}
	}
	l.turn = now.turn
	begun := !l.check.IsZero()
	for _, name := range l.wishes.take(now.changed) {
		if begun {
			l.urgent[name] = true
		}
		l.outdate(name)
	}
	for id := range now.changed {
		l.untold[id] = true
	}
	return true
}

// outdate notes whether a name is recorded, and not wanted.
func (l *loop) outdate(name string) {
	if _, recorded := l.recorded[name]; recorded && l.wishes.sets[name] == nil {
		l.obsolete[name] = true
	} else {
		delete(l.obsolete, name)
	}
}

// reach notes how far it has come. Until all names were read again after another publisher, a message of
// that one may still arrive.
func (l *loop) reach() {
	now := progress{known: l.recorded != nil && !l.taken && !l.fence.again && l.failures[""] == nil, turn: l.turn, left: maps.Clone(l.obsolete)}
	for name := range l.failures {
		now.left[name] = true
	}
	l.said.come(now)
}

// begin begins to look at all names, if it is time and the last look has ended.
func (l *loop) begin() {
	now := l.target.Now()
	if now.Before(l.check) || len(l.unread) > 0 {
		return
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(l.recorded)), maps.Keys(l.wishes.sets))
	slices.Sort(names)
	l.unread, l.check = slices.Compact(names), now.Add(max(l.spec.Interval, shortestCheck))
	if l.fence.again {
		l.fence.again, l.check = false, now.Add(cluster.RequestDeadline)
	}
}

// concerns tells whether a name is wanted, or is left from when it was.
func (l *loop) concerns(name string) bool {
	_, recorded := l.recorded[name]
	return recorded || l.wishes.sets[name] != nil
}

// write brings some names to what is wanted. A name is recorded with its sets before its
// first write, but for sets that are there already. Sets that are found without a mark after
// a crash are ours then.
func (l *loop) write(ctx context.Context, names []string, want map[string][]publisher.Set) error {
	ctx, cancel := context.WithTimeout(ctx, cluster.RequestDeadline)
	defer cancel()
	states, err := l.read(ctx, names, want)
	if err != nil || len(states) == 0 {
		return err
	}
	l.worked, names = true, slices.Sorted(maps.Keys(states))
	if err := l.hold(ctx, names, want, states); err != nil {
		return err
	}
	errs := make([]error, len(names))
	var group errgroup.Group
	group.SetLimit(parallel)
	for n, name := range names {
		group.Go(func() error {
			errs[n] = l.change(ctx, states[name], want[name], l.recorded[name])
			return nil
		})
	}
	_ = group.Wait() // the errors are those of the names
	var gone []string
	for n, name := range names {
		l.note(name, want[name], errs[n])
		if l.failures[name] == nil && len(want[name]) == 0 {
			gone = append(gone, name)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	if err := l.fence.forget(ctx, gone); err != nil {
		return l.lost(err)
	}
	for _, name := range gone {
		delete(l.recorded, name)
		l.outdate(name)
	}
	return nil
}

// lost takes up that the fence could not be written.
func (l *loop) lost(err error) error {
	l.taken = errors.Is(err, errTaken)
	return err
}

// change writes one name. If the name changes at the same time, change reads it again.
func (l *loop) change(ctx context.Context, before publisher.State, sets, recorded []publisher.Set) error {
	for range staleReads {
		ctx, cancel := context.WithTimeout(ctx, publisher.WriteDeadline)
		err := l.writer.Write(ctx, publisher.Change{Before: before, After: sets, Intended: recorded, Adopt: l.spec.Adopts})
		cancel()
		if fault.Of(err) != fault.Stale {
			return err
		}
		states, err := l.writer.Read(ctx, []string{before.Name}, otherTypes(sets, recorded)...)
		if err != nil {
			return err
		}
		before = states[before.Name]
	}
	return fault.Errorf(fault.Stale, "%s keeps changing", before.Name)
}

// note takes up what became of a name. After an error only a read shows what it has.
func (l *loop) note(name string, sets []publisher.Set, err error) {
	delete(l.skipped, name)
	delete(l.urgent, name)
	for id := range l.wishes.given[name] {
		l.untold[id] = true
	}
	if fault.Of(err) == publisher.Foreign {
		l.skipped[name], err = err.Error(), nil
	}
	if err != nil {
		delete(l.done, name)
		l.urgent[name] = true
		l.fail(name, err)
		return
	}
	delete(l.failures, name)
	if len(sets) == 0 {
		delete(l.done, name)
		return
	}
	l.done[name] = sets
}

// due answers how long nothing is to be done unless something happens.
func (l *loop) due() time.Duration {
	now, wait := l.target.Now(), idle
	if f := l.failures[""]; f != nil {
		return max(f.next.Sub(now), 0)
	}
	if !l.check.IsZero() {
		wait = min(wait, l.check.Sub(now))
	}
	for _, f := range l.failures {
		wait = min(wait, f.next.Sub(now))
	}
	return max(wait, 0)
}
