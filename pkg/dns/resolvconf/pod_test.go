package resolvconf

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

func TestWhatAPodGets(t *testing.T) {
	clusterFirst := `nameserver 10.0.0.10
search shop.svc.cluster.local svc.cluster.local cluster.local foo.com
options ndots:5
`
	for _, c := range []struct {
		policy  intent.DNSPolicy
		onHost  bool
		want    string
		warning string
	}{
		{policy: intent.DNSDefault, want: host},
		{policy: intent.DNSDefault, onHost: true, want: host},
		{policy: intent.DNSClusterFirst, want: clusterFirst},
		{policy: intent.DNSClusterFirst, onHost: true, want: host, warning: "kubelet treats ClusterFirst as Default there; ClusterFirstWithHostNet has it ask the cluster's DNS"},
		{policy: intent.DNSClusterFirstWithHostNet, want: clusterFirst},
		{policy: intent.DNSClusterFirstWithHostNet, onHost: true, want: clusterFirst},
		{policy: intent.DNSNone, want: ""},
		{policy: intent.DNSAutopath, want: "nameserver 169.254.20.10\nsearch search.shop.cluster.local.ap.k8s.io\noptions ndots:5\n"},
	} {
		settings, warnings := node(t).Settings(Pod{Namespace: "shop", HostNetwork: c.onHost, Policy: c.policy})
		require.Equal(t, c.want, Text(settings), "%s %v", c.policy, c.onHost)
		require.Equal(t, c.warning != "", len(warnings) > 0, "%q", warnings)
		for _, warning := range warnings {
			require.Contains(t, warning, c.warning)
		}
	}
}

func TestTheClustersDNSIsNeededByThePoliciesThatAskIt(t *testing.T) {
	for policy, want := range map[intent.DNSPolicy][2]bool{ // with a network of its own, and on the node's
		intent.DNSDefault:                 {false, false},
		intent.DNSClusterFirst:            {true, false},
		intent.DNSClusterFirstWithHostNet: {true, true},
		intent.DNSNone:                    {false, false},
		intent.DNSAutopath:                {false, false},
	} {
		require.Equal(t, want[0], Pod{Policy: policy}.NeedsClusterDNS(), policy)
		require.Equal(t, want[1], Pod{Policy: policy, HostNetwork: true}.NeedsClusterDNS(), policy)
	}
}

func TestWithoutTheClustersDNSKubeletFallsBackToDefault(t *testing.T) {
	n := node(t)
	n.ClusterDNS = nil
	settings, warnings := n.Settings(Pod{Namespace: "shop", Policy: intent.DNSClusterFirst})
	require.Equal(t, host, Text(settings))
	require.Equal(t, []string{"kubelet does not know the cluster's DNS: it treats ClusterFirst as Default"}, warnings)
}

func TestWhatIsLeftOutIsNamed(t *testing.T) {
	long := many(1, 254)[0]
	config := &intent.PodDNSConfig{Nameservers: []string{"192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"}, Searches: slices.Concat([]string{long}, many(10, 250), many(22, 11))}
	settings, warnings := Node{}.Settings(Pod{Policy: intent.DNSNone, Config: config})
	require.Equal(t, config.Nameservers[:3], settings.Nameservers)
	require.Equal(t, many(8, 250), settings.Searches)
	require.Len(t, warnings, 4)
	require.Equal(t, "kubelet leaves out nameserver 192.0.2.4: there are at most 3", warnings[0])
	require.Equal(t, "kubelet leaves out search d21.xxxxxxx: there are at most 32", warnings[1])
	require.Equal(t, "kubelet leaves out search "+long+": one has at most 253 characters", warnings[2])
	require.Regexp(t, `^kubelet leaves out search d8\.x+ d9\.x+ d0\.x+ .* d20\.x+: together they have at most 2048 characters$`, warnings[3])
}
