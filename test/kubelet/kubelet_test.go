// Package kubelet compares what Signpost says that kubelet writes into a pod's
// resolv.conf, and what an API server takes, with what Kubernetes' own code says.
package kubelet

import (
	"context"
	"flag"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/network/dns"
	"pgregory.net/rapid"

	"github.com/signpost-dns/signpost/internal/sample"
	"github.com/signpost-dns/signpost/pkg/dns/resolvconf"
)

// TestMain has thousands of pods tried, unless the command line says how many.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", strconv.Itoa(sample.Cases(1000, 1000, 20_000))); err != nil {
		panic(err)
	}
	klog.SetLogger(klog.Logger{}) // kubelet tells what it cuts; its events do, too
	os.Exit(m.Run())
}

func TestAPodGetsWhatKubeletGivesIt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "resolv.conf")
	rapid.Check(t, func(t *rapid.T) {
		c := cases().Draw(t, "case")
		require.NoError(t, os.WriteFile(file, []byte(c.host), 0o600))
		want, events, refused := c.kubelets(file)
		host, err := resolvconf.Parse(c.host)
		require.Equal(t, refused != nil, err != nil, "%v, %v", refused, err)
		if err != nil {
			return
		}
		node := resolvconf.Node{Host: host, ClusterDomain: c.domain, ClusterDNS: c.clusterDNS}
		got, warnings := node.Settings(c.pod)
		require.Equal(t, want, sorted(resolvconf.Text(got)))
		for word, kind := range map[string]string{"leaves out nameserver": "Nameserver limits", "leaves out search": "Search Line limits", "does not know the cluster's DNS": "MissingClusterDNS"} {
			require.Equal(t, contains(events, kind), contains(warnings, word), "%s: kubelet's events %q, warnings %q", kind, events, warnings)
		}
	})
}

// example is a pod and the node that it is on.
type example struct {
	host       string // the node's resolv.conf
	domain     string
	clusterDNS []string
	pod        resolvconf.Pod
}

// kubelets is what kubelet gives to the pod, as a resolv.conf whose options are
// sorted: kubelet has them in no order; and the events that it sends.
func (e example) kubelets(file string) (text string, events []string, err error) {
	recorder := record.NewFakeRecorder(10) // events; no pod has so many
	var clusterDNS []net.IP
	for _, address := range e.clusterDNS {
		clusterDNS = append(clusterDNS, net.ParseIP(address))
	}
	configurer := dns.NewConfigurer(recorder, &v1.ObjectReference{Kind: "Node"}, nil, clusterDNS, e.domain, file)
	given, err := configurer.GetPodDNS(context.Background(), e.kubernetesPod())
	if err != nil {
		return "", nil, err
	}
	close(recorder.Events)
	for event := range recorder.Events {
		events = append(events, event)
	}
	var b strings.Builder
	for _, server := range given.Servers {
		b.WriteString("nameserver " + server + "\n")
	}
	if len(given.Searches) > 0 {
		b.WriteString("search " + strings.Join(given.Searches, " ") + "\n")
	}
	if len(given.Options) > 0 {
		b.WriteString("options " + strings.Join(given.Options, " ") + "\n")
	}
	return sorted(b.String()), events, nil
}

// kubernetesPod is the pod as Kubernetes has it.
func (e example) kubernetesPod() *v1.Pod {
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: e.pod.Namespace},
		Spec:       v1.PodSpec{DNSPolicy: v1.DNSPolicy(e.pod.Policy), HostNetwork: e.pod.HostNetwork},
	}
	if c := e.pod.Config; c != nil {
		pod.Spec.DNSConfig = &v1.PodDNSConfig{Nameservers: c.Nameservers, Searches: c.Searches}
		for _, option := range c.Options {
			pod.Spec.DNSConfig.Options = append(pod.Spec.DNSConfig.Options, v1.PodDNSConfigOption(option))
		}
	}
	return pod
}

// sorted is a resolv.conf with its options in order.
func sorted(text string) string {
	before, options, found := strings.Cut(text, "options ")
	if !found {
		return text
	}
	fields := strings.Fields(options)
	slices.Sort(fields)
	return before + "options " + strings.Join(fields, " ") + "\n"
}

func contains(texts []string, part string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, part) })
}
