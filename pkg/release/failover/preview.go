package failover

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/signpost-dns/signpost/pkg/dns/externaldns"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// proposal is a move with all that follows from it.
type proposal struct {
	move
	picture
	preview  intent.FailoverPreview
	refusals []intent.FailoverRefusal
}

// PreviewFailover tells what a failover would do. Errors: Invalid for a request that means
// nothing, Conflict for clusters that are not there.
func (m *Mover) PreviewFailover(ctx context.Context, spec intent.FailoverSpec, o intent.FailoverOptions) (intent.FailoverPreview, error) {
	p, err := m.propose(ctx, spec, o)
	return p.preview, err
}

// propose makes a proposal. The forecast of each owner is rendered once.
func (m *Mover) propose(ctx context.Context, spec intent.FailoverSpec, o intent.FailoverOptions) (proposal, error) {
	v, err := m.resolve(ctx, spec)
	if err != nil {
		return proposal{}, err
	}
	out := proposal{move: v}
	after := v.after(intent.Drained{})
	all, err := m.forecasts(ctx, v.changed(), after)
	if err != nil {
		return proposal{}, err
	}
	lost, err := m.Renderer.Lost(ctx)
	if err != nil {
		return proposal{}, err
	}
	out.picture = pictureOf(all, v.changed(), v.list, lost)
	rules, err := m.rulesFor(ctx, out.picture)
	if err != nil {
		return proposal{}, err
	}
	out.refusals = slices.Concat(v.refused, judge(rules, out.picture, v.list.Clusters, after, m.Now()), out.emptied(after))
	out.refusals = slices.DeleteFunc(out.refusals, func(r intent.FailoverRefusal) bool {
		return r.Rule != "" && slices.Contains(o.Override, r.Rule)
	})
	out.preview, err = out.show(after)
	if err != nil {
		return proposal{}, err
	}
	out.preview.Warnings = append(out.preview.Warnings, m.aliased(out.emptyNames())...)
	running, err := m.marks(ctx)
	for _, mark := range running {
		out.preview.Warnings = append(out.preview.Warnings, "failover "+idOf(mark)+" is still moving names; this one counts from the clusters that it has drained")
	}
	return out, err
}

const allowForce = "the role operator, with --force (?force=true)"

// emptied refuses to leave names without an address, or to drain every cluster.
func (p *proposal) emptied(after state.DrainedClusters) []intent.FailoverRefusal {
	var refused []intent.FailoverRefusal
	if names := p.emptyNames(); len(names) > 0 {
		refused = append(refused, intent.FailoverRefusal{Detail: state.Few(names) + " would be left without any address", Allow: allowForce, Force: true})
	}
	if len(p.drain) > 0 && len(after) == len(p.fleet) {
		refused = append(refused, intent.FailoverRefusal{Detail: fmt.Sprintf("all %d clusters would be drained", len(p.fleet)), Allow: allowForce, Force: true})
	}
	return refused
}

// emptyNames are the names that would be left without any address, ordered.
func (p *picture) emptyNames() []string {
	var names []string
	for _, row := range p.rows {
		if row.Left == intent.LeftNone {
			names = append(names, row.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// aliased warns of CNAMEs of names that are left without any address.
func (m *Mover) aliased(empty []string) []string {
	if m.Aliases == nil || len(empty) == 0 {
		return nil
	}
	found, err := m.Aliases(empty)
	if err != nil {
		return []string{"CNAMEs of the names without an address are not known, because the index of names is being filled; ask again soon"}
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(found)) {
		names = append(names, name+" (of "+found[name]+")")
	}
	if len(names) == 0 {
		return nil
	}
	return []string{"CNAMEs of names that would be left without any address lead to nothing: " + state.Few(names)}
}

// show is the proposal as users see it.
func (p *proposal) show(after state.DrainedClusters) (intent.FailoverPreview, error) {
	byDanger(p.rows)
	names := listed(p.rows)
	out := intent.FailoverPreview{
		Drain: namesOf(p.drain), Undrain: namesOf(p.undrain), Unchanged: texts(p.unchanged), Counts: p.counts(), Hosts: hostsOf(followed(p.rows)),
		Names: append([]intent.MovedName{}, names...), NamesLeftOut: len(p.rows) - len(names),
		Refusals: append([]intent.FailoverRefusal{}, p.refusals...), Warnings: p.warnings(p.move), Unreachable: p.unreachable(),
	}
	var ttl int64
	for _, row := range p.rows {
		if row.Stays == "" {
			ttl = max(ttl, ttlOf(row))
		}
	}
	if ttl > 0 {
		out.CachesFor = (time.Duration(ttl) * time.Second).String()
	}
	raw, err := json.Marshal(map[string]any{"names": p.rows, "drained": slices.Sorted(maps.Keys(after)), "drain": uids(p.drain), "undrain": uids(p.undrain)})
	sum := sha256.Sum256(raw)
	out.Token = hex.EncodeToString(sum[:])[:32]
	return out, err
}

func uids(sites []site) []string {
	var out []string
	for _, one := range sites {
		out = append(out, one.name+" "+one.uid)
	}
	return out
}

// ttlOf is for how many seconds resolvers keep a name.
func ttlOf(row intent.MovedName) int64 {
	if row.TTL > 0 {
		return row.TTL
	}
	return int64(externaldns.UsualTTL(nil).Seconds())
}
