package builtin

import (
	"cmp"
	"slices"

	"github.com/signpost-dns/signpost/pkg/publisher"
)

// hurried are the names that have changed, and those that have failed. The longest due come first, so that each has its turn.
func (l *loop) hurried() (fresh, failed []string) {
	for name := range l.urgent {
		if l.failures[name] == nil {
			fresh = append(fresh, name)
		} else {
			failed = append(failed, name)
		}
	}
	slices.Sort(fresh)
	slices.SortFunc(failed, func(a, b string) int {
		return cmp.Or(l.failures[a].next.Compare(l.failures[b].next), cmp.Compare(a, b))
	})
	return fresh, failed
}

// next takes out the names to write next, at most as many as one read may have. First come names that have changed. Names
// that have failed are at most half of a read, so that they hold up no unread ones.
func (l *loop) next(fresh, failed *[]string) (names []string, changed bool) {
	if names = l.some(fresh, publisher.Most); len(names) > 0 {
		return names, true
	}
	names = l.some(failed, publisher.Most/2)
	names = append(names, l.some(&l.unread, publisher.Most-len(names))...)
	slices.Sort(names) // a name that has failed may be unread, too
	return slices.Compact(names), false
}

// some takes names out of a list until there are so many. It leaves out those that concern nobody any more, and those
// that wait.
func (l *loop) some(of *[]string, most int) (names []string) {
	for len(names) < most && len(*of) > 0 {
		name := (*of)[0]
		*of = (*of)[1:]
		switch {
		case !l.concerns(name):
			delete(l.urgent, name)
		case !l.waits(name):
			names = append(names, name)
		}
	}
	return names
}

// waits tells whether a name has failed, and it is too early to try again.
func (l *loop) waits(name string) bool {
	f := l.failures[name]
	return f != nil && l.target.Now().Before(f.next)
}
