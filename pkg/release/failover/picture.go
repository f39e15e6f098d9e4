package failover

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// nameType is a type of a name at one DNS provider.
type nameType struct {
	render.NameAt
	kind string
}

// share is what one owner gives to a name and type.
type share struct {
	owner         intent.Path
	before, after []string
	could, able   []string // clusters that may serve the name, before and afterwards
	host          render.HostForecast
	stays         string
}

// union is what all owners together give to the types of a name.
type union struct {
	was, is     map[string]bool // targets before and afterwards
	could, able map[string]bool // clusters that may serve the name before and afterwards
	ill         bool            // an owner gives it then, and has no healthy cluster for it
	well        bool            // an owner has one
}

// loses tells whether a cluster that may serve the name before may not serve it afterwards.
func (u *union) loses() bool {
	for cluster := range u.could {
		if !u.able[cluster] {
			return true
		}
	}
	return false
}

// picture is what all owners together publish, before and after.
type picture struct {
	rows   []intent.MovedName
	kept   int // names without a row that lose a cluster
	shares map[nameType][]share
	names  map[render.NameAt]*union
	homes  map[string]bool      // clusters with the external-dns of names that move
	inside int                  // names of cluster scope, which stay
	lost   map[string]time.Time // clusters that cannot be reached, and since when
}

// pictureOf joins forecasts: a name that several owners publish has the addresses of all.
func pictureOf(all []forecast, changed map[string]bool, list state.DrainedList, lost map[string]time.Time) picture {
	p := picture{lost: lost, shares: map[nameType][]share{}, names: map[render.NameAt]*union{}, homes: map[string]bool{}}
	var order []nameType
	for _, f := range all {
		keys := maps.Clone(f.Before)
		maps.Copy(keys, f.After)
		for _, key := range slices.SortedFunc(maps.Keys(keys), state.CompareNames) {
			at := nameType{render.NameAt{Project: f.Group.Project.Name, Record: key.Record, Name: key.Name}, key.Kind}
			if p.shares[at] == nil {
				order = append(order, at)
			}
			p.add(f, key, at, changed, list)
		}
		for _, b := range f.Group.Bindings {
			if !f.beside && b.Scope == intent.ClusterScope && slices.ContainsFunc(b.Sources, func(name string) bool { return changed[name] }) {
				p.inside += len(b.Hosts)
			}
		}
	}
	listed := map[render.NameAt]bool{}
	for _, at := range order {
		if row, moves := p.row(at); moves {
			p.rows, listed[at.NameAt] = append(p.rows, row), true
		}
	}
	for at, all := range p.names {
		if !listed[at] && all.loses() {
			p.kept++
		}
	}
	return p
}

// add adds what an owner gives to a name and type.
func (p *picture) add(f forecast, key state.NameKey, at nameType, changed map[string]bool, list state.DrainedList) {
	host := f.Hosts[key]
	could := slices.Clone(host.Able)
	for _, cluster := range host.Drained {
		if _, was := list.Clusters[cluster]; !was {
			could = append(could, cluster)
		}
	}
	could = slices.DeleteFunc(could, func(cluster string) bool {
		_, was := list.Clusters[cluster]
		return was && changed[cluster]
	})
	slices.Sort(could)
	one := share{owner: f.Group.Path, before: f.Before[key], after: f.After[key], could: could, able: host.Able, host: host}
	switch {
	case f.beside:
	case f.Suspended && !slices.Equal(could, host.Able):
		one.stays = "its deployment intent group is suspended; it moves when the group is resumed"
	case !f.Suspended && host.Kept():
		one.stays = "nothing offers it an address any more, with or without the drain; the removal rule of its provider decides"
	}
	p.shares[at] = append(p.shares[at], one)
	all := p.names[at.NameAt]
	if all == nil {
		all = &union{was: map[string]bool{}, is: map[string]bool{}, could: map[string]bool{}, able: map[string]bool{}}
		p.names[at.NameAt] = all
	}
	note(all.was, one.before)
	note(all.is, one.after)
	note(all.could, one.could)
	note(all.able, one.able)
	switch {
	case len(one.after) == 0:
	case host.Ill() || p.allLost(host.Able):
		all.ill = true
	case len(host.Able) > 0:
		all.well = true
	}
}

// row is what becomes of a name and type, with what all owners give to it; false: nothing.
func (p *picture) row(at nameType) (intent.MovedName, bool) {
	row := intent.MovedName{
		Name: at.Name, Type: at.kind, Project: at.Project, Record: at.Record,
		Homes: []string{}, Before: []string{}, After: []string{}, ClustersBefore: []string{}, ClustersAfter: []string{},
	}
	mover, stayer := -1, -1
	for n, one := range p.shares[at] {
		row.Homes, row.TTL = joined(row.Homes, one.host.Homes), max(row.TTL, one.host.TTL)
		row.Before, row.After = joined(row.Before, one.before), joined(row.After, one.after)
		row.ClustersBefore, row.ClustersAfter = joined(row.ClustersBefore, one.could), joined(row.ClustersAfter, one.able)
		switch {
		case one.stays != "" && stayer < 0:
			stayer = n
		case one.stays == "" && mover < 0 && !slices.Equal(one.before, one.after):
			mover = n
		}
	}
	switch {
	case mover >= 0 && !slices.Equal(row.Before, row.After):
		row.Owner = p.shares[at][mover].owner
		row.Left = p.names[at.NameAt].left()
		for _, home := range row.Homes {
			p.homes[home] = true
		}
	case stayer >= 0:
		row.Owner, row.Stays = p.shares[at][stayer].owner, p.shares[at][stayer].stays
	default:
		return row, false
	}
	return row, true
}

// joined joins ordered lists.
func joined(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return append([]string{}, slices.Compact(all)...)
}

// allLost tells whether none of some clusters can be reached. An outage counts at once here,
// although it takes addresses out of names only later.
func (p *picture) allLost(clusters []string) bool {
	return len(clusters) > 0 && !slices.ContainsFunc(clusters, func(name string) bool {
		_, lost := p.lost[name]
		return !lost
	})
}

// unreachable are the clusters that names would have addresses from and that cannot be
// reached, ordered.
func (p *picture) unreachable() []intent.LostCluster {
	serving := map[string]bool{}
	for _, row := range p.rows {
		for _, name := range row.ClustersAfter {
			serving[name] = true
		}
	}
	var out []intent.LostCluster
	for _, name := range slices.Sorted(maps.Keys(p.lost)) {
		if serving[name] {
			out = append(out, intent.LostCluster{Cluster: name, Since: p.lost[name]})
		}
	}
	return out
}

func note(in map[string]bool, texts []string) {
	for _, text := range texts {
		in[text] = true
	}
}

func texts(list []string) []string { return append([]string{}, list...) }

// left tells how a name that moves is in danger.
func (u *union) left() string {
	before, after := len(u.was), len(u.is)
	switch {
	case before > 0 && after == 0:
		return intent.LeftNone
	case u.ill && !u.well:
		return intent.LeftUnhealthy
	case before > 1 && after == 1:
		return intent.LeftOne
	}
	return ""
}

func (p *picture) counts() intent.FailoverCounts {
	c := intent.FailoverCounts{Kept: p.kept}
	for _, row := range p.rows {
		if row.Stays != "" {
			c.Stay++
			continue
		}
		c.Names++
		switch row.Left {
		case intent.LeftNone:
			c.None++
		case intent.LeftOne:
			c.One++
		case intent.LeftUnhealthy:
			c.Unhealthy++
		}
	}
	return c
}

// uncertain warns of names that stay and whose home cannot be reached. Rows tell what Signpost
// wants. If the group was suspended or changed after its home was lost, the home has older targets.
func (p *picture) uncertain() (out []string) {
	stay := map[string]int{}
	for _, row := range p.rows {
		for _, home := range row.Homes {
			if _, lost := p.lost[home]; lost && row.Stays != "" {
				stay[home]++
			}
		}
	}
	for _, home := range slices.Sorted(maps.Keys(stay)) {
		out = append(out, fmt.Sprintf("the external-dns of records that stay (%d) runs in %s, which cannot be reached; their servers may answer older targets than those that are shown as before", stay[home], home))
	}
	return out
}

// warnings are what an operator should know beside the names.
func (p *picture) warnings(v move) []string {
	out := []string{}
	for _, one := range v.drain {
		if p.homes[one.name] {
			out = append(out, fmt.Sprintf("the external-dns of some of these names runs in %s and stays there; if the cluster fails before it has told the DNS provider, set deployOn of the provider to another cluster", one.name))
		}
	}
	for _, home := range slices.Sorted(maps.Keys(p.homes)) {
		if _, lost := p.lost[home]; lost {
			out = append(out, fmt.Sprintf("the external-dns of some of these names runs in %s, which cannot be reached; they move when it answers again, or when deployOn of the provider is another cluster", home))
		}
	}
	out = append(append(out, p.uncertain()...), p.unanswered()...)
	if p.inside > 0 {
		out = append(out, fmt.Sprintf("%d names of cluster scope stay, because those who ask for them are inside the cluster", p.inside))
	}
	return out
}
