package chaos

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/e2e/wait"
	"github.com/signpost-dns/signpost/test/faults/link"
)

// site is everything that runs.
type site struct {
	*testing.T

	dir      string
	ports    *process.Ports
	members  []*member
	clusters []*cluster // the home of external-dns, and two where apps run
	replicas []*replica
	args     []string // of the replicas
}

// member is one of Signpost's etcd, and the link by which the others reach it.
type member struct {
	*etcd.Server
	peers *link.Link
}

// cluster is an API server, and the link by which Signpost reaches it.
type cluster struct {
	*kube.Server
	link *link.Link
}

// replica is a process of Signpost, and its links to the etcd members.
type replica struct {
	*fixture.Signpost
	role  string
	links []*link.Link
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{T: t, dir: t.TempDir(), ports: &process.Ports{}}
	s.startMembers()
	s.startClusters("hub", "berlin", "paris")
	s.startReplicas("api", "api", "worker", "worker")
	return s
}

// link puts a link before the server at a URL, and answers the URL of the link.
func (s *site) link(server string) (*link.Link, string) {
	s.Helper()
	at, err := url.Parse(server)
	require.NoError(s, err)
	address, err := s.ports.Address(s.Context())
	require.NoError(s, err)
	l, err := link.New(address, at.Host)
	require.NoError(s, err)
	s.Cleanup(l.Close)
	at.Host = l.Address
	return l, at.String()
}

// startMembers starts etcd. Each member reaches another by that one's link.
func (s *site) startMembers() {
	s.Helper()
	servers, err := etcd.NewMembers(s.Context(), 3, filepath.Join(s.dir, "etcd"), s.ports)
	require.NoError(s, err)
	var instead []string
	for _, server := range servers {
		const listens = "--listen-peer-urls="
		for _, arg := range server.Args {
			if at, ok := strings.CutPrefix(arg, listens); ok {
				peers, linked := s.link(at)
				s.members = append(s.members, &member{server, peers})
				instead = append(instead, at, linked)
			}
		}
	}
	started := make(chan error, len(s.members))
	for _, m := range s.members {
		for i, arg := range m.Args {
			if strings.HasPrefix(arg, "--initial-") {
				m.Args[i] = strings.NewReplacer(instead...).Replace(arg)
			}
		}
		s.Cleanup(m.Kill)
		go func() { started <- m.Start(s.Context()) }()
	}
	for range s.members {
		require.NoError(s, <-started)
	}
}

// startClusters starts API servers over an etcd of their own, to which nothing
// happens.
func (s *site) startClusters(names ...string) {
	s.Helper()
	store, err := etcd.NewServer(s.Context(), filepath.Join(s.dir, "clusters-etcd"), s.ports)
	require.NoError(s, err)
	s.Cleanup(store.Kill)
	require.NoError(s, store.Start(s.Context()))
	for _, name := range names {
		server, err := kube.NewServer(s.Context(), kube.Options{Name: name, Dir: filepath.Join(s.dir, name), Etcd: store.URL, Ports: s.ports})
		require.NoError(s, err)
		s.Cleanup(server.Stop)
		require.NoError(s, server.Start(s.Context()))
		require.NoError(s, server.GrantSignpost(s.Context()))
		c := &cluster{Server: server}
		c.link, _ = s.link(server.URL)
		s.clusters = append(s.clusters, c)
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() { defer close(ended); server.FinishNamespaces(ctx) }()
		s.Cleanup(func() { stop(); <-ended })
	}
}

// kubeconfig is the spec of a cluster's document, through its link.
func (c *cluster) kubeconfig(t *testing.T) string {
	t.Helper()
	plain, err := c.Kubeconfig(kube.Signpost)
	require.NoError(t, err)
	config, err := clientcmd.Load(plain)
	require.NoError(t, err)
	for _, known := range config.Clusters {
		known.Server = "https://" + c.link.Address
	}
	linked, err := clientcmd.Write(*config)
	require.NoError(t, err)
	return fmt.Sprintf(`{"kubeconfig": %q}`, base64.StdEncoding.EncodeToString(linked))
}

func (s *site) startReplicas(roles ...string) {
	s.Helper()
	program, err := fixture.Build(s.Context(), s.dir)
	require.NoError(s, err)
	key := filepath.Join(s.dir, "secret.key")
	require.NoError(s, os.WriteFile(key, []byte(base64.StdEncoding.EncodeToString(make([]byte, 32))), 0o600))
	for i, role := range roles {
		name := fmt.Sprintf("%s-%d", role, i)
		r := &replica{role: role}
		var endpoints []string
		for _, m := range s.members {
			l, linked := s.link(m.URL)
			r.links = append(r.links, l)
			endpoints = append(endpoints, linked)
		}
		r.Signpost, err = fixture.NewSignpost(program, filepath.Join(s.dir, name),
			append(s.args, "--role="+role, "--etcd-endpoints="+strings.Join(endpoints, ","), "--secret-key-file="+key, "--rate-limit=0")...)
		require.NoError(s, err)
		r.Name = name
		s.replicas = append(s.replicas, r)
		s.Cleanup(func() {
			r.Kill()
			if s.Failed() {
				s.Log(name, r.Tail(20))
			}
		})
		require.NoError(s, r.Start(s.Context()))
	}
}

// restart starts the replica as who looks after it does: again when it ends,
// as it does while etcd does not answer.
func (r *replica) restart(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return wait.Until(ctx, func() error { return r.Start(ctx) })
}

// with are the replicas of a role.
func (s *site) with(role string) []*replica {
	var all []*replica
	for _, r := range s.replicas {
		if r.role == role {
			all = append(all, r)
		}
	}
	return all
}
