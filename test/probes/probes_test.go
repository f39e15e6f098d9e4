// Package probes tells how a probe takes an address out of a name. Signpost, etcd and
// CoreDNS are processes, clusters are directories, and the published addresses are those
// of real HTTP servers. The tests have a network of their own, in which they may have any
// address.
package probes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/signpost-dns/signpost/test/e2e/dns"
	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/e2e/wait"
	"github.com/signpost-dns/signpost/test/tools"
)

// inside has the directory of the programs on the machine of the tests.
const inside = "SIGNPOST_PROBES_MACHINE"

func TestMain(m *testing.M) {
	if os.Getenv(inside) == "" {
		os.Exit(again())
	}
	for _, name := range []string{"lo", "lo:1", "lo:2"} {
		if err := up(name, map[string]string{"lo": "127.0.0.1", "lo:1": one, "lo:2": other}[name]); err != nil {
			fmt.Fprintln(os.Stderr, "the network cannot be furnished:", err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// again runs this program once more with a network of its own. What it needs is built
// before, for there is no way out.
func again() int {
	dir, err := os.MkdirTemp("", "probes-")
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }()
		_, err = fixture.Build(context.Background(), dir)
	}
	for _, tool := range []string{tools.CoreDNS, tools.Etcd} {
		_, missing := tools.Path(context.Background(), tool)
		err = errors.Join(err, missing)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	command := exec.Command("/proc/self/exe", os.Args[1:]...)
	command.Env = append(os.Environ(), inside+"="+dir)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{
		Pdeathsig: syscall.SIGKILL, Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	var exit *exec.ExitError
	switch err := command.Run(); {
	case errors.As(err, &exit):
		return exit.ExitCode()
	case err != nil:
		fmt.Fprintln(os.Stderr, "these tests need user namespaces, for a network of their own:", err)
		return 1
	}
	return 0
}

// up gives an address to an interface, and turns it on.
func up(name, address string) error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(socket) }()
	request, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	if err := request.SetInet4Addr(net.ParseIP(address).To4()); err != nil {
		return err
	}
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFADDR, request); err != nil {
		return fmt.Errorf("address of %s: %w", name, err)
	}
	request.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request)
}

const (
	quickstart = "../../examples/quickstart"
	name       = "www.lab.example"
	one, other = "203.0.113.10", "203.0.113.11"
	interval   = 2 * time.Second
	failures   = 2
	patience   = time.Minute
)

// edge is an HTTP server with a published address.
type edge struct {
	server *http.Server
	status atomic.Int64
}

func serve(t *testing.T, address string) *edge {
	t.Helper()
	e := &edge{}
	e.status.Store(http.StatusOK)
	e.server = &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != name || r.URL.Path != "/healthz" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.WriteHeader(int(e.status.Load()))
	})}
	listener, err := net.Listen("tcp", net.JoinHostPort(address, "80"))
	require.NoError(t, err)
	go func() { _ = e.server.Serve(listener) }()
	t.Cleanup(func() { _ = e.server.Close() })
	return e
}

type world struct {
	*testing.T
	signpost *fixture.Signpost
	coreDNS  *dns.Server
}

func begin(t *testing.T) *world {
	var ports process.Ports
	start := func(p *process.Process) {
		p.EndWith(t)
		require.NoError(t, p.Start(t.Context()))
	}
	store, err := etcd.NewServer(t.Context(), t.TempDir(), &ports)
	require.NoError(t, err)
	start(store.Process)
	w := &world{T: t}
	w.coreDNS, err = dns.NewCoreDNS(t.Context(), t.TempDir(), store.URL, &ports)
	require.NoError(t, err)
	start(w.coreDNS.Process)
	w.signpost, err = fixture.NewSignpost(filepath.Join(os.Getenv(inside), "signpost"), t.TempDir(), "--publisher-servers=127.0.0.1", "--probe-targets=203.0.113.0/24")
	require.NoError(t, err)
	start(w.signpost.Process)
	w.run("apply", "-f", w.documents(store.URL))
	w.run("instantiate", "shop/store/v1/prod")
	return w
}

// documents are those of the quickstart, with the built-in publisher, two IPv4 addresses
// and a probe.
func (w *world) documents(store string) string {
	w.Helper()
	dir := w.TempDir()
	changes := strings.NewReplacer("http://etcd.dns.svc:2379", store, "clusterProvider: edge\n    cluster: hub\n", "publisher: built-in\n",
		`externalIPs: ["2001:db8::10"]`, `externalIPs: ["`+other+`"]`,
		"  ttl: 30\n", fmt.Sprintf("  ttl: 30\n  health:\n    probe: {type: HTTP, path: /healthz, interval: %s, timeout: 1s, failures: %d, successes: 1}\n", interval, failures))
	files, err := filepath.Glob(filepath.Join(quickstart, "*.yaml"))
	require.NoError(w, err)
	require.NotEmpty(w, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(w, err)
		require.NoError(w, os.WriteFile(filepath.Join(dir, filepath.Base(file)), []byte(changes.Replace(string(text))), 0o600))
	}
	return dir
}

func (w *world) run(args ...string) {
	w.Helper()
	server, err := w.signpost.URL()
	require.NoError(w, err)
	command := exec.CommandContext(w.Context(), w.signpost.Path, args...)
	command.Env = []string{"SIGNPOST_SERVER=" + server, "HOME=" + w.TempDir()}
	output, err := command.CombinedOutput()
	require.NoError(w, err, "signpost %v\n%s", args, output)
}

// answers waits until the name has these addresses.
func (w *world) answers(addresses ...string) {
	w.Helper()
	wait.For(w.T, patience, fmt.Sprintf("%s to be %v", name, addresses), func() error { return w.are(addresses...) })
}

func (w *world) are(addresses ...string) error {
	got, err := dns.Query(w.Context(), w.coreDNS.Address, name, "A")
	if err == nil && !slices.Equal(got, addresses) {
		err = fmt.Errorf("it is %v", got)
	}
	return err
}

// says waits until the status of the group has a text.
func (w *world) says(text string) {
	w.Helper()
	wait.For(w.T, patience, "the status to say "+text, func() error {
		answer, err := w.signpost.Do(w.Context(), http.MethodGet, "/v2/projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/status", "")
		if err == nil && !strings.Contains(string(answer.Body), text) {
			err = fmt.Errorf("it says %s", answer.Body)
		}
		return err
	})
}

// TestAFailingAddressLeavesItsName within the interval times the threshold and the time to
// the answer, and comes back by itself. If all addresses fail, the name stays.
func TestAFailingAddressLeavesItsName(t *testing.T) {
	first, _ := serve(t, one), serve(t, other)
	w := begin(t)
	w.answers(one, other)
	w.says(`"healthy":"True"`)

	first.status.Store(http.StatusServiceUnavailable)
	began := time.Now()
	w.answers(other)
	took := time.Since(began)
	t.Logf("the answer changed %s after the address failed, with %d failures every %s", took.Round(time.Millisecond), failures, interval)
	const most = failures*(interval+interval/10) + 10*time.Second // this machine may be busy
	require.Less(t, took, most)
	w.says(`"code":"ProbeFailed"`)
	w.says("fails since")
	w.says(": status 503")

	first.status.Store(http.StatusOK)
	w.answers(one, other)
}

// TestAWorkerThatReachesNothingKeepsTheName: both addresses fail at once, so the worker
// blames its own network, and says so.
func TestAWorkerThatReachesNothingKeepsTheName(t *testing.T) {
	both := []*edge{serve(t, one), serve(t, other)}
	w := begin(t)
	w.answers(one, other)
	w.says(`"healthy":"True"`)
	for _, e := range both {
		require.NoError(t, e.server.Close())
	}
	w.says("assumes a fault of its own network")
	wait.Always(t, 2*interval, "the name to keep its addresses", func() error { return w.are(one, other) })
}
