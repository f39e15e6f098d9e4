package emco

import (
	"bytes"
	"context"
	"encoding/json"
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
	if err := w.db.put(ctx, contextKey(c.ID), c.ID); err != nil {
		return err
	}
	if exists {
		return fmt.Errorf("context %s: the key exists", c.ID)
	}
	if err := w.db.put(ctx, metaKey(c.ID), c.Meta); err != nil {
		return err
	}
	var order []string // null where there are none
	dependency := map[string]string{}
	for _, app := range c.Apps {
		if err := w.writeApp(ctx, c.ID, app); err != nil {
			return err
		}
		order = append(order, app.Name)
		dependency[app.Name] = "go"
	}
	if err := w.putText(ctx, appsKey(c.ID)+orderLevel, map[string]any{"apporder": order}); err != nil {
		return err
	}
	return w.putText(ctx, appsKey(c.ID)+dependencyLevel, dependency)
}

func (w *World) writeApp(ctx context.Context, id string, app App) error {
	if err := w.db.put(ctx, appKey(id, app.Name), app.Name); err != nil {
		return err
	}
	if len(app.Dependency) > 0 {
		if err := w.putText(ctx, appKey(id, app.Name)+dependencyLevel, app.Dependency); err != nil {
			return err
		}
	}
	for _, cluster := range app.Clusters {
		if err := w.writeCluster(ctx, id, app.Name, cluster); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) writeCluster(ctx context.Context, id, app string, c Cluster) error {
	key := clusterKey(id, app, c.Name)
	if err := w.db.put(ctx, key, c.Name); err != nil {
		return err
	}
	if c.Group != "" {
		if err := w.db.put(ctx, key+groupLevel, c.Group); err != nil {
			return err
		}
	}
	order, err := w.writeResources(ctx, key, c.Resources)
	if err != nil {
		return err
	}
	if err := w.putText(ctx, key+resourcesLevel+orderLevel, map[string]any{"resorder": order}); err != nil {
		return err
	}
	if len(c.CRDs) == 0 {
		return nil
	}
	definitions, err := w.writeResources(ctx, key, c.CRDs)
	if err != nil {
		return err
	}
	dependency := map[string]any{"resdependency": map[string]any{crdHook: definitions}}
	return w.putText(ctx, key+resourcesLevel+dependencyLevel, dependency)
}

// crdHook is the dependency of what is made before the resources.
const crdHook = "crd-install"

func (w *World) writeResources(ctx context.Context, cluster string, resources []Resource) ([]string, error) {
	var names []string // null where there are none
	for _, r := range resources {
		if err := w.db.put(ctx, cluster+resourcesLevel+r.Name+"/", r.Text); err != nil {
			return nil, err
		}
		names = append(names, r.Name)
	}
	return names, nil
}

// putText writes JSON as a JSON text, as EMCO does with instructions.
func (w *World) putText(ctx context.Context, key string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return w.db.put(ctx, key, string(text))
}

// DeleteContext removes all keys of a context, as the orchestrator does after
// a controller has refused.
func (w *World) DeleteContext(ctx context.Context, id string) error {
	return w.db.removePrefix(ctx, contextKey(id))
}

// CrashAfter kills whoever writes contexts next after so many keys: they are
// left as they are. A negative number takes it back.
func (w *World) CrashAfter(keys int) { w.db.crashAfter(keys) }
