package faults

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/process"
	"github.com/signpost-dns/signpost/test/stores"
)

// mall is the path of a name that belongs to no group.
const mall = "/v2/projects/shop/names/mall.names.example"

// TestTwoVersionsServeSideBySide: replicas of the commit in the file previous, and of this
// one, over the same stores. The installation is rolled up, and down again, while a group and
// a name change through replicas of both versions. Each time one replica dies by kill -9 as
// soon as it has accepted changes of both, which the others finish.
func TestTwoVersionsServeSideBySide(t *testing.T) {
	previous := buildPrevious(t)
	for name, over := range map[string]func(*testing.T) []string{"etcd": onEtcd, "MongoDB": onMongo} {
		t.Run(name, func(t *testing.T) { newInstallation(t, over(t)...).upAndDown(previous) })
	}
}

// onMongo starts a server that speaks MongoDB's protocol, for documents, and an etcd.
func onMongo(t *testing.T) []string {
	t.Helper()
	both, err := fixture.StartStores(t.Context(), t.TempDir(), &process.Ports{})
	t.Cleanup(both.Close)
	require.NoError(t, err)
	proxy, err := stores.NewSerial(t.Context(), both.MongoAddress)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, proxy.Close()) })
	both.MongoAddress = proxy.Address()
	return both.Args()
}

// upAndDown rolls from the previous version to this one, and back.
func (r *rolled) upAndDown(previous string) {
	this := r.program
	replica := func(program string) *fixture.Signpost {
		r.program = program
		return r.start("all")
	}
	old, older := replica(previous), replica(previous)
	r.begin(old)

	r.Log("up: by the new version beside the old one, and the other way round")
	next := replica(this)
	r.changes(next, "up-new.lab.example", "198.51.100.2")
	r.changes(old, "up-old.lab.example", "198.51.100.3")
	r.dies(old, next, "up-crash.lab.example", "198.51.100.4")
	require.NoError(r, older.Stop(patience))
	r.changes(next, "up.lab.example", "198.51.100.5")

	r.Log("down: nothing new is stored, so the old version goes on")
	old = replica(previous)
	r.changes(old, "down-old.lab.example", "198.51.100.6")
	r.dies(next, old, "down-crash.lab.example", "198.51.100.7")
	r.changes(old, "down.lab.example", "198.51.100.8")
	r.end()
}

// begin publishes a group, and a name without a group.
func (r *rolled) begin(replica *fixture.Signpost) {
	r.Helper()
	r.signpost = replica
	r.intents(`{"directory": "hub"}`, deployed, oldHost)
	r.call(http.MethodPost, "/v2/projects/shop/dns-update-records", document("names", `{
		"provider": "coredns", "environment": {"ETCD_URLS": "http://127.0.0.1:2379"}, "releaseTimeout": "1s",
		"external-dns-parameters": {"policy": "sync", "domain-filter": ["names.example"]},
		"deployOn": {"clusterProvider": "edge", "cluster": "hub"}}`), http.StatusCreated)
	r.call(http.MethodPost, group+"/instantiate", "", http.StatusAccepted)
	r.eventually("the group to be instantiated", func() error { return r.is("Instantiated") })
	r.leads("198.51.100.1", http.StatusCreated)
	r.eventually("the name", func() error { return r.published("198.51.100.1") })
}

// end removes both.
func (r *rolled) end() {
	r.Helper()
	r.allPosted()
	r.call(http.MethodDelete, mall, "", http.StatusAccepted)
	r.eventually("the name to be deleted", func() error {
		answer, err := r.signpost.Do(r.Context(), http.MethodGet, mall, "")
		if err == nil && answer.Status != http.StatusNotFound {
			err = answer.Unexpected(http.StatusNotFound)
		}
		return err
	})
	r.call(http.MethodPost, group+"/terminate", "", http.StatusAccepted)
	r.eventually("the group to be terminated", func() error { return r.is("Terminated") })
}

// leads has the name lead to an address.
func (r *rolled) leads(address string, want int) {
	r.Helper()
	r.call(http.MethodPut, mall, document(filepath.Base(mall), fmt.Sprintf(`{"addresses": [%q]}`, address)), want)
}

// changes gives the group another host, and the name another address, through a replica.
func (r *rolled) changes(replica *fixture.Signpost, host, address string) {
	r.Helper()
	r.signpost = replica
	r.follows(host)
	r.leads(address, http.StatusOK)
	r.eventually(address, func() error { return r.published(address) })
}

// dies has a replica accept another address and an update, and die. The other one, which is
// asked from then on, brings both to their end.
func (r *rolled) dies(one, other *fixture.Signpost, host, address string) {
	r.Helper()
	r.signpost = one
	r.rename(host)
	r.leads(address, http.StatusOK)
	r.call(http.MethodPost, group+"/update", "", http.StatusAccepted)
	one.Kill()
	r.signpost = other
	for _, text := range []string{host, address} {
		r.eventually(text, func() error { return r.published(text) })
	}
	r.eventually("the group to be updated", func() error { return r.is("Instantiated") })
}

// buildPrevious builds the program of the commit in the file previous.
func buildPrevious(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("previous")
	require.NoError(t, err)
	commit, dir := strings.TrimSpace(string(text)), filepath.Join(t.TempDir(), "previous")
	run := func(in, name string, args ...string) {
		command := exec.CommandContext(t.Context(), name, args...)
		command.Dir, command.Env = in, append(os.Environ(), "CGO_ENABLED=0")
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%s %s: it takes the whole history of the repository\n%s", name, strings.Join(args, " "), output)
	}
	origin, err := filepath.Abs("../..")
	require.NoError(t, err)
	run(origin, "git", "clone", "--quiet", "--shared", "--no-checkout", origin, dir)
	run(dir, "git", "checkout", "--quiet", commit)
	run(dir, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", "bin/", "./cmd/signpost")
	return filepath.Join(dir, "bin", "signpost")
}
