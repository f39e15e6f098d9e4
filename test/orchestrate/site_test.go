package orchestrate

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/kube"
	"github.com/signpost-dns/signpost/test/emco"
)

// site is an EMCO installation over real clusters, with a Signpost that reads
// all that EMCO keeps there.
type site struct {
	*testing.T
	*emco.World

	fixture  *fixture.Fixture
	etcd     *etcd.Server // of both
	signpost *fixture.Signpost
	grpcPort int
}

// newSite starts a site, without documents but those of clusters. Signpost gets
// the arguments that its EMCO makes of it, too.
func newSite(t *testing.T, more ...func(*emco.World) string) *site {
	t.Helper()
	s := &site{T: t, fixture: fixture.New(t, fixture.Hub, fixture.Paris, fixture.Berlin)}
	var err error
	s.etcd, err = etcd.NewServer(t.Context(), filepath.Join(s.fixture.Dir, "emco-etcd"), s.fixture.Ports)
	require.NoError(t, err)
	require.NoError(t, s.etcd.Start(t.Context()))
	t.Cleanup(s.etcd.Kill)
	s.World, err = emco.Start(emco.Options{Etcd: s.etcd.URL, RetryInterval: 100 * time.Millisecond})
	t.Cleanup(s.Close)
	require.NoError(t, err)
	for _, name := range []string{fixture.Hub, fixture.Paris, fixture.Berlin} {
		kubeconfig, err := s.fixture.Cluster(name).Kubeconfig(kube.Admin)
		require.NoError(t, err)
		s.SetCluster("edge", name, kubeconfig)
	}
	s.grpcPort, err = s.fixture.Ports.Next(t.Context())
	require.NoError(t, err)
	args := []string{
		fmt.Sprintf("--grpc-listen=127.0.0.1:%d", s.grpcPort), "--etcd-endpoints=" + s.etcd.URL, "--secret-key-file=" + s.key(),
		"--emco-orchestrator=" + s.Orchestrator.URL, "--emco-dcm=" + s.DCM.URL, "--emco-clm=" + s.CLM.URL,
	}
	for _, arg := range more {
		args = append(args, arg(s.World))
	}
	s.signpost = serve(t, filepath.Join(s.fixture.Dir, "signpost"), args...)
	require.NoError(t, s.signpost.Start(t.Context()))
	s.monitors()
	return s
}

// key is the file of the key that Signpost encrypts secrets with.
func (s *site) key() string {
	s.Helper()
	path := filepath.Join(s.fixture.Dir, "secret.key")
	require.NoError(s, os.WriteFile(path, []byte("c2lnbnBvc3QgZW5kLXRvLWVuZCB0ZXN0cyBrZXkgMzI=\n"), 0o600))
	return path
}

// monitors has the monitors of the clusters report, until the test ends.
func (s *site) monitors() {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Monitor(ctx, 200*time.Millisecond)
	}()
	s.Cleanup(func() { stop(); <-ended })
}

// url is where Signpost's REST listener is now.
func (s *site) url() string {
	s.Helper()
	url, err := s.signpost.URL()
	require.NoError(s, err)
	return url
}

// command runs signpost as people do, and answers what it printed.
func (s *site) command(args ...string) string {
	s.Helper()
	output, err := exec.CommandContext(s.Context(), program(s.T), args...).CombinedOutput()
	require.NoError(s, err, "signpost %v: %s", args, output)
	return string(output)
}

// opens makes the documents that EMCO keeps, by emcoctl.
func (s *site) opens() {
	s.Helper()
	s.emcoctl(file(s.T, "shop.yaml", "MANIFESTS-WEB", filepath.Join("testdata", "web.yaml")))
	s.emcoctl(file(s.T, "group.yaml", "GROUP", prod().Name))
	require.NoError(s, s.InstantiateLogicalCloud(s.Context(), "shop", "eu"))
}

// introduce registers Signpost and makes the documents that it keeps, by signpost
// apply and by emcoctl.
func (s *site) introduce(host string) {
	s.Helper()
	s.command("register", "--orchestrator", s.Orchestrator.URL, "--host", "127.0.0.1", "--port", strconv.Itoa(s.grpcPort))
	record := filepath.Join(s.TempDir(), "record.yaml")
	text := file(s.T, "record.yaml", "BIND-PORT", strconv.Itoa(s.fixture.BIND.Port), "BIND-SECRET", s.fixture.BIND.Secret)
	require.NoError(s, os.WriteFile(record, []byte(text), 0o600))
	s.command("apply", "--server", s.url(), "--dcm", s.DCM.URL, "-f", record)
	s.emcoctl(file(s.T, "intents.yaml", "GROUP", prod().Name, "HOST", host))
}

func (s *site) emcoctl(stream string) {
	s.Helper()
	require.NoError(s, s.Emcoctl(s.url()).Apply(s.Context(), stream))
}

// settles waits until rsync has done all that it was asked for.
func (s *site) settles() {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	require.NoError(s, s.Rsync.Settle(ctx))
}

// gives has the cloud of a cluster give the app's load balancer an address, as
// soon as rsync has made that.
func (s *site) gives(cluster, address string) {
	s.Helper()
	eventually(s.T, "a load balancer in "+cluster+" to have "+address, func() error {
		return s.fixture.Cluster(cluster).SetLoadBalancer(s.Context(), "shop", "web", address)
	})
}

// answers waits until the name has these addresses, in BIND or in CoreDNS, and
// no others.
func (s *site) answers(host string, want ...string) {
	s.Helper()
	began, server := time.Now(), s.fixture.CoreDNS.Address
	if strings.HasSuffix(host, dns.BINDZone) {
		server = s.fixture.BIND.Address
	}
	eventually(s.T, fmt.Sprintf("%s to be %v", host, want), func() error {
		got, err := dns.Query(s.Context(), server, host, "A")
		if err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("it is %v", got)
		}
		return err
	})
	s.Logf("%s is %v after %s", host, want, time.Since(began).Round(100*time.Millisecond))
}

// objects lists what Signpost has in the hub, as "Kind namespace/name".
func (s *site) objects() ([]string, error) {
	var found []string
	for _, kind := range []schema.GroupVersionKind{
		fixture.EndpointKind(), deployment(), {Version: "v1", Kind: "Secret"}, {Version: "v1", Kind: "ServiceAccount"},
	} {
		list, err := s.fixture.Cluster(fixture.Hub).List(s.Context(), kind, "", "app.kubernetes.io/managed-by=signpost")
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, err
		}
		for _, object := range list {
			found = append(found, fmt.Sprintf("%s %s/%s", kind.Kind, object.GetNamespace(), object.GetName()))
		}
	}
	return found, nil
}

// leavesNothing waits until nothing of Signpost is in the hub.
func (s *site) leavesNothing() {
	s.Helper()
	eventually(s.T, "nothing of Signpost to be in the hub", func() error {
		left, err := s.objects()
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("there is %v", left)
		}
		return err
	})
}

func deployment() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
}

// put replaces a document of EMCO's.
func (s *site) put(url, body string) {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), http.MethodPut, url, strings.NewReader(body))
	require.NoError(s, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(s, err)
	defer response.Body.Close()
	require.Equal(s, http.StatusCreated, response.StatusCode)
}
