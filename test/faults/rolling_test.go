package faults

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/e2e/etcd"
	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/process"
)

// lease is how long a worker that was killed is waited for.
const lease = 15 * time.Second

// rolled is an installation of one API replica and three workers, which share
// the root of a directory cluster.
type rolled struct {
	service

	program string
	dir     string
	args    []string
	started int
}

func newRolled(t *testing.T) *rolled {
	t.Helper()
	r := newInstallation(t, onEtcd(t)...)
	r.signpost = r.start("api")
	return r
}

// onEtcd starts an etcd, and answers the arguments that make replicas use it.
func onEtcd(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	store, err := etcd.NewServer(t.Context(), filepath.Join(dir, "etcd"), &process.Ports{})
	require.NoError(t, err)
	require.NoError(t, store.Start(t.Context()))
	t.Cleanup(store.Kill)
	key := filepath.Join(dir, "secret.key")
	require.NoError(t, os.WriteFile(key, []byte(base64.StdEncoding.EncodeToString(make([]byte, 32))), 0o600))
	return []string{"--etcd-endpoints=" + store.URL, "--secret-key-file=" + key}
}

// newInstallation prepares replicas over stores, and starts none.
func newInstallation(t *testing.T, stores ...string) *rolled {
	t.Helper()
	dir := t.TempDir()
	program, err := fixture.Build(t.Context(), dir)
	require.NoError(t, err)
	return &rolled{service: service{T: t}, program: program, dir: dir, args: append(
		stores, "--directory-root="+filepath.Join(dir, "clusters"), "--shared-directory-root")}
}

// start starts one more replica.
func (r *rolled) start(role string) *fixture.Signpost {
	r.Helper()
	r.started++
	name := fmt.Sprintf("%s-%d", role, r.started)
	s, err := fixture.NewSignpost(r.program, filepath.Join(r.dir, name), append([]string{"--role=" + role}, r.args...)...)
	require.NoError(r, err)
	require.NoError(r, s.Start(r.Context()))
	s.EndWith(r)
	return s
}

// published requires that a name is in the cluster.
func (r *rolled) published(host string) error {
	found := false
	err := filepath.WalkDir(filepath.Join(r.dir, "clusters"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		found = found || strings.Contains(string(content), host)
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("%s is not there", host)
	}
	return err
}

// follows gives the group another name, and measures how long that takes to
// arrive in the cluster.
func (r *rolled) follows(host string) time.Duration {
	r.Helper()
	r.rename(host)
	began := time.Now()
	r.call(http.MethodPost, group+"/update", "", http.StatusAccepted)
	r.eventually(host, func() error { return r.published(host) })
	return time.Since(began)
}

// TestARollingRestartPausesNoLongerThanALease: while each worker is replaced by a
// new one that is started before, what is accepted gets into the cluster all the
// time. So it does, after a lease, when they are killed instead, all but one.
func TestARollingRestartPausesNoLongerThanALease(t *testing.T) {
	r := newRolled(t)
	old := []*fixture.Signpost{r.start("worker"), r.start("worker"), r.start("worker")}
	r.intents(`{"directory": "hub"}`, deployed, oldHost)
	r.call(http.MethodPost, group+"/instantiate", "", http.StatusAccepted)
	r.eventually("the group to be instantiated", func() error { return r.is("Instantiated") })

	usual := r.follows("usual.lab.example")
	var longest time.Duration
	var workers []*fixture.Signpost
	for i, leaving := range old {
		workers = append(workers, r.start("worker"))
		ended := make(chan error, 1)
		go func() { ended <- leaving.Stop(patience) }()
		for n := range 5 { // while it leaves, and after
			longest = max(longest, r.follows(fmt.Sprintf("r%d-%d.lab.example", i, n)))
		}
		require.NoError(t, <-ended, "SIGTERM ends a worker cleanly")
	}
	t.Logf("the longest pause of the roll was %s, without it an update takes %s", longest, usual)
	require.Less(t, longest, lease+5*usual)

	workers[0].Kill()
	workers[1].Kill()
	took := r.follows("killed.lab.example")
	t.Logf("after kill -9 of two of three: %s", took)
	require.Less(t, took, 2*lease+5*usual)
}
