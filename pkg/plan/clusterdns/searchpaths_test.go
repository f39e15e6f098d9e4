package clusterdns

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/signpost-dns/signpost/pkg/dns/corefile"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

func TestConfigureReadsHowSearchPathsAreWalked(t *testing.T) {
	configure := func(spec intent.DNSCRIntent) corefile.Config {
		c, err := Configure(plan.ClusterDNS{Spec: spec})
		require.NoError(t, err)
		return c
	}
	c := configure(intent.DNSCRIntent{Autopath: &intent.Autopath{}})
	require.Equal(t, &corefile.Expand{Option: 65001}, c.Expand)
	require.Nil(t, c.Static)
	c = configure(intent.DNSCRIntent{Autopath: &intent.Autopath{Mode: "EDNS0", Option: 65534, Searches: []string{"Corp.Example."}, Clients: []string{"192.0.2.0/24"}}})
	require.Equal(t, &corefile.Expand{Option: 65534, Suffixes: []string{"corp.example"}, Clients: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}, c.Expand)
	c = configure(intent.DNSCRIntent{Autopath: &intent.Autopath{Mode: "Static", Namespaces: []string{"shop"}, Searches: []string{"corp.example"}}})
	require.Equal(t, &corefile.Static{Namespaces: []string{"shop"}, Suffixes: []string{"corp.example"}, Directory: "/etc/coredns"}, c.Static)
	require.Nil(t, c.Expand)
	c = configure(intent.DNSCRIntent{Mode: intent.Import, Autopath: &intent.Autopath{}})
	require.Nil(t, c.Expand, "somebody else's CoreDNS")
}

// TestWhatCannotWorkWithAutopathIsAnErrorWithItsPointer: each once, though both
// the cluster's DNS and the nodes' caches read it.
func TestWhatCannotWorkWithAutopathIsAnErrorWithItsPointer(t *testing.T) {
	_, err := Configure(plan.ClusterDNS{Spec: intent.DNSCRIntent{
		LogLevel:     "loud",
		NodeLocalDNS: &intent.NodeLocalDNS{Enabled: true, LocalIP: "fe80::1%eth0"},
		Autopath:     &intent.Autopath{Mode: "dynamic", Option: 15, Searches: []string{"ok.example", "a.ap.k8s.io"}, Clients: []string{"10.0.0.1"}},
		PluginConfig: &intent.DNSPluginConfig{ForwardPlugins: []intent.ForwardPlugin{{Domain: "x.AP.k8s.io.", Nameservers: []string{"1.2.3.4"}}}},
	}})
	var failure *intent.Error
	require.ErrorAs(t, err, &failure)
	pointers := map[string]int{}
	for _, f := range failure.Fields {
		pointers[f.Pointer]++
	}
	require.Equal(t, map[string]int{
		"/spec/pluginConfig/forwardPlugins/0/domain": 1, "/spec/logLevel": 1, "/spec/autopath/mode": 1, "/spec/autopath/option": 1,
		"/spec/autopath/searches/1": 1, "/spec/autopath/clients/0": 1, "/spec/nodeLocalDNS/localIP": 1,
	}, pointers)
	_, err = Configure(plan.ClusterDNS{Spec: intent.DNSCRIntent{
		PluginConfig: &intent.DNSPluginConfig{ForwardPlugins: []intent.ForwardPlugin{{Domain: "ap.k8s.io", Nameservers: []string{"1.2.3.4"}}}},
	}})
	require.NoError(t, err, "without autopath it is a zone as any")
}

// TestTheHashCoversTheSearchFiles: a search path more rolls the pods, though the
// Corefile is the same.
func TestTheHashCoversTheSearchFiles(t *testing.T) {
	g := load(t, "autopath-static")
	parts := func() (corefile, hash string, mounted []corev1.KeyToPath) {
		objects := render(t, g)
		template := find[appsv1.DaemonSet](t, objects, "DaemonSet", ServiceName).Spec.Template
		return find[corev1.ConfigMap](t, objects, "ConfigMap", ServiceName).Data[corefileKey], template.Annotations[annotationCorefile], template.Spec.Volumes[0].ConfigMap.Items
	}
	text, hash, mounted := parts()
	require.Equal(t, []corev1.KeyToPath{
		{Key: "Corefile", Path: "Corefile"}, {Key: "search-batch.conf", Path: "search-batch.conf"}, {Key: "search-shop.conf", Path: "search-shop.conf"},
	}, mounted, "each key is a file in CoreDNS' directory")
	g.DNS[0].Spec.Autopath.Searches = append(g.DNS[0].Spec.Autopath.Searches, "lab.example")
	after, changed, _ := parts()
	require.Equal(t, text, after)
	require.NotEqual(t, hash, changed)
}

// TestANodesCacheIsReplacedByOneThatAnswersAlready is the first risk of seed
// "DNS autopath in PodSpec": two run while one takes over from the other. So
// they declare no port, on which they would exclude each other.
func TestANodesCacheIsReplacedByOneThatAnswersAlready(t *testing.T) {
	objects := render(t, load(t, "seed-autopath"))
	set := find[appsv1.DaemonSet](t, objects, "DaemonSet", CacheName)
	rolling := set.Spec.UpdateStrategy.RollingUpdate
	require.Equal(t, "1", rolling.MaxSurge.String())
	require.Equal(t, "0", rolling.MaxUnavailable.String())
	require.Positive(t, set.Spec.MinReadySeconds)
	pod := set.Spec.Template.Spec
	require.True(t, pod.HostNetwork)
	for _, container := range append(pod.InitContainers, pod.Containers...) {
		require.Empty(t, container.Ports)
		require.Equal(t, []corev1.Capability{"ALL"}, container.SecurityContext.Capabilities.Drop)
		require.Len(t, container.SecurityContext.Capabilities.Add, 1)
		require.Equal(t, load(t, "seed-autopath").DNS[0].ResolverImage, container.Image)
	}
	require.Equal(t, []corev1.Capability{"NET_ADMIN"}, pod.InitContainers[0].SecurityContext.Capabilities.Add)
	require.Equal(t, []string{"169.254.25.10"}, pod.InitContainers[0].Args)
	require.Equal(t, "9253", set.Spec.Template.Annotations[bundle.AnnotationMetrics])
	require.Equal(t, corev1.DNSDefault, pod.DNSPolicy, "the node's search paths are pods' too")
}

// TestOnlyACacheThatChangedIsReplaced: other nameservers of the cluster are not
// its business.
func TestOnlyACacheThatChangedIsReplaced(t *testing.T) {
	g := load(t, "seed-autopath")
	template := func() corev1.PodTemplateSpec {
		return find[appsv1.DaemonSet](t, render(t, g), "DaemonSet", CacheName).Spec.Template
	}
	before := template()
	g.DNS[0].Spec.PluginConfig = nil
	g.DNS[0].Spec.Autopath.Clients = nil
	require.Equal(t, before, template())
	g.DNS[0].Spec.Autopath.Option = 65101
	require.NotEqual(t, before, template())
}

// TestWhatDoesNotFitIntoAConfigMapIsAnErrorOfPlan: each server has the search
// paths and the clients once more.
func TestWhatDoesNotFitIntoAConfigMapIsAnErrorOfPlan(t *testing.T) {
	spec := intent.DNSCRIntent{PluginConfig: &intent.DNSPluginConfig{}, Autopath: &intent.Autopath{Searches: []string{strings.Repeat("abcdefg.", 30) + "example"}}}
	for n := range 500 {
		spec.PluginConfig.ForwardPlugins = append(spec.PluginConfig.ForwardPlugins, intent.ForwardPlugin{Domain: fmt.Sprintf("z%d.example", n), Nameservers: []string{"192.0.2.1"}})
	}
	_, err := Configure(plan.ClusterDNS{Spec: spec})
	require.NoError(t, err)
	for n := range 100 {
		spec.Autopath.Clients = append(spec.Autopath.Clients, fmt.Sprintf("2001:db8:0:%d::/64", n))
	}
	_, err = Configure(plan.ClusterDNS{Spec: spec})
	var failure *intent.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, "/spec", failure.Fields[0].Pointer)
	require.Contains(t, failure.Fields[0].Detail, "name fewer zones")
	spec.PluginConfig.ForwardPlugins = spec.PluginConfig.ForwardPlugins[:100]
	_, err = Configure(plan.ClusterDNS{Spec: spec})
	require.NoError(t, err)
}
