package appcontext

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// The keys of a context, as EMCO lays them out: every key ends in a slash, and
// every value is JSON, texts once more than one would think.
//
//	/context/<id>/                                         "<id>"
//	/context/<id>/meta/                                    {…}
//	/context/<id>/app/instruction/order/                   "{\"apporder\":[…]}"
//	/context/<id>/app/<app>/                               "<app>"
//	/context/<id>/app/<app>/cluster/<cluster>/             "<cluster>"
//	…/resource/instruction/order/                          "{\"resorder\":[…]}"
//	…/resource/<name>+<Kind>/                              "<object>"
//
// What CreateOnly is about is not in the order, but in
//
//	…/resource/instruction/dependency/                     "{\"resdependency\":{\"crd-install\":[…]}}"
//
// A context that is Plain has its meta, without empty fields, and its resources only.
const contextPrefix = "/context/"

func contextKey(id string) string { return contextPrefix + id + "/" }

func metaKey(id string) string { return contextKey(id) + "meta/" }

func appOrderKey(id string) string { return contextKey(id) + "app/instruction/order/" }

func appKey(id, app string) string { return contextKey(id) + "app/" + app + "/" }

func clusterKey(id, app, cluster string) string {
	return appKey(id, app) + "cluster/" + cluster + "/"
}

func resourcesKey(id, app, cluster string) string {
	return clusterKey(id, app, cluster) + "resource/"
}

func orderKey(id, app, cluster string) string {
	return resourcesKey(id, app, cluster) + "instruction/order/"
}

func resourceName(o bundle.ID) string { return o.Name + "+" + o.Kind }

func resourceKey(id, app string, o bundle.ID) string {
	return resourcesKey(id, app, o.Cluster) + resourceName(o) + "/"
}

// NewID draws a context id: 63 random bits in decimal, as EMCO's are.
func NewID() string {
	var b [8]byte
	rand.Read(b[:])
	return strconv.FormatUint(binary.BigEndian.Uint64(b[:])>>1, 10)
}

// layOut writes the keys of a context, app by app and cluster by cluster, and then more.
func layOut(c Context, more ...kv.Op) iter.Seq[kv.Op] {
	return func(yield func(kv.Op) bool) {
		going := true
		put := func(op kv.Op) { going = going && yield(op) }
		if c.Plain {
			layOutPlain(c, put)
			for _, op := range more {
				put(op)
			}
			return
		}
		put(putJSON(contextKey(c.ID), c.ID))
		put(putJSON(metaKey(c.ID), c.Meta))
		apps := groupByApp(c.Objects)
		names := sortedKeys(apps)
		put(putText(appOrderKey(c.ID), map[string]any{"apporder": names}))
		for _, app := range names {
			put(putJSON(appKey(c.ID, app), app))
			for _, cluster := range sortedKeys(apps[app]) {
				layOutCluster(c, app, cluster, apps[app][cluster], put)
			}
		}
		for _, op := range more {
			put(op)
		}
	}
}

// plainMeta is a Meta without its empty fields.
type plainMeta struct {
	Project               string   `json:",omitempty"`
	CompositeApp          string   `json:",omitempty"`
	Version               string   `json:",omitempty"`
	Release               string   `json:",omitempty"`
	DeploymentIntentGroup string   `json:",omitempty"`
	Namespace             string   `json:",omitempty"`
	Level                 string   `json:",omitempty"`
	ChildContextIDs       []string `json:",omitempty"`
	LogicalCloud          string   `json:",omitempty"`
	LogicalCloudNamespace string   `json:",omitempty"`
	LogicalCloudLevel     string   `json:",omitempty"`
}

// layOutPlain writes what Signpost reads of a context.
func layOutPlain(c Context, put func(kv.Op)) {
	put(putJSON(metaKey(c.ID), plainMeta(c.Meta)))
	for _, o := range c.Objects {
		put(putJSON(resourceKey(c.ID, o.App, o.ID), text(o.JSON)))
	}
}

func layOutCluster(c Context, app, cluster string, objects []bundle.Object, put func(kv.Op)) {
	put(putJSON(clusterKey(c.ID, app, cluster), cluster))
	folder := resourcesKey(c.ID, app, cluster)
	for _, o := range objects {
		put(putJSON(folder+resourceName(o.ID)+"/", text(o.JSON)))
	}
	ordered := order(objects)
	if c.CreateOnly {
		put(putText(folder+"instruction/dependency/", map[string]any{"resdependency": map[string]any{"crd-install": ordered}}))
		ordered = nil
	}
	put(putText(orderKey(c.ID, app, cluster), map[string]any{"resorder": ordered}))
}

// text is written as a JSON text.
type text []byte

func (t text) MarshalText() ([]byte, error) { return t, nil }

// distinct fails when two objects have one key.
func distinct(objects []bundle.Object) error {
	type place struct{ app, cluster, kind, name string }
	seen := make(map[place]bool, len(objects))
	for _, o := range objects {
		at := place{o.App, o.Cluster, o.Kind, o.Name}
		if seen[at] {
			return fmt.Errorf("app %q holds two objects called %s on %s: a context cannot tell them apart", o.App, resourceName(o.ID), o.Cluster)
		}
		seen[at] = true
	}
	return nil
}

// order lists resources in the order in which a cluster should get them.
func order(objects []bundle.Object) []string {
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b bundle.Object) int { return rank(a.Kind) - rank(b.Kind) })
	names := make([]string, len(sorted))
	for i, o := range sorted {
		names[i] = resourceName(o.ID)
	}
	return names
}

func rank(kind string) int {
	switch kind {
	case "Namespace":
		return 0
	case "CustomResourceDefinition":
		return 1
	}
	return 2
}

func groupByApp(objects []bundle.Object) map[string]map[string][]bundle.Object {
	apps := map[string]map[string][]bundle.Object{}
	for _, o := range objects {
		if apps[o.App] == nil {
			apps[o.App] = map[string][]bundle.Object{}
		}
		apps[o.App][o.Cluster] = append(apps[o.App][o.Cluster], o)
	}
	return apps
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.SortedFunc(maps.Keys(m), strings.Compare)
}

func putJSON(key string, value any) kv.Op {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("%T always marshals: %v", value, err))
	}
	return kv.Put(key, raw)
}

// putText writes JSON as a JSON text.
func putText(key string, value any) kv.Op {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("%T always marshals: %v", value, err))
	}
	return putJSON(key, string(raw))
}

// isResource tells a resource's key from those of instructions and statuses.
func isResource(prefix, key string) bool {
	name := strings.TrimSuffix(strings.TrimPrefix(key, prefix), "/")
	return !strings.Contains(name, "/") && strings.Contains(name, "+")
}
