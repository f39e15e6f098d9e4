// Package story tells the main story of Signpost with what Go alone can build:
// the quickstart is applied, and CoreDNS answers its name. Signpost, etcd,
// external-dns and CoreDNS are real processes; the clusters are API servers of
// this process. The same story on real clusters is told below test/e2e.
package story

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
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

	"github.com/signpost-dns/signpost/test/apiserver"
	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/e2e/wait"
	"github.com/signpost-dns/signpost/test/tools"
)

const (
	quickstart = "../../examples/quickstart"
	group      = "shop/store/v1/prod"
	name       = "www.lab.example"
	further    = "cake.lab.example" // a name of its own
	patience   = time.Minute
)

// world is what the story happens in.
type world struct {
	*testing.T

	ports    process.Ports
	clusters map[string]*apiserver.Server
	store    *etcd.Server // what CoreDNS answers from
	coreDNS  *dns.Server
	signpost *fixture.Signpost
	program  string // signpost
}

func begin(t *testing.T) *world {
	w := &world{T: t, clusters: map[string]*apiserver.Server{}}
	for _, cluster := range []string{"hub", "berlin", "paris"} {
		w.clusters[cluster] = apiserver.Start(t, cluster, 0)
	}
	var err error
	w.store, err = etcd.NewServer(t.Context(), t.TempDir(), &w.ports)
	require.NoError(t, err)
	w.start(w.store.Process)
	w.coreDNS, err = dns.NewCoreDNS(t.Context(), t.TempDir(), w.store.URL, &w.ports)
	require.NoError(t, err)
	w.start(w.coreDNS.Process)
	w.program, err = fixture.Build(t.Context(), t.TempDir())
	require.NoError(t, err)
	w.signpost, err = fixture.NewSignpost(w.program, t.TempDir())
	require.NoError(t, err)
	w.signpost.Args = append(w.signpost.Args, "--publisher-servers", "127.0.0.1")
	w.start(w.signpost.Process)
	return w
}

// start starts a process that ends with the story. Its log is shown if the
// story fails.
func (w *world) start(p *process.Process) {
	w.Helper()
	w.Cleanup(func() {
		p.Kill()
		if w.Failed() {
			w.Logf("=== %s\n%s", p.Name, p.Tail(30))
		}
	})
	require.NoError(w, p.Start(w.Context()))
}

// documents are those of the quickstart, in a directory: its clusters have an
// API server instead of a directory, and its zone is in the story's etcd.
func (w *world) documents() string {
	w.Helper()
	dir := w.TempDir()
	files, err := filepath.Glob(filepath.Join(quickstart, "*.yaml"))
	require.NoError(w, err)
	require.NotEmpty(w, files)
	changes := []string{"http://etcd.dns.svc:2379", w.store.URL}
	for cluster, server := range w.clusters {
		kubeconfig, err := server.Kubeconfig()
		require.NoError(w, err)
		changes = append(changes, "directory: "+cluster, "kubeconfig: "+base64.StdEncoding.EncodeToString(kubeconfig))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(w, err)
		text = []byte(strings.NewReplacer(changes...).Replace(string(text)))
		require.NoError(w, os.WriteFile(filepath.Join(dir, filepath.Base(file)), text, 0o600))
	}
	return dir
}

// documentsWithoutHome are those of the story in which Signpost itself publishes.
func (w *world) documentsWithoutHome() string {
	w.Helper()
	dir := w.documents()
	file := filepath.Join(dir, "record.yaml")
	text, err := os.ReadFile(file)
	require.NoError(w, err)
	const home = "clusterProvider: edge\n    cluster: hub\n"
	require.Contains(w, string(text), home)
	require.NoError(w, os.WriteFile(file, []byte(strings.Replace(string(text), home, "publisher: built-in\n", 1)), 0o600))
	return dir
}

// run runs a command of the CLI.
func (w *world) run(args ...string) {
	w.Helper()
	server, err := w.signpost.URL()
	require.NoError(w, err)
	command := exec.CommandContext(w.Context(), w.program, args...)
	command.Env = []string{"SIGNPOST_SERVER=" + server, "HOME=" + w.TempDir()}
	output, err := command.CombinedOutput()
	require.NoError(w, err, "signpost %v\n%s", args, output)
}

// offer plays the cloud: the load balancer of the Service web gets an address
// as soon as the Service is there.
func (w *world) offer(cluster, address string) {
	w.Helper()
	const path = "/api/v1/namespaces/shop/services/web"
	server := w.clusters[cluster]
	wait.For(w.T, patience, "the Service in "+cluster, func() error {
		if server.Get(path) == nil {
			return fmt.Errorf("%s is not there", path)
		}
		return nil
	})
	server.SetStatus(path, map[string]any{"loadBalancer": map[string]any{"ingress": []any{map[string]any{"ip": address}}}})
}

// runExternalDNS plays the kubelet: external-dns runs with the arguments and
// the environment of the Deployment in the hub.
func (w *world) runExternalDNS() {
	w.Helper()
	program, err := tools.Path(w.Context(), tools.ExternalDNSCoreDNS)
	require.NoError(w, err)
	kubeconfig, err := w.clusters["hub"].Kubeconfig()
	require.NoError(w, err)
	file := filepath.Join(w.TempDir(), "kubeconfig")
	require.NoError(w, os.WriteFile(file, kubeconfig, 0o600))
	metrics, err := w.ports.Address(w.Context())
	require.NoError(w, err)
	container := w.deployed()
	p := &process.Process{
		Name: "external-dns", Path: program, Log: filepath.Join(w.TempDir(), "log"),
		Env: []string{"EXTERNAL_DNS_KUBECONFIG=" + file, "EXTERNAL_DNS_METRICS_ADDRESS=" + metrics},
	}
	for _, arg := range container.Args {
		if !strings.HasPrefix(arg, "--metrics-address=") { // a process shares the network with all others
			p.Args = append(p.Args, arg)
		}
	}
	for _, variable := range container.Env {
		p.Env = append(p.Env, variable.Name+"="+variable.Value)
	}
	w.start(p)
}

// deployed is the container of the Deployment in the hub, once it is there.
func (w *world) deployed() corev1.Container {
	w.Helper()
	var deployment appsv1.Deployment
	wait.For(w.T, patience, "external-dns in the hub", func() error {
		all := w.clusters["hub"].Items("/apis/apps/v1/deployments")
		if len(all) != 1 {
			return fmt.Errorf("there are %d Deployments", len(all))
		}
		raw, err := json.Marshal(all[0])
		if err != nil {
			return err
		}
		return json.Unmarshal(raw, &deployment)
	})
	require.Len(w, deployment.Spec.Template.Spec.Containers, 1)
	return deployment.Spec.Template.Spec.Containers[0]
}

// answers waits until the name has these addresses and no others.
func (w *world) answers(addresses ...string) {
	w.Helper()
	w.answersFor(name, addresses...)
}

func (w *world) answersFor(name string, addresses ...string) {
	w.Helper()
	wait.For(w.T, patience, fmt.Sprintf("%s to be %v", name, addresses), func() error {
		got, err := dns.Query(w.Context(), w.coreDNS.Address, name, "A")
		if err == nil && !slices.Equal(got, addresses) {
			err = fmt.Errorf("it is %v", got)
		}
		return err
	})
}

// TestAPostedNameIsAnsweredAndFollowsItsAddresses is the main story.
func TestAPostedNameIsAnsweredAndFollowsItsAddresses(t *testing.T) {
	w := begin(t)
	w.run("apply", "-f", w.documents())
	w.answers() // documents alone change nothing
	w.run("instantiate", group)
	w.offer("berlin", "203.0.113.10")
	w.offer("paris", "203.0.113.20")
	w.runExternalDNS()
	w.answers("203.0.113.10", "203.0.113.20")

	w.offer("paris", "203.0.113.99") // nobody calls Signpost
	w.answers("203.0.113.10", "203.0.113.99")

	w.run("publish", further, "--service", "shop/web", "--clusters", "edge/paris", "--provider", "lab", "--project", "shop") // no group
	w.answersFor(further, "203.0.113.99")
	w.offer("paris", "203.0.113.98")
	w.answersFor(further, "203.0.113.98")
	w.run("unpublish", further, "--project", "shop")
	w.answersFor(further)
	w.answers("203.0.113.10", "203.0.113.98")

	w.signpost.Kill()
	require.NoError(t, w.signpost.Start(t.Context()))
	w.run("terminate", group, "--wait")
	w.answers()
}

// TestTheMainStoryIsTrueWithoutExternalDNS is the same story with the built-in publisher:
// a real etcd and a real CoreDNS, and no external-dns.
func TestTheMainStoryIsTrueWithoutExternalDNS(t *testing.T) {
	w := begin(t)
	w.run("apply", "-f", w.documentsWithoutHome())
	w.run("instantiate", group)
	w.offer("berlin", "203.0.113.10")
	w.offer("paris", "203.0.113.20")
	w.answers("203.0.113.10", "203.0.113.20")
	require.Empty(t, w.clusters["hub"].Items("/apis/apps/v1/deployments"), "no external-dns is deployed")

	w.offer("paris", "203.0.113.99") // nobody calls Signpost
	w.answers("203.0.113.10", "203.0.113.99")

	w.run("publish", further, "--service", "shop/web", "--clusters", "edge/paris", "--provider", "lab", "--project", "shop")
	w.answersFor(further, "203.0.113.99")
	w.run("unpublish", further, "--project", "shop")
	w.answersFor(further)

	w.run("terminate", group, "--wait")
	w.answers()
}
