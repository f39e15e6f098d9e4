package failover

import (
	"cmp"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// mostNames is how many names a preview and a record list.
const mostNames = 1000

// fate is what a failover does to a host name.
type fate struct {
	moves, stays, waits bool
	left                map[string]bool
}

// hostsOf counts the host names of rows, which are one for each type and provider.
func hostsOf(rows []intent.FailoverName) intent.FailoverHosts {
	all := map[string]*fate{}
	for _, row := range rows {
		if all[row.Name] == nil {
			all[row.Name] = &fate{left: map[string]bool{}}
		}
		all[row.Name].add(row)
	}
	var c intent.FailoverHosts
	for _, f := range all {
		f.count(&c)
	}
	return c
}

func (f *fate) add(row intent.FailoverName) {
	if row.Stays != "" {
		f.stays = true
		return
	}
	f.moves, f.waits, f.left[row.Left] = true, f.waits || row.Answered == nil, true
}

func (f *fate) count(c *intent.FailoverHosts) {
	note := func(is bool, of *int) {
		if is {
			*of++
		}
	}
	none := f.left[intent.LeftNone] && len(f.left) == 1
	note(f.stays, &c.Stay)
	note(f.left[intent.LeftOne], &c.One)
	note(f.left[intent.LeftUnhealthy], &c.Unhealthy)
	note(none, &c.None)
	note(none && !f.waits, &c.Gone)
	note(f.moves && !none, &c.Moved)
	note(f.moves && !none && !f.waits, &c.Answered)
}

// followed are the rows of names that are not followed yet.
func followed(rows []intent.MovedName) []intent.FailoverName {
	out := make([]intent.FailoverName, 0, len(rows))
	for _, row := range rows {
		out = append(out, intent.FailoverName{MovedName: row})
	}
	return out
}

// byDanger orders rows by the danger that their host names are in, the gravest first. All rows of a name stay together.
func byDanger(rows []intent.MovedName) {
	ranks := []string{intent.LeftNone, intent.LeftUnhealthy, intent.LeftOne, ""}
	gravest := map[string]int{}
	for _, row := range rows {
		rank, known := gravest[row.Name]
		if is := slices.Index(ranks, row.Left); !known || is < rank {
			gravest[row.Name] = is
		}
	}
	slices.SortStableFunc(rows, func(a, b intent.MovedName) int {
		return cmp.Or(cmp.Compare(gravest[a.Name], gravest[b.Name]), cmp.Compare(a.Name, b.Name))
	})
}

// listed are the first rows, as far as there is room for all rows of a name.
func listed(rows []intent.MovedName) []intent.MovedName {
	if len(rows) <= mostNames {
		return rows
	}
	most := mostNames
	for most > 0 && rows[most-1].Name == rows[most].Name {
		most--
	}
	return rows[:most]
}
