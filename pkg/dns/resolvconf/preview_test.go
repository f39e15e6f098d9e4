package resolvconf

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

func TestPreviewHasNoQueriesWithoutAName(t *testing.T) {
	body, err := json.Marshal(node(t).Preview(Pod{Namespace: "default", Policy: intent.DNSClusterFirst}, ""))
	require.NoError(t, err)
	require.JSONEq(t, `{"resolvConf":"nameserver 10.0.0.10\nsearch default.svc.cluster.local svc.cluster.local cluster.local foo.com\noptions ndots:5\n","warnings":[]}`, string(body))
}

func TestPreviewOfWhatIsNeverAskedHasEmptyLists(t *testing.T) {
	body, err := json.Marshal(node(t).Preview(Pod{Namespace: "default", Policy: intent.DNSDefault}, "192.0.2.1").Queries)
	require.NoError(t, err)
	require.JSONEq(t, `{"before":[],"after":[]}`, string(body))
}

// What it cost before does not depend on what is known of the cluster's DNS.
func TestBeforeIsClusterFirst(t *testing.T) {
	n := node(t)
	n.ClusterDNS = nil
	pod := Pod{Namespace: "shop", Policy: intent.DNSNone, Config: &intent.PodDNSConfig{Nameservers: []string{"192.0.2.1"}}}
	preview := n.Preview(pod, "www.example.com")
	require.Equal(t, "www.example.com.shop.svc.cluster.local. A", preview.Queries.Before[0])
	require.Len(t, preview.Queries.Before, 10)
	require.Equal(t, []string{"www.example.com. A", "www.example.com. AAAA"}, preview.Queries.After)

	pod.HostNetwork = true
	require.Equal(t, []string{"www.example.com. A", "www.example.com. AAAA", "www.example.com.foo.com. A", "www.example.com.foo.com. AAAA"},
		n.Preview(pod, "www.example.com").Queries.Before, "kubelet treats ClusterFirst as Default there")
}

func TestBeforeIsCutAsKubeletCuts(t *testing.T) {
	n := node(t)
	n.Host.Searches = many(40, 20)
	queries := n.Preview(Pod{Namespace: "shop", Policy: intent.DNSNone}, "web").Queries.Before
	require.Len(t, queries, 2*(32+1), "32 searches, and the name as it is")
}

// With autopath the search ends where all paths have been walked.
func TestAutopathAnswersWhateverThereIs(t *testing.T) {
	own := &intent.PodDNSConfig{Searches: []string{"a.example"}, Options: []intent.PodDNSOption{opt("ndots", "1")}}
	for _, c := range []struct {
		name   string
		config *intent.PodDNSConfig
		want   []string
	}{
		{"web", nil, []string{"web.search.shop.cluster.local.ap.k8s.io. A", "web.search.shop.cluster.local.ap.k8s.io. AAAA"}},
		{"web", own, []string{"web.search.shop.cluster.local.ap.k8s.io. A", "web.search.shop.cluster.local.ap.k8s.io. AAAA"}},
		{"www.example.com.", nil, []string{"www.example.com. A", "www.example.com. AAAA"}},
		{"a.example", own, []string{"a.example. A", "a.example. AAAA", "a.example.search.shop.cluster.local.ap.k8s.io. A", "a.example.search.shop.cluster.local.ap.k8s.io. AAAA"}},
		{"web", &intent.PodDNSConfig{Options: []intent.PodDNSOption{opt("no-aaaa")}}, []string{"web.search.shop.cluster.local.ap.k8s.io. A"}},
	} {
		preview := node(t).Preview(Pod{Namespace: "shop", Policy: intent.DNSAutopath, Config: c.config}, c.name)
		require.Equal(t, c.want, preview.Queries.After, c.name)
		require.Empty(t, preview.Warnings)
	}
}

func TestAPodWithoutANameserverIsWarnedOf(t *testing.T) {
	require.Equal(t, []string{"the pod has no nameserver: its resolver asks 127.0.0.1"}, Node{}.Preview(Pod{Policy: intent.DNSDefault}, "").Warnings)
}

// TestThePreviewWarnsOfWhatSomeResolversDrop: of all searches that the pod gets, those of
// the cluster and of the node among them.
func TestThePreviewWarnsOfWhatSomeResolversDrop(t *testing.T) {
	pod := Pod{Namespace: "shop", Policy: intent.DNSClusterFirst, Config: &intent.PodDNSConfig{Searches: many(2, 10)}}
	require.Empty(t, node(t).Preview(pod, "").Warnings)
	pod.Config.Searches = many(3, 10)
	require.Equal(t, []string{"the pod's searches are 7: glibc before 2.26 takes the first 6 only, and musl ignores all of them above 255 characters; give fewer"},
		node(t).Preview(pod, "").Warnings)
}
