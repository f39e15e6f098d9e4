package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
)

// cloud is the logical cloud of a story about the DNS in its clusters.
const cloud = "/v2/projects/{p}/logical-clouds/eu"

// resolvers is the path of its DNS CR intent.
const resolvers = cloud + "/dns-cr-intents/resolvers"

// forwarding is the seed's DNS object, with further fields of its spec.
func forwarding(domain, more string) string {
	return fmt.Sprintf(`{"apiVersion": "operator.openshift.io/v1", "kind": "DNS", "metadata": {"name": "resolvers"}, "spec": {"namespace": "{p}-dns",
		"pluginConfig": {"forwardPlugins": [{"domain": %q, "nameservers": ["192.0.2.1", "192.0.2.2:5353"], "policy": "RoundRobin"}]}%s}}`, domain, more)
}

// resolving posts a logical cloud of two edges, and its DNS CR intent.
func (s *story) resolving(intent string) {
	s.Helper()
	s.post("/v2/projects/{p}/logical-clouds", `{"metadata": {"name": "eu"}, "spec": {"namespace": "{p}"}}`)
	for _, name := range []string{fixture.Paris, fixture.Berlin} {
		s.post(cloud+"/cluster-references", fmt.Sprintf(`{"metadata": {"name": %q}, "spec": {"clusterProvider": "edge", "cluster": %q}}`, name, name))
	}
	s.post(cloud+"/dns-cr-intents", intent)
}

// clusterDNS is what a status tells of the DNS of one cluster.
type clusterDNS struct {
	Cluster, Address, Message string
	Placement                 struct {
		Current         bool
		Nodes, Suitable int
		Message         string
	}
}

// tells waits until the status of the DNS on a cluster is as told.
func (s *story) tells(cluster, what string, check func(clusterDNS) bool) {
	s.Helper()
	s.eventually("the DNS on "+cluster+" to say that "+what, func() error {
		var now struct{ DNS []clusterDNS }
		if err := s.get(cloud+"/status", &now); err != nil {
			return err
		}
		at := slices.IndexFunc(now.DNS, func(d clusterDNS) bool { return d.Cluster == cluster })
		if at < 0 || !check(now.DNS[at]) {
			return fmt.Errorf("it says %+v", now.DNS)
		}
		return nil
	})
}

// selector is the nodeSelector of the DNS pods on a cluster; an error when there
// are none.
func (s *story) selector(cluster string) (map[string]string, error) {
	set, err := s.world.Cluster(cluster).Client.AppsV1().DaemonSets(s.project+"-dns").Get(s.Context(), "dns-default", metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return set.Spec.Template.Spec.NodeSelector, nil
}

// corefile waits until the Corefile on a cluster has a text in it.
func (s *story) corefile(cluster, text string) {
	s.Helper()
	s.eventually("the Corefile on "+cluster+" to have "+text, func() error {
		found, err := s.world.Cluster(cluster).Client.CoreV1().ConfigMaps(s.project+"-dns").Get(s.Context(), "dns-default", metav1.GetOptions{})
		if err == nil && !strings.Contains(found.Data["Corefile"], text) {
			err = fmt.Errorf("it is %s", found.Data["Corefile"])
		}
		return err
	})
}

// node has a node be there, of Linux and with further labels.
func (s *story) node(cluster, name string, labels map[string]string, taints ...corev1.Taint) {
	s.Helper()
	all := map[string]string{"kubernetes.io/os": "linux"}
	for key, value := range labels {
		all[key] = value
	}
	s.must(s.world.Cluster(cluster).SetNode(s.Context(), name, all, taints...))
}

// TestDNSPodsAreWhereTheirPlacementLeavesANode is seed 001 on real API servers
// and Node objects: a placement is accepted, refused, loses its last node to a
// taint, and is allowed again; a first one that is refused creates nothing. It
// counts all nodes of its clusters, so it does not run beside stories that make
// nodes, too.
func TestDNSPodsAreWhereTheirPlacementLeavesANode(t *testing.T) {
	s := begin(t, sharedWorld(t), "placed")
	dnsOnly := corev1.Taint{Key: "dns-only", Effect: corev1.TaintEffectNoSchedule}
	s.node(fixture.Paris, "p1", map[string]string{"disktype": "ssd"})
	s.node(fixture.Paris, "p2", nil)
	s.node(fixture.Berlin, "b1", nil, dnsOnly)
	s.resolving(forwarding("foo.com", ""))
	s.instantiate(cloud)

	s.corefile(fixture.Paris, "policy round_robin")
	s.tells(fixture.Paris, "both nodes suit, and where it answers", func(d clusterDNS) bool {
		return d.Placement.Current && d.Placement.Suitable == 2 && strings.HasPrefix(d.Address, "10.")
	})
	s.tells(fixture.Berlin, "a first placement is refused", func(d clusterDNS) bool {
		return d.Message == "the placement leaves no node, so no DNS is deployed: 0 of 1 nodes are suitable: taint dns-only:NoSchedule is not tolerated on 1"
	})
	s.becomes(cloud, "Instantiated")
	_, err := s.world.Cluster(fixture.Berlin).Client.CoreV1().Namespaces().Get(t.Context(), s.project+"-dns", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("a refused first placement has created a namespace: %v", err)
	}

	s.put(resolvers, forwarding("foo.com", `, "nodePlacement": {"tolerations": [{"key": "dns-only", "operator": "Exists", "effect": "NoSchedule"}]}`))
	s.update(cloud)
	s.corefile(fixture.Berlin, "foo.com:5353")
	s.placedWith(fixture.Paris, map[string]string{"kubernetes.io/os": "linux"})

	s.put(resolvers, forwarding("bar.com", `, "nodePlacement": {"nodeSelector": {"disktype": "ssd"}}`))
	s.update(cloud)
	s.corefile(fixture.Paris, "bar.com:5353")
	s.placedWith(fixture.Paris, map[string]string{"disktype": "ssd"})
	s.corefile(fixture.Berlin, "bar.com:5353")
	s.tells(fixture.Berlin, "the placement before stays", func(d clusterDNS) bool {
		return !d.Placement.Current && strings.Contains(d.Message, "the previous one stays: 0 of 1 nodes are suitable: label disktype=ssd is missing on 1")
	})
	s.placedWith(fixture.Berlin, map[string]string{"kubernetes.io/os": "linux"})

	s.node(fixture.Paris, "p1", map[string]string{"disktype": "ssd"}, dnsOnly)
	s.tells(fixture.Paris, "the last suitable node is gone", func(d clusterDNS) bool {
		return d.Placement.Suitable == 0 && strings.HasPrefix(d.Message, "the last suitable node is gone: 0 of 2 nodes are suitable")
	})
	s.placedWith(fixture.Paris, map[string]string{"disktype": "ssd"})
	s.node(fixture.Berlin, "b1", map[string]string{"disktype": "ssd"})
	s.placedWith(fixture.Berlin, map[string]string{"disktype": "ssd"})
	s.node(fixture.Paris, "p1", map[string]string{"disktype": "ssd"})
	s.tells(fixture.Paris, "it is allowed again", func(d clusterDNS) bool { return d.Placement.Suitable == 1 && d.Placement.Message == "" })

	s.terminate(cloud)
	s.becomes(cloud, "Terminated")
	for _, cluster := range []string{fixture.Paris, fixture.Berlin} {
		s.eventually("nothing of the DNS to be left on "+cluster, func() error {
			_, err := s.world.Cluster(cluster).Client.CoreV1().Namespaces().Get(t.Context(), s.project+"-dns", metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return fmt.Errorf("there is still its namespace: %w", err)
		})
	}
}

// placedWith waits until the DNS pods on a cluster have a nodeSelector.
func (s *story) placedWith(cluster string, want map[string]string) {
	s.Helper()
	s.eventually(fmt.Sprintf("the DNS pods on %s to be placed by %v", cluster, want), func() error {
		got, err := s.selector(cluster)
		if err == nil && fmt.Sprint(got) != fmt.Sprint(want) {
			err = fmt.Errorf("it is %v", got)
		}
		return err
	})
}

// TestServersAreImportedByACoreDNSThatIsThere: in mode import a key is put into
// somebody else's ConfigMap, and taken out again; strangers' keys are untouched.
func TestServersAreImportedByACoreDNSThatIsThere(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "imported")
	for _, cluster := range []string{fixture.Paris, fixture.Berlin} {
		s.must(s.world.Cluster(cluster).Namespace(t.Context(), "imported-dns"))
		_, err := s.world.Cluster(cluster).Client.CoreV1().ConfigMaps("imported-dns").Create(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "coredns-custom"}, Data: map[string]string{"theirs.server": "example.org:53 {\n}\n"},
		}, metav1.CreateOptions{})
		s.must(err)
	}
	holds := func(ours string) {
		t.Helper()
		for _, cluster := range []string{fixture.Paris, fixture.Berlin} {
			s.eventually("the ConfigMap on "+cluster+" to hold "+ours, func() error {
				found, err := s.world.Cluster(cluster).Client.CoreV1().ConfigMaps("imported-dns").Get(t.Context(), "coredns-custom", metav1.GetOptions{})
				if err != nil {
					return err
				}
				var others []string
				for key, text := range found.Data {
					if key != "theirs.server" {
						others = append(others, text)
					}
				}
				if found.Data["theirs.server"] != "example.org:53 {\n}\n" || len(found.Labels) > 0 || len(others) > 1 ||
					(ours == "") != (len(others) == 0) || !strings.Contains(strings.Join(others, ""), ours) {
					return fmt.Errorf("it is %+v", found)
				}
				return nil
			})
		}
	}
	s.call(http.MethodPut, "/v2/projects/{p}", `{"metadata": {"name": "{p}"}, "spec": {"namespaces": ["{p}-dns"]}}`, http.StatusOK)
	s.resolving(forwarding("foo.com", `, "mode": "import"`))
	s.instantiate(cloud)
	holds("foo.com:")
	s.becomes(cloud, "Instantiated")

	s.put(resolvers, forwarding("bar.com", `, "mode": "import"`))
	s.update(cloud)
	holds("bar.com:")
	s.call(http.MethodPost, cloud+"/rollback", "", http.StatusAccepted)
	holds("foo.com:")

	s.terminate(cloud)
	s.becomes(cloud, "Terminated")
	holds("")
}
