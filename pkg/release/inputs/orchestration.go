package inputs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// Orchestration is an app context of an orchestrator. Its apps, with their namespaces
// and clusters, count in place of those in the group's document.
type Orchestration struct {
	ID           string // of the app context
	LogicalCloud string // empty: as the group's document says
	Namespace    string // of objects that name no other; empty: default
	Level        string // of the logical cloud; empty: 0
	Apps         []OrchestratedApp
	Traffic      []string // names of the traffic groups whose intents count

	namespaces map[string]string // what objects were found in, by their texts
}

// OrchestratedApp is an app of an app context.
type OrchestratedApp struct {
	Name     string
	Clusters []OrchestratedCluster // by name
}

// OrchestratedCluster is what an app has on a cluster.
type OrchestratedCluster struct {
	Name      string                 // "provider+cluster"
	Resources []OrchestratedResource // by key
}

// OrchestratedResource is an object of an app on a cluster.
type OrchestratedResource struct {
	Key  string // "name+Kind"
	Kind string // empty if the key tells none
	Rendered
}

// Rendered is the text of an object, read when it is asked for.
type Rendered interface {
	// Text is YAML or JSON. The error has the code Conflict if there is no text.
	Text() (string, error)
	// Raw is the text as it is stored. It is not to be changed.
	Raw() []byte
	// Object reads the text. The error has the code Invalid if it is not one
	// Kubernetes object.
	Object(cluster, app string) (bundle.Object, error)
}

// App answers the app of this name, nil if there is none.
func (o *Orchestration) App(name string) *OrchestratedApp {
	at := slices.IndexFunc(o.Apps, func(a OrchestratedApp) bool { return a.Name == name })
	if at < 0 {
		return nil
	}
	return &o.Apps[at]
}

// Resource answers the resource with this key, nil if there is none.
func (c *OrchestratedCluster) Resource(key string) *OrchestratedResource {
	at, found := slices.BinarySearchFunc(c.Resources, key, func(r OrchestratedResource, key string) int { return strings.Compare(r.Key, key) })
	if !found {
		return nil
	}
	return &c.Resources[at]
}

// orchestrate puts what the app context says, if there is one, in place of
// what the group's document does.
func (in *Inputs) orchestrate(by *Orchestration) error {
	if by == nil {
		return nil
	}
	in.Orchestration = by
	spec := &in.Group.Spec
	spec.LogicalCloud = cmp.Or(by.LogicalCloud, spec.LogicalCloud)
	in.CloudPath = in.ProjectPath().Child("logical-clouds", spec.LogicalCloud)
	spec.Apps = nil
	for _, app := range by.Apps {
		clusters := make([]intent.ClusterRef, len(app.Clusters))
		for n, on := range app.Clusters {
			ref, ok := intent.ParseCluster(on.Name)
			if !ok {
				return by.odd("has app %q on %q; a cluster is written as provider+cluster", app.Name, on.Name)
			}
			clusters[n] = ref
		}
		if len(clusters) == 0 {
			return by.odd("has no cluster for app %q", app.Name)
		}
		spec.Apps = append(spec.Apps, intent.App{Name: app.Name, Namespace: by.namespace(), Clusters: clusters})
	}
	return nil
}

// odd is the error for an app context that cannot be used.
func (o *Orchestration) odd(format string, args ...any) error {
	return &intent.Error{Code: intent.Conflict, Detail: "app context " + o.ID + " " + fmt.Sprintf(format, args...)}
}

// namespace is where objects are applied that name no other.
func (o *Orchestration) namespace() string { return cmp.Or(o.Namespace, "default") }

// Frozen is what a release keeps of the app context.
func (o *Orchestration) Frozen() *plan.Orchestrated {
	return &plan.Orchestrated{AppContext: o.ID, Namespace: o.namespace(), Level: cmp.Or(o.Level, "0")}
}

// counts tells whether the intents of a traffic group are among the inputs: all
// are, without a context.
func (o *Orchestration) counts(traffic intent.Path) bool {
	return o == nil || slices.Contains(o.Traffic, traffic.Name())
}

// HasResources tells whether anything of an app is deployed.
func (o *Orchestration) HasResources(app string) bool {
	return slices.ContainsFunc(o.App(app).Clusters, func(on OrchestratedCluster) bool { return len(on.Resources) > 0 })
}

// readOrchestrated adds the clusters of the app context to the members of the
// logical cloud: those of the apps that intents are for.
func (s *Reader) readOrchestrated(ctx context.Context, in *Inputs) error {
	if in.Orchestration == nil {
		return nil
	}
	asked, err := in.asked()
	if err != nil {
		return err
	}
	for _, app := range in.Group.Spec.Apps {
		if !asked[app.Name] {
			continue
		}
		for _, ref := range app.Clusters {
			if !slices.Contains(in.Members, ref.String()) {
				in.Members = append(in.Members, ref.String())
			}
		}
	}
	slices.Sort(in.Members)
	return s.ReadClusters(ctx, in, in.Members)
}

// NamespaceOf is where an object is applied.
func (o *Orchestration) NamespaceOf(r OrchestratedResource, cluster, app string) (string, error) {
	if known, ok := o.namespaces[string(r.Raw())]; ok {
		return known, nil
	}
	object, err := r.Object(cluster, app)
	if err != nil {
		return "", err
	}
	namespace := cmp.Or(object.Namespace, o.namespace())
	if o.namespaces == nil {
		o.namespaces = map[string]string{}
	}
	o.namespaces[string(r.Raw())] = namespace
	return namespace, nil
}
