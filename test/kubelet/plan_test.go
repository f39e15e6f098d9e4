package kubelet

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/signpost-dns/signpost/pkg/dns/autopath"
	"github.com/signpost-dns/signpost/pkg/dns/resolvconf"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/poddns"
)

// What is previewed of an intent is what kubelet writes for the pod that a plan
// makes of it, autopath included.
func TestAPlannedPodGetsWhatItsPreviewSays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "resolv.conf")
	rapid.Check(t, func(t *rapid.T) {
		c := cases().Draw(t, "case")
		if !c.pod.HostNetwork && rapid.Bool().Draw(t, "autopath") {
			c.pod.Policy = intent.DNSAutopath
		}
		require.NoError(t, os.WriteFile(file, []byte(c.host), 0o600))
		host, err := resolvconf.Parse(c.host)
		if err != nil {
			return
		}
		if c.pod.Config != nil && reflect.ValueOf(resolvconf.Merge(*c.pod.Config, intent.PodDNSConfig{})).IsZero() {
			c.pod.Config = nil // previews and plans leave it out
		}
		planned, refused := c.planned(t)
		if refused {
			return // beyond the limits of Kubernetes
		}
		node := resolvconf.Node{Host: host, ClusterDomain: c.domain, ClusterDNS: c.clusterDNS, Autopath: autopath.LocalIP}
		preview := node.Preview(c.pod, "")
		c.pod.Policy, c.pod.Config = intent.DNSPolicy(planned.DNSPolicy), nil
		if planned.DNSConfig != nil {
			c.pod.Config = new(configOf(*planned.DNSConfig))
		}
		want, _, err := c.kubelets(file)
		require.NoError(t, err)
		require.Equal(t, want, sorted(preview.ResolvConf))
	})
}

// planned is the spec of the pod that a plan makes.
func (e example) planned(t *rapid.T) (spec v1.PodSpec, refused bool) {
	manifest := map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "web"}, "spec": map[string]any{"hostNetwork": e.pod.HostNetwork}}
	planned, findings := poddns.Render(manifest, plan.PodDNS{
		Spec:     intent.PodDNSIntent{App: "web", DNSPolicy: e.pod.Policy, DNSConfig: e.pod.Config},
		Autopath: []plan.PodAutopath{{Cluster: "edge+berlin", Nameserver: autopath.LocalIP, Search: autopath.SearchDomain(e.pod.Namespace, e.domain)}},
	}, "edge+berlin")
	for _, finding := range findings {
		refused = refused || finding.Refused
	}
	raw, err := json.Marshal(planned["spec"])
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &spec))
	return spec, refused
}

func configOf(c v1.PodDNSConfig) intent.PodDNSConfig {
	out := intent.PodDNSConfig{Nameservers: c.Nameservers, Searches: c.Searches}
	for _, option := range c.Options {
		out.Options = append(out.Options, intent.PodDNSOption(option))
	}
	return out
}
