package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/kubelet"
	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/tools"
)

// coreDNS starts a real CoreDNS with this Corefile.
func (s *story) coreDNS(name, corefile string) {
	s.Helper()
	program, err := tools.Path(s.Context(), tools.CoreDNS)
	s.must(err)
	dir := s.TempDir()
	file := filepath.Join(dir, "Corefile")
	s.must(os.WriteFile(file, []byte(corefile), 0o600))
	p := &process.Process{Name: name, Path: program, Args: []string{"-conf", file}, Log: filepath.Join(dir, "coredns.log")}
	s.must(p.Launch())
	s.Cleanup(p.Kill)
}

// port is free for this story.
func (s *story) port() int {
	s.Helper()
	port, err := s.world.Ports.Next(s.Context())
	s.must(err)
	return port
}

// dnsPod plays the DaemonSet controller and a kubelet: it makes the one pod of
// the DaemonSet on the hub, ready and with this address.
func (s *story) dnsPod(ip string) {
	s.Helper()
	client := s.world.Cluster(fixture.Hub).Client
	var set *appsv1.DaemonSet
	s.eventually("the DaemonSet to be there", func() (err error) {
		set, err = client.AppsV1().DaemonSets(s.project+"-dns").Get(s.Context(), "dns-default", metav1.GetOptions{})
		return err
	})
	template := set.Spec.Template
	template.Spec.NodeName = "h1"
	pod, err := client.CoreV1().Pods(set.Namespace).Create(s.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "dns-default-1", Labels: template.Labels}, Spec: template.Spec,
	}, metav1.CreateOptions{})
	s.must(err)
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
	}
	_, err = client.CoreV1().Pods(set.Namespace).UpdateStatus(s.Context(), pod, metav1.UpdateOptions{})
	s.must(err)
	set.Status = appsv1.DaemonSetStatus{
		ObservedGeneration: set.Generation, DesiredNumberScheduled: 1, CurrentNumberScheduled: 1,
		UpdatedNumberScheduled: 1, NumberReady: 1, NumberAvailable: 1,
	}
	_, err = client.AppsV1().DaemonSets(set.Namespace).UpdateStatus(s.Context(), set, metav1.UpdateOptions{})
	s.must(err)
}

// upstream waits until the status tells of an upstream whether it is healthy.
func (s *story) upstream(address string, healthy bool) {
	s.Helper()
	s.eventually(fmt.Sprintf("upstream %s to be healthy: %t", address, healthy), func() error {
		var now struct {
			DNS []struct {
				Message   string
				Upstreams []struct {
					Address string
					Healthy bool
					Since   time.Time
					Message string
				}
			}
		}
		if err := s.get(cloud+"/status", &now); err != nil {
			return err
		}
		for _, d := range now.DNS {
			for _, u := range d.Upstreams {
				if u.Address == address && u.Healthy == healthy && !u.Since.IsZero() && (u.Message == "") == healthy &&
					strings.Contains(d.Message, "upstream "+address+" fails") != healthy {
					return nil
				}
			}
		}
		return fmt.Errorf("the status is %+v", now.DNS)
	})
}

// TestAnUpstreamThatFailsItsHealthChecksIsShown: a real CoreDNS forwards to a
// nameserver that is there and to one that is not, until it comes; the status
// tells by CoreDNS' metrics, read through the API server.
func TestAnUpstreamThatFailsItsHealthChecksIsShown(t *testing.T) {
	t.Parallel()
	s := begin(t, sharedWorld(t), "upstreams")
	s.node(fixture.Hub, "h1", nil)
	s.post("/v2/projects/{p}/logical-clouds", `{"metadata": {"name": "eu"}, "spec": {"namespace": "{p}"}}`)
	s.post(cloud+"/cluster-references", fmt.Sprintf(`{"metadata": {"name": "hub"}, "spec": {"clusterProvider": "edge", "cluster": %q}}`, fixture.Hub))
	s.post(cloud+"/dns-cr-intents", forwarding("foo.com", ""))
	s.instantiate(cloud)

	ip := fmt.Sprintf("10.251.%d.%d", 1+rand.IntN(250), 1+rand.IntN(250))
	ports := []int{s.port(), s.port(), s.port()}
	slices.Sort(ports)
	server, there, missing := ports[0], ports[1], ports[2]
	const answering = ".:%d {\n bind 127.0.0.1\n whoami\n}\n"
	s.coreDNS("upstream", fmt.Sprintf(answering, there))
	s.coreDNS("dns", fmt.Sprintf(".:%d {\n bind 127.0.0.1\n forward . 127.0.0.1:%d 127.0.0.1:%d {\n policy sequential\n }\n prometheus %s:9153\n}\n",
		server, missing, there, kubelet.HostIP(ip)))
	s.dnsPod(ip)
	s.eventually("a query to be forwarded past the one that is missing", func() error {
		_, err := dns.Query(t.Context(), fmt.Sprintf("127.0.0.1:%d", server), "www.foo.com", "A")
		return err
	})
	began := time.Now()
	s.upstream(fmt.Sprintf("127.0.0.1:%d", missing), false)
	s.upstream(fmt.Sprintf("127.0.0.1:%d", there), true)
	t.Logf("it was shown within %s", time.Since(began))

	s.coreDNS("late", fmt.Sprintf(answering, missing))
	s.upstream(fmt.Sprintf("127.0.0.1:%d", missing), true)
	s.terminate(cloud)
	s.becomes(cloud, "Terminated")
}
