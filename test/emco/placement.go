package emco

import (
	"errors"
	"slices"
	"strconv"
)

// placed is a cluster of an app, with the group of which one cluster keeps it.
type placed struct {
	provider, cluster, group string
}

func (p placed) name() string { return p.provider + "+" + p.cluster }

// resolve turns the intent of an app into clusters: first those that are all
// meant, each in a group of its own, then those of which one of a group is.
func (w *World) resolve(intent placement) (all, anyOne []placed) {
	group := 0
	for _, a := range intent.AllOf {
		for _, name := range w.selected(a.Provider, a.Cluster, a.Label) {
			group++
			all = append(all, placed{a.Provider, name, strconv.Itoa(group)})
		}
		if len(a.AnyOf) > 0 {
			group++
			anyOne = append(anyOne, w.group(a.AnyOf, group)...)
		}
	}
	if len(intent.AnyOf) > 0 {
		group++
		anyOne = append(anyOne, w.group(intent.AnyOf, group)...)
	}
	return all, anyOne
}

func (w *World) group(members []anyOf, number int) []placed {
	var clusters []placed
	for _, m := range members {
		for _, name := range w.selected(m.Provider, m.Cluster, m.Label) {
			clusters = append(clusters, placed{m.Provider, name, strconv.Itoa(number)})
		}
	}
	return clusters
}

// selected are the clusters of a provider by name, or by label.
func (w *World) selected(provider, name, label string) []string {
	switch {
	case name != "" && label == "":
		return []string{name}
	case name == "" && label != "":
		return w.labelled("cluster-providers/"+provider+"/clusters", label)
	}
	return nil
}

// place answers the clusters of an app by the generic placement intent of its
// group; the mandatory ones have to be of the logical cloud.
func (w *World) place(dig DIG, cloud, app string) ([]placed, error) {
	name, exists := w.intentOf(dig, placementIntent)
	if !exists {
		return nil, errors.New("GenericPlacementIntent not found")
	}
	for _, intent := range list[appIntent](w.docs, dig.path()+"/generic-placement-intents/"+name+"/app-intents") {
		if intent.Spec.App != app {
			continue
		}
		all, anyOne := w.resolve(intent.Spec.Intent)
		if len(all)+len(anyOne) == 0 {
			break
		}
		for _, p := range all {
			if !w.inCloud(dig.Project, cloud, p) {
				return nil, errors.New("the specified Logical Cloud doesn't provide the mandatory clusters")
			}
		}
		return append(all, anyOne...), nil
	}
	return nil, errors.New("no compatible clusters have been provided to the Deployment Intent Group")
}

func (w *World) inCloud(project, cloud string, p placed) bool {
	references := list[clusterReference](w.docs, cloudOf(project, cloud)+"/cluster-references")
	return slices.ContainsFunc(references, func(r clusterReference) bool {
		return r.Spec.Provider == p.provider && r.Spec.Cluster == p.cluster
	})
}

// thin removes all but the first cluster of each group, as the orchestrator
// does before it calls action controllers.
func thin(keys map[string]string, id, app string) (extra []string) {
	taken := map[string]bool{}
	for _, name := range children(keys, clustersKey(id, app)) {
		group, grouped := keys[clusterKey(id, app, name)+groupLevel]
		if grouped && taken[group] {
			extra = append(extra, clusterKey(id, app, name))
		}
		taken[group] = true
	}
	return extra
}
