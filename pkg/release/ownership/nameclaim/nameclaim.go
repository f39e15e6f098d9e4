// Package nameclaim says whose a name is. Each name that releases publish, in
// each view of DNS, has one claim: a key, whose owner is a project. In it stand
// the groups of the project that give the name. Judgement is pure; what it is
// made of is written by compare-and-swap alone.
//
// A claim goes two steps. An acceptance puts an entry that is pending, before anything
// follows from it. Before the release becomes current in an app context, its entry is
// confirmed. A pending entry holds as long as its acceptance may be under way, by the
// clock. It may be taken away then, and cannot be confirmed any more. So of two claim
// holders of a name only one publishes, even if clocks are wrong.
package nameclaim

import (
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Key is a name in a view. The view is another thing than the name, so that
// two private zones can have the same.
type Key struct{ View, Name string }

// Claim is whose a name is; the zero Claim is nobody's.
type Claim struct {
	Project string  `json:"project"`
	Entries []Entry `json:"entries"`

	item *kv.Item // as it was read; nil: there was none
}

// Entry is a group of the project that gives the name, or is about to. A group
// has two while a release of it gives the name and another one is accepted.
type Entry struct {
	Group   intent.Path `json:"group,omitempty"` // none of what stays
	UID     string      `json:"uid"`             // of the group; of what stays, of the document
	Through intent.Path `json:"through"`         // the record that the name is published by
	Types   []string    `json:"types,omitempty"` // of A, AAAA, CNAME, SRV; none: all but SRV
	Trees   []string    `json:"trees,omitempty"` // the prefixes of etcd below which the name is a whole key, ordered; none: it is no key

	Context   string    `json:"context,omitempty"` // of the release that it was claimed for
	Seq       int64     `json:"seq,omitempty"`     // of that release
	Confirmed bool      `json:"confirmed,omitempty"`
	Over      int64     `json:"over,omitempty"`  // while pending: the revision of the lifecycle that the release is to follow
	Since     time.Time `json:"since,omitzero"`  // while pending: UTC, when it was claimed
	Stays     bool      `json:"stays,omitempty"` // it holds as long as the document is there that it is through

	Host bool        `json:"-"` // of a request: it is for a host name, and not for a namespace
	From intent.Path `json:"-"` // of a request: whose names the release is to take over; empty: nobody's
}

// pendingHolds is how long a pending claim holds without its acceptance, which takes
// less. A claim further ahead than that was written with a wrong clock, and holds as
// little as an old one.
const pendingHolds = time.Minute

// GroupState is what counts of a group for its claims. It has to be read after the claim
// that is judged by it.
type GroupState struct {
	UID      string             // of the group that the lifecycle is about
	Revision int64              // of the lifecycle, 0 for none
	Context  string             // of the release that is to be in the clusters, empty for none
	Resting  bool               // nothing of earlier releases is left, of earlier lives neither
	Gives    func(key Key) bool // whether the release that is to be in the clusters gives a name, and has not handed it over
}

// Held tells whether an entry of a claim still counts.
func (e Entry) Held(key Key, s GroupState, now time.Time) bool {
	switch {
	case e.Confirmed:
		return !s.Resting || e.UID == s.UID && s.Context != "" && s.Gives(key)
	case e.Context != "" && e.Context == s.Context:
		return true
	}
	return e.Over == s.Revision && now.Sub(e.Since).Abs() < pendingHolds
}

// Clashes tells whether DNS allows no name with the types of both.
func (e Entry) Clashes(other Entry) bool { return e.alias() != other.alias() }

// excludes tells whether two owners cannot both give what they claim: one of them is a
// name, and does not take over from the other.
func (e Entry) excludes(mine Entry) bool {
	return mine.Host && e.Group != mine.From && (intent.IsName(e.Group) || intent.IsName(mine.Group))
}

func (e Entry) alias() bool { return slices.Equal(e.Types, []string{"CNAME"}) }

// Of tells whether an entry is a group's.
func (e Entry) Of(group intent.Path) bool { return !e.Stays && e.Group == group }

// Verdict is what becomes of a request for a name.
type Verdict string

// The outcomes of a request.
const (
	Granted Verdict = "granted"
	Taken   Verdict = "taken" // the name is another project's
	Clash   Verdict = "clash" // another group of the project has types with which it cannot be shared
	Alone   Verdict = "alone" // another owner of the project has it, and one of both is a name, which shares with nobody
)

// Request is the claim as it would be with an entry of a project's group in it. Held
// entries stay. If it is not granted, by answers the entry that stands in the way.
func (c Claim) Request(project string, mine Entry, held func(Entry) (bool, error)) (next Claim, verdict Verdict, by Entry, err error) {
	next = Claim{Project: project, item: c.item}
	for _, e := range c.Entries {
		if e.Of(mine.Group) && e.Context == mine.Context {
			continue
		}
		stays, err := held(e)
		switch {
		case err != nil:
			return c, Taken, e, err
		case !stays:
			continue
		case c.Project != project:
			return c, Taken, e, nil
		case !e.Stays && !e.Of(mine.Group) && e.excludes(mine):
			return c, Alone, e, nil
		case !e.Stays && !e.Of(mine.Group) && e.Clashes(mine):
			return c, Clash, e, nil
		}
		next.Entries = append(next.Entries, e)
	}
	next.Entries = append(next.Entries, mine)
	return next, Granted, Entry{}, nil
}

// Confirmed is the entry of a group that is confirmed, if there is one.
func (c Claim) Confirmed(project string, group intent.Path) (Entry, bool) {
	at := slices.IndexFunc(c.Entries, func(e Entry) bool { return e.Of(group) && e.Confirmed })
	if at < 0 || c.Project != project {
		return Entry{}, false
	}
	return c.Entries[at], true
}

// Confirm is the claim with the pending entry of a group's release confirmed, in place of
// the earlier one. If nothing is pending for it, ok is false.
func (c Claim) Confirm(project string, group intent.Path, context string) (next Claim, ok bool) {
	next = Claim{Project: c.Project, item: c.item}
	for _, e := range c.Entries {
		switch {
		case e.Of(group) && !e.Confirmed && e.Context == context:
			e.Confirmed, e.Over, e.Since, ok = true, 0, time.Time{}, true
		case e.Of(group) && e.Confirmed:
			continue
		}
		next.Entries = append(next.Entries, e)
	}
	return next, ok && c.Project == project
}

// Without is the claim without the entries that gone answers true for.
func (c Claim) Without(gone func(Entry) bool) Claim {
	c.Entries = slices.DeleteFunc(slices.Clone(c.Entries), gone)
	return c
}

// AndStays is the claim with an entry that stays, in the trees of an earlier entry of its
// document, too. Records that were left there still exist.
func (c Claim) AndStays(mine Entry) Claim {
	for _, e := range c.Entries {
		if e.Same(mine) {
			mine.Trees = slices.Compact(slices.Sorted(slices.Values(slices.Concat(mine.Trees, e.Trees))))
		}
	}
	c = c.Without(mine.Same)
	c.Entries = append(c.Entries, mine)
	return c
}

// Sole tells whether a claim has confirmed entries of one group of a project
// alone: nobody else is to be judged.
func (c Claim) Sole(project string, group intent.Path) bool {
	return c.Project == project && !slices.ContainsFunc(c.Entries, func(e Entry) bool { return !e.Of(group) || !e.Confirmed })
}

// Has tells whether a claim is a project's through an entry that stays.
func (c Claim) Has(project string, entry Entry) bool {
	return entry.Stays && c.Project == project && slices.ContainsFunc(c.Entries, entry.Same)
}

// Same tells whether two entries are of one group, or stay through one document.
func (e Entry) Same(other Entry) bool {
	return e.Stays == other.Stays && e.Group == other.Group && e.UID == other.UID && (!e.Stays || e.Through == other.Through)
}

// Lasts tells whether an entry does not end by the clock: its name is published, or
// is to be.
func (e Entry) Lasts() bool { return e.Confirmed || e.Stays }
