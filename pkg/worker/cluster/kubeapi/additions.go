package kubeapi

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/worker/cluster"
)

// exclusiveOf is the part of an object of a kind that is Signpost's alone; nil where
// there is none.
func exclusiveOf(kind cluster.Kind) []string {
	switch kind {
	case cluster.DeploymentKind(), cluster.DaemonSetKind():
		return []string{"spec", "template"}
	case serviceKind():
		return []string{"spec"}
	}
	return nil
}

func serviceKind() cluster.Kind { return cluster.Kind{Kind: "Service"} }

// managed are the fields of an object by who manages them.
type managed struct {
	kept   *fieldpath.Set            // ours, and those that are nobody's concern
	others map[string]*fieldpath.Set // by manager
}

// restarted is the annotation by which kubectl starts the pods of a workload anew.
const restarted = "kubectl.kubernetes.io/restartedAt"

func restartedAt() fieldpath.Path {
	return fieldpath.MakePathOrDie("spec", "template", "metadata", "annotations", restarted)
}

// managedBy reads who manages what. A name that it cannot read is nobody's.
func managedBy(fields []metav1.ManagedFieldsEntry) managed {
	m := managed{kept: fieldpath.NewSet(restartedAt()), others: map[string]*fieldpath.Set{}}
	for _, entry := range fields {
		set := &fieldpath.Set{}
		if entry.Subresource != "" || entry.FieldsV1 == nil || set.FromJSON(entry.FieldsV1.GetRawReader()) != nil {
			continue
		}
		if entry.Manager == FieldManager {
			m.kept = m.kept.Union(set)
		} else {
			m.others[entry.Manager] = set.Union(cmp.Or(m.others[entry.Manager], fieldpath.NewSet()))
		}
	}
	return m
}

// added are the paths that a manager alone has set, the shorter before those that are
// within them. A path that holds something of ours is left to what is within.
func (m managed) added(by string) []fieldpath.Path {
	var paths []fieldpath.Path
	m.others[by].Difference(m.kept).Iterate(func(path fieldpath.Path) {
		within := m.kept
		for _, element := range path {
			within = within.WithPrefix(element)
		}
		if within.Empty() {
			paths = append(paths, path.Copy())
		}
	})
	slices.SortStableFunc(paths, func(a, b fieldpath.Path) int { return cmp.Compare(len(a), len(b)) })
	return paths
}

// unguarded are top-level fields that others may set.
func unguarded(kind cluster.Kind) []string {
	if kind == (cluster.Kind{Kind: "ServiceAccount"}) {
		return []string{"metadata", "status", "apiVersion", "kind", "secrets", "imagePullSecrets"}
	}
	return []string{"metadata", "status", "apiVersion", "kind"}
}

// additionsOf reads what others have added to an object of a kind.
func additionsOf(kind cluster.Kind, fields []metav1.ManagedFieldsEntry) cluster.Additions {
	var a cluster.Additions
	m, free, exclusive := managedBy(fields), unguarded(kind), exclusiveOf(kind)
	for by := range m.others {
		var above fieldpath.Path
		for _, path := range m.added(by) {
			top := path[0].FieldName
			switch {
			case top == nil || slices.Contains(free, *top) || len(above) > 0 && startsWith(path, above):
			case exclusive != nil && startsWith(path, fieldpath.MakePathOrDie(parts(exclusive)...)):
				a.Exclusive = append(a.Exclusive, strings.TrimPrefix(path.String(), "."))
			default:
				a.Other, above = append(a.Other, strings.TrimPrefix(path.String(), ".")+" ("+by+")"), path
			}
		}
	}
	slices.Sort(a.Exclusive)
	slices.Sort(a.Other)
	return a
}

func parts(names []string) []any {
	out := make([]any, len(names))
	for n, name := range names {
		out[n] = name
	}
	return out
}

func startsWith(path, prefix fieldpath.Path) bool {
	return len(path) > len(prefix) && path[:len(prefix)].Equals(prefix)
}

// changedBy is who has changed the content of an object last besides Signpost: neither its
// status, nor metadata, nor to start pods anew.
func changedBy(fields []metav1.ManagedFieldsEntry) string {
	var last metav1.ManagedFieldsEntry
	for _, entry := range fields {
		if entry.Manager == FieldManager || entry.Subresource != "" || entry.Time == nil || entry.FieldsV1 == nil {
			continue
		}
		raw := entry.FieldsV1.GetRawString()
		if strings.Contains(raw, restarted) || !strings.Contains(raw, `"f:spec"`) && !strings.Contains(raw, `"f:data"`) {
			continue
		}
		if last.Time == nil || !entry.Time.Before(last.Time) {
			last = entry
		}
	}
	return last.Manager
}

// Restore implements Target. It reads the whole object, and takes the additions of others
// out of the part that is Signpost's alone. The rest stays in place, with what the API
// server has allocated or filled in.
func (k *Kubernetes) Restore(ctx context.Context, o bundle.Object, at cluster.Version) (cluster.Live, error) {
	ctx, cancel := context.WithTimeout(ctx, cluster.RequestDeadline)
	defer cancel()
	kind := cluster.KindOf(o.ID)
	r, err := k.kinds.find(ctx, kind)
	if err != nil {
		return cluster.Live{}, err
	}
	gvr := schema.GroupVersionResource{Group: o.Group, Version: r.Version, Resource: r.Plural}
	object, err := k.dynamic.Resource(gvr).Namespace(o.Namespace).Get(ctx, o.Name, metav1.GetOptions{})
	if err != nil {
		return cluster.Live{}, cluster.Classify(err, cluster.Applying)
	}
	exclusive := exclusiveOf(kind)
	if exclusive == nil || string(object.GetUID()) != at.UID || object.GetResourceVersion() != at.ResourceVersion {
		return cluster.Live{}, &fault.Error{Fault: fault.Stale, Message: o.ID.String() + " has changed meanwhile"}
	}
	m := managedBy(object.GetManagedFields())
	root := fieldpath.MakePathOrDie(parts(exclusive)...)
	for by := range m.others {
		for _, path := range m.added(by) {
			if startsWith(path, root) {
				object.Object, _ = without(object.Object, path).(map[string]any)
			}
		}
	}
	var left any = object.Object
	for _, name := range exclusive {
		within, _ := left.(map[string]any)
		left = within[name]
	}
	raw, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/resourceVersion", "value": at.ResourceVersion},
		{"op": "replace", "path": "/" + strings.Join(exclusive, "/"), "value": left},
	})
	if err != nil {
		return cluster.Live{}, cluster.Refuse(o.ID.String() + " cannot be written as JSON")
	}
	put, err := k.metadata.Resource(gvr).Namespace(o.Namespace).Patch(ctx, o.Name, types.JSONPatchType, raw, metav1.PatchOptions{FieldManager: FieldManager})
	if err != nil {
		return cluster.Live{}, cluster.Classify(err, cluster.Applying)
	}
	live := liveOf(put)
	live.Additions = additionsOf(kind, put.GetManagedFields())
	return live, nil
}

// without is a JSON value without what is at a path of it.
func without(node any, path fieldpath.Path) any {
	switch at := node.(type) {
	case map[string]any:
		name := path[0].FieldName
		if name == nil {
			return node
		}
		child, there := at[*name]
		switch {
		case there && len(path) == 1:
			delete(at, *name)
		case there:
			at[*name] = without(child, path[1:])
		}
	case []any:
		n := slices.IndexFunc(at, func(item any) bool { return isItem(item, path[0]) })
		switch {
		case n >= 0 && len(path) == 1:
			return slices.Delete(at, n, n+1)
		case n >= 0:
			at[n] = without(at[n], path[1:])
		}
	}
	return node
}

// isItem tells whether an element of a path names an item of a list.
func isItem(item any, element fieldpath.PathElement) bool {
	switch {
	case element.Value != nil:
		return value.Equals(value.NewValueInterface(item), *element.Value)
	case element.Key == nil:
		return false
	}
	fields, ok := item.(map[string]any)
	return ok && !slices.ContainsFunc(*element.Key, func(key value.Field) bool {
		have, there := fields[key.Name]
		return !there || !value.Equals(value.NewValueInterface(have), key.Value)
	})
}
