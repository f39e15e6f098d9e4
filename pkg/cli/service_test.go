package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/app"
	"github.com/signpost-dns/signpost/pkg/cli/serve"
)

// running is a service with the embedded store, as `signpost serve` runs it.
type running struct {
	url         string
	directories string // the root of the directory clusters
	stop        func() error
}

// startService runs the service until the test ends; changes alter its
// configuration.
func startService(t *testing.T, changes ...func(*app.Config)) running {
	t.Helper()
	data := t.TempDir()
	ready := filepath.Join(data, "ready.json")
	ctx, cancel := context.WithCancel(context.Background())
	config := app.Config{
		Listeners: app.Listeners{Listen: "127.0.0.1:0", GRPCListen: "127.0.0.1:0", ReadyFile: ready},
		Stores:    app.Stores{DataDir: data}, Clusters: app.Clusters{DirectoryRoot: filepath.Join(data, "clusters")},
		Telemetry: app.Telemetry{LogLevel: "error", LogFormat: "text"}, Build: serve.ThisBuild(),
	}
	for _, change := range changes {
		change(&config)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- app.Run(ctx, config)
		close(ended)
	}()
	t.Cleanup(func() { cancel(); <-ended })
	var addresses struct{ HTTP string }
	require.Eventually(t, func() bool {
		content, err := os.ReadFile(ready)
		return err == nil && json.Unmarshal(content, &addresses) == nil
	}, waitLimit, tick, "the service is not ready")
	return running{
		url:         "http://" + addresses.HTTP,
		directories: filepath.Join(data, "clusters"),
		stop:        func() error { cancel(); return <-ended },
	}
}

// manifests are the files of the directory clusters.
func (r running) manifests(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(r.directories, "*", "*", "*.yaml"))
	require.NoError(t, err)
	for i, file := range files {
		files[i], err = filepath.Rel(r.directories, file)
		require.NoError(t, err)
	}
	return files
}
