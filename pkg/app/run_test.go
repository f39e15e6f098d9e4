package app

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
)

// patience is how long a test waits for what happens in a moment.
const patience = 30 * time.Second

// server is a Signpost that runs in this process.
type server struct {
	t          *testing.T
	http, grpc string
	pprof      string // empty without
	end        context.CancelFunc
	ended      chan error
}

// serve runs Signpost on a data directory and waits until it says by its ready
// file that it is ready.
func serve(t *testing.T, dir string, changes ...func(c *Config)) *server {
	ready := filepath.Join(t.TempDir(), "ready")
	config := fits()
	config.DataDir, config.ReadyFile, config.LogLevel = dir, ready, "error"
	for _, change := range changes {
		change(&config)
	}
	ctx, end := context.WithCancel(t.Context())
	s := &server{t: t, end: end, ended: make(chan error, 1)}
	gone := make(chan struct{})
	go func() { defer close(gone); s.ended <- Run(ctx, config) }()
	t.Cleanup(func() { end(); <-gone }) // it writes no more when its directory is removed
	deadline := time.After(patience)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		raw, err := os.ReadFile(ready)
		if err == nil {
			var where struct{ HTTP, GRPC, Pprof string }
			require.NoError(t, json.Unmarshal(raw, &where), "it is written whole")
			s.http, s.grpc, s.pprof = where.HTTP, where.GRPC, where.Pprof
			return s
		}
		require.ErrorIs(t, err, fs.ErrNotExist)
		select {
		case err := <-s.ended:
			require.FailNow(t, "it ended", "%v", err)
		case <-deadline:
			require.FailNow(t, "it does not get ready")
		case <-tick.C:
		}
	}
}

// stop asks for the end and waits for it.
func (s *server) stop() {
	s.end()
	select {
	case err := <-s.ended:
		require.NoError(s.t, err)
	case <-time.After(patience):
		require.FailNow(s.t, "it does not end")
	}
}

func (s *server) get(path string) (status int, body string) {
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, "http://"+s.http+path, http.NoBody)
	require.NoError(s.t, err)
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	require.NoError(s.t, err)
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	require.NoError(s.t, err)
	return answer.StatusCode, string(raw)
}

func (s *server) health() grpc_health_v1.HealthCheckResponse_ServingStatus {
	client, err := grpc.NewClient(s.grpc, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(s.t, err)
	defer client.Close()
	answer, err := grpc_health_v1.NewHealthClient(client).Check(s.t.Context(), &grpc_health_v1.HealthCheckRequest{}, grpc.WaitForReady(true))
	require.NoError(s.t, err)
	return answer.GetStatus()
}

func TestSignpostStartsAnswersEndsAndStartsAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := serve(t, dir)
	for path, says := range map[string]string{"/healthz": "", "/readyz": "etcd", "/version": "", "/metrics": "signpost_etcd_database_quota_bytes 8.589934592e+09"} {
		code, body := first.get(path)
		require.Equal(t, http.StatusOK, code, path)
		require.Contains(t, body, says, path)
	}
	require.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, first.health())
	_, metrics := first.get("/metrics")
	require.Contains(t, metrics, "signpost_health_frozen 0")
	key, err := os.ReadFile(filepath.Join(dir, "secret.key"))
	require.NoError(t, err)
	first.stop()
	_, err = net.DialTimeout("tcp", first.http, time.Second)
	require.Error(t, err, "the listener is closed")

	before := installationOf(t, dir)
	second := serve(t, dir)
	require.Eventually(t, func() bool {
		code, body := second.get("/readyz")
		require.Equal(t, http.StatusOK, code, "what is being loaded makes it not unready")
		return !strings.Contains(body, "loading")
	}, time.Minute, time.Second/50, "all is loaded")
	second.stop()
	require.Equal(t, before, installationOf(t, dir), "the installation stays who it is")
	again, err := os.ReadFile(filepath.Join(dir, "secret.key"))
	require.NoError(t, err)
	require.Equal(t, key, again, "and can open its secrets")
}

// installationOf reads the identity out of the data of a server that ended.
func installationOf(t *testing.T, dir string) string {
	config := fits()
	config.DataDir = dir
	log, err := newLogger(Config{Telemetry: Telemetry{LogLevel: "error", LogFormat: "text"}}, io.Discard)
	require.NoError(t, err)
	stores, err := openStores(t.Context(), config, log)
	require.NoError(t, err)
	doc, err := stores.documents.Get(t.Context(), intent.Join(intent.InstallationCollection, "id"))
	require.NoError(t, err)
	require.NoError(t, stores.close())
	return string(doc.Body)
}

// TestAnEndlessStreamDoesNotHoldTheEndUp: as of a client that watches our
// health.
func TestAnEndlessStreamDoesNotHoldTheEndUp(t *testing.T) {
	t.Parallel()
	e := &edge{http: &http.Server{ReadHeaderTimeout: patience}, grpc: grpc.NewServer(), health: health.NewServer(), drain: 50 * time.Millisecond}
	grpc_health_v1.RegisterHealthServer(e.grpc, e.health)
	l, err := listen(fits())
	require.NoError(t, err)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.serve(ctx, l) }()
	client, err := grpc.NewClient(l.grpc.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer client.Close()
	stream, err := grpc_health_v1.NewHealthClient(client).Watch(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	require.NoError(t, err)
	_, err = stream.Recv()
	require.NoError(t, err)
	(&server{t: t, end: end, ended: ended}).stop()
}

func TestTheInstallationIsNamedOnce(t *testing.T) {
	t.Parallel()
	documents := etcd.New(kvtest.NewFake())
	first, err := installation(t.Context(), documents)
	require.NoError(t, err)
	require.Regexp(t, `^[a-z0-9]{26}$`, first, "a label's value may hold it")
	second, err := installation(t.Context(), documents)
	require.NoError(t, err)
	require.Equal(t, first, second)

	fake := kvtest.NewFake()
	fake.Before = func(string, string) error { return errors.New("no leader") }
	_, err = installation(t.Context(), etcd.New(fake))
	require.ErrorContains(t, err, "no leader")
}

func TestWhatCannotStartSaysWhy(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	for _, c := range []struct {
		reason string
		change func(c *Config)
		says   string
	}{
		{"a configuration that does not fit", func(c *Config) { c.Listen = ":9018" }, "--token-file"},
		{"an unknown log level", func(c *Config) { c.LogLevel = "loud" }, "--log-level"},
		{"an unknown log format", func(c *Config) { c.LogFormat = "xml" }, "--log-format"},
		{"a port that is taken", func(c *Config) { c.Listen = taken.Addr().String() }, "--listen"},
		{"a gRPC port that is taken", func(c *Config) { c.GRPCListen = taken.Addr().String() }, "--grpc-listen"},
		{"a token file that is not there", func(c *Config) { c.TokenFile = file + ".missing" }, "--token-file"},
		{"a secret key that is none", func(c *Config) { c.SecretKeyFile = file }, "--secret-key-file"},
		{"a generated key that was damaged", func(c *Config) {
			require.NoError(t, os.WriteFile(filepath.Join(c.DataDir, "secret.key"), []byte("half a k"), 0o600))
		}, "secret.key: a key is base64 of 32 bytes, which this is not: restore it from a backup"},
		{"a data directory that is a file", func(c *Config) { c.DataDir = file }, "--data-dir: make the data directory"},
		{"a data directory that cannot be written", func(c *Config) { c.DataDir = "/proc" }, "--data-dir: make the data directory"},
		{"a MongoDB that is none", func(c *Config) { c.MongoURI, c.SecretKeyFile = "http://m", file }, "--mongo-uri"},
		{"a ready file that cannot be written", func(c *Config) { c.ReadyFile = file + "/ready" }, "--ready-file"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			config := fits()
			config.DataDir, config.LogLevel = t.TempDir(), "error"
			c.change(&config)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			require.ErrorContains(t, Run(ctx, config), c.says)
			require.NoError(t, ctx.Err(), "it ends by itself")
		})
	}
}
