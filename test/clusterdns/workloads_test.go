package clusterdns

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/story"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/workloads"
)

// everyWorkload is what people grant whose apps have all kinds of workloads.
const everyWorkload = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: every-workload}
rules:
  - {apiGroups: [apps], resources: [statefulsets, daemonsets, replicasets], verbs: [get, create, patch]}
  - {apiGroups: [batch], resources: [jobs, cronjobs], verbs: [get, create, patch]}
  - {apiGroups: [""], resources: [pods, replicationcontrollers], verbs: [get, create, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: every-workload}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: every-workload}
subjects: [{kind: ServiceAccount, name: signpost, namespace: signpost}]
`

// TestAnAPIServerTakesTheDNSOfEveryKindOfWorkload: strictly, kept as it is, and
// also where the workload was there before, but for pods and jobs, which
// Kubernetes does not change.
func TestAnAPIServerTakesTheDNSOfEveryKindOfWorkload(t *testing.T) {
	w := NewWorld(t)
	require.NoError(t, w.Server.Apply(t.Context(), everyWorkload))
	kinds := map[string]bool{}
	for _, s := range story.All[plan.Group](t, "../../pkg/plan/workloads/testdata") {
		t.Run(s.Name, func(t *testing.T) {
			if namespace := s.Input.LogicalCloudNamespace; namespace != "default" {
				require.NoError(t, w.Server.Namespace(t.Context(), namespace))
			}
			for _, c := range redirected(t, s.Input) {
				kinds[c.ID.Kind] = true
				before, after := bundle.Object{ID: c.ID, JSON: c.Old}, bundle.Object{ID: c.ID, JSON: c.New}
				require.NoError(t, w.Server.Apply(t.Context(), string(after.JSON)), "strictly")
				requireSpecKept(t, w, after)
				w.empty(t, bundle.Bundle{after})

				live, err := w.target.Create(t.Context(), before)
				require.NoError(t, err, "as Signpost")
				_, err = w.target.Apply(t.Context(), after, live.Version)
				if slices.Contains([]string{"Pod", "Job"}, c.ID.Kind) {
					require.Equal(t, fault.Refused, fault.Of(err), "%s: %v", c.ID, err)
				} else {
					require.NoError(t, err, c.ID)
					requireSpecKept(t, w, after)
				}
				w.empty(t, bundle.Bundle{after})
			}
		})
	}
	require.Len(t, kinds, 8, "of every kind there was one")
}

// requireSpecKept expects that the server kept all that the object's spec says.
func requireSpecKept(t *testing.T, w *World, o bundle.Object) {
	t.Helper()
	want := unstructuredOf(t, o)
	live, err := w.Server.Get(t.Context(), want.GroupVersionKind(), o.Namespace, o.Name)
	require.NoError(t, err)
	requireWithin(t, o.ID.String(), want.Object["spec"], live.Object["spec"])
}

// redirected are the objects whose pods get other DNS by the intents of a group,
// as they are without them and with them.
func redirected(t *testing.T, g plan.Group) []bundle.Change {
	t.Helper()
	after := rendered(t, g)
	g.Apps = slices.Clone(g.Apps)
	for n := range g.Apps {
		g.Apps[n].PodDNS = nil
	}
	return slices.DeleteFunc(bundle.Diff(rendered(t, g), after), func(c bundle.Change) bool { return c.Action == bundle.Unchanged })
}

func rendered(t *testing.T, g plan.Group) bundle.Bundle {
	t.Helper()
	objects, _, err := workloads.Render(t.Context(), g)
	require.NoError(t, err)
	ordered, err := bundle.Collect(objects)
	require.NoError(t, err)
	return ordered
}
