package render

import (
	"cmp"
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
	About     map[NameAt]bool                // the host names that it is about, whether the owner gives them or not
	Suspended bool                           // the owner's names stay as they are
}

// Reach tells which names a forecast is about: those that some clusters may give addresses,
// and further ones.
type Reach struct {
	Clusters map[string]bool
	Hosts    map[NameAt]bool
}

// NameAt is a name at a DNS provider of a project. Several owners may give it.
type NameAt struct{ Project, Record, Name string }

// Provider is the document of the DNS provider.
func (n NameAt) Provider() intent.Path {
	return intent.Join("projects", n.Project, "dns-update-records", n.Record)
}

// Compare orders names by their providers.
func (n NameAt) Compare(o NameAt) int {
	return cmp.Or(cmp.Compare(n.Project, o.Project), cmp.Compare(n.Record, o.Record), cmp.Compare(n.Name, o.Name))
}

// HostForecast is what the forecast of a name follows from.
type HostForecast struct {
	Host    string   // the host name that the name belongs to
	Homes   []string // clusters of its external-dns
	Able    []string // clusters with addresses that are or could be published
	Drained []string // clusters with addresses that are held back by a drain
	TTL     int64
	Routing intent.Routing
	ill     bool // no cluster of some binding is healthy
	well    bool // one of another is
	kept    bool // some binding keeps the name although nothing offers it an address there
	offered bool // something offers it one in another
}

// Ill tells that no cluster is healthy.
func (h HostForecast) Ill() bool { return h.ill && !h.well }

// Kept tells that nothing offers the name an address, and that it stays all the same.
func (h HostForecast) Kept() bool { return h.kept && !h.offered }

// Forecast tells what becomes of the public names of an owner within reach, with other
// clusters drained. It reads what a step would read, and renders once.
func (s *Renderer) Forecast(ctx context.Context, l state.Lifecycle, reach Reach, drained state.DrainedClusters) (Forecast, error) {
	on, err := s.RenderInputs(ctx, l)
	if err != nil {
		return Forecast{}, err
	}
	before, err := s.CurrentEndpoints(ctx, on.Group.Path)
	if err != nil {
		return Forecast{}, err
	}
	out, err := Predict(ctx, on, reach, drained, before, s.ObservedSources(on.Group))
	if err != nil || intent.IsName(on.Group.Path) {
		return out, err
	}
	if out.Suspended, err = s.Suspended(ctx, on.Group.Path, l); out.Suspended {
		out.After = out.Before
	}
	return out, err
}

// Predict is Forecast as a function of its inputs. It chooses and renders as Render does,
// so that the forecast is what a step makes of the same inputs. A name within reach has what
// all bindings give it.
func Predict(ctx context.Context, on *Inputs, reach Reach, drained state.DrainedClusters, before bundle.Bundle, look Sources) (Forecast, error) {
	out := Forecast{Group: on.Group, Before: map[state.NameKey][]string{}, After: map[state.NameKey][]string{}, Hosts: map[state.NameKey]HostForecast{}}
	c := Contents{services: map[string][]string{}}
	look.Keep = func(_ context.Context, lost map[string]state.NameSet) (map[string]state.NameSet, error) {
		return lost, nil
	}
	now := &past{objects: before, group: on.Group}
	hosts := reach.in(on.Group)
	out.About = hosts
	for _, b := range on.Group.Bindings {
		if !gives(on.Group, b, hosts) {
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
		if !reach.served(b) {
			was, is = only(on.Group, was, hosts), only(on.Group, is, hosts)
		}
		state.CollectNames(was, out.Before)
		state.CollectNames(is, out.After)
		out.explain(b, c.Choices[n], was, is)
	}
	return out, nil
}

// in are the host names of a group within reach.
func (r Reach) in(g plan.Group) map[NameAt]bool {
	hosts := map[NameAt]bool{}
	maps.Copy(hosts, r.Hosts)
	for _, b := range g.Bindings {
		if !r.served(b) {
			continue
		}
		for _, host := range b.Hosts {
			hosts[NameAt{g.Project.Name, b.Record, host.Name}] = true
		}
	}
	return hosts
}

// served tells whether a binding gives public names addresses of one of the clusters.
func (r Reach) served(b plan.Binding) bool {
	return b.Scope == intent.Public && slices.ContainsFunc(b.Sources, func(name string) bool { return r.Clusters[name] })
}

// gives tells whether a binding of a group gives one of these host names.
func gives(g plan.Group, b plan.Binding, hosts map[NameAt]bool) bool {
	return b.Scope == intent.Public && slices.ContainsFunc(b.Hosts, func(host plan.Host) bool { return hosts[NameAt{g.Project.Name, b.Record, host.Name}] })
}

// only leaves what a DNSEndpoint of a group publishes of some host names; nil if there is none.
func only(g plan.Group, p *bundle.Published, hosts map[NameAt]bool) *bundle.Published {
	if p == nil {
		return nil
	}
	some := *p
	some.Names = slices.DeleteFunc(slices.Clone(p.Names), func(n bundle.PublishedName) bool { return !hosts[NameAt{g.Project.Name, p.Record, n.Host}] })
	return &some
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
	h.Host, h.Homes = host.Name, merged(h.Homes, b.Cluster)
	h.Able = merged(h.Able, slices.Collect(maps.Keys(able))...)
	h.Drained = merged(h.Drained, slices.Collect(maps.Keys(drained))...)
	h.TTL, h.Routing = max(h.TTL, host.TTL), host.Routing
	h.ill, h.well = h.ill || choice.Ill, h.well || !choice.Ill && len(able) > 0
	h.kept, h.offered = h.kept || choice.Kept, h.offered || !choice.Kept && len(able)+len(drained) > 0
	return h
}

// merged adds texts to an ordered list.
func merged(list []string, more ...string) []string {
	all := slices.Concat(list, more)
	slices.Sort(all)
	return slices.Compact(all)
}
