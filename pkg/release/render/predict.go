package render

import (
	"context"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Forecast tells what an owner publishes of its public names, now and when other clusters
// are drained.
type Forecast struct {
	Group     plan.Group
	Before    map[state.NameKey][]string
	After     map[state.NameKey][]string
	Hosts     map[state.NameKey]HostForecast // of the names of both
	Suspended bool                           // the owner's names stay as they are
}

// HostForecast is what the forecast of a name follows from.
type HostForecast struct {
	Homes   []string // clusters of its external-dns
	Able    []string // clusters with addresses that are or could be published
	Drained []string // clusters with addresses that are held back by a drain
	TTL     int64
	Ill     bool // no cluster is healthy
	Kept    bool // nothing offers the name an address, and it stays all the same
}

// Forecast tells what becomes of the public names of an owner to which some clusters may
// give addresses, with other clusters drained. It reads what a step would read, and
// renders once.
func (s *Renderer) Forecast(ctx context.Context, l state.Lifecycle, clusters map[string]bool, drained state.DrainedClusters) (Forecast, error) {
	on, err := s.RenderInputs(ctx, l)
	if err != nil {
		return Forecast{}, err
	}
	before, err := s.CurrentEndpoints(ctx, on.Group.Path)
	if err != nil {
		return Forecast{}, err
	}
	out, err := Predict(ctx, on, clusters, drained, before, s.ObservedSources(on.Group))
	if err != nil || intent.IsName(on.Group.Path) {
		return out, err
	}
	if out.Suspended, err = s.Suspended(ctx, on.Group.Path, l); out.Suspended {
		out.After = out.Before
	}
	return out, err
}

// Predict is Forecast as a function of its inputs. It chooses and renders as Render does,
// so that the forecast is what a step makes of the same inputs.
func Predict(ctx context.Context, on *Inputs, clusters map[string]bool, drained state.DrainedClusters, before bundle.Bundle, look Sources) (Forecast, error) {
	out := Forecast{Group: on.Group, Before: map[state.NameKey][]string{}, After: map[state.NameKey][]string{}, Hosts: map[state.NameKey]HostForecast{}}
	c := Contents{services: map[string][]string{}}
	look.Keep = func(_ context.Context, lost map[string]state.NameSet) (map[string]state.NameSet, error) {
		return lost, nil
	}
	now := &past{objects: before, group: on.Group}
	for _, b := range on.Group.Bindings {
		if b.Scope != intent.Public || !slices.ContainsFunc(b.Sources, func(name string) bool { return clusters[name] }) {
			continue
		}
		if err := c.choose(ctx, on.Group, b, on.Records[b.Record], drained, now, look); err != nil {
			return out, err
		}
	}
	if err := c.publish(ctx, on.Group, now, look); err != nil {
		return out, err
	}
	wasAll, isAll := publishedBy(before), publishedBy(c.Objects)
	for n, b := range c.bindings {
		was, is := published(wasAll, on.Group, b), published(isAll, on.Group, b)
		state.CollectNames(was, out.Before)
		state.CollectNames(is, out.After)
		out.explain(b, c.Choices[n], was, is)
	}
	return out, nil
}

// publishedBy is what DNSEndpoints publish.
func publishedBy(objects bundle.Bundle) map[bundle.ID]*bundle.Published {
	all := make(map[bundle.ID]*bundle.Published, len(objects))
	for _, o := range objects {
		if o.Published != nil {
			all[o.ID] = o.Published
		}
	}
	return all
}

// published is what the DNSEndpoint of a binding publishes: that of its former home until
// there is one in its home.
func published(all map[bundle.ID]*bundle.Published, g plan.Group, b plan.Binding) *bundle.Published {
	if p := all[endpoints.ID(g, b)]; p != nil || b.Former == "" {
		return p
	}
	b.Cluster = b.Former
	return all[endpoints.ID(g, b)]
}

// explain notes what the names of a binding follow from.
func (f *Forecast) explain(b plan.Binding, choices []address.Choice, published ...*bundle.Published) {
	at := map[string]int{}
	for n, host := range b.Hosts {
		at[host.Name] = n
	}
	seen := map[state.NameKey]bool{}
	for _, p := range published {
		if p == nil {
			continue
		}
		for _, name := range p.Names {
			key := state.NameKey{Name: name.Name, Kind: name.Type, Record: p.Record}
			n, known := at[name.Host]
			if !known || seen[key] {
				continue
			}
			seen[key] = true
			f.Hosts[key] = f.Hosts[key].with(b, b.Hosts[n], choices[n])
		}
	}
}

// with adds what one binding gives to the name.
func (h HostForecast) with(b plan.Binding, host plan.Host, choice address.Choice) HostForecast {
	able, drained := map[string]bool{}, map[string]bool{}
	for _, source := range choice.Sources {
		able[source.Cluster] = true
	}
	for _, rejected := range choice.Rejected {
		switch rejected.Code {
		case address.Standby, address.NoWeight, address.NotListed:
			able[rejected.Cluster] = true
		case address.Drained:
			drained[rejected.Cluster] = true
		}
	}
	h.Homes = merged(h.Homes, b.Cluster)
	h.Able = merged(h.Able, slices.Collect(maps.Keys(able))...)
	h.Drained = merged(h.Drained, slices.Collect(maps.Keys(drained))...)
	h.TTL = max(h.TTL, host.TTL)
	h.Ill, h.Kept = h.Ill || choice.Ill, h.Kept || choice.Kept
	return h
}

// merged adds texts to an ordered list.
func merged(list []string, more ...string) []string {
	all := slices.Concat(list, more)
	slices.Sort(all)
	return slices.Compact(all)
}
