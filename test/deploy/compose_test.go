package deploy

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/tools"
)

// compose is docker-compose.yml as docker-compose reads it.
type compose struct {
	Services map[string]struct {
		Image       string            `json:"image"`
		Command     []string          `json:"command"`
		Environment map[string]string `json:"environment"`
		User        string            `json:"user"`
		Ports       []any             `json:"ports"`
		Volumes     []any             `json:"volumes"`
		Healthcheck struct {
			Test []string `json:"test"`
		} `json:"healthcheck"`
		ReadOnly bool `json:"read_only"`
	} `json:"services"`
	Networks map[string]struct {
		Internal bool `json:"internal"`
	} `json:"networks"`
	Secrets map[string]struct {
		File string `json:"file"`
	} `json:"secrets"`
}

// checkout copies what docker compose needs of the repository.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "deploy", "compose"), 0o755))
	for _, name := range []string{"docker-compose.yml", "deploy/compose/secrets.sh"} {
		content, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o755))
	}
	return dir
}

// makeSecrets runs the script and answers what it says.
func makeSecrets(t *testing.T, dir string) string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), filepath.Join(dir, "deploy", "compose", "secrets.sh")).CombinedOutput()
	require.NoError(t, err, "%s", output)
	return string(output)
}

// config is what docker-compose makes of the file.
func config(ctx context.Context, dir string) ([]byte, error) {
	program, err := exec.LookPath("docker-compose")
	if err != nil {
		return nil, fmt.Errorf("install the Debian package docker-compose: %w", err)
	}
	cmd := exec.CommandContext(ctx, program, "config")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	output, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("docker-compose config: %w\n%s", err, output)
	}
	return output, nil
}

func load(t *testing.T, dir string) compose {
	t.Helper()
	text, err := config(t.Context(), dir)
	require.NoError(t, err)
	var c compose
	require.NoError(t, yaml.Unmarshal(text, &c))
	return c
}

func TestComposeHasNoDefaultPassword(t *testing.T) {
	dir := checkout(t)
	_, err := config(t.Context(), dir)
	require.ErrorContains(t, err, "run deploy/compose/secrets.sh first")
	makeSecrets(t, dir)
	_, err = config(t.Context(), dir)
	require.NoError(t, err)
}

func TestComposeSecretsAreMadeOnce(t *testing.T) {
	dir := checkout(t)
	first := makeSecrets(t, dir)
	files := []string{".env", "deploy/compose/secrets/tokens", "deploy/compose/secrets/signpost-key", "deploy/compose/secrets/mongodb-key"}
	before := map[string]string{}
	for _, name := range files {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, "-rw-------", info.Mode().String(), name)
		before[name] = read(t, filepath.Join(dir, name))
	}
	require.Equal(t, first, makeSecrets(t, dir), "the same token")
	for _, name := range files {
		require.Equal(t, before[name], read(t, filepath.Join(dir, name)), name)
	}
	require.NotEqual(t, first, makeSecrets(t, checkout(t)), "another checkout has others")
}

// TestSignpostReadsItsFilesInCompose: they belong to the user that compose runs
// it as, also where root runs the script after somebody else had.
func TestSignpostReadsItsFilesInCompose(t *testing.T) {
	ran := fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
	if os.Getuid() == 0 {
		ran = "4242:4243"
	}
	for _, before := range []string{"", "MONGO_PASSWORD=x\nSIGNPOST_USER=" + ran + "\n"} {
		dir := checkout(t)
		if before != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, ".env"), []byte(before), 0o600))
		}
		makeSecrets(t, dir)
		user := load(t, dir).Services["signpost"].User
		if before != "" {
			require.Equal(t, ran, user)
		}
		for name, mode := range map[string]string{"clusters": "drwxr-xr-x", "secrets/tokens": "-rw-------", "secrets/signpost-key": "-rw-------"} {
			info, err := os.Stat(filepath.Join(dir, "deploy", "compose", name))
			require.NoError(t, err)
			require.Equal(t, mode, info.Mode().String(), name)
			owner, ok := info.Sys().(*syscall.Stat_t)
			require.True(t, ok)
			require.Equal(t, user, fmt.Sprintf("%d:%d", owner.Uid, owner.Gid), name)
		}
	}
}

func TestComposeIsClosed(t *testing.T) {
	dir := checkout(t)
	makeSecrets(t, dir)
	c := load(t, dir)
	require.Len(t, c.Services, 3)
	for name, service := range c.Services {
		require.NotEmpty(t, service.Healthcheck.Test, "%s has a health check", name)
		require.NotEmpty(t, service.Volumes, "%s keeps its data", name)
		require.Regexp(t, `:[^:]+$`, service.Image, "%s names a version", name)
		require.NotContains(t, service.Image, ":latest", name)
		for _, port := range service.Ports {
			require.Contains(t, fmt.Sprint(port), "127.0.0.1", "a port of %s", name)
		}
	}
	require.Empty(t, c.Services["mongodb"].Ports)
	require.Empty(t, c.Services["etcd"].Ports)
	require.True(t, c.Networks["stores"].Internal)
	require.True(t, c.Services["signpost"].ReadOnly)
	require.NotRegexp(t, "^(|0|root)(:|$)", c.Services["signpost"].User, "Signpost does not run as root")
	for name, secret := range c.Secrets {
		require.FileExists(t, secret.File, name)
	}
}

// The command lines of etcd and Signpost, on a server that speaks MongoDB's
// protocol but knows no users and no replica sets.
func TestComposeRuns(t *testing.T) {
	dir := checkout(t)
	printed := makeSecrets(t, dir)
	c := load(t, dir)
	free := addresses(t, 4)
	etcd := composeEtcd(t, c, free[0], free[1])

	signpost := c.Services["signpost"]
	require.Equal(t, []string{"CMD", "/usr/local/bin/signpost", "ready"}, signpost.Healthcheck.Test)
	uri := signpost.Environment["SIGNPOST_MONGO_URI"]
	require.Regexp(t, `^mongodb://signpost:[^@]{20,}@mongodb:27017/signpost\?replicaSet=rs0&authSource=admin$`, uri)
	require.Contains(t, uri, c.Services["mongodb"].Environment["MONGO_INITDB_ROOT_PASSWORD"])
	secrets := filepath.Join(dir, "deploy", "compose", "secrets")
	server := container{args: signpost.Command, env: signpost.Environment}.translated(
		uri, mongo(t),
		"http://etcd:2379", etcd,
		"0.0.0.0:9018", free[2], "0.0.0.0:9048", free[3],
		"/run/secrets", secrets, "/clusters", filepath.Join(dir, "deploy", "compose", "clusters"),
	)
	server.serves(t, build(t), free[2], lastLine(printed))
}

// composeEtcd runs etcd as docker-compose.yml says and answers its URL.
func composeEtcd(t *testing.T, c compose, client, peer string) string {
	t.Helper()
	program, err := tools.Path(t.Context(), tools.Etcd)
	require.NoError(t, err)
	command := c.Services["etcd"].Command
	require.Equal(t, "etcd", command[0])
	dir, url := t.TempDir(), "http://"+client
	own := container{args: command[1:], env: map[string]string{
		"ETCD_LISTEN_PEER_URLS": "http://" + peer, "ETCD_INITIAL_ADVERTISE_PEER_URLS": "http://" + peer, "ETCD_INITIAL_CLUSTER": "etcd=http://" + peer,
	}}.translated("http://0.0.0.0:2379", url, "http://etcd:2379", url, "/etcd-data", filepath.Join(dir, "data"))
	p := own.process("etcd", program, dir)
	p.Ready = process.Answers(url + "/health")
	t.Cleanup(p.Kill)
	require.NoError(t, p.Start(t.Context()))
	return url
}

// mongo starts a server that speaks MongoDB's protocol and answers its URI.
func mongo(t *testing.T) string {
	t.Helper()
	for _, arg := range stores(t).Args() {
		if uri, ok := strings.CutPrefix(arg, "--mongo-uri="); ok {
			return uri
		}
	}
	t.Fatal("the stores have no MongoDB")
	return ""
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
