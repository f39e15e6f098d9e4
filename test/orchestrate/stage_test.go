package orchestrate

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/emco"
	"github.com/signpost-dns/signpost/test/faults"
)

// The clusters of the app, as contexts name them.
const (
	paris  = "edge+paris"
	berlin = "edge+berlin"
)

// The addresses that their clouds give.
const (
	parisAddress  = "203.0.113.10"
	berlinAddress = "203.0.113.20"
	otherAddress  = "203.0.113.99"
)

// stage is an EMCO and a Signpost over one etcd, with a tap between that and
// Signpost. The hub is a directory, and nobody reaches the app's clusters: what
// rsync and the monitor would write, the test writes.
type stage struct {
	*testing.T
	*emco.World
	replica // of Signpost, the first

	etcd     *etcd.Server
	tap      *faults.Tap
	ports    *process.Ports
	dir      string
	clusters string   // the directory of the directory clusters
	args     []string // of each replica
}

// replica is one Signpost, on a gRPC port that it keeps.
type replica struct {
	signpost  *fixture.Signpost
	grpc      string       // the address of its gRPC listener
	signposts *emco.Client // of that
}

// newStage starts a stage with the documents of a group.
func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{T: t, tap: &faults.Tap{}, ports: &process.Ports{}, dir: t.TempDir()}
	s.clusters = filepath.Join(s.dir, "clusters")
	var err error
	s.etcd, err = etcd.NewServer(t.Context(), filepath.Join(s.dir, "etcd"), s.ports)
	require.NoError(t, err)
	require.NoError(t, s.etcd.Start(t.Context()))
	t.Cleanup(s.etcd.Kill)
	s.World, err = emco.Start(emco.Options{Etcd: s.etcd.URL})
	t.Cleanup(s.Close)
	require.NoError(t, err)
	tapped, err := s.tap.Etcd(t.Context(), s.etcd.URL)
	require.NoError(t, err)
	t.Cleanup(tapped.Close)
	key := filepath.Join(s.dir, "secret.key")
	require.NoError(t, os.WriteFile(key, []byte(base64.StdEncoding.EncodeToString(make([]byte, 32))), 0o600))
	s.args = []string{
		"--etcd-endpoints=" + tapped.URL, "--secret-key-file=" + key, "--directory-root=" + s.clusters, "--shared-directory-root",
		"--emco-orchestrator=" + s.Orchestrator.URL, "--emco-dcm=" + s.DCM.URL,
	}
	s.replica = s.start("signpost")
	s.emcos("shop.yaml", "MANIFESTS-WEB", filepath.Join("testdata", "web.yaml"))
	s.emcos("group.yaml", "GROUP", prod().Name)
	require.NoError(t, s.Emcoctl("").Apply(t.Context(),
		"resourceContext: {anchor: projects/shop/logical-clouds/eu/kv-pairs}\nmetadata: {name: dns-update-record-list}\nspec: {kv: [{key1: lab}]}\n"))
	s.own()
	s.names(prod().Name, host)
	return s
}

// start starts a replica.
func (s *stage) start(name string) (r replica) {
	s.Helper()
	port, err := s.ports.Next(s.Context())
	require.NoError(s, err)
	r.grpc = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	r.signpost = serve(s.T, filepath.Join(s.dir, name), append([]string{"--grpc-listen=" + r.grpc}, s.args...)...)
	require.NoError(s, r.signpost.Start(s.Context()))
	r.signposts, err = emco.Dial("127.0.0.1", port)
	require.NoError(s, err)
	s.Cleanup(r.signposts.Close)
	return r
}

// beside is the same stage with another replica in front.
func (s *stage) beside() *stage {
	s.Helper()
	other := *s
	other.replica = s.start("beside")
	return &other
}

// emcos applies a file of testdata to EMCO, and what is its controller's to
// Signpost.
func (s *stage) emcos(name string, replacements ...string) {
	s.Helper()
	url, err := s.signpost.URL()
	require.NoError(s, err)
	require.NoError(s, s.Emcoctl(url).Apply(s.Context(), file(s.T, name, replacements...)))
}

// own posts what is Signpost's own: the clusters, and a record.
func (s *stage) own() {
	s.Helper()
	for _, d := range []struct{ collection, document string }{
		{"cluster-providers", `{"metadata":{"name":"edge"},"spec":{}}`},
		{"cluster-providers/edge/clusters", `{"metadata":{"name":"hub"},"spec":{"directory":"hub"}}`},
		{"cluster-providers/edge/clusters", `{"metadata":{"name":"paris"},"spec":{}}`},
		{"cluster-providers/edge/clusters", `{"metadata":{"name":"berlin"},"spec":{}}`},
		{"projects/shop/dns-update-records", `{"metadata":{"name":"lab"},"spec":{
			"provider":"coredns","environment":{"ETCD_URLS":"http://127.0.0.1:2379"},"releaseTimeout":"1s",
			"external-dns-parameters":{"policy":"sync","domain-filter":["lab.example"]},
			"deployOn":{"clusterProvider":"edge","cluster":"hub"}}}`},
	} {
		answer, err := s.signpost.Do(s.Context(), http.MethodPost, "/v2/"+d.collection, d.document)
		require.NoError(s, err)
		require.Equal(s, http.StatusCreated, answer.Status, "%s: %s", answer.Call, answer.Body)
	}
}

// names gives a group its traffic group, with a host name for its app and a DNS
// policy for its pods.
func (s *stage) names(group, host string) {
	s.Helper()
	s.emcos("intents.yaml", "GROUP", group, "HOST", host)
}

// context is a context of a group as EMCO writes it: the app web, with the
// resources of testdata, on these clusters.
func (s *stage) context(id string, dig emco.DIG, clusters ...string) emco.AppContext {
	s.Helper()
	service, deployment, _ := strings.Cut(file(s.T, "web.yaml"), "---\n")
	app := emco.App{Name: "web"}
	for i, name := range clusters {
		app.Clusters = append(app.Clusters, emco.Cluster{Name: name, Group: strconv.Itoa(i + 1), Resources: []emco.Resource{
			{Name: "web+Service", Text: service}, {Name: "web+Deployment", Text: deployment},
		}})
	}
	return emco.AppContext{ID: id, Apps: []emco.App{app}, Meta: emco.Meta{
		Project: dig.Project, CompositeApp: dig.CompositeApp, Version: dig.Version, DeploymentIntentGroup: dig.Name,
		Release: "r1", Namespace: "shop", Level: "1", LogicalCloud: "eu", Extra: map[string]any{"Later": map[string]any{"b": 1, "a": 2}},
	}}
}

// writes has EMCO write a context, on both clusters where none is named.
func (s *stage) writes(id string, clusters ...string) {
	s.Helper()
	if len(clusters) == 0 {
		clusters = []string{paris, berlin}
	}
	require.NoError(s, s.WriteContext(s.Context(), s.context(id, prod(), clusters...)))
}

// adapt, event and terminate are the orchestrator's calls.
func (s *stage) adapt(ctx context.Context, id, from string) error {
	return said(s.signposts.UpdateAppContext(ctx, id, "front", from))
}

func (s *stage) event(ctx context.Context, id string, event emco.Event) error {
	return said(s.signposts.PostEvent(ctx, id, event))
}

func (s *stage) terminate(ctx context.Context, id string) error {
	return said(s.signposts.TerminateAppContext(ctx, id))
}

// syncs writes the state of a context as rsync does.
func (s *stage) syncs(id, state string) {
	s.Helper()
	require.NoError(s, s.Put(s.Context(), id, "rsync/state/CurrentState/", map[string]string{"Status": state}))
}

// tells writes what rsync is told, behind all that it was told before, unless
// that was the last.
func (s *stage) tells(id, event, other string) {
	s.Helper()
	const level = "rsync/AppContextEventQueue/"
	type told struct {
		Event  string `json:"event"`
		Other  string `json:"uCID,omitempty"`
		Status string `json:"status"`
	}
	var queue struct{ AcQueue []told }
	keys, err := s.Keys(s.Context(), id)
	require.NoError(s, err)
	if text, exists := keys["/context/"+id+"/"+level]; exists {
		require.NoError(s, json.Unmarshal([]byte(text), &queue))
	}
	next := told{Event: event, Other: other, Status: "Pending"}
	if n := len(queue.AcQueue); n > 0 && queue.AcQueue[n-1] == next {
		return
	}
	queue.AcQueue = append(queue.AcQueue, next)
	require.NoError(s, s.Put(s.Context(), id, level, queue))
}

// observes writes what the monitor sees of the app in a cluster: its Service
// with this address. id is of the context that has the statuses.
func (s *stage) observes(id, cluster, address string) {
	s.Helper()
	status, err := json.Marshal(map[string]any{"ready": true, "resourceCount": 2, "serviceStatuses": []any{map[string]any{
		"metadata": map[string]any{"name": "web", "namespace": "shop"},
		"spec":     map[string]any{"type": "LoadBalancer", "ports": []any{map[string]any{"name": "https", "port": 443}}},
		"status":   map[string]any{"loadBalancer": map[string]any{"ingress": []any{map[string]any{"ip": address}}}},
	}}})
	require.NoError(s, err)
	require.NoError(s, s.Put(s.Context(), id, "app/web/cluster/"+cluster+"/status/", string(status)))
}

// hosts are the names with their targets in the DNSEndpoints that are in the
// hub's directory.
func (s *stage) hosts() ([]string, error) {
	var hosts []string
	err := filepath.WalkDir(filepath.Join(s.clusters, "hub"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" { // a kill may leave half a file beside, under another name
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		objects, err := kube.Parse(string(text))
		for _, object := range objects {
			hosts = append(hosts, hostsIn(object)...)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) { // nothing was ever put there, or it goes right now
		err = nil
	}
	slices.Sort(hosts)
	return hosts, err
}

// restart kills Signpost, and starts it again once its leases have ended.
func (s *stage) restart() {
	s.Helper()
	s.signpost.Kill()
	require.NoError(s, s.etcd.EndLeases(s.Context()))
	require.NoError(s, s.signpost.Start(s.Context()))
}
