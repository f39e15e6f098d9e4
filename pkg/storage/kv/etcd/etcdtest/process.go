// Package etcdtest runs an embedded etcd in a process of its own, so that a
// test can kill it. The process is the test binary, started once more.
package etcdtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/signpost-dns/signpost/pkg/storage/kv/etcd"
)

// dirVariable tells the process that it is a server, and where its data is.
const dirVariable = "SIGNPOST_ETCDTEST_DIR"

// Main is the TestMain of a package that uses Process.
func Main(m *testing.M) {
	if dir := os.Getenv(dirVariable); dir != "" {
		os.Exit(serve(dir))
	}
	os.Exit(m.Run())
}

// serve prints the client URL and serves until its input ends, so that it
// does not outlive the test.
func serve(dir string) int {
	server, err := etcd.StartEmbedded(context.Background(), etcd.EmbeddedOptions{Dir: dir, ListenClients: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(server.ClientURL())
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := server.Close(); err != nil {
		return 1
	}
	return 0
}

// Process is such a server with a client that finds it again after a restart.
type Process struct {
	Client *clientv3.Client

	dir     string
	command *exec.Cmd
	input   io.Closer
}

// Start starts a server on an empty directory. It ends with the test.
func Start(t *testing.T) *Process {
	t.Helper()
	p := &Process{dir: t.TempDir()}
	url := p.launch(t)
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, Logger: zap.NewNop()})
	require.NoError(t, err)
	p.Client = client
	t.Cleanup(func() {
		require.NoError(t, client.Close())
		p.Kill(t)
	})
	return p
}

func (p *Process) launch(t *testing.T) string {
	t.Helper()
	p.command = exec.Command(os.Args[0])
	p.command.Env = append(os.Environ(), dirVariable+"="+p.dir)
	p.command.Stderr = os.Stderr
	input, err := p.command.StdinPipe()
	require.NoError(t, err)
	output, err := p.command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.command.Start())
	p.input = input
	lines := bufio.NewScanner(output)
	require.True(t, lines.Scan(), "the server does not start")
	return lines.Text()
}

// Kill ends the process without warning, as kill -9 does, if it still runs.
func (p *Process) Kill(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Kill(); !errors.Is(err, os.ErrProcessDone) {
		require.NoError(t, err)
	}
	// Wait answers that the process was killed.
	_ = p.command.Wait()
	_ = p.input.Close()
}

// Restart starts the server again, on the data it had.
func (p *Process) Restart(t *testing.T) {
	t.Helper()
	p.Client.SetEndpoints(p.launch(t))
}
