// Package guard says when more of a record's names would go at once than anybody
// may have meant.
package guard

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Window is how long a name that was removed without a request counts: a later removal is
// not part of the same loss.
const Window = time.Hour

// Account is what all replicas know of a record's names that go though nobody has
// asked for it. It is changed as a whole, by compare and swap.
type Account struct {
	UID     string         `json:"uid"`               // of the record; of another one nothing counts
	Gone    []string       `json:"gone,omitempty"`    // names that went, ordered
	Last    time.Time      `json:"last,omitzero"`     // when the latest of them did
	Held    map[string]int `json:"held,omitempty"`    // by group: how many names stay published although nothing offers them an address
	Permits []Permit       `json:"permits,omitempty"` // of what was asked for
}

// Permit says that somebody has asked for names to go.
type Permit struct {
	Group string   `json:"group"`
	For   string   `json:"for"`   // id of the release, or of the record as it is pinned, that was accepted with it; void with any other
	Names []string `json:"names"` // ordered
}

// Loss is what a group would not publish any more of a record's names.
type Loss struct {
	Group   string
	Names   []string // ordered; none: the group has lost nothing, or has it back
	For     []string // what the group follows from now: permits for these count
	Percent int      // how many of the names may go
	Now     time.Time
}

// Published are the record's names by group.
type Published map[string]map[string]bool

// mostPermits is how many permits a group has at most: those of requests that came
// to nothing, or were overtaken, are never used.
const mostPermits = 4

// Permit answers the account with a permit, in place of others that the group was given
// for the same. If it has many, the oldest one is dropped.
func (a Account) Permit(p Permit) Account {
	others := 0
	drop := func(o Permit) bool {
		if o.Group == p.Group && o.For != p.For {
			others++
		}
		return o.Group == p.Group && (o.For == p.For || others >= mostPermits)
	}
	a.Permits = slices.Clone(a.Permits)
	slices.Reverse(a.Permits) // the latest first
	a.Permits = slices.DeleteFunc(a.Permits, drop)
	slices.Reverse(a.Permits)
	a.Permits = append(a.Permits, p)
	return a
}

// Concerns says whether the account has something to settle with a group.
func (a Account) Concerns(group string) bool {
	return a.Held[group] > 0 || slices.ContainsFunc(a.Permits, func(p Permit) bool { return p.Group == group })
}

// Judge answers the account after a loss, and the names that are to stay published. If
// all may go, none stay, else all that nobody has asked to remove. It is idempotent. published is
// asked if more than a few names have gone.
func (a Account) Judge(l Loss, published func() (Published, error)) (next Account, held []string, err error) {
	next = a
	next.Held = maps.Clone(a.Held)
	delete(next.Held, l.Group)
	lost, permits := a.spend(l)
	next.Permits = permits
	if len(lost) == 0 {
		return next, nil, nil
	}
	if len(a.Held) == 0 && l.Now.Sub(a.Last) > Window {
		next.Gone = nil
	}
	waiting := 0
	for _, names := range next.Held {
		waiting += names
	}
	if len(union(next.Gone, lost))+waiting > Few {
		by, err := published()
		if err != nil {
			return a, nil, err
		}
		lost = slices.DeleteFunc(lost, func(name string) bool { return by.others(l.Group, name) })
		back := func(name string) bool { return by[l.Group][name] && !has(l.Names, name) }
		gone := union(slices.DeleteFunc(slices.Clone(next.Gone), back), lost)
		if len(lost) > 0 && Over(len(gone)+waiting, by.count(gone), l.Percent) {
			if next.Held == nil {
				next.Held = map[string]int{}
			}
			next.Held[l.Group] = len(lost)
			return next, lost, nil
		}
	}
	if len(lost) > 0 {
		next.Gone, next.Last = union(next.Gone, lost), l.Now
	}
	return next, nil, nil
}

// spend answers the names that no permit covers, and the permits that are left. Names of
// a permit that are gone or are back are struck off.
func (a Account) spend(l Loss) (lost []string, left []Permit) {
	lost = slices.Clone(l.Names)
	for _, p := range a.Permits {
		if p.Group == l.Group && slices.Contains(l.For, p.For) {
			covers := p.Names
			p.Names = slices.DeleteFunc(slices.Clone(p.Names), func(name string) bool { return !has(l.Names, name) })
			lost = slices.DeleteFunc(lost, func(name string) bool { return has(covers, name) })
		}
		if len(p.Names) > 0 {
			left = append(left, p)
		}
	}
	return lost, left
}

// others says whether a group but this one publishes a name.
func (by Published) others(group, name string) bool {
	for other, names := range by {
		if other != group && names[name] {
			return true
		}
	}
	return false
}

// count is how many names there are, with those that have gone.
func (by Published) count(gone []string) int {
	all := map[string]bool{}
	for _, names := range by {
		maps.Copy(all, names)
	}
	for _, name := range gone {
		all[name] = true
	}
	return len(all)
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

func has(ordered []string, name string) bool {
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
