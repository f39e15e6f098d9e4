package emco

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/safeyaml"
	"github.com/signpost-dns/signpost/pkg/storage/kv"
)

// Context is an app context as it was at one revision.
type Context struct {
	ID       string
	Revision int64 // of the store, at which all of it was read
	Meta     Meta
	Apps     []App // those of apporder, in its order: EMCO passes others over
	State    State

	meta kv.Item
}

// App is an app of a context.
type App struct {
	Name       string
	Dependency string    // the apps that it waits for, a JSON list; empty for none
	Clusters   []Cluster // by name
}

// Cluster is what an app has on a cluster.
type Cluster struct {
	Name      string              // "provider+cluster"
	Group     string              // of its placement, empty for none
	Ordered   bool                // there is an order; without one rsync passes the cluster over
	Order     []string            // the resources to apply, in order, as "name+Kind"
	Hooks     map[string][]string // the resources that are not in Order, by what they wait for, as "crd-install"
	Resources []Resource          // by key; rsync's placeholders are not among them

	order kv.Item
}

// Resource is one object of an app on a cluster.
type Resource struct {
	Key  string // "name+Kind"
	Name string
	Kind string // empty where the key tells none

	raw []byte // a JSON text
}

// Text is the YAML or JSON, as it was rendered, read when it is asked for. The
// error has the code Conflict where there is no text.
func (r Resource) Text() (string, error) {
	var text string
	if err := json.Unmarshal(r.raw, &text); err != nil {
		return "", &intent.Error{Code: intent.Conflict, Detail: "resource " + r.Key + " holds no text", Err: err}
	}
	return text, nil
}

// Raw is the text as it is written, in JSON. It is not to be changed.
func (r Resource) Raw() []byte { return r.raw }

// Object reads the text, as YAML or JSON. The error has the code Invalid where
// that is not one Kubernetes object.
func (r Resource) Object(cluster, app string) (bundle.Object, error) {
	text, err := r.Text()
	if err == nil {
		text, err = onlyDocument(text)
	}
	if err == nil {
		var raw []byte
		if raw, err = safeyaml.ToJSON([]byte(text)); err == nil {
			var object bundle.Object
			if object, err = bundle.Parse(cluster, app, raw); err == nil {
				return object, nil
			}
		}
	}
	detail := fmt.Sprintf("resource %s of app %s on %s cannot be read", r.Key, app, cluster)
	return bundle.Object{}, &intent.Error{Code: intent.Invalid, Detail: detail, Err: err}
}

// onlyDocument is the document of a YAML text that is more than comments.
// Templates leave separators with nothing before or behind them.
func onlyDocument(text string) (string, error) {
	var documents []string
	var document strings.Builder
	filled := false
	end := func() {
		if filled {
			documents = append(documents, document.String())
		}
		document.Reset()
		filled = false
	}
	for line := range strings.Lines(text) {
		content := strings.TrimSpace(line)
		if behind, ok := strings.CutPrefix(line, "---"); ok && strings.TrimLeft(behind, " \t\r\n") != behind {
			end()
			content = strings.TrimSpace(behind)
		}
		filled = filled || content != "" && content[0] != '#'
		document.WriteString(line)
	}
	end()
	if len(documents) != 1 {
		return "", fmt.Errorf("it holds %d objects", len(documents))
	}
	return documents[0], nil
}

// App answers the app of this name, nil when there is none.
func (c *Context) App(name string) *App {
	at := slices.IndexFunc(c.Apps, func(a App) bool { return a.Name == name })
	if at < 0 {
		return nil
	}
	return &c.Apps[at]
}

// Cluster answers what the app has on the cluster of this name, nil when there
// is nothing.
func (a *App) Cluster(name string) *Cluster {
	at, found := slices.BinarySearchFunc(a.Clusters, name, func(c Cluster, name string) int { return strings.Compare(c.Name, name) })
	if !found {
		return nil
	}
	return &a.Clusters[at]
}

// Resource answers the resource with this key, nil when there is none.
func (c *Cluster) Resource(key string) *Resource {
	at, found := slices.BinarySearchFunc(c.Resources, key, func(r Resource, key string) int { return strings.Compare(r.Key, key) })
	if !found {
		return nil
	}
	return &c.Resources[at]
}

// Lists tells whether the cluster is to get a resource, in order or by a hook.
func (c *Cluster) Lists(key string) bool {
	for _, hooked := range c.Hooks {
		if slices.Contains(hooked, key) {
			return true
		}
	}
	return slices.Contains(c.Order, key)
}
