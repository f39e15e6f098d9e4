package emco

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
)

// AppContext is what EMCO writes before it calls the controllers.
type AppContext struct {
	ID   string // decimal, 63 bits
	Meta Meta
	Apps []App
}

// Meta is the value of a context's meta key. A controller knows some of its
// keys and keeps them all.
type Meta struct {
	Project               string
	CompositeApp          string
	Version               string
	Release               string
	DeploymentIntentGroup string
	Namespace             string
	Level                 string
	ChildContextIDs       []string // null while there are none
	LogicalCloud          string
	LogicalCloudNamespace string
	LogicalCloudLevel     string

	// Extra are keys of other versions of EMCO.
	Extra map[string]any `json:"-"`
}

// MarshalJSON writes the fields in EMCO's order and the extra keys behind them.
func (m Meta) MarshalJSON() ([]byte, error) {
	type plain Meta
	known, err := json.Marshal(plain(m))
	if err != nil || len(m.Extra) == 0 {
		return known, err
	}
	extra, err := json.Marshal(m.Extra)
	if err != nil {
		return nil, err
	}
	return append(append(bytes.TrimSuffix(known, []byte("}")), ','), bytes.TrimPrefix(extra, []byte("{"))...), nil
}

// App is an app of a context with its clusters.
type App struct {
	Name       string
	Dependency []AppDependency // the apps to be there before this one
	Clusters   []Cluster
}

// AppDependency is an app that another one waits for.
type AppDependency struct {
	App      string `json:"app,omitempty"`
	OpStatus string `json:"opStatus,omitempty"` // Ready or Deployed
	Wait     int    `json:"wait,omitempty"`     // seconds
}

// Cluster is one of the clusters that an app is placed on.
type Cluster struct {
	Name      string // "<provider>+<cluster>"
	Group     string // of the placement: one cluster of each group keeps the app
	Resources []Resource
	CRDs      []Resource // made before the resources; they are not in resorder
}

// Resource is one object of an app.
type Resource struct {
	Name string // "<name>+<Kind>"
	Text string // YAML or JSON
}

// NewID draws a context id.
func NewID() string { return strconv.FormatInt(rand.Int64(), 10) }

// WriteContext writes a context key by key, in EMCO's order.
func (w *World) WriteContext(ctx context.Context, c AppContext) error {
	exists, err := w.db.has(ctx, contextKey(c.ID))
	if err != nil {
		return err
	}
	if exists {
		return errors.Join(fmt.Errorf("context %s: the key exists", c.ID), w.db.put(ctx, contextKey(c.ID), c.ID))
	}
	return c.each(func(key string, value any) error { return w.db.put(ctx, key, value) })
}

// WriteContextAtOnce writes the same keys in transactions, where a test needs a
// large context and not the time that EMCO takes to write it.
func (w *World) WriteContextAtOnce(ctx context.Context, c AppContext) error {
	batch := w.db.batch()
	if err := c.each(batch.put); err != nil {
		return err
	}
	return batch.write(ctx)
}

// each puts the keys of a context.
func (c AppContext) each(put func(key string, value any) error) error {
	if err := put(contextKey(c.ID), c.ID); err != nil {
		return err
	}
	if err := put(metaKey(c.ID), c.Meta); err != nil {
		return err
	}
	var order []string // null where there are none
	dependency := map[string]string{}
	for _, app := range c.Apps {
		if err := app.each(c.ID, put); err != nil {
			return err
		}
		order = append(order, app.Name)
		dependency[app.Name] = "go"
	}
	if err := putText(put, appsKey(c.ID)+orderLevel, map[string]any{"apporder": order}); err != nil {
		return err
	}
	return putText(put, appsKey(c.ID)+dependencyLevel, dependency)
}

func (a App) each(id string, put func(key string, value any) error) error {
	if err := put(appKey(id, a.Name), a.Name); err != nil {
		return err
	}
	if len(a.Dependency) > 0 {
		if err := putText(put, appKey(id, a.Name)+dependencyLevel, a.Dependency); err != nil {
			return err
		}
	}
	for _, on := range a.Clusters {
		if err := on.each(clusterKey(id, a.Name, on.Name), put); err != nil {
			return err
		}
	}
	return nil
}

func (c Cluster) each(key string, put func(key string, value any) error) error {
	if err := put(key, c.Name); err != nil {
		return err
	}
	if c.Group != "" {
		if err := put(key+groupLevel, c.Group); err != nil {
			return err
		}
	}
	order, err := putResources(put, key, c.Resources)
	if err != nil {
		return err
	}
	if err := putText(put, key+resourcesLevel+orderLevel, map[string]any{"resorder": order}); err != nil {
		return err
	}
	if len(c.CRDs) == 0 {
		return nil
	}
	definitions, err := putResources(put, key, c.CRDs)
	if err != nil {
		return err
	}
	dependency := map[string]any{"resdependency": map[string]any{crdHook: definitions}}
	return putText(put, key+resourcesLevel+dependencyLevel, dependency)
}

// crdHook is the dependency of what is made before the resources.
const crdHook = "crd-install"

// putResources puts resources and answers their names, null for none.
func putResources(put func(key string, value any) error, cluster string, resources []Resource) ([]string, error) {
	var names []string
	for _, r := range resources {
		if err := put(cluster+resourcesLevel+r.Name+"/", r.Text); err != nil {
			return nil, err
		}
		names = append(names, r.Name)
	}
	return names, nil
}

// putText puts JSON as a JSON text, as EMCO does with instructions.
func putText(put func(key string, value any) error, key string, value any) error {
	return put(key, string(marshal(value)))
}

// DeleteContext removes all keys of a context, as the orchestrator does after
// a controller has refused.
func (w *World) DeleteContext(ctx context.Context, id string) error {
	return w.db.removePrefix(ctx, contextKey(id))
}

// CrashAfter kills whoever writes contexts next after so many keys: they are
// left as they are. A negative number takes it back.
func (w *World) CrashAfter(keys int) { w.db.crashAfter(keys) }
