package failover

import "github.com/signpost-dns/signpost/pkg/domain/intent"

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
	none := f.left[intent.LeftNone]
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
