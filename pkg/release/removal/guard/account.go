// Package guard says when more of a record's names would go at once than anybody
// may have meant.
package guard

import (
	"fmt"
	"slices"
	"time"
)

// Window is how long after the last removal without a request those before it count: a later one is
// not part of the same loss.
const Window = time.Hour

// Account is what all replicas know of a record's names that go though nobody has asked for it: the sums of all shares. It is
// changed together with a share, by compare and swap.
type Account struct {
	UID     string    `json:"uid"`              // of the record; of another one nothing counts
	Gone    int       `json:"gone,omitempty"`   // names that went
	Held    int       `json:"held,omitempty"`   // names that stay published although nothing offers them an address
	Last    time.Time `json:"last,omitzero"`    // when the latest name went
	Names   int       `json:"names,omitempty"`  // of the record, with those that have gone, when they were last counted
	Counted time.Time `json:"counted,omitzero"` // when that was
}

// Share is what a group has to do with a record's account.
type Share struct {
	Gone []string `json:"gone,omitempty"` // names that it gave up, ordered
	Held int      `json:"held,omitempty"` // how many of its names stay published although nothing offers them an address
}

// Permit says that somebody has asked for names of a group to go.
type Permit struct {
	For   string   `json:"for"`   // id of the release, or of the record as it is pinned, that was accepted with it; void with any other
	Names []string `json:"names"` // ordered
}

// Loss is what a group would not publish any more of a record's names.
type Loss struct {
	Names   []string // ordered; none: the group has lost nothing, or has it back
	For     []string // what the group follows from now: permits for these count
	Percent int      // how many of the names may go
	Now     time.Time
}

// Published is what is published of a record now.
type Published struct {
	Own    map[string]bool                             // names that the group gives
	Others map[string]bool                             // those of the loss that other groups give, too
	Count  func() (names int, at time.Time, err error) // of all groups, with those that have gone, and when they were counted
}

// mostPermits is how many permits a group has at most: those of requests that came
// to nothing, or were overtaken, are never used.
const mostPermits = 4

// mostBytes is how much the names of a group's permits may take together, unless there is one alone.
const mostBytes = 512 << 10

// Permitted answers a group's permits with another one, in place of one for the same. If there are many, the oldest ones are dropped.
func Permitted(permits []Permit, p Permit) []Permit {
	permits = slices.DeleteFunc(slices.Clone(permits), func(o Permit) bool { return o.For == p.For })
	permits = append(permits, p)
	size, from := 0, len(permits)
	for from > 0 && from > len(permits)-mostPermits {
		for _, name := range permits[from-1].Names {
			size += len(name)
		}
		if size > mostBytes && from < len(permits) {
			break
		}
		from--
	}
	return permits[from:]
}

// Spend answers the names of a loss that no permit covers, and the permits that are left. Names of
// a permit that are gone or are back are struck off.
func Spend(l Loss, permits []Permit) (lost []string, left []Permit) {
	lost = slices.Clone(l.Names)
	for _, p := range permits {
		if slices.Contains(l.For, p.For) {
			covers := p.Names
			p.Names = slices.DeleteFunc(slices.Clone(p.Names), func(name string) bool { return !Has(l.Names, name) })
			lost = slices.DeleteFunc(lost, func(name string) bool { return Has(covers, name) })
		}
		if len(p.Names) > 0 {
			left = append(left, p)
		}
	}
	return lost, left
}

// Ends tells whether the account is to begin anew: it is another record's, or what went does not count any more.
func (a Account) Ends(uid string, now time.Time) bool {
	return a.UID != uid || a.Held == 0 && a.Gone > 0 && now.Sub(a.Last) > Window
}

// Idle tells whether nothing of the account counts any more.
func (a Account) Idle(now time.Time) bool {
	return a.Held == 0 && now.Sub(a.Last) > Window && now.Sub(a.Counted) > Window
}

// Judge answers the account and a group's share after a loss, and the names that are to stay published. Of names that no permit
// covers all may go, or none. It is idempotent. published is asked if there are such names, and for a count if more than a few have gone.
func (a Account) Judge(s Share, lost []string, l Loss, published func() (Published, error)) (next Account, share Share, held []string, err error) {
	next, share = a, Share{Gone: s.Gone}
	next.Held -= s.Held
	if len(lost) == 0 {
		return next, share, nil, nil
	}
	by, err := published()
	if err != nil {
		return a, s, nil, err
	}
	lost = slices.DeleteFunc(slices.Clone(lost), func(name string) bool { return by.Others[name] })
	if len(lost) == 0 {
		return next, share, nil, nil
	}
	back := func(name string) bool { return by.Own[name] && !Has(l.Names, name) }
	others := next.Gone - len(s.Gone)
	if gone := others + len(union(slices.DeleteFunc(slices.Clone(s.Gone), back), lost)) + next.Held; gone > Few {
		if next, err = next.counted(l.Now, by.Count); err != nil {
			return a, s, nil, err
		}
		if Over(gone, next.Names, l.Percent) {
			share.Held = len(lost)
			next.Held += share.Held
			return next, share, lost, nil
		}
	}
	share.Gone, next.Last = union(s.Gone, lost), l.Now
	next.Gone = others + len(share.Gone)
	return next, share, nil, nil
}

// countedFor is how long a count of names holds, for each of them: who counts very many again and again does nothing else.
const countedFor = time.Millisecond

// Counts tells whether a count of names holds. Clocks may differ by minutes, so it may be of the future.
func Counts(names int, at, now time.Time) bool {
	age := now.Sub(at)
	return age > -Window && age < time.Duration(names)*countedFor
}

// counted is the account with a count of the names that is not old.
func (a Account) counted(now time.Time, count func() (int, time.Time, error)) (Account, error) {
	if Counts(a.Names, a.Counted, now) {
		return a, nil
	}
	var err error
	a.Names, a.Counted, err = count()
	return a, err
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Has tells whether a name is among ordered ones.
func Has(ordered []string, name string) bool {
	_, found := slices.BinarySearch(ordered, name)
	return found
}

// Few is how many names may always go.
const Few = 5

// Default is the share of a record's names that may go at once, in percent,
// where the record says nothing.
const Default = 25

// Over says whether it is too much that so many names go of all that there were,
// where percent of them may.
func Over(gone, all, percent int) bool { return gone > Few && gone*100 > all*percent }

// Held says that names of a provider stay which nothing offers an address, and what removes them.
func Held(names int, provider, remover string) string {
	if names == 1 {
		return fmt.Sprintf("1 name of provider %q stays published although no address of it exists any more, because too many names would go at once; %s removes it", provider, remover)
	}
	return fmt.Sprintf("%d names of provider %q stay published although no address of them exists any more, because that is more than may be removed at once; %s removes them", names, provider, remover)
}
