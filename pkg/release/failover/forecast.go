package failover

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// atOnce is how many owners are forecast at a time.
const atOnce = 8

// forecasts tells what becomes of the names of all owners that the changed clusters serve,
// ordered by their paths.
func (m *Mover) forecasts(ctx context.Context, changed map[string]bool, after state.DrainedClusters) ([]render.Forecast, error) {
	owners, err := state.DeployedOn(ctx, m.Store, slices.Sorted(maps.Keys(changed))...)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(owners, func(path intent.Path, _ state.Lifecycle) bool { return state.IsRecord(path) || state.IsCloud(path) })
	var mu sync.Mutex
	var all []render.Forecast
	workers, working := errgroup.WithContext(ctx)
	workers.SetLimit(atOnce)
	for _, path := range slices.Sorted(maps.Keys(owners)) {
		workers.Go(func() error {
			one, err := m.Renderer.Forecast(tracing.With(working, "owner", string(path)), owners[path], changed, after)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, one)
			return err
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b render.Forecast) int { return cmp.Compare(a.Group.Path, b.Group.Path) })
	return all, nil
}

// givenName is a name at one DNS provider, for all owners.
type givenName struct{ project, record, name string }

// picture is what all owners together publish, before and after.
type picture struct {
	rows   []intent.MovedName
	homes  map[string]bool               // clusters with the external-dns of names that move
	was    map[givenName]map[string]bool // targets before
	is     map[givenName]map[string]bool // targets afterwards
	able   map[givenName]map[string]bool // clusters that may serve the name afterwards
	could  map[givenName]map[string]bool // clusters that may serve it before
	inside int                           // names of cluster scope, which stay
	lost   map[string]time.Time          // clusters that cannot be reached, and since when
}

// pictureOf joins forecasts: a name that several owners publish has the addresses of all.
func pictureOf(all []render.Forecast, changed map[string]bool, list state.DrainedList, lost map[string]time.Time) picture {
	p := picture{
		lost:  lost,
		homes: map[string]bool{}, was: map[givenName]map[string]bool{}, is: map[givenName]map[string]bool{},
		able: map[givenName]map[string]bool{}, could: map[givenName]map[string]bool{},
	}
	for _, f := range all {
		keys := maps.Clone(f.Before)
		maps.Copy(keys, f.After)
		for _, key := range slices.SortedFunc(maps.Keys(keys), state.CompareNames) {
			p.add(f, key, changed, list)
		}
		for _, b := range f.Group.Bindings {
			if b.Scope == intent.ClusterScope && slices.ContainsFunc(b.Sources, func(name string) bool { return changed[name] }) {
				p.inside += len(b.Hosts)
			}
		}
	}
	for n := range p.rows {
		p.rows[n].Left = p.left(p.rows[n])
	}
	return p
}

// add adds a name and type of an owner.
func (p *picture) add(f render.Forecast, key state.NameKey, changed map[string]bool, list state.DrainedList) {
	host := f.Hosts[key]
	at := givenName{f.Group.Project.Name, key.Record, key.Name}
	note(p.was, at, f.Before[key]...)
	note(p.is, at, f.After[key]...)
	note(p.able, at, host.Able...)
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
	note(p.could, at, could...)
	row := intent.MovedName{
		Homes: texts(host.Homes), Name: key.Name, Type: key.Kind, Project: at.project, Owner: f.Group.Path, Record: key.Record,
		Before: texts(f.Before[key]), After: texts(f.After[key]), ClustersBefore: texts(could), ClustersAfter: texts(host.Able), TTL: host.TTL,
	}
	switch {
	case f.Suspended:
		row.Stays = "its deployment intent group is suspended; it moves when the group is resumed"
		if slices.Equal(row.ClustersBefore, row.ClustersAfter) {
			return
		}
	case host.Kept:
		row.Stays = "nothing offers it an address any more, with or without the drain; the removal rule of its provider decides"
	case slices.Equal(row.Before, row.After):
		return
	}
	if row.Stays == "" {
		for _, home := range host.Homes {
			p.homes[home] = true
		}
	}
	if host.Ill || p.allLost(host.Able) {
		row.Left = intent.LeftUnhealthy
	}
	p.rows = append(p.rows, row)
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

func note(in map[givenName]map[string]bool, at givenName, texts ...string) {
	if in[at] == nil {
		in[at] = map[string]bool{}
	}
	for _, text := range texts {
		in[at][text] = true
	}
}

func texts(list []string) []string { return append([]string{}, list...) }

// left tells how a row's name is in danger.
func (p *picture) left(row intent.MovedName) string {
	at := givenName{row.Project, row.Record, row.Name}
	before, after := len(p.was[at]), len(p.is[at])
	switch {
	case row.Stays != "":
		return ""
	case before > 0 && after == 0:
		return intent.LeftNone
	case row.Left == intent.LeftUnhealthy:
		return row.Left
	case before > 1 && after == 1:
		return intent.LeftOne
	}
	return ""
}

func counts(rows []intent.MovedName) intent.FailoverCounts {
	var c intent.FailoverCounts
	for _, row := range rows {
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

// others adds the addresses that owners publish which the changed clusters do not serve, to
// names that would be left without any, or with one.
func (m *Mover) others(ctx context.Context, p *picture, all []render.Forecast) error {
	known, records := map[intent.Path]bool{}, map[intent.Path]bool{}
	for _, f := range all {
		known[f.Group.Path] = true
	}
	for _, row := range p.rows {
		if row.Left == intent.LeftNone || row.Left == intent.LeftOne {
			records[intent.Join("projects", row.Project, "dns-update-records", row.Record)] = true
		}
	}
	for _, record := range slices.Sorted(maps.Keys(records)) {
		users, err := m.Deployed(ctx, record)
		if err != nil {
			return err
		}
		for _, user := range slices.Sorted(maps.Keys(users)) {
			if known[user] {
				continue
			}
			known[user] = true
			if err := m.addPublished(ctx, p, user); err != nil {
				return err
			}
		}
	}
	for n, row := range p.rows {
		if row.Left == intent.LeftNone || row.Left == intent.LeftOne {
			p.rows[n].Left = p.left(row)
		}
	}
	return nil
}

// addPublished adds what an owner publishes now to the names that are in the picture.
func (m *Mover) addPublished(ctx context.Context, p *picture, owner intent.Path) error {
	objects, err := m.CurrentEndpoints(ctx, owner)
	if err != nil {
		return err
	}
	names := map[state.NameKey][]string{}
	for _, o := range objects {
		if o.Published.Scope == string(intent.Public) {
			state.CollectNames(o.Published, names)
		}
	}
	for key, targets := range names {
		at := givenName{owner.Segment("projects"), key.Record, key.Name}
		if p.was[at] != nil {
			note(p.was, at, targets...)
			note(p.is, at, targets...)
		}
	}
	return nil
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
	if p.inside > 0 {
		out = append(out, fmt.Sprintf("%d names of cluster scope stay, because those who ask for them are inside the cluster", p.inside))
	}
	return out
}
