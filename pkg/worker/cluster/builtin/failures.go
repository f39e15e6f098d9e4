package builtin

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// course is how the work of a publisher goes as a whole.
type course struct {
	synced time.Time // when nothing was left to do last
	worked bool      // the servers of these settings have answered once
	failed time.Time // since when nothing can be read or written; zero: all is well
}

// failure is that a name, or the zone, could not be written or read.
type failure struct {
	message string
	next    time.Time
	wait    time.Duration
}

// fail notes a failure of a name, or of the zone.
func (l *loop) fail(name string, err error) {
	f := l.failures[name]
	if f == nil {
		f = &failure{}
		l.failures[name] = f
	}
	now := l.target.Now()
	f.wait = min(max(2*f.wait, retryFirst), retryLongest)
	f.message, f.next = err.Error(), now.Add(f.wait)
	if name == "" && l.failed.IsZero() {
		l.failed = now
	}
}

// failTogether notes that nothing works, which some names have shown. They are due again when all is, behind others.
func (l *loop) failTogether(names []string, err error) {
	l.fail("", err)
	for _, name := range names {
		l.urgent[name] = true
		if l.failures[name] == nil {
			l.failures[name] = &failure{}
		}
		l.failures[name].message, l.failures[name].next = l.failures[""].message, l.failures[""].next
	}
}

// down is since when the publisher does not work; zero: it does, or its servers may only be starting again.
func (l *loop) down() time.Time {
	if l.failures[""] == nil || l.worked && l.target.Now().Sub(l.failed) < failingLong {
		return time.Time{}
	}
	return l.failed
}

// failing says what is wrong, in words that do not change from one attempt to the next. While nothing works, names fail one
// after the other, which says no more.
func (l *loop) failing() string {
	var texts []string
	if f := l.failures[""]; f != nil {
		texts = append(texts, f.message)
	} else if names := slices.Sorted(maps.Keys(l.failures)); len(names) > 0 {
		texts = append(texts, more(names[0]+": "+l.failures[names[0]].message, len(names)-1, "fails", "fail"))
	}
	if left := slices.Sorted(maps.Keys(l.skipped)); len(left) > 0 {
		texts = append(texts, more(left[0]+" is left alone: "+l.skipped[left[0]], len(left)-1, "is left alone", "are left alone"))
	}
	return strings.Join(texts, "; ")
}

// more says how many more names have the same fate, which is told of one and of several.
func more(text string, count int, one, several string) string {
	switch count {
	case 0:
		return text
	case 1:
		return fmt.Sprintf("%s; 1 more name %s", text, one)
	}
	return fmt.Sprintf("%s; %d more names %s", text, count, several)
}
