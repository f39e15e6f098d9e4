package render

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/recent"
)

// Inputs is what the names of a group follow from besides what is observed.
type Inputs struct {
	inputs  []state.Input // the documents that say so, of those asked for that exist
	asked   []intent.Path
	Group   plan.Group // with its bindings where their records are
	Records map[string]plan.Record
	Drained state.DrainedList

	pointer  appcontext.Pointer // of the context that was made of it
	bindings map[string][]int   // of the group, by their Service ("namespace/name"); nil: there are few
	hosts    [][]alikeHosts     // while the inputs are in memory: of the bindings, which have none themselves
}

// alikeHosts are host names that have all else in common, as nearly all of a binding have. There may be very many.
type alikeHosts struct {
	host  plan.Host // without a name
	names []string
}

// RenderInputs reads what a deployed group's names follow from. The documents are
// asked for their revisions first: what is read afterwards is at least as new.
func (s *Renderer) RenderInputs(ctx context.Context, l state.Lifecycle) (*Inputs, error) {
	release, err := s.LoadRelease(ctx, l.ContextID)
	if err == nil {
		err = intent.CheckSchema("release "+l.ContextID, release.Schema)
	}
	if err != nil {
		return nil, err
	}
	on := &Inputs{Group: state.WithFormer(l.Placed(release.Group), l.Former)}
	docs, err := s.ask(ctx, on, l)
	if err != nil {
		return nil, err
	}
	if on.Records, err = s.Pinned(ctx, release.Group, docs...); err != nil {
		return nil, err
	}
	on.Drained = state.NoneDrained()
	if slices.ContainsFunc(docs, func(doc intent.Document) bool { return doc.Path == state.DrainedPath }) {
		on.Drained, err = s.DrainedClusters(ctx)
	}
	return on, err
}

// ask notes the documents that a group's names follow from, and which of them exist. They
// are the group's own, its lifecycle, those of its providers, and the drained clusters. The document of a name is in its lifecycle.
// It notes none when they are no longer as the step has read them. It answers the documents.
func (s *Renderer) ask(ctx context.Context, on *Inputs, l state.Lifecycle) ([]intent.Document, error) {
	group := on.Group.Path
	on.asked = []intent.Path{state.LifecyclePath(group), state.DrainedPath}
	if !intent.IsName(group) {
		on.asked = append(on.asked, group)
	}
	for _, use := range l.Uses {
		on.asked = append(on.asked, state.LifecyclePath(use.Record))
	}
	slices.Sort(on.asked)
	on.asked = slices.Compact(on.asked)
	docs, err := s.Documents.GetAll(ctx, on.asked)
	if err != nil {
		return nil, err
	}
	listed := state.DrainedClusters{}
	for _, doc := range docs {
		moved := false
		switch doc.Path {
		case group:
			moved, err = l.SuspendedBy(doc)
		case state.LifecyclePath(group):
			moved = doc.Revision != l.Revision
		case state.DrainedPath:
			err = json.Unmarshal(doc.Body, &listed)
		}
		if moved || err != nil {
			return docs, err
		}
	}
	var clusters []intent.Path
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if listed[name].Undrained == nil {
			clusters = append(clusters, intent.ClusterPath(name))
		}
	}
	if len(clusters) > 0 {
		more, err := s.Documents.GetAll(ctx, clusters)
		if err != nil {
			return nil, err
		}
		on.asked, docs = append(on.asked, clusters...), append(docs, more...)
	}
	on.inputs = inputs.InputsOf(docs)
	return docs, nil
}

// holds tells whether none of the documents has changed.
func (s *Renderer) holds(ctx context.Context, on *Inputs) (bool, error) {
	docs, err := s.Documents.GetAll(ctx, on.asked)
	return err == nil && slices.Equal(inputs.InputsOf(docs), on.inputs), err
}

// InputCache are those of groups, as their last whole steps found them.
// There may be very many groups and names: those whose last step was longest ago are
// forgotten. A changed address then takes a whole step.
type InputCache struct {
	of    recent.Memory[intent.Path, *Inputs]
	texts recent.Texts
}

// mostInputs is of how many groups and names inputs are remembered.
const mostInputs = 1024

// Keep remembers a group's inputs, with the pointer of the context that was made of it;
// nil: it has none. Nobody asks for those of a group whose names have fixed addresses. The names of an orchestrator's apps follow from more documents than
// these, and suspended names follow none.
func (all *InputCache) Keep(group intent.Path, on *Inputs, is appcontext.Pointer) {
	if on == nil || len(on.inputs) == 0 || on.Group.Orchestrated != nil || is.Suspended || !followsServices(on.Group) {
		all.of.Forget(group)
		return
	}
	mine := *on // others may read the one that was given
	on = &mine
	on.pointer = is
	on.pointer.Services, on.pointer.Placements, on.pointer.Clusters = nil, nil, nil // large, and not asked for
	on.Group.DNS = nil
	if !slices.ContainsFunc(on.Group.Clusters, func(c plan.Cluster) bool { return c.Directory != "" }) {
		on.Group.Apps = nil // nobody reads addresses out of their manifests
	}
	all.share(on)
	on.sort()
	all.of.Keep(group, on, mostInputs)
}

// fewBindings are searched, which takes less memory than a map.
const fewBindings = 8

// sort orders the bindings by their Service.
func (on *Inputs) sort() {
	on.bindings = nil
	if len(on.Group.Bindings) <= fewBindings {
		return
	}
	on.bindings = map[string][]int{}
	for n, b := range on.Group.Bindings {
		service := b.Namespace + "/" + b.Service
		on.bindings[service] = append(on.bindings[service], n)
	}
}

// follow are the bindings that follow a Service, by their places.
func (on *Inputs) follow(service string) []int {
	if on.bindings != nil {
		return on.bindings[service]
	}
	var found []int
	for n, b := range on.Group.Bindings {
		if namespace, name, _ := strings.Cut(service, "/"); b.Namespace == namespace && b.Service == name {
			found = append(found, n)
		}
	}
	return found
}

// share makes inputs share the texts that are those of many. It changes no slice, because others may read them.
func (all *InputCache) share(on *Inputs) {
	one, own := all.texts.Shared, string(on.Group.Path)
	on.inputs, on.asked = slices.Clone(on.inputs), slices.Clone(on.asked)
	for n, input := range on.inputs {
		if !strings.HasSuffix(string(input.Path), own) { // it is another one's, too
			on.inputs[n].Path, on.inputs[n].UID = intent.Path(one(string(input.Path))), one(input.UID)
		}
	}
	for n, path := range on.asked {
		if at := slices.IndexFunc(on.inputs, func(i state.Input) bool { return i.Path == path }); at >= 0 {
			on.asked[n] = on.inputs[at].Path
		} else {
			on.asked[n] = intent.Path(one(string(path)))
		}
	}
	g := &on.Group
	for _, text := range []*string{&g.Installation, &g.Project.Name, &g.Project.Namespace, &g.CompositeApp, &g.Version, &g.LogicalCloud, &g.LogicalCloudNamespace} {
		*text = one(*text)
	}
	g.Clusters, g.Bindings = slices.Clone(g.Clusters), slices.Clone(g.Bindings)
	on.hosts = make([][]alikeHosts, 0, len(g.Bindings))
	for n := range g.Clusters {
		g.Clusters[n].Name, g.Clusters[n].Directory = one(g.Clusters[n].Name), one(g.Clusters[n].Directory)
	}
	for n := range g.Bindings {
		b := &g.Bindings[n]
		for _, text := range []*string{&b.App, &b.Service, &b.Namespace, &b.Record, &b.Cluster, &b.View, &b.Prefix, &b.Former} {
			*text = one(*text)
		}
		b.Scope, b.Sources = intent.Scope(one(string(b.Scope))), all.texts.All(b.Sources)
		on.hosts, b.Hosts = append(on.hosts, join(b.Hosts)), nil
	}
}

// join brings together the hosts that follow each other and are alike.
func join(hosts []plan.Host) []alikeHosts {
	var all []alikeHosts
	for _, host := range hosts {
		name := host.Name
		host.Name = ""
		if last := len(all) - 1; last >= 0 && reflect.DeepEqual(all[last].host, host) {
			all[last].names = append(all[last].names, name)
		} else {
			all = append(all, alikeHosts{host, []string{name}})
		}
	}
	return slices.Clip(all)
}

// named are the hosts that were joined.
func named(joined []alikeHosts) []plan.Host {
	var hosts []plan.Host
	for _, alike := range joined {
		for _, name := range alike.names {
			alike.host.Name = name
			hosts = append(hosts, alike.host)
		}
	}
	return hosts
}

// followsServices tells whether any name has the addresses of a Service.
func followsServices(g plan.Group) bool {
	return slices.ContainsFunc(g.Bindings, func(b plan.Binding) bool { return b.Service != "" })
}

// following are the inputs of a group with the bindings that follow one Service ("namespace/name") alone; nil: they are
// not remembered, or nothing follows it. The cost does not grow with the group.
func (all *InputCache) following(group intent.Path, service string) *Inputs {
	kept, known := all.of.Get(group)
	if !known {
		return nil
	}
	out := *kept
	out.Group.Bindings, out.bindings, out.hosts = nil, nil, nil
	for _, n := range kept.follow(service) {
		b := kept.Group.Bindings[n]
		b.Hosts = named(kept.hosts[n])
		out.Group.Bindings = append(out.Group.Bindings, b)
	}
	if len(out.Group.Bindings) == 0 {
		return nil
	}
	return &out
}
