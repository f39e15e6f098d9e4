// Package story tells the main story of Signpost with what Go alone can build:
// the quickstart is applied, and CoreDNS answers its name. Signpost, etcd and
// CoreDNS are real processes; the clusters are API servers of this process. The
// same story on real clusters and with external-dns is told below test/e2e.
package story

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/sample"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/test/apiserver"
	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

const (
	quickstart = "../../examples/quickstart"
	group      = "shop/store/v1/prod"
	name       = "www.lab.example"
	further    = "cake.lab.example" // a name of its own
	patience   = time.Minute

	home = "clusterProvider: edge\n    cluster: hub\n" // of the provider in the quickstart
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

func begin(t *testing.T, arguments ...string) *world {
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
	w.signpost.Args = append(append(w.signpost.Args, "--publisher-servers", "127.0.0.1"), arguments...)
	w.start(w.signpost.Process)
	return w
}

// start starts a process that ends with the story. Its log is shown if the
// story fails.
func (w *world) start(p *process.Process) {
	w.Helper()
	p.EndWith(w)
	require.NoError(w, p.Start(w.Context()))
}

// documents are those of the quickstart, in a directory: its clusters have an
// API server instead of a directory, its zone is in the story's etcd, and Signpost itself
// publishes.
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
		if filepath.Base(file) == "record.yaml" {
			require.Contains(w, string(text), home)
			text = []byte(strings.Replace(string(text), home, "publisher: built-in\n", 1))
		}
		require.NoError(w, os.WriteFile(filepath.Join(dir, filepath.Base(file)), text, 0o600))
	}
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

// stages waits until the status of the name tells that its last change is published, and checks the order of its stages.
// When the address was observed is not known if a whole step took it up, as after a pause of the worker.
func (w *world) stages() {
	w.Helper()
	server, err := w.signpost.URL()
	require.NoError(w, err)
	wait.For(w.T, patience, "the stages of the last change", func() error {
		answer, err := http.Get(server + "/v2/projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/status")
		if err != nil {
			return err
		}
		defer func() { _ = answer.Body.Close() }()
		var status struct{ Names []intent.NameStatus }
		if err := json.NewDecoder(answer.Body).Decode(&status); err != nil {
			return err
		}
		s := status.Names[0].Stages
		if s == nil || s.Decided.IsZero() || s.Written.IsZero() || s.Published.IsZero() {
			return fmt.Errorf("the stages are %+v", s)
		}
		before := time.Time{}
		for _, at := range []time.Time{s.Observed, s.Seen, s.Decided, s.Written, s.Published} {
			if !at.IsZero() {
				require.False(w, at.Before(before), "the stages are %+v", s)
				before = at
			}
		}
		return nil
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
	w.answers("203.0.113.10", "203.0.113.20")
	require.Empty(t, w.clusters["hub"].Items("/apis/apps/v1/deployments"), "no external-dns is deployed")

	w.offer("paris", "203.0.113.99") // nobody calls Signpost
	w.answers("203.0.113.10", "203.0.113.99")
	w.stages()

	w.run("publish", further, "--service", "shop/web", "--clusters", "edge/paris", "--provider", "lab", "--project", "shop") // no group
	w.answersFor(further, "203.0.113.99")
	w.offer("paris", "203.0.113.98")
	w.answersFor(further, "203.0.113.98")
	w.run("unpublish", further, "--project", "shop")
	w.answersFor(further)
	w.answers("203.0.113.10", "203.0.113.98")

	for range sample.Cases(0, 1, 1) { // the next publisher may not write for 25 s, and removes the names all the same
		w.signpost.Kill()
		require.NoError(t, w.signpost.Start(t.Context()))
	}
	w.run("terminate", group, "--wait")
	w.answers()
}
