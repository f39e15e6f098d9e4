// Package deploy proves the files that Signpost is deployed by, as far as that
// goes without a container engine: docker-compose accepts docker-compose.yml, a
// real API server accepts what kustomize builds, and the command lines of the
// containers run as processes. A process shares its files and its network with
// all others, so the paths and addresses in a command line are replaced; nothing
// else is. What cannot be shown here: that the images can be pulled and built,
// and what is inside the one of MongoDB.
package deploy

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/process"
)

// root is the directory of the repository.
const root = "../.."

const patience = time.Minute

// container is what a container is started with.
type container struct {
	args []string
	env  map[string]string
}

// translated is the container with other paths and addresses, given in pairs.
func (c container) translated(pairs ...string) container {
	replacer := strings.NewReplacer(pairs...)
	result := container{env: map[string]string{}}
	for _, arg := range c.args {
		result.args = append(result.args, replacer.Replace(arg))
	}
	for name, value := range c.env {
		result.env[name] = replacer.Replace(value)
	}
	return result
}

// process is the container as a process of this program.
func (c container) process(name, program, dir string) *process.Process {
	p := &process.Process{Name: name, Path: program, Args: c.args, Log: filepath.Join(dir, name+".log")}
	for name, value := range c.env {
		p.Env = append(p.Env, name+"="+value)
	}
	return p
}

// serves starts the container as a Signpost server at an address, asks it what
// a platform team would ask first, and ends it.
func (c container) serves(t *testing.T, program, address, token string) {
	t.Helper()
	c.answers(t, program, address, token, http.StatusUnauthorized, http.StatusCreated)
}

// works starts the container as a worker, which accepts no requests.
func (c container) works(t *testing.T, program, address, token string) {
	t.Helper()
	c.answers(t, program, address, token, http.StatusNotFound, http.StatusNotFound)
}

// answers starts the container, requires the statuses of a request without and
// with the token, and ends it.
func (c container) answers(t *testing.T, program, address, token string, without, with int) {
	t.Helper()
	p := c.process("signpost", program, t.TempDir())
	server := "http://" + address
	p.Ready = func(ctx context.Context) error { return ready(ctx, program, server) }
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, p.Start(ctx))
	t.Cleanup(p.Kill)
	require.Equal(t, without, post(t, server, ""), "without a token")
	require.Equal(t, with, post(t, server, token), "with the token: %s", p.Tail(5))
	require.NoError(t, p.Stop(patience), "SIGTERM ends it cleanly")
}

// ready runs the health check of the images: signpost ready.
func ready(ctx context.Context, program, server string) error {
	check := process.Process{Name: "ready", Path: program, Args: []string{"ready", "--server=" + server}, Log: os.DevNull}
	if err := check.Launch(); err != nil {
		return err
	}
	select {
	case <-check.Done():
		return check.Err()
	case <-ctx.Done():
		check.Kill()
		return ctx.Err()
	}
}

// post makes a project and answers the status.
func post(t *testing.T, server, token string) int {
	t.Helper()
	return postBy(t, http.DefaultClient, server, token)
}

func postBy(t *testing.T, client *http.Client, server, token string) int {
	t.Helper()
	body := strings.NewReader(`{"metadata":{"name":"shop"},"spec":{}}`)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server+"/v2/projects", body)
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}

// build builds the program.
func build(t *testing.T) string {
	t.Helper()
	program, err := fixture.Build(t.Context(), t.TempDir())
	require.NoError(t, err)
	return program
}

// stores starts an etcd and a server that speaks MongoDB's protocol.
func stores(t *testing.T) *fixture.Stores {
	t.Helper()
	started, err := fixture.StartStores(t.Context(), t.TempDir(), &process.Ports{})
	t.Cleanup(started.Close)
	require.NoError(t, err)
	return started
}

// addresses are free loopback addresses.
func addresses(t *testing.T, n int) []string {
	t.Helper()
	ports := &process.Ports{}
	var free []string
	for range n {
		address, err := ports.Address(t.Context())
		require.NoError(t, err)
		free = append(free, address)
	}
	return free
}
