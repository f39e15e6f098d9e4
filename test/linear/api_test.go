package linear

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/sample"
	server "github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/process"
)

// ofAPI calls a replica by HTTP: cluster providers, with If-Match and If-None-Match.
type ofAPI struct {
	replica *fixture.Signpost
	client  *http.Client
}

func (a ofAPI) call(ctx context.Context, c call) answer {
	url, err := a.replica.URL()
	if err != nil {
		return answer{outcome: unsent} // it starts
	}
	method, body := http.MethodGet, ""
	switch c.verb {
	case write:
		method, body = http.MethodPut, fmt.Sprintf(`{"metadata":{"name":%q,"description":%q}}`, c.key, c.body)
	case remove:
		method = http.MethodDelete
	}
	request, err := http.NewRequestWithContext(ctx, method, url+"/v2/cluster-providers/"+c.key, strings.NewReader(body))
	if err != nil {
		return answer{outcome: unsent}
	}
	request.Header.Set("Content-Type", "application/json")
	switch {
	case c.when.any:
	case c.when.revision != 0:
		request.Header.Set("If-Match", fmt.Sprintf("%q", fmt.Sprint(c.when.revision)))
	case c.verb == write:
		request.Header.Set("If-None-Match", "*")
	}
	response, err := a.client.Do(request)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return answer{outcome: unsent}
	}
	if err != nil {
		return answer{outcome: unknown}
	}
	defer response.Body.Close()
	var doc struct {
		Metadata struct {
			Description string
			Revision    int64
		}
	}
	switch response.StatusCode {
	case http.StatusOK, http.StatusCreated:
		if json.NewDecoder(response.Body).Decode(&doc) != nil {
			return answer{outcome: unknown}
		}
		return answer{done, doc.Metadata.Revision, doc.Metadata.Description}
	case http.StatusNoContent:
		return answer{outcome: done}
	case http.StatusNotFound:
		return answer{outcome: missing}
	case http.StatusPreconditionFailed:
		return answer{outcome: refused}
	case http.StatusConflict, http.StatusTooManyRequests: // nothing was done, for a reason besides the condition
		return answer{outcome: unsent}
	}
	return answer{outcome: unknown}
}

// TestTheAPIIsLinearizable: two replicas over one etcd. Meanwhile kill -9 ends one replica,
// the etcd and the other replica, and each starts again.
func TestTheAPIIsLinearizable(t *testing.T) {
	dir := t.TempDir()
	etcdServer, err := server.NewServer(t.Context(), filepath.Join(dir, "etcd"), new(process.Ports))
	require.NoError(t, err)
	require.NoError(t, etcdServer.Start(t.Context()))
	t.Cleanup(etcdServer.Kill)
	program, err := fixture.Build(t.Context(), dir)
	require.NoError(t, err)
	key := filepath.Join(dir, "secret.key")
	require.NoError(t, os.WriteFile(key, []byte(base64.StdEncoding.EncodeToString(make([]byte, 32))), 0o600))
	var callers []caller
	var replicas []*fixture.Signpost
	for n := range 2 {
		replica, err := fixture.NewSignpost(program, filepath.Join(dir, fmt.Sprint(n)), "--etcd-endpoints="+etcdServer.URL, "--secret-key-file="+key, "--rate-limit=0")
		require.NoError(t, err)
		require.NoError(t, replica.Start(t.Context()))
		t.Cleanup(replica.Kill)
		replicas = append(replicas, replica)
		callers = append(callers, several(3, ofAPI{replica, &http.Client{Timeout: time.Minute}})...)
	}
	faults := make(chan error, 3)
	next := make(chan func() error, 3)
	next <- func() error { return replicas[0].Restart(context.WithoutCancel(t.Context())) }
	next <- func() error { etcdServer.Kill(); return etcdServer.Start(context.WithoutCancel(t.Context())) }
	next <- func() error { return replicas[1].Restart(context.WithoutCancel(t.Context())) }
	calls := sample.Cases(60, 200, 2000)
	var one sync.Mutex // a replica cannot start while there is no etcd
	fault := everyOnce(len(callers)*calls/4, func() {
		one.Lock()
		defer one.Unlock()
		faults <- (<-next)()
	})
	history := load{callers: callers, calls: calls, keys: 4, seed: sample.Seed(t), after: fault}.run(t.Context())
	for range 3 {
		require.NoError(t, <-faults)
	}
	require.Equal(t, porcupine.Ok, judge(t, promise{restarts: true}, history))
}
