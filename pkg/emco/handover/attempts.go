package handover

import "time"

// attempts are the requests to rsync since the last change: when to ask again, and
// what keeps rsync from what it is to do.
type attempts struct {
	now      func() time.Time
	begun    time.Time // the last change
	failures int       // of asking, or of rsync, in a row
	next     time.Time // not to ask before
	trouble  string    // why the last request came to nothing
	since    time.Time // of what has stood still since; zero: nothing does
	still    string    // what that is
}

// fail has rsync not be asked for a while, longer each time.
func (a *attempts) fail(trouble string) {
	a.next = a.now().Add(min(askFirst<<min(a.failures, 10), askLongest))
	a.failures++
	a.trouble = trouble
}

// begin forgets what came of earlier changes.
func (a *attempts) begin() {
	a.begun = a.now()
	a.failures, a.next, a.trouble, a.since, a.still = 0, time.Time{}, "", time.Time{}, ""
}

// stands tells whether something has stood still for so long.
func (a *attempts) stands(what string, long time.Duration) bool {
	now := a.now()
	if a.still != what {
		a.still, a.since = what, now
	}
	return !now.Before(a.since.Add(long))
}

// early tells whether it is too early to ask rsync again.
func (a *attempts) early() bool { return a.now().Before(a.next) }
