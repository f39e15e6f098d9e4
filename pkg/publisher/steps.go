package publisher

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
)

// Step is what a Write does with the sets of one type.
type Step struct {
	Type   string
	Before Set // as the server has it; without Targets if it has none
	After  Set // to be written, with the whole Mark; without Targets if the set is removed
}

// Steps are what a change does, in the order of its types. They are empty if all is as it should be. A set that the
// server has from somebody else is never part of a Step. If After needs its place, the change fails by Foreign.
// The types are those that the Writer writes beside Managed.
func (c Change) Steps(owner string, types ...string) ([]Step, error) {
	if err := c.check(types); err != nil {
		return nil, err
	}
	var steps []Step
	for _, after := range c.After {
		after.Mark.Owner = owner
		before, held := c.Before.Set(after.Type)
		switch {
		case !held:
			if err := c.mayCreate(after, owner); err != nil {
				return nil, err
			}
			steps = append(steps, Step{Type: after.Type, After: after})
		case !c.isOwn(before, owner) && !c.adopts(before.Mark):
			return nil, c.foreign(before)
		case !suffices(before, after):
			steps = append(steps, Step{Type: after.Type, Before: before, After: after})
		}
	}
	for _, before := range c.Before.Sets {
		if before.Mark.Owner == owner && !c.wants(before.Type) {
			steps = append(steps, Step{Type: before.Type, Before: before})
		}
	}
	for kind, mark := range c.Before.Orphans {
		if mark.Owner == owner && !c.wants(kind) {
			steps = append(steps, Step{Type: kind, Before: Set{Name: c.Before.Name, Type: kind, Mark: mark}})
		}
	}
	slices.SortFunc(steps, func(a, b Step) int { return strings.Compare(a.Type, b.Type) })
	return steps, nil
}

// suffices tells whether a set may stay as it is. As with external-dns, a set that names no TTL changes none.
func suffices(before, after Set) bool {
	mark := after.Mark
	after.TTL = cmp.Or(after.TTL, before.TTL)
	return SameRecords(before, after) && before.Mark == mark
}

func (c Change) wants(kind string) bool {
	return slices.ContainsFunc(c.After, func(set Set) bool { return set.Type == kind })
}

// isOwn tells whether a set is the owner's: by its mark, or by an intent that a crash left
// without a mark.
func (c Change) isOwn(set Set, owner string) bool {
	if set.Mark != (Mark{}) {
		return set.Mark.Owner == owner
	}
	return slices.ContainsFunc(c.Intended, func(intended Set) bool { return SameRecords(intended, set) })
}

// adopts tells whether a mark is of the owner whose sets are taken over.
func (c Change) adopts(mark Mark) bool {
	if c.Adopt == Unmarked {
		return mark == Mark{}
	}
	return c.Adopt != "" && mark.Owner == c.Adopt
}

// mayCreate tells why the owner may not add a set to the name: as external-dns does, it
// adds none beside a set of somebody else.
func (c Change) mayCreate(after Set, owner string) error {
	for _, set := range c.Before.Sets {
		beside := c.adopts(set.Mark) && set.Type != "CNAME" && after.Type != "CNAME"
		if !c.isOwn(set, owner) && !beside {
			return c.foreign(set)
		}
	}
	if mark, orphan := c.Before.Orphans[after.Type]; orphan && mark.Owner != owner && !c.adopts(mark) {
		return fault.Errorf(Foreign, "%s %s has no records, and a mark of owner %q; remove the mark if that owner is gone", after.Name, after.Type, mark.Owner)
	}
	return nil
}

func (c Change) foreign(set Set) error {
	if set.Mark.Owner == "" {
		return fault.Errorf(Foreign, "%s %s exists without a mark of external-dns; it stays as it is", set.Name, set.Type)
	}
	return fault.Errorf(Foreign, "%s %s belongs to owner %q; it stays as it is", set.Name, set.Type, set.Mark.Owner)
}

// check finds what no server could take.
func (c Change) check(types []string) error {
	seen := map[string]bool{}
	for _, set := range c.After {
		switch {
		case set.Name != c.Before.Name:
			return fault.Errorf(Invalid, "a change of %s has a set of %s; change one name at a time", c.Before.Name, set.Name)
		case !slices.Contains(Managed(), set.Type) && !slices.Contains(types, set.Type):
			return fault.Errorf(Invalid, "%s %s cannot be published by Signpost itself; leave the type out, or deploy external-dns", set.Name, set.Type)
		case len(set.Targets) == 0:
			return fault.Errorf(Invalid, "%s %s has no targets; leave the set out to remove it", set.Name, set.Type)
		case seen[set.Type]:
			return fault.Errorf(Invalid, "%s has two sets of type %s", set.Name, set.Type)
		case set.TTL < 0 || set.TTL >= 1<<31:
			return fault.Errorf(Invalid, "%s %s has a TTL of %d seconds; the largest is 2147483647", set.Name, set.Type, set.TTL)
		case set.Type == "CNAME" && len(set.Targets) > 1:
			return fault.Errorf(Invalid, "%s CNAME has %d targets, and may have one", set.Name, len(set.Targets))
		}
		seen[set.Type] = true
	}
	if seen["CNAME"] && len(seen) > 1 {
		return fault.Errorf(Invalid, "%s has a CNAME, beside which a name has nothing else", c.Before.Name)
	}
	return nil
}

// Managed are the types of records that each Writer reads and writes.
func Managed() []string { return []string{"A", "AAAA", "CNAME"} }

// NoTransaction is the error of a set that has more records than one message holds.
func NoTransaction(set Set, most int) error {
	return fault.Errorf(Invalid, "%s %s has %d targets; one message holds %d", set.Name, set.Type, len(set.Targets), most)
}

// String names the step in logs.
func (s Step) String() string {
	return fmt.Sprintf("%s: %v becomes %v", s.Type, s.Before.Targets, s.After.Targets)
}
