package clusterdns

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/placement"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/clustertest"
)

// find decodes the one object of a kind and name.
func find[T any](t *testing.T, objects bundle.Bundle, kind, name string) T {
	t.Helper()
	var out T
	for _, o := range objects {
		if o.Kind == kind && (name == "" || o.Name == name) {
			require.NoError(t, json.Unmarshal(o.JSON, &out))
			return out
		}
	}
	require.Fail(t, "there is no "+kind+" "+name)
	return out
}

// strictly decodes an object, and fails on a field that its kind does not have.
func strictly(o bundle.Object) error {
	kinds := map[string]any{
		"Namespace":          &corev1.Namespace{},
		"ServiceAccount":     &corev1.ServiceAccount{},
		"ClusterRole":        &rbacv1.ClusterRole{},
		"ClusterRoleBinding": &rbacv1.ClusterRoleBinding{},
		"ConfigMap":          &corev1.ConfigMap{},
		"Service":            &corev1.Service{},
		"DaemonSet":          &appsv1.DaemonSet{},
	}
	decoder := json.NewDecoder(bytes.NewReader(o.JSON))
	decoder.DisallowUnknownFields()
	return decoder.Decode(kinds[o.Kind])
}

// TestObjectsAreOfKindsThatWorkersKnow decodes every object of every story
// strictly, and asks the sync worker's table about its kind.
func TestObjectsAreOfKindsThatWorkersKnow(t *testing.T) {
	for _, s := range stories(t) {
		for _, o := range render(t, s.Input) {
			requireKnown(t, o)
			assert.Equal(t, s.Input.DNS[0].Cluster, o.Cluster)
			assert.Equal(t, App, o.App)
		}
	}
}

func requireKnown(t require.TestingT, o bundle.Object) {
	known, clusterScoped := clustertest.ClusterScoped(o.Group, o.Kind)
	require.True(t, known, o.ID)
	require.Equal(t, o.Namespace == "", clusterScoped, o.ID)
	require.NoError(t, strictly(o), o.ID)
}

// TestPlanningTwiceGivesTheSameBytes is I8 for cluster DNS: neither the order
// of maps nor that of tolerations shows.
func TestPlanningTwiceGivesTheSameBytes(t *testing.T) {
	for _, s := range stories(t) {
		want := render(t, s.Input)
		frozen, err := json.Marshal(s.Input)
		require.NoError(t, err)
		for range 20 {
			var g plan.Group
			require.NoError(t, json.Unmarshal(frozen, &g))
			require.Equal(t, want, render(t, g))
		}
	}
	g := load(t, "seed-placement-infra")
	spec := g.DNS[0].Spec.NodePlacement
	spec.Tolerations = append(spec.Tolerations, intent.Toleration{Key: "dns-only", Operator: "Exists"})
	want := render(t, g)
	spec.Tolerations[0], spec.Tolerations[1] = spec.Tolerations[1], spec.Tolerations[0]
	require.Equal(t, want, render(t, g))
}

// TestOnlyAChangedCorefileRollsThePods: the hash on the pods changes with the
// Corefile, and with nothing else.
func TestOnlyAChangedCorefileRollsThePods(t *testing.T) {
	g := load(t, "seed-forward-plugins")
	template := func() corev1.PodTemplateSpec {
		return find[appsv1.DaemonSet](t, render(t, g), "DaemonSet", ServiceName).Spec.Template
	}
	before := template()
	g.DNS[0].Spec.NodeResolver = &intent.NodeResolver{Services: []string{"shop/registry"}}
	g.DNS[0].Spec.PluginConfig.ForwardPlugins[0].Policy = "roundrobin"
	require.Equal(t, before, template(), "the same Corefile, the same pods")
	g.DNS[0].Spec.PluginConfig.ForwardPlugins[0].Policy = "Random"
	changed := template()
	require.NotEqual(t, before.Annotations[annotationCorefile], changed.Annotations[annotationCorefile])
	changed.Annotations = before.Annotations
	require.Equal(t, before, changed, "nothing but the hash")
}

// TestPlacedIsWhatWasRenderedBefore: a placement that leaves no node is not
// applied, the old one stays; so it is read back, in one canonical form.
func TestPlacedIsWhatWasRenderedBefore(t *testing.T) {
	for _, s := range stories(t) {
		d := s.Input.DNS[0]
		placed, ok := Placed(render(t, s.Input), d)
		require.Equal(t, d.Spec.Mode == intent.Dedicated, ok, s.Name)
		if ok {
			require.Equal(t, Placement(d), placed, s.Name)
			require.Equal(t, Placement(d).Key(), placed.Key(), s.Name)
		}
	}
	g := load(t, "seed-placement-infra")
	old, d := render(t, load(t, "node-resolver")), g.DNS[0]
	placed, ok := Placed(old, d)
	require.True(t, ok)
	objects, err := Render(g, d, placed)
	require.NoError(t, err)
	pod := find[appsv1.DaemonSet](t, objects, "DaemonSet", ServiceName).Spec.Template.Spec
	require.Equal(t, map[string]string{"kubernetes.io/os": "linux"}, pod.NodeSelector)
	require.Empty(t, pod.Tolerations)

	_, ok = Placed(old, plan.ClusterDNS{Cluster: "edge+paris"})
	require.False(t, ok, "another cluster")
	d.Spec.Namespace = "elsewhere"
	_, ok = Placed(old, d)
	require.False(t, ok, "another DNS service, which stays where it is")
}

// TestPlacementDefaultsAreTheSeeds: a selector replaces the default, tolerations
// do not.
func TestPlacementDefaultsAreTheSeeds(t *testing.T) {
	tolerations := []intent.Toleration{{Key: "k", Operator: "Exists"}}
	for _, c := range []struct {
		name  string
		asked *intent.NodePlacement
		want  placement.Placement
	}{
		{"none", nil, placement.Placement{NodeSelector: linux()}},
		{"an empty one", &intent.NodePlacement{NodeSelector: map[string]string{}}, placement.Placement{NodeSelector: linux()}},
		{"tolerations", &intent.NodePlacement{Tolerations: tolerations}, placement.Placement{NodeSelector: linux(), Tolerations: tolerations}},
		{"a selector", &intent.NodePlacement{NodeSelector: map[string]string{"a": ""}}, placement.Placement{NodeSelector: map[string]string{"a": ""}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, Placement(plan.ClusterDNS{Spec: intent.DNSCRIntent{NodePlacement: c.asked}}))
		})
	}
}

// TestNamesOutsideNamespacesDoNotCollide: logical clouds, intents, namespaces
// and installations may meet in one cluster.
func TestNamesOutsideNamespacesDoNotCollide(t *testing.T) {
	seen := map[string]bool{}
	for _, change := range []func(g *plan.Group){
		func(*plan.Group) {},
		func(g *plan.Group) { g.Path = "projects/shop/logical-clouds/us" },
		func(g *plan.Group) { g.Path = "projects/bank/logical-clouds/eu" },
		func(g *plan.Group) { g.DNS[0].Intent = "others" },
		func(g *plan.Group) { g.DNS[0].Spec.Namespace = "dns" },
		func(g *plan.Group) { g.Installation = "other" },
	} {
		g := load(t, "nothing-said")
		change(&g)
		objects := render(t, g)
		role := find[rbacv1.ClusterRole](t, objects, "ClusterRole", "")
		binding := find[rbacv1.ClusterRoleBinding](t, objects, "ClusterRoleBinding", role.Name)
		require.Equal(t, role.Name, binding.RoleRef.Name)
		require.False(t, seen[role.Name], role.Name)
		seen[role.Name] = true
	}
}

// TestSharedNamespaceCarriesNothingOfTheIntent: whoever else has objects in the
// namespace renders the same.
func TestSharedNamespaceCarriesNothingOfTheIntent(t *testing.T) {
	a, b := load(t, "nothing-said"), load(t, "node-resolver")
	b.Path, b.LogicalCloud, b.Project.Name, b.DNS[0].Intent = "projects/bank/logical-clouds/us", "us", "bank", "others"
	require.Equal(t,
		find[corev1.Namespace](t, render(t, a), "Namespace", ""),
		find[corev1.Namespace](t, render(t, b), "Namespace", ""))
}

// TestSelectorsAreThoseOfThePods: the Service finds DNS pods, and no pod of the
// node resolver; pods do not carry the installation, which is on what was
// applied alone.
func TestSelectorsAreThoseOfThePods(t *testing.T) {
	objects := render(t, load(t, "node-resolver"))
	service := find[corev1.Service](t, objects, "Service", ServiceName)
	dns := find[appsv1.DaemonSet](t, objects, "DaemonSet", ServiceName)
	resolver := find[appsv1.DaemonSet](t, objects, "DaemonSet", ResolverName)
	require.Equal(t, service.Spec.Selector, dns.Spec.Template.Labels)
	require.Equal(t, dns.Spec.Selector.MatchLabels, dns.Spec.Template.Labels)
	require.Equal(t, resolver.Spec.Selector.MatchLabels, resolver.Spec.Template.Labels)
	require.NotEqual(t, service.Spec.Selector, resolver.Spec.Template.Labels)
	require.NotContains(t, dns.Spec.Template.Labels, bundle.LabelInstallation)
	ports := map[string]int32{}
	for _, p := range dns.Spec.Template.Spec.Containers[0].Ports {
		ports[p.Name] = p.ContainerPort
	}
	for _, p := range service.Spec.Ports {
		require.Contains(t, ports, p.TargetPort.StrVal)
	}
	require.Equal(t, map[string]int32{"dns": 5353, "dns-tcp": 5353, "metrics": 9153}, ports)
}

// TestImportTouchesOneKey: what is somebody else's is marked so, carries no
// label of ours, and our key is ours alone.
func TestImportTouchesOneKey(t *testing.T) {
	keys := map[string]bool{}
	for _, change := range []func(g *plan.Group){
		func(*plan.Group) {},
		func(g *plan.Group) { g.Path = "projects/shop/logical-clouds/us" },
		func(g *plan.Group) { g.DNS[0].Intent = "others" },
		func(g *plan.Group) { g.Installation = "other" },
	} {
		g := load(t, "import")
		change(&g)
		objects := render(t, g)
		require.Len(t, objects, 1, "no Namespace either")
		require.True(t, objects[0].Shared())
		found := find[corev1.ConfigMap](t, objects, "ConfigMap", importName)
		require.Empty(t, found.Labels)
		require.Len(t, found.Data, 1)
		maps.Copy(keys, map[string]bool{strings.Join(sortedKeys(found.Data), ""): true})
	}
	require.Len(t, keys, 4)
	for key := range keys {
		require.Regexp(t, `^signpost-[a-z0-9-]+-[0-9a-f]{8}\.server$`, key)
	}
	for _, o := range render(t, load(t, "node-resolver")) {
		require.False(t, o.Shared(), o.ID)
	}
	g := load(t, "import")
	g.DNS[0].Spec.PluginConfig = nil
	require.Empty(t, render(t, g), "no servers, no key")
}

func sortedKeys(m map[string]string) []string {
	var out []string
	for key := range m {
		out = append(out, key)
	}
	return out
}

// TestNodeResolverIsTold is what "signpost-dns node-resolver" has to know.
func TestNodeResolverIsTold(t *testing.T) {
	g := load(t, "node-resolver")
	g.DNS[0].Domain = "Corp.Internal."
	pod := find[appsv1.DaemonSet](t, render(t, g), "DaemonSet", ResolverName).Spec.Template.Spec
	require.Equal(t, []string{"signpost-dns", "node-resolver"}, pod.Containers[0].Command, "no shell")
	require.Contains(t, pod.Containers[0].Args, "--cluster-domain=corp.internal")
	require.Contains(t, pod.Containers[0].Args, "--nameserver=$(DNS_DEFAULT_SERVICE_HOST)")
	require.True(t, *pod.EnableServiceLinks, "or the address of dns-default would be unknown")
	require.Equal(t, []corev1.Toleration{{Operator: corev1.TolerationOpExists}}, pod.Tolerations, "every node, whatever its taints")
	g.DNS[0].Spec.NodeResolver.Services = nil
	require.Len(t, render(t, g), len(render(t, load(t, "nothing-said"))), "no services, no node resolver")
}
