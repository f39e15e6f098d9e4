package failover

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/tracing"
)

// atOnce is how many owners are forecast at a time.
const atOnce = 8

// forecasts tells what becomes of the names of all owners that the changed clusters serve,
// and what other owners give to these names. They are ordered by their paths, the former first.
func (m *Mover) forecasts(ctx context.Context, changed map[string]bool, after state.DrainedClusters) ([]forecast, error) {
	owners, err := state.DeployedOn(ctx, m.Store, slices.Sorted(maps.Keys(changed))...)
	if err != nil {
		return nil, err
	}
	reaches := map[intent.Path]render.Reach{}
	for path := range owners {
		reaches[path] = render.Reach{Clusters: changed}
	}
	moving, err := m.forecast(ctx, owners, reaches, after)
	if err != nil {
		return nil, err
	}
	beside, err := m.beside(ctx, owners, moving, after)
	return slices.Concat(moving, beside), err
}

// forecast is what becomes of the names of an owner.
type forecast struct {
	render.Forecast
	beside bool // of names that no changed cluster serves for this owner, but for others
}

func (m *Mover) forecast(ctx context.Context, owners map[intent.Path]state.Lifecycle, reaches map[intent.Path]render.Reach, after state.DrainedClusters) ([]forecast, error) {
	maps.DeleteFunc(owners, func(path intent.Path, _ state.Lifecycle) bool { return state.IsRecord(path) || state.IsCloud(path) })
	var mu sync.Mutex
	var all []forecast
	workers, working := errgroup.WithContext(ctx)
	workers.SetLimit(atOnce)
	for _, some := range parts(owners) {
		workers.Go(func() error {
			return m.Renderer.Each(working, some, func(ctx context.Context, path intent.Path, l state.Lifecycle) error {
				one, err := m.Renderer.Forecast(tracing.With(ctx, "owner", string(path)), l, reaches[path], after)
				mu.Lock()
				defer mu.Unlock()
				all = append(all, forecast{Forecast: one})
				return err
			})
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b forecast) int { return cmp.Compare(a.Group.Path, b.Group.Path) })
	return all, nil
}

// parts divides owners into those that are forecast together: groups alone, and a few dozen names.
func parts(owners map[intent.Path]state.Lifecycle) []map[intent.Path]state.Lifecycle {
	const together = 64
	var all []map[intent.Path]state.Lifecycle
	var names []intent.Path
	for _, path := range slices.Sorted(maps.Keys(owners)) {
		if intent.IsName(path) {
			names = append(names, path)
		} else {
			all = append(all, map[intent.Path]state.Lifecycle{path: owners[path]})
		}
	}
	for some := range slices.Chunk(names, together) {
		part := map[intent.Path]state.Lifecycle{}
		for _, path := range some {
			part[path] = owners[path]
		}
		all = append(all, part)
	}
	return all
}

// concerned are the host names that the changed clusters matter to.
func concerned(moving []forecast) map[render.NameAt]bool {
	hosts := map[render.NameAt]bool{}
	for _, f := range moving {
		for key, host := range f.Hosts {
			if f.Suspended || host.Kept() || len(host.Drained) > 0 || !slices.Equal(f.Before[key], f.After[key]) {
				hosts[render.NameAt{Project: f.Group.Project.Name, Record: key.Record, Name: host.Host}] = true
			}
		}
	}
	return hosts
}

// beside are the forecasts of what others give to names that the changed clusters matter to. That stays
// as it is.
func (m *Mover) beside(ctx context.Context, known map[intent.Path]state.Lifecycle, moving []forecast, after state.DrainedClusters) ([]forecast, error) {
	publishers, err := m.publishers(ctx, concerned(moving))
	if err != nil {
		return nil, err
	}
	about := map[intent.Path]map[render.NameAt]bool{}
	for _, f := range moving {
		about[f.Group.Path] = f.About
	}
	owners, reaches := map[intent.Path]state.Lifecycle{}, map[intent.Path]render.Reach{}
	for _, at := range slices.SortedFunc(maps.Keys(publishers), render.NameAt.Compare) {
		for _, owner := range publishers[at] {
			if about[owner][at] {
				continue
			}
			if reaches[owner].Hosts == nil {
				reaches[owner] = render.Reach{Hosts: map[render.NameAt]bool{}}
			}
			reaches[owner].Hosts[at] = true
		}
	}
	for _, owner := range slices.Sorted(maps.Keys(reaches)) {
		l, is := known[owner]
		if !is {
			if l, err = m.StoredLifecycle(ctx, owner); err != nil {
				return nil, err
			}
		}
		if l.Deployed() {
			owners[owner] = l
		}
	}
	all, err := m.forecast(ctx, owners, reaches, after)
	for n := range all {
		all[n].beside, all[n].After = true, all[n].Before
	}
	return all, err
}
