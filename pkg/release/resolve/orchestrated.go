package resolve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/poddns"
	"github.com/signpost-dns/signpost/pkg/release/inputs"
	"github.com/signpost-dns/signpost/pkg/release/state"
)

// serviceNamespace is the namespace of the Service of a DNS intent. The intent says it,
// else the app context, else it is that of the app.
func (d *Draft) serviceNamespace(i inputs.DNSIntent, app plan.App) string {
	o := d.In.Orchestration
	if i.Spec.Namespace != "" || o == nil {
		return cmp.Or(i.Spec.Namespace, app.Namespace)
	}
	found := map[string]string{} // namespace to a cluster where it is there
	var without []string
	for _, on := range o.App(app.Name).Clusters {
		resource := on.Resource(i.Spec.ServiceName + "+Service")
		if resource == nil {
			without = append(without, on.Name)
			continue
		}
		namespace, err := o.NamespaceOf(*resource, on.Name, app.Name)
		if err != nil {
			d.Fail(i.Path, "/spec/serviceName", "%s", err)
			return app.Namespace
		}
		found[namespace] = on.Name
	}
	if len(without) > 0 {
		d.Warn("app context %s has no Service %q of app %q for %s: the Service counts once it exists in namespace %q", o.ID, i.Spec.ServiceName, app.Name, state.Few(without), app.Namespace)
	}
	namespaces := slices.Sorted(maps.Keys(found))
	if at := slices.IndexFunc(namespaces, d.IsForbiddenNamespace); at >= 0 {
		d.Fail(i.Path, "/spec/serviceName", "app context %s has Service %q of app %q in namespace %s on %s, %s",
			o.ID, i.Spec.ServiceName, app.Name, namespaces[at], found[namespaces[at]], ForbiddenNamespaceAdvice)
	}
	if len(namespaces) == 0 {
		return app.Namespace
	}
	if len(namespaces) > 1 {
		d.Fail(i.Path, "/spec/namespace", "app context %s has Service %q of app %q in namespace %s on %s and in %s on %s; name one of the namespaces",
			o.ID, i.Spec.ServiceName, app.Name, namespaces[0], found[namespaces[0]], namespaces[1], found[namespaces[1]])
	}
	return namespaces[0]
}

// ForbiddenNamespaceAdvice is about a namespace of an app context that is not
// among those that the server allows.
const ForbiddenNamespaceAdvice = "which is not allowed: Signpost publishes and edits nothing there; give the logical cloud another namespace, or have the server allow it (" + intent.OrchestratedNamespaces + ")"

// IsForbiddenNamespace reports whether a namespace of the app context is none of those that
// the server allows.
func (d *Draft) IsForbiddenNamespace(namespace string) bool {
	return !d.orchestratedNamespaces.Hold(namespace)
}

// checkOrchestrated refuses apps of an app context that are where the server does
// not allow it, if something is asked for them.
func (d *Draft) checkOrchestrated() {
	for _, app := range d.Group.Apps {
		if d.Group.Orchestrated != nil && state.Asked(d.Group, app) && d.IsForbiddenNamespace(app.Namespace) {
			d.Fail(d.Group.Path, "/spec/apps", "app context %s has app %q in namespace %s, %s", d.Group.Orchestrated.AppContext, app.Name, app.Namespace, ForbiddenNamespaceAdvice)
		}
	}
}

// MayHavePods leaves most resources unread.
func MayHavePods(r inputs.OrchestratedResource) bool {
	return IsWorkload(r.Kind) || bytes.Contains(r.Raw(), []byte("containers"))
}

// IsWorkload says whether objects of a kind have pods.
func IsWorkload(kind string) bool {
	return slices.Contains([]string{"Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job", "CronJob", "PodTemplate"}, kind)
}

// ManifestOf reads an object as a manifest with pods.
func ManifestOf(object []byte) (poddns.Manifest, error) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	decoder.UseNumber()
	var manifest poddns.Manifest
	if err := decoder.Decode(&manifest); err != nil {
		return nil, fmt.Errorf("it is not an object: %w", err)
	}
	return manifest, nil
}
