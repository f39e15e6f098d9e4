package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/clusterdns"
)

const (
	asProgram = "SIGNPOST_DNS_TEST_PROGRAM" // makes this test binary the program
	patience  = 30 * time.Second
	tick      = 20 * time.Millisecond
)

func TestMain(m *testing.M) {
	lints := len(os.Args) == 2 && os.Args[1] == "lint" // in an empty environment
	if os.Getenv(asProgram) != "" || lints {
		mountItself(os.Getenv(mounted))
		main()
		return
	}
	if os.Getenv(asPod) != "" {
		exit(askLocalIP())
	}
	os.Exit(m.Run())
}

// program is a command line of signpost-dns with nothing in its environment.
func program(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = []string{asProgram + "=1"}
	return cmd
}

func TestWithoutACommandItIsCoreDNS(t *testing.T) {
	output, err := program(t.Context(), "-version").CombinedOutput()
	require.NoError(t, err)
	require.Contains(t, string(output), "CoreDNS-1.15")
	output, err = program(t.Context(), "-plugins").CombinedOutput()
	require.NoError(t, err)
	for _, plugin := range []string{"kubernetes", "forward", "autopath", "etcd", "route53", "searchpath", "searchexpand"} {
		require.Contains(t, strings.Fields(string(output)), plugin)
	}
}

func TestLintAnswersFindings(t *testing.T) {
	cmd := program(t.Context(), "lint")
	cmd.Stdin = strings.NewReader(".:53 {\n cache 0\n}\n")
	output, err := cmd.Output()
	require.NoError(t, err)
	require.JSONEq(t, `{"findings":[{"line":2,"severity":"error","message":"plugin/cache: cache TTL can not be zero or negative: 0"}]}`, string(output))
	cmd = program(t.Context(), "lint")
	cmd.Stdin = strings.NewReader(".:53 {\n forward . 1.1.1.1\n}\n")
	output, err = cmd.Output()
	require.NoError(t, err)
	require.JSONEq(t, `{"findings":[]}`, string(output))
}

func TestNodeResolverSaysWhatIsWrong(t *testing.T) {
	for _, one := range []struct {
		reason string
		args   []string
		want   string
	}{
		{"no nameserver", []string{"--services=a/b"}, "--nameserver"},
		{"a nameserver by name", []string{"--services=a/b", "--nameserver=dns.example"}, "write IP or IP:port"},
		{"no services", []string{"--nameserver=10.0.0.10"}, "--services: name one at least"},
		{"a service without namespace", []string{"--nameserver=[fd00::a]", "--services=b"}, "write namespace/name"},
		{"an owner of two words", []string{"--nameserver=[fd00::a]:53", "--services=a/b", "--owner=a b"}, "--owner"},
		{"no interval", []string{"--nameserver=[fd00::a]:53", "--services=a/b", "--interval=0s"}, "--interval"},
		{"an unknown flag", []string{"--server=10.0.0.10"}, "unknown flag"},
	} {
		output, err := program(t.Context(), append([]string{"node-resolver"}, one.args...)...).CombinedOutput()
		require.Error(t, err, one.reason)
		require.Contains(t, string(output), one.want, one.reason)
	}
}

// zone is what the names' server says of all others: that they do not exist.
const zone = "@ 60 IN SOA ns.dns.cluster.local. hostmaster.cluster.local. 1 60 60 60 60\n@ 60 IN NS ns.dns.cluster.local.\n"

// dns is a CoreDNS that serves names from a file.
type dns struct {
	t       *testing.T
	address string
	names   string
	cmd     *exec.Cmd
}

func startDNS(t *testing.T) *dns {
	t.Helper()
	names, others := filepath.Join(t.TempDir(), "names"), filepath.Join(t.TempDir(), "zone")
	require.NoError(t, os.WriteFile(names, nil, 0o600))
	require.NoError(t, os.WriteFile(others, []byte(zone), 0o600))
	d := startCoreDNS(t, fmt.Sprintf("hosts %s {\n reload 50ms\n fallthrough\n }\n file %s", names, others))
	d.names = names
	return d
}

// startCoreDNS starts a CoreDNS with these plugins for the cluster's domain. A
// port that was free for UDP may be taken for TCP, so it tries several.
func startCoreDNS(t *testing.T, plugins string) *dns {
	t.Helper()
	corefile := filepath.Join(t.TempDir(), "Corefile")
	for range 20 {
		listener, err := net.ListenPacket("udp", "127.0.0.1:0")
		require.NoError(t, err)
		d := &dns{t: t, address: listener.LocalAddr().String()}
		require.NoError(t, listener.Close())
		_, port, err := net.SplitHostPort(d.address)
		require.NoError(t, err)
		text := fmt.Sprintf("cluster.local:%s {\n bind 127.0.0.1\n %s\n}\n", port, plugins)
		require.NoError(t, os.WriteFile(corefile, []byte(text), 0o600))
		if d.starts(corefile) {
			t.Cleanup(d.stop)
			return d
		}
	}
	require.Fail(t, "CoreDNS does not start")
	return nil
}

// starts waits until CoreDNS serves, or has ended.
func (d *dns) starts(corefile string) bool {
	d.t.Helper()
	d.cmd = program(d.t.Context(), "-conf", corefile)
	output, err := d.cmd.StdoutPipe()
	require.NoError(d.t, err)
	require.NoError(d.t, d.cmd.Start())
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "CoreDNS-") {
			return true
		}
	}
	_ = d.cmd.Wait()
	return false
}

// serves sets the names, in the form of a hosts file.
func (d *dns) serves(names string) {
	d.t.Helper()
	require.NoError(d.t, os.WriteFile(d.names, []byte(names), 0o600))
}

func (d *dns) stop() {
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()
}

// The node resolver, a real DNS server and a real file: entries come, change
// and go with the service, and stay when nobody answers.
func TestNodeResolverKeepsTheHostsFile(t *testing.T) {
	const before = "127.0.0.1 localhost\n"
	const names = " registry.images.svc registry.images.svc.cluster.local # signpost-node-resolver\n"
	server := startDNS(t)
	server.serves("10.0.0.5 registry.images.svc.cluster.local\nfd00::5 registry.images.svc.cluster.local\n")
	hosts := filepath.Join(t.TempDir(), "hosts")
	require.NoError(t, os.WriteFile(hosts, []byte(before), 0o644))
	resolver := program(t.Context(), "node-resolver", "--hosts-file="+hosts, "--services=images/registry",
		"--nameserver="+server.address, "--interval=50ms")
	log := filepath.Join(t.TempDir(), "log")
	words, err := os.Create(log)
	require.NoError(t, err)
	defer words.Close()
	resolver.Stderr = words
	require.NoError(t, resolver.Start())

	requireHosts(t, hosts, before+"10.0.0.5"+names+"fd00::5"+names)
	server.serves("10.0.0.6 registry.images.svc.cluster.local\n")
	requireHosts(t, hosts, before+"10.0.0.6"+names)

	server.stop()
	require.Eventually(t, func() bool { return strings.Count(read(t, log), "its entries stay") > 4 }, patience, tick, "it asks for both families, and goes on")
	require.NoError(t, resolver.Process.Signal(os.Interrupt))
	require.NoError(t, resolver.Wait())
	require.Equal(t, before+"10.0.0.6"+names, read(t, hosts), "unknown is not empty")

	again := startDNS(t)
	resolver = program(t.Context(), "node-resolver", "--hosts-file="+hosts, "--services=images/registry",
		"--nameserver="+again.address, "--interval=50ms")
	require.NoError(t, resolver.Start())
	requireHosts(t, hosts, before)
	require.NoError(t, resolver.Process.Kill())
	require.Error(t, resolver.Wait())
}

// What a DaemonSet of the node resolver runs is a command line of the program,
// once Kubernetes has put in the address of the DNS service.
func TestNodeResolverTakesTheArgumentsOfItsDaemonSet(t *testing.T) {
	server := startDNS(t)
	server.serves("10.0.0.5 registry.images.svc.cluster.local\n")
	hosts := filepath.Join(t.TempDir(), "hosts")
	require.NoError(t, os.WriteFile(hosts, nil, 0o644))
	container := nodeResolver(t, "images/registry", "images/mirror")
	require.Equal(t, "signpost-dns", container.Command[0])
	args := slices.Concat(container.Command[1:], container.Args, []string{"--interval=50ms"})
	for i, arg := range args {
		arg = strings.ReplaceAll(arg, "$(DNS_DEFAULT_SERVICE_HOST)", server.address)
		args[i] = strings.ReplaceAll(arg, "/host/etc/hosts", hosts)
	}
	require.NotContains(t, strings.Join(args, " "), "$(")
	resolver := program(t.Context(), args...)
	require.NoError(t, resolver.Start())
	requireHosts(t, hosts, "10.0.0.5 registry.images.svc registry.images.svc.cluster.local # signpost-node-resolver signpost-dns\n")
	require.NoError(t, resolver.Process.Kill())
	require.Error(t, resolver.Wait())
}

// nodeResolver is the container that a DNS CR intent with these services gets.
func nodeResolver(t *testing.T, services ...string) corev1.Container {
	t.Helper()
	d := plan.ClusterDNS{Cluster: "edge+hub", Spec: intent.DNSCRIntent{
		Mode: intent.Dedicated, Namespace: intent.DefaultDNSNamespace, NodeResolver: &intent.NodeResolver{Services: services},
	}}
	objects, err := clusterdns.Render(plan.Group{}, d, clusterdns.Placement(d))
	require.NoError(t, err)
	for _, o := range objects {
		if o.Name == clusterdns.ResolverName {
			var set appsv1.DaemonSet
			require.NoError(t, json.Unmarshal(o.JSON, &set))
			return set.Spec.Template.Spec.Containers[0]
		}
	}
	require.Fail(t, "there is no node resolver")
	return corev1.Container{}
}

func requireHosts(t *testing.T, path, want string) {
	t.Helper()
	require.Eventually(t, func() bool { return read(t, path) == want }, patience, tick, "the file is not\n%s", want)
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}
