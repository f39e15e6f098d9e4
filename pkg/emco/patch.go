package emco

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Patch says how a context is to be. Parts that it does not name stay.
type Patch struct {
	Resources      []Edit
	AddChildren    []string // ids that ChildContextIDs is to hold, added behind those there
	RemoveChildren []string // ids that it is not to hold
}

// Edit is the text that a resource is to have.
type Edit struct {
	App     string
	Cluster string
	Key     string // "name+Kind"
	Text    string // YAML or JSON

	// List has the cluster get the resource: it is added where there is none,
	// and appended to the order unless it is listed already. Without List the
	// resource must be there.
	List bool
}

// write is a key with the value that it had when it was read, nil for none,
// and the one that it is to get.
type write struct {
	key           string
	before, after []byte
}

// writes are what a patch changes in a context: nothing where all is as it is
// to be.
func (c *Context) writes(p Patch) ([]write, error) {
	var all []write
	appended := map[string][]string{} // order key to what is to be in the order
	on := map[string]*Cluster{}
	seen := map[string]bool{}
	for _, edit := range p.Resources {
		cluster, err := c.edited(edit)
		if err != nil {
			return nil, err
		}
		key := resourceKey(c.ID, edit.App, edit.Cluster, edit.Key)
		if seen[key] {
			return nil, about(c.ID, intent.Invalid, "is to get two resources %s of app %q on %s", edit.Key, edit.App, edit.Cluster)
		}
		seen[key] = true
		if change := edited(key, cluster.Resource(edit.Key), edit.Text); change != nil {
			all = append(all, *change)
		}
		if edit.List && !cluster.Lists(edit.Key) {
			order := orderKey(c.ID, edit.App, edit.Cluster)
			on[order] = cluster
			appended[order] = append(appended[order], edit.Key)
		}
	}
	for order, keys := range appended {
		change, err := on[order].append(order, keys)
		if err != nil {
			return nil, err
		}
		all = append(all, change)
	}
	children, err := c.children(p)
	all = append(all, children...)
	slices.SortFunc(all, func(a, b write) int { return strings.Compare(a.key, b.key) })
	return all, err
}

// edited is the cluster that an edit is about.
func (c *Context) edited(e Edit) (*Cluster, error) {
	var cluster *Cluster
	if app := c.App(e.App); app != nil {
		cluster = app.Cluster(e.Cluster)
	}
	switch {
	case cluster == nil:
		return nil, about(c.ID, intent.Conflict, "has no app %q on %s", e.App, e.Cluster)
	case !e.List && cluster.Resource(e.Key) == nil:
		return nil, about(c.ID, intent.Conflict, "has no resource %s of app %q on %s", e.Key, e.App, e.Cluster)
	case !strings.Contains(e.Key, "+") || strings.Contains(e.Key, "/"):
		return nil, about(c.ID, intent.Invalid, "can have no resource %q: it is written name+Kind", e.Key)
	case e.List && !cluster.Ordered:
		return nil, about(c.ID, intent.Conflict, "has no order of resources of app %q on %s", e.App, e.Cluster)
	}
	return cluster, nil
}

func edited(key string, was *Resource, text string) *write {
	change := &write{key: key, after: jsonOf(text)}
	if was == nil {
		return change
	}
	change.before = was.raw
	if same, err := was.Text(); err == nil && same == text {
		return nil
	}
	return change
}

// append is the order with more at its end, all else in it as it was.
func (c *Cluster) append(key string, more []string) (write, error) {
	var text string
	if err := json.Unmarshal(c.order.Value, &text); err != nil {
		return write{}, fmt.Errorf("%s: %w", key, err)
	}
	order, err := withField([]byte(text), "resorder", slices.Concat(c.Order, more))
	return write{key: key, before: c.order.Value, after: jsonOf(string(order))}, err
}

// children is the meta with other ChildContextIDs.
func (c *Context) children(p Patch) ([]write, error) {
	for _, id := range slices.Concat(p.AddChildren, p.RemoveChildren) {
		if err := checkID(id); err != nil {
			return nil, err
		}
	}
	ids := slices.DeleteFunc(slices.Clone(c.Meta.ChildContextIDs), func(id string) bool { return slices.Contains(p.RemoveChildren, id) })
	for _, id := range p.AddChildren {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if slices.Equal(ids, c.Meta.ChildContextIDs) {
		return nil, nil
	}
	meta, err := withField(c.meta.Value, childrenField, ids)
	if err != nil || bytes.Equal(meta, c.meta.Value) {
		return nil, err
	}
	return []write{{key: metaKey(c.ID), before: c.meta.Value, after: meta}}, nil
}

func jsonOf(text string) []byte {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(fmt.Sprintf("a text always marshals: %v", err))
	}
	return raw
}
