package faults

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/test/e2e/fixture"
	"github.com/signpost-dns/signpost/test/e2e/wait"
)

// patience is how long anything may take on a busy machine.
const patience = time.Minute

// address is what the cloud gave the app's load balancer.
const address = "203.0.113.10"

// group is the path of the deployment intent group.
const group = "/v2/projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"

// service is a Signpost with one deployment intent group.
type service struct {
	*testing.T

	signpost *fixture.Signpost
	posted   []string // the paths of all documents
}

// newSignpost prepares a server with its files in dir.
func newSignpost(t *testing.T, dir string, args ...string) *fixture.Signpost {
	t.Helper()
	program, err := fixture.Build(t.Context(), dir)
	require.NoError(t, err)
	key := filepath.Join(dir, "secret.key")
	require.NoError(t, os.WriteFile(key, []byte(base64.StdEncoding.EncodeToString(make([]byte, 32))), 0o600))
	signpost, err := fixture.NewSignpost(program, filepath.Join(dir, "server"), append(args, "--secret-key-file="+key)...)
	require.NoError(t, err)
	signpost.EndWith(t)
	return signpost
}

// intents posts all documents: of the only cluster, and of a group of one app
// with one host name.
func (s *service) intents(cluster, app, host string) {
	s.Helper()
	const clouds, apps = "/v2/projects/shop/logical-clouds", "/v2/projects/shop/composite-apps"
	for _, d := range []struct{ collection, name, spec string }{
		{"/v2/cluster-providers", "edge", `{}`},
		{"/v2/cluster-providers/edge/clusters", "hub", cluster},
		{"/v2/projects", "shop", `{}`},
		{"/v2/projects/shop/dns-update-records", "lab", `{
			"provider": "coredns", "environment": {"ETCD_URLS": "http://127.0.0.1:2379"}, "releaseTimeout": "1s",
			"external-dns-parameters": {"policy": "sync", "domain-filter": ["lab.example"]}
		}`},
		{clouds, "eu", `{"namespace": "shop", "controllerCluster": {"clusterProvider": "edge", "cluster": "hub"}}`},
		{clouds + "/eu/cluster-references", "hub", `{"clusterProvider": "edge", "cluster": "hub"}`},
		{clouds + "/eu/kv-pairs", "dns-update-record-list", `{"kv": [{"key1": "lab"}]}`},
		{apps, "store", `{"compositeAppVersion": "v1"}`},
		{apps + "/store/v1/deployment-intent-groups", "prod", `{"logicalCloud": "eu", "apps": [` + app + `]}`},
		{group + "/traffic-group-intents", "front", `{}`},
		{group + "/traffic-group-intents/front/dns-intents", "www", naming(host)},
	} {
		s.call(http.MethodPost, d.collection, document(d.name, d.spec), http.StatusCreated)
		item := d.collection + "/" + d.name
		if d.collection == apps {
			item += "/v1"
		}
		s.posted = append(s.posted, item)
	}
}

func document(name, spec string) string {
	return fmt.Sprintf(`{"metadata": {"name": %q}, "spec": %s}`, name, spec)
}

func naming(host string) string {
	return fmt.Sprintf(`{"app": "web", "serviceName": "web", "ttl": 5, "hostnames": [%q]}`, host)
}

// rename gives the app another host name.
func (s *service) rename(host string) {
	s.Helper()
	s.call(http.MethodPut, group+"/traffic-group-intents/front/dns-intents/www", document("www", naming(host)), http.StatusOK)
}

// call expects one status.
func (s *service) call(method, path, body string, want int) {
	s.Helper()
	answer, err := s.signpost.Do(s.Context(), method, path, body)
	require.NoError(s, err)
	require.Equal(s, want, answer.Status, "%s: %s", answer.Call, answer.Body)
}

// allPosted expects all documents to be there.
func (s *service) allPosted() {
	s.Helper()
	for _, path := range s.posted {
		s.call(http.MethodGet, path, "", http.StatusOK)
	}
}

// eventually waits until check succeeds.
func (s *service) eventually(what string, check func() error) {
	s.Helper()
	wait.For(s.T, patience, what, check)
}

// is expects the group to be in a state now.
func (s *service) is(state string) error {
	answer, err := s.signpost.Do(s.Context(), http.MethodGet, group+"/status", "")
	if err != nil {
		return err
	}
	var now struct{ State string }
	if err := answer.JSON(&now); err != nil {
		return err
	}
	if now.State != state {
		return fmt.Errorf("the group is %q, want %s", now.State, state)
	}
	return nil
}
