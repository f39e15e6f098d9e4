// Package failover moves traffic between clusters. It drains and undrains sets of clusters in
// one step. It tells before what that changes, and follows it until DNS answers.
package failover

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/nearest"
	"github.com/signpost-dns/signpost/pkg/release/render"
	"github.com/signpost-dns/signpost/pkg/release/resolve"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// Mover drains and undrains sets of clusters.
type Mover struct {
	*state.Store
	Renderer *render.Renderer

	// Aliases are the names that are CNAMEs of host names, with their targets; nil: nobody knows.
	Aliases func(hosts []string) (map[string]string, error)
}

// site is a cluster that a request selects.
type site struct {
	name string // "provider+cluster"
	uid  string
	spec intent.Cluster
}

// fleet reads all clusters, by name.
func (m *Mover) fleet(ctx context.Context) (map[string]site, error) {
	const batch = 500
	all := map[string]site{}
	options := intent.ListOptions{Collection: "cluster-providers", Limit: batch, Bytes: intent.PageBytes}
	err := intent.Each(ctx, m.Documents, options, func(provider intent.Document) error {
		of := intent.ListOptions{Collection: string(provider.Path) + "/clusters", Limit: batch, Bytes: intent.PageBytes}
		return intent.Each(ctx, m.Documents, of, func(doc intent.Document) error {
			resource, err := intent.Of[intent.Cluster](doc)
			name := intent.ClusterOf(doc.Path).String()
			all[name] = site{name: name, uid: doc.UID, spec: resource.Spec}
			return err
		})
	})
	return all, err
}

// selected are the clusters that a selection means, ordered.
func selected(all map[string]site, s intent.ClusterSelection, field string) ([]site, []intent.Field) {
	var wrong []intent.Field
	names := map[string]bool{}
	for n, text := range s.Clusters {
		name := strings.Replace(text, "/", "+", 1)
		if _, known := all[name]; !known {
			wrong = append(wrong, intent.Field{Pointer: fmt.Sprintf("/%s/clusters/%d", field, n), Detail: text + " is not registered; " + near(all, name)})
			continue
		}
		names[name] = true
	}
	found := len(s.Labels) == 0
	for name, one := range all {
		if len(s.Labels) > 0 && intent.HasLabels(one.spec.Labels, s.Labels) {
			names[name], found = true, true
		}
	}
	if !found {
		wrong = append(wrong, intent.Field{Pointer: "/" + field + "/labels", Detail: "no cluster has the labels " + state.Few(pairs(s.Labels)) + "; " + labelsOf(all)})
	}
	out := make([]site, 0, len(names))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, all[name])
	}
	return out, wrong
}

// near names the cluster that was probably meant, or else some clusters.
func near(all map[string]site, unknown string) string {
	known := slices.Sorted(maps.Keys(all))
	if name := nearest.Name(unknown, known); name != "" {
		return "did you mean " + intent.ClusterWord(name) + "?"
	}
	if len(known) == 0 {
		return "no cluster is registered yet"
	}
	return "registered are " + state.Few(known)
}

func pairs(labels map[string]string) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, key+"="+labels[key])
	}
	return out
}

// labelsOf tells which labels clusters have.
func labelsOf(all map[string]site) string {
	have := map[string]bool{}
	for _, one := range all {
		for _, pair := range pairs(one.spec.Labels) {
			have[pair] = true
		}
	}
	if len(have) == 0 {
		return "clusters have no labels; give them some, or name the clusters"
	}
	return "clusters have " + state.Few(slices.Sorted(maps.Keys(have)))
}

// move is a change of the list of drained clusters.
type move struct {
	list      state.DrainedList
	fleet     map[string]site
	drain     []site // not drained yet
	undrain   []site // drained
	unchanged []string
	refused   []intent.FailoverRefusal // for the clusters themselves
}

// resolve finds the clusters that a request changes. Its error is Invalid for a request that
// can never mean anything, and Conflict for clusters that are not there.
func (m *Mover) resolve(ctx context.Context, spec intent.FailoverSpec) (move, error) {
	if spec.Drain.IsZero() && spec.Undrain.IsZero() {
		return move{}, &intent.Error{Code: intent.Invalid, Detail: "the set of clusters is empty; name clusters or labels in drain, in undrain, or in both"}
	}
	all, err := m.fleet(ctx)
	if err != nil {
		return move{}, err
	}
	out := move{fleet: all}
	if out.list, err = m.DrainedClusters(ctx); err != nil {
		return move{}, err
	}
	drain, wrong := selected(all, spec.Drain, "drain")
	undrain, more := selected(all, spec.Undrain, "undrain")
	wrong = append(wrong, more...)
	for _, one := range drain {
		if slices.ContainsFunc(undrain, func(o site) bool { return o.name == one.name }) {
			wrong = append(wrong, intent.Field{Pointer: "/undrain", Detail: one.name + " is to be both drained and undrained; leave it out of one of the two"})
		}
	}
	if len(wrong) > 0 {
		return move{}, &intent.Error{Code: intent.Conflict, Detail: "the set of clusters cannot be used", Fields: wrong}
	}
	for _, one := range drain {
		if _, already := out.list.Clusters[one.name]; already {
			out.unchanged = append(out.unchanged, one.name)
			continue
		}
		out.drain = append(out.drain, one)
		if err := m.checkDrain(ctx, &out, one); err != nil {
			return move{}, err
		}
	}
	for _, one := range undrain {
		if _, drained := out.list.Clusters[one.name]; !drained {
			out.unchanged = append(out.unchanged, one.name)
			continue
		}
		out.undrain = append(out.undrain, one)
		if err := m.checkUndrain(ctx, &out, one); err != nil {
			return move{}, err
		}
	}
	slices.Sort(out.unchanged)
	return out, nil
}

// checkDrain refuses to drain a cluster that publishes nothing by itself.
func (m *Mover) checkDrain(ctx context.Context, of *move, one site) error {
	if !resolve.InventoryOnly(one.spec) {
		return nil
	}
	ref, _ := intent.ParseCluster(one.name)
	groups, err := m.Deployed(ctx, ref.Path())
	if err == nil && len(groups) == 0 {
		of.refused = append(of.refused, intent.FailoverRefusal{
			Detail: one.name + " is inventory only, so that Signpost publishes none of its addresses", Allow: "nobody; leave the cluster out",
		})
	}
	return err
}

// checkUndrain refuses to undrain a cluster that nobody serves.
func (m *Mover) checkUndrain(ctx context.Context, of *move, one site) error {
	abandoned, err := m.IsAbandoned(ctx, one.name)
	if abandoned {
		of.refused = append(of.refused, intent.FailoverRefusal{
			Detail: one.name + " is abandoned, so that its addresses are unknown", Allow: "nobody; delete its document and register it again",
		})
	}
	return err
}

// after is the list of drained clusters as it would be.
func (v move) after(by intent.Drained) state.DrainedClusters {
	next := maps.Clone(v.list.Clusters)
	for _, one := range v.drain {
		next[one.name] = state.DrainedCluster{Drained: by, UID: one.uid}
	}
	for _, one := range v.undrain {
		delete(next, one.name)
	}
	return next
}

// changed are the clusters that change, by name.
func (v move) changed() map[string]bool {
	all := map[string]bool{}
	for _, one := range slices.Concat(v.drain, v.undrain) {
		all[one.name] = true
	}
	return all
}

func namesOf(sites []site) []string {
	out := make([]string, len(sites))
	for n, one := range sites {
		out[n] = one.name
	}
	return out
}
