package bench

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

// mall is a Signpost process that publishes many names through two clusters,
// each name by a DNS intent and a DNSEndpoint of its own. Nobody runs the
// external-dns that it asks for.
type mall struct {
	server  *fixture.Signpost
	dir     string // of the server
	hub     *kube.Server
	edge    *kube.Server
	groups  int
	each    int        // intents of a group
	moving  pair       // the Service that the first intent alone is about
	address netip.Addr // its last one
}

// openMall starts the parts, and waits until all names have been applied.
func openMall(t testing.TB, groups, each int) *mall {
	t.Helper()
	m := &mall{groups: groups, each: each, dir: t.TempDir(), address: netip.MustParseAddr("198.18.0.1")}
	ports := &process.Ports{}
	store, err := etcd.NewServer(t.Context(), t.TempDir(), ports)
	require.NoError(t, err)
	t.Cleanup(store.Kill)
	require.NoError(t, store.Start(t.Context()))
	m.hub, m.edge = startServer(t, fixture.Hub, store.URL, ports), startServer(t, fixture.Paris, store.URL, ports)
	require.NoError(t, fixture.DefineEndpoints(t.Context(), m.hub))
	require.NoError(t, m.edge.LoadBalancer(t.Context(), appNamespace, "web", "198.18.0.1"))
	for n := range each {
		require.NoError(t, m.edge.LoadBalancer(t.Context(), appNamespace, service(n), "198.18.1.1"))
	}
	program, err := fixture.Build(t.Context(), t.TempDir())
	require.NoError(t, err)
	m.server, err = fixture.NewSignpost(program, m.dir)
	require.NoError(t, err)
	t.Cleanup(m.server.Kill)
	require.NoError(t, m.server.Start(t.Context()))
	m.fill(t)
	m.moving = newPair(t, m.hub, m.edge, appNamespace, endpointNamespace)
	return m
}

func startServer(t testing.TB, name, store string, ports *process.Ports) *kube.Server {
	t.Helper()
	server, err := kube.NewServer(t.Context(), kube.Options{Name: name, Dir: filepath.Join(t.TempDir(), name), Etcd: store, Ports: ports})
	require.NoError(t, err)
	t.Cleanup(server.Stop)
	require.NoError(t, server.Start(t.Context()))
	require.NoError(t, server.GrantSignpost(t.Context()))
	return server
}

// fill posts everything, and waits until it is done.
func (m *mall) fill(t testing.TB) {
	t.Helper()
	const patience = 10 * time.Minute
	m.post(t, "cluster-providers", "edge", intent.ClusterProvider{})
	for _, server := range []*kube.Server{m.hub, m.edge} {
		kubeconfig, err := server.Kubeconfig(kube.Signpost)
		require.NoError(t, err)
		m.post(t, "cluster-providers/edge/clusters", server.Name, intent.Cluster{Kubeconfig: base64.StdEncoding.EncodeToString(kubeconfig)})
	}
	const cloud = "projects/shop/logical-clouds"
	m.post(t, "projects", "shop", intent.Project{Namespace: endpointNamespace})
	m.post(t, "projects/shop/dns-update-records", "lab", lab())
	m.post(t, cloud, "eu", intent.LogicalCloud{Namespace: appNamespace, ControllerCluster: &intent.ClusterRef{ClusterProvider: "edge", Cluster: fixture.Hub}})
	m.post(t, cloud+"/eu/cluster-references", fixture.Paris, intent.ClusterRef{ClusterProvider: "edge", Cluster: fixture.Paris})
	m.post(t, cloud+"/eu/kv-pairs", intent.AssociationName, intent.KVPairs{KV: []map[string]json.RawMessage{{"key1": json.RawMessage(`"lab"`)}}})
	m.post(t, "projects/shop/composite-apps", "store", intent.CompositeApp{CompositeAppVersion: "v1"})
	m.perGroup(t, m.fillGroup)
	m.perGroup(t, func(t testing.TB, group int) { m.send(t, groupPath(group)+"/instantiate", "") })
	m.perGroup(t, func(t testing.TB, group int) {
		wait.For(t, patience, groupPath(group)+" to be completed", func() error { return m.completed(t.Context(), group) })
	})
}

// perGroup does something for each group, some at once.
func (m *mall) perGroup(t testing.TB, do func(t testing.TB, group int)) {
	t.Helper()
	const atOnce = 8
	var all errgroup.Group
	all.SetLimit(atOnce)
	for group := range m.groups {
		all.Go(func() error { do(t, group); return nil })
	}
	require.NoError(t, all.Wait())
}

const groupsPath = "projects/shop/composite-apps/store/v1/deployment-intent-groups"

func groupPath(group int) string { return fmt.Sprintf("%s/g%d", groupsPath, group) }

// fillGroup makes a group with its intents. The first group's first intent is
// about the Service that moves, all others about one that other groups name,
// too.
func (m *mall) fillGroup(t testing.TB, group int) {
	t.Helper()
	path := groupPath(group)
	m.post(t, groupsPath, fmt.Sprintf("g%d", group), intent.DeploymentIntentGroup{LogicalCloud: "eu", Apps: []intent.App{{Name: "web"}}})
	m.post(t, path+"/traffic-group-intents", "front", intent.TrafficGroup{})
	for n := range m.each {
		spec := intent.DNSIntent{App: "web", ServiceName: service(n), Hostnames: []string{fmt.Sprintf("n%d.g%d.lab.example", n, group)}, TTL: 30}
		if group == 0 && n == 0 {
			spec.ServiceName = "web"
		}
		m.post(t, path+"/traffic-group-intents/front/dns-intents", fmt.Sprintf("n%d", n), spec)
	}
}

// post creates a resource.
func (m *mall) post(t testing.TB, collection, name string, spec any) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"metadata": map[string]string{"name": name}, "spec": spec})
	require.NoError(t, err)
	m.send(t, collection, string(body))
}

func (m *mall) send(t testing.TB, path, body string) {
	t.Helper()
	answer, err := m.server.Do(t.Context(), http.MethodPost, "/v2/"+path, body)
	require.NoError(t, err)
	require.Less(t, answer.Status, http.StatusMultipleChoices, "%s: %s", answer.Call, answer.Body)
}

// completed is nil once what was asked of a group has happened.
func (m *mall) completed(ctx context.Context, group int) error {
	answer, err := m.server.Do(ctx, http.MethodGet, "/v2/"+groupPath(group)+"/events", "")
	if err != nil {
		return err
	}
	var events struct{ Items []intent.Event }
	if err := answer.JSON(&events); err != nil {
		return err
	}
	if !slices.ContainsFunc(events.Items, func(e intent.Event) bool { return e.Outcome == "completed" }) {
		return fmt.Errorf("events are %s", answer.Body)
	}
	return nil
}

// synced waits until the clusters have all that the first group is to have, as
// the server knows.
func (m *mall) synced(t testing.TB) {
	t.Helper()
	wait.For(t, time.Minute, groupPath(0)+" to be synced", func() error {
		answer, err := m.server.Do(t.Context(), http.MethodGet, "/v2/"+groupPath(0)+"/status", "")
		if err != nil {
			return err
		}
		var status intent.Status
		if err := answer.JSON(&status); err != nil {
			return err
		}
		if !slices.ContainsFunc(status.Conditions, func(c intent.StatusCondition) bool { return c.Type == "Synced" && c.Status == "True" }) {
			return fmt.Errorf("conditions are %v", status.Conditions)
		}
		return nil
	})
}

// writes counts what Signpost has written into the clusters.
func (m *mall) writes(t testing.TB) int {
	t.Helper()
	hub, err := m.hub.Writes(kube.Signpost)
	require.NoError(t, err)
	edge, err := m.edge.Writes(kube.Signpost)
	require.NoError(t, err)
	return len(hub) + len(edge)
}

// move gives the Service that moves another address, and answers it.
func (m *mall) move(t testing.TB) string {
	t.Helper()
	m.address = m.address.Next()
	require.NoError(t, m.edge.SetLoadBalancer(t.Context(), appNamespace, "web", m.address.String()))
	return m.address.String()
}
