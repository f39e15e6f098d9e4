package release

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/emco"
	"github.com/signpost-dns/signpost/pkg/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// orchestration is an app context of EMCO's: where it says which apps a group
// has, in which namespace and on which clusters, it counts in place of the
// group's document.
type orchestration struct {
	*emco.Context
	traffic []string // names of the traffic groups whose intents count

	namespaces map[string]string // what objects were found in, by their texts
}

// orchestrate puts what the app context says, if there is one, in place of
// what the group's document does.
func (in *inputs) orchestrate(by *orchestration) error {
	if by == nil {
		return nil
	}
	in.orchestration = by
	spec := &in.group.Spec
	spec.LogicalCloud = cmp.Or(by.Meta.LogicalCloud, spec.LogicalCloud)
	in.cloudPath = in.projectPath().Child("logical-clouds", spec.LogicalCloud)
	spec.Apps = nil
	for _, app := range by.Apps {
		clusters := make([]intent.ClusterRef, len(app.Clusters))
		for n, on := range app.Clusters {
			ref, ok := intent.ParseCluster(on.Name)
			if !ok {
				return by.odd("has app %q on %q; a cluster is written provider+cluster", app.Name, on.Name)
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
func (o *orchestration) odd(format string, args ...any) error {
	return &intent.Error{Code: intent.Conflict, Detail: "app context " + o.ID + " " + fmt.Sprintf(format, args...)}
}

// namespace is where rsync applies what names no other.
func (o *orchestration) namespace() string { return cmp.Or(o.Meta.Namespace, "default") }

func (o *orchestration) frozen() *plan.Orchestrated {
	return &plan.Orchestrated{AppContext: o.ID, Namespace: o.namespace(), Level: cmp.Or(o.Meta.Level, "0")}
}

// counts tells whether the intents of a traffic group are among the inputs: all
// are, without a context.
func (o *orchestration) counts(traffic intent.Path) bool {
	return o == nil || slices.Contains(o.traffic, traffic.Name())
}

// hasResources tells whether anything of an app is deployed.
func (o *orchestration) hasResources(app string) bool {
	return slices.ContainsFunc(o.App(app).Clusters, func(on emco.Cluster) bool { return len(on.Resources) > 0 })
}

// readOrchestrated adds the clusters of the app context to the members of the
// logical cloud: those of the apps that intents are for.
func (s *Service) readOrchestrated(ctx context.Context, in *inputs) error {
	if in.orchestration == nil {
		return nil
	}
	for _, app := range in.group.Spec.Apps {
		if !in.asks(app.Name) {
			continue
		}
		for _, ref := range app.Clusters {
			if !slices.Contains(in.members, ref.String()) {
				in.members = append(in.members, ref.String())
			}
		}
	}
	slices.Sort(in.members)
	return s.readClusters(ctx, in, in.members)
}

// asks tells whether an intent is for an app.
func (in *inputs) asks(app string) bool {
	return slices.ContainsFunc(in.intents, func(i dnsIntent) bool { return i.spec.App == app }) ||
		slices.ContainsFunc(in.podIntents, func(i podDNSIntent) bool { return i.spec.App == app })
}

// serviceNamespace is where the Service of a DNS intent is: where the intent
// says, else where the app context has it, else where the app is.
func (d *draft) serviceNamespace(i dnsIntent, app plan.App) string {
	o := d.in.orchestration
	if i.spec.Namespace != "" || o == nil {
		return cmp.Or(i.spec.Namespace, app.Namespace)
	}
	found := map[string]string{} // namespace to a cluster where it is there
	var without []string
	for _, on := range o.App(app.Name).Clusters {
		resource := on.Resource(i.spec.ServiceName + "+Service")
		if resource == nil {
			without = append(without, on.Name)
			continue
		}
		namespace, err := o.namespaceOf(*resource, on.Name, app.Name)
		if err != nil {
			d.fail(i.path, "/spec/serviceName", "%s", err)
			return app.Namespace
		}
		found[namespace] = on.Name
	}
	if len(without) > 0 {
		d.warn("app context %s has no Service %q of app %q for %s: it counts once something else has made it, in namespace %q", o.ID, i.spec.ServiceName, app.Name, few(without), app.Namespace)
	}
	namespaces := slices.Sorted(maps.Keys(found))
	if at := slices.IndexFunc(namespaces, d.isElsewhere); at >= 0 {
		d.fail(i.path, "/spec/serviceName", "app context %s has Service %q of app %q in namespace %s on %s, %s",
			o.ID, i.spec.ServiceName, app.Name, namespaces[at], found[namespaces[at]], elsewhereAdvice)
	}
	if len(namespaces) == 0 {
		return app.Namespace
	}
	if len(namespaces) > 1 {
		d.fail(i.path, "/spec/namespace", "app context %s has Service %q of app %q in namespace %s on %s and in %s on %s; say which one is meant",
			o.ID, i.spec.ServiceName, app.Name, namespaces[0], found[namespaces[0]], namespaces[1], found[namespaces[1]])
	}
	return namespaces[0]
}

// elsewhereAdvice is about a namespace of an app context of EMCO's that is not
// among those that the server allows.
const elsewhereAdvice = "which is not allowed: Signpost publishes and edits nothing there; give the logical cloud another namespace, or have the server allow it (--emco-namespaces)"

// isElsewhere reports whether a namespace of the app context is none of those that
// the server allows.
func (d *draft) isElsewhere(namespace string) bool { return !d.emcoNamespaces.Hold(namespace) }

// checkOrchestrated refuses apps of an app context that are where the server does
// not allow it, if something is asked for them.
func (d *draft) checkOrchestrated() {
	for _, app := range d.group.Apps {
		if d.group.Orchestrated != nil && asked(d.group, app) && d.isElsewhere(app.Namespace) {
			d.fail(d.group.Path, "/spec/apps", "app context %s has app %q in namespace %s, %s", d.group.Orchestrated.AppContext, app.Name, app.Namespace, elsewhereAdvice)
		}
	}
}

// namespaceOf is where an object is applied.
func (o *orchestration) namespaceOf(r emco.Resource, cluster, app string) (string, error) {
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
