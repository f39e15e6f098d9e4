package emco

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// context makes a whole of what was read, or says what is wrong with it.
func (r *reading) context() (*Context, error) {
	switch {
	case r.root == nil && r.bytes == 0:
		return nil, absent(r.id)
	case r.root == nil:
		return nil, halfWritten(r.id, "key of its own")
	case r.meta == nil:
		return nil, withoutMeta(r.id)
	case r.order == nil:
		return nil, halfWritten(r.id, "order of apps, which is written when all else is there")
	}
	c := &Context{ID: r.id, Revision: r.revision, meta: *r.meta}
	var err error
	if c.Meta, err = metaOf(r.id, r.meta.Value); err != nil {
		return nil, err
	}
	if c.State, err = r.state(); err != nil {
		return nil, err
	}
	c.Apps, err = r.ordered()
	return c, err
}

func (r *reading) ordered() ([]App, error) {
	var order []string
	if err := r.instruction(*r.order, "apporder", &order); err != nil {
		return nil, err
	}
	if twice := repeated(order); twice != "" {
		return nil, about(r.id, intent.Conflict, "names app %q twice in its order", twice)
	}
	apps := make([]App, 0, len(order))
	for _, name := range order {
		app := r.apps[name]
		if app == nil || !app.exists {
			return nil, halfWritten(r.id, fmt.Sprintf("app %q, which its order names", name))
		}
		slices.SortFunc(app.Clusters, func(a, b Cluster) int { return strings.Compare(a.Name, b.Name) })
		for i := range app.Clusters {
			if err := r.check(name, &app.Clusters[i]); err != nil {
				return nil, err
			}
		}
		apps = append(apps, app.App)
	}
	return apps, nil
}

// check holds a cluster's lists against its resources. Two objects of one kind
// and name, in two namespaces, have one key: the later has overwritten the
// earlier, and the lists show both. By several hooks one object is listed more
// than once, too.
func (r *reading) check(app string, on *Cluster) error {
	slices.SortFunc(on.Resources, func(a, b Resource) int { return strings.Compare(a.Key, b.Key) })
	lists := map[string][]string{"its order": on.Order}
	for hook, hooked := range on.Hooks {
		lists["hook "+hook] = hooked
	}
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		if twice := repeated(lists[name]); twice != "" {
			return about(r.id, intent.Conflict, "has two resources %s of app %q on %s: %s lists them, and only the later one is kept", twice, app, on.Name, name)
		}
		for _, key := range lists[name] {
			if on.Resource(key) == nil {
				return halfWritten(r.id, fmt.Sprintf("resource %s of app %q on %s, which %s lists", key, app, on.Name, name))
			}
		}
	}
	return nil
}

// repeated is the first name that comes a second time, empty for none.
func repeated(names []string) string {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if seen[name] {
			return name
		}
		seen[name] = true
	}
	return ""
}

// text reads a JSON text.
func (r *reading) text(item kv.Item, into *string) error {
	if json.Unmarshal(item.Value, into) != nil {
		return about(r.id, intent.Conflict, "holds no text at %s", item.Key)
	}
	return nil
}

// instruction reads a field of the JSON object that a JSON text holds. null
// stands for none.
func (r *reading) instruction(item kv.Item, field string, into any) error {
	var text string
	if err := r.text(item, &text); err != nil {
		return err
	}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal([]byte(text), &fields) != nil || fields[field] == nil || json.Unmarshal(fields[field], into) != nil {
		return about(r.id, intent.Conflict, "holds no %s at %s", field, item.Key)
	}
	return nil
}
