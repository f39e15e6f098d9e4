package simulate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
)

// failovers is how many failovers an installation has.
const failovers = 4

// foretold runs an installation whose names move, and compares each preview with what comes.
func (w *world) foretold() History {
	w.beginAll()
	w.deploy()
	for range failovers {
		w.change()
		if w.broken == nil {
			w.foretell()
		}
	}
	w.close()
	return w.told()
}

// given is a name and type of an owner at a DNS provider.
type given struct {
	owner intent.Path
	state.NameKey
}

func (g given) String() string {
	return fmt.Sprintf("%s %s of %s by %s", g.Name, g.Kind, g.owner, g.Record)
}

// inClusters are the targets of all names: as their DNSEndpoints are in the clusters, and if
// the home of one does not answer, as it is to be there.
func (w *world) inClusters() map[given][]string {
	out, known := map[given][]string{}, map[bundle.ID]bool{}
	contexts := appcontext.NewStore(w.kv, time.Now)
	for _, one := range w.installed {
		p, err := contexts.Current(context.Background(), appcontext.Owner(one.path))
		if err != nil {
			w.breaks("I2", "the pointer of %s: %v", one.path, err)
		}
		objects, err := contexts.Objects(context.Background(), p)
		if err != nil {
			w.breaks("I2", "the context of %s: %v", one.path, err)
		}
		names := map[state.NameKey][]string{}
		for _, o := range objects {
			if o.Kind != bundle.EndpointKind {
				continue
			}
			known[o.ID] = true
			state.CollectNames(w.endpoint(o).Published, names)
		}
		for key, targets := range names {
			out[given{one.path, key}] = targets
		}
	}
	for _, o := range w.endpoints() {
		if !known[o.ID] && !w.sites[o.Cluster].down {
			w.breaks("I5", "left behind: %s", o.ID)
		}
	}
	return out
}

// endpoint is a DNSEndpoint as its home has it, if that answers.
func (w *world) endpoint(o bundle.Object) bundle.Object {
	s, local := w.sites[o.Cluster], o.ID
	if s.down {
		return o
	}
	local.Cluster = ""
	content := s.Content(local)
	if content == nil {
		w.breaks("I3", "missing: %s", o.ID)
		return o
	}
	return endpointOn(o.Cluster, content)
}

// foretell draws a move, takes its preview, makes it, and compares. Half of the moves are
// reverted.
func (w *world) foretell() {
	var p intent.FailoverPreview
	spec := w.drawMove()
	if spec.Drain.IsZero() && spec.Undrain.IsZero() {
		return
	}
	before := w.inClusters()
	w.await(fmt.Sprintf("preview %+v", spec), func(ctx context.Context, on *process) (err error) {
		p, err = on.service.PreviewFailover(ctx, spec, intent.FailoverOptions{Actor: "ann"})
		return err
	})
	if w.broken != nil || len(p.Drain)+len(p.Undrain) == 0 {
		return
	}
	id := w.comes(p, before, func(ctx context.Context, on *process, o intent.FailoverOptions) (intent.FailoverRecord, error) {
		return on.service.FailOver(ctx, spec, o)
	})
	if id == "" || w.random.IntN(2) == 0 {
		return
	}
	between := w.inClusters()
	w.await("preview of the reversion", func(ctx context.Context, on *process) (err error) {
		p, err = on.service.PreviewRevert(ctx, id, intent.FailoverOptions{Actor: "ann"})
		return err
	})
	back := w.comes(p, between, func(ctx context.Context, on *process, o intent.FailoverOptions) (intent.FailoverRecord, error) {
		return on.service.Revert(ctx, id, o)
	})
	if back != "" {
		w.checkBack(before, w.inClusters())
	}
}

// drawMove draws clusters to drain and to undrain, now and then by a label.
func (w *world) drawMove() (spec intent.FailoverSpec) {
	if w.random.IntN(4) == 0 {
		labels := map[string]string{"region": w.oneOf("eu", "us")}
		if w.random.IntN(3) == 0 {
			spec.Undrain.Labels = labels
		} else {
			spec.Drain.Labels = labels
		}
		return spec
	}
	for _, name := range w.siteNames() {
		switch w.random.IntN(4) {
		case 0:
			spec.Drain.Clusters = append(spec.Drain.Clusters, listed(name))
		case 1:
			spec.Undrain.Clusters = append(spec.Undrain.Clusters, listed(name))
		}
	}
	return spec
}

// comes makes a move that was previewed, and compares with the preview what comes of it. It
// answers the failover's id; empty: something is broken.
func (w *world) comes(p intent.FailoverPreview, before map[given][]string, do func(context.Context, *process, intent.FailoverOptions) (intent.FailoverRecord, error)) string {
	var done intent.FailoverRecord
	move := func(o intent.FailoverOptions) func(ctx context.Context, on *process) error {
		return func(ctx context.Context, on *process) (err error) {
			o.Confirm, o.Actor = p.Token, "ann"
			done, err = do(ctx, on, o)
			return err
		}
	}
	if len(p.Refusals) > 0 {
		if err := w.answer("move", move(intent.FailoverOptions{})); intent.CodeOf(err) != intent.Conflict {
			w.breaks("I6", "the preview has the refusals %+v, and the move ends with %v", p.Refusals, err)
		}
	}
	w.await("move", move(intent.FailoverOptions{Force: len(p.Refusals) > 0}))
	w.rest()
	if w.broken != nil {
		return ""
	}
	after := w.inClusters()
	w.checkRows(p, before, after)
	w.checkLeft(p, before, after)
	w.checkStays(p, before)
	w.checkHomes(p)
	w.checkFollowed(done.ID)
	if w.broken != nil {
		return ""
	}
	return done.ID
}

// checkRows: what a preview says of a name's targets is what all owners publish of it together,
// and other names stay as they are.
func (w *world) checkRows(p intent.FailoverPreview, before, after map[given][]string) {
	was, is := together(before), together(after)
	said, free := maps.Clone(was), map[state.NameKey]bool{}
	for _, row := range p.Names {
		key := keyOf(row).NameKey
		if !slices.Equal(row.Before, was[key]) && len(row.Before)+len(was[key]) > 0 {
			w.breaks("I6", "the preview says that %v has %v, and it has %v", key, row.Before, was[key])
		}
		if row.Stays != "" {
			free[key] = !w.ownerOf(row.Owner).suspended // the removal rule may let it go, or not
			continue
		}
		if said[key] = row.After; len(row.After) == 0 {
			delete(said, key)
		}
	}
	keys := maps.Clone(said)
	maps.Copy(keys, is)
	for _, key := range slices.SortedFunc(maps.Keys(keys), state.CompareNames) {
		if !free[key] && !slices.Equal(said[key], is[key]) {
			w.breaks("I6", "of drain %v and undrain %v the preview says that %v will have %v, and it has %v; before, it had %v", p.Drain, p.Undrain, key, said[key], is[key], was[key])
		}
	}
}

// together are the targets of names, of all owners that give them.
func together(all map[given][]string) map[state.NameKey][]string {
	out := map[state.NameKey][]string{}
	for key, targets := range all {
		out[key.NameKey] = slices.Compact(slices.Sorted(slices.Values(append(out[key.NameKey], targets...))))
	}
	return out
}

func keyOf(row intent.MovedName) given {
	return given{row.Owner, state.NameKey{Name: row.Name, Kind: row.Type, Record: row.Record}}
}

func compareGiven(a, b given) int {
	if a.owner != b.owner {
		return slices.Compare([]byte(a.owner), []byte(b.owner))
	}
	return state.CompareNames(a.NameKey, b.NameKey)
}

func merge(all ...map[given][]string) map[given][]string {
	out := map[given][]string{}
	for _, one := range all {
		maps.Copy(out, one)
	}
	return out
}

func (w *world) ownerOf(path intent.Path) owner {
	for _, one := range w.installed {
		if one.path == path {
			return one
		}
	}
	w.breaks("I6", "the preview has a name of %s, which is not there", path)
	return owner{}
}

// checkLeft: a preview says which names are in danger.
func (w *world) checkLeft(p intent.FailoverPreview, before, after map[given][]string) {
	counted := intent.FailoverCounts{Kept: w.kept(p, before, after)}
	for _, row := range p.Names {
		if row.Stays != "" {
			counted.Stay++
			continue
		}
		want := w.left(row, before, after)
		if row.Left != want {
			w.breaks("I6", "the preview says that %s is left with %q, and it is with %q: %+v, drained are %v", keyOf(row), row.Left, want, row, slices.Sorted(maps.Keys(w.drained())))
		}
		counted.Names++
		switch want {
		case intent.LeftNone:
			counted.None++
		case intent.LeftOne:
			counted.One++
		case intent.LeftUnhealthy:
			counted.Unhealthy++
		}
	}
	if counted != p.Counts {
		w.breaks("I6", "the preview counts %+v, and it is %+v", p.Counts, counted)
	}
}

// kept is how many names a drained cluster has addresses for that neither move nor stay behind.
func (w *world) kept(p intent.FailoverPreview, before, after map[given][]string) int {
	type name struct{ name, record string }
	listed, losing := map[name]bool{}, map[name]bool{}
	for _, row := range p.Names {
		listed[name{row.Name, row.Record}] = true
	}
	for key := range merge(before, after) {
		one := w.ownerOf(key.owner)
		if slices.ContainsFunc(p.Drain, func(cluster string) bool {
			return slices.Contains(one.clusters, cluster) && w.sites[cluster].lastSeen(one.service).Found
		}) {
			losing[name{key.Name, key.Record}] = true
		}
	}
	maps.DeleteFunc(losing, func(one name, _ bool) bool { return listed[one] })
	return len(losing)
}

// left tells how the name of a row is in danger, of all owners that publish it at its provider.
func (w *world) left(row intent.MovedName, before, after map[given][]string) string {
	targets := func(of map[given][]string) int {
		all := map[string]bool{}
		for key, targets := range of {
			if key.Name == row.Name && key.Record == row.Record {
				for _, target := range targets {
					all[target] = true
				}
			}
		}
		return len(all)
	}
	was, is := targets(before), targets(after)
	switch {
	case was > 0 && is == 0:
		return intent.LeftNone
	case w.allIll(row, after):
		return intent.LeftUnhealthy
	case was > 1 && is == 1:
		return intent.LeftOne
	}
	return ""
}

// allIll tells whether the owners that give a name have clusters for it, and none of these is healthy.
func (w *world) allIll(row intent.MovedName, after map[given][]string) bool {
	ill := false
	for key := range after {
		if key.Name != row.Name || key.Record != row.Record || !w.offered(key.owner, nil) {
			continue
		}
		if w.healthy(key.owner) {
			return false
		}
		ill = true
	}
	return ill
}

// offered tells whether some cluster that may give an owner addresses, and is not drained, was seen to have
// some, and is as asked for.
func (w *world) offered(path intent.Path, such func(s *site, service offered) bool) bool {
	one, drained := w.ownerOf(path), w.drained()
	return slices.ContainsFunc(one.clusters, func(name string) bool {
		s := w.sites[name]
		o := s.lastSeen(one.service)
		return !drained[name] && o.Found && (such == nil || such(s, o))
	})
}

// healthy tells whether one of these clusters is.
func (w *world) healthy(path intent.Path) bool {
	return w.offered(path, func(s *site, o offered) bool { return !s.down && o.ready() })
}

// checkStays: a preview has all names of suspended groups that a drain concerns, and says why
// names cannot move.
func (w *world) checkStays(p intent.FailoverPreview, before map[given][]string) {
	listed := map[state.NameKey]bool{}
	for _, row := range p.Names {
		listed[keyOf(row).NameKey] = true
		if row.Stays == "" && w.ownerOf(row.Owner).suspended {
			w.breaks("I6", "the preview says that %s moves, and its group is suspended", keyOf(row))
		}
	}
	for key := range before {
		one := w.ownerOf(key.owner)
		concerned := slices.ContainsFunc(p.Drain, func(name string) bool {
			return slices.Contains(one.clusters, name) && w.sites[name].lastSeen(one.service).Found
		})
		if one.suspended && concerned && !listed[key.NameKey] {
			w.breaks("I6", "the preview does not have %s, which stays", key)
		}
	}
}

// checkHomes: a preview warns of a home that does not answer, because names move only when it does. Of
// a home of names that stay it warns because what their servers answer may be older.
func (w *world) checkHomes(p intent.FailoverPreview) {
	for _, name := range w.siteNames() {
		has := func(stay bool) bool {
			return slices.ContainsFunc(p.Names, func(row intent.MovedName) bool { return (row.Stays != "") == stay && slices.Contains(row.Homes, name) })
		}
		warned := func(of string) bool {
			return slices.ContainsFunc(p.Warnings, func(text string) bool {
				return strings.Contains(text, name+", which cannot be reached; "+of)
			})
		}
		down := w.sites[name].down
		if warned("they move") != (has(false) && down) || warned("their servers") != (has(true) && down) {
			w.breaks("I6", "the preview has the warnings %q, and %s is down: %t", p.Warnings, name, down)
		}
	}
}

// checkFollowed: the record of a failover says of each name that moves that it is published.
func (w *world) checkFollowed(id string) {
	var r intent.FailoverRecord
	w.await("read "+id, func(ctx context.Context, on *process) (err error) {
		r, err = on.service.Failover(ctx, id)
		return err
	})
	for _, row := range r.Names {
		if row.Stays == "" && row.Published == nil {
			w.breaks("I6", "the record %s does not say that %s is published: %s", id, keyOf(row.MovedName), row.Message)
		}
	}
}

// checkBack: after a reversion names have what they had before, unless they depend on their past:
// those of unhealthy clusters keep what they have.
func (w *world) checkBack(before, after map[given][]string) {
	for _, key := range slices.SortedFunc(maps.Keys(merge(before, after)), compareGiven) {
		if one := w.ownerOf(key.owner); !one.suspended && (len(one.clusters) == 0 || w.healthy(key.owner)) && !slices.Equal(before[key], after[key]) {
			w.breaks("I6", "%s has %v after a failover was reverted, and had %v before", key, after[key], before[key])
		}
	}
}
