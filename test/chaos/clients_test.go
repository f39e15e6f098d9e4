package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
)

// answerWithin is how long a client waits for an answer.
const answerWithin = 20 * time.Second

// client writes as a careful one does: it asks any of the API replicas, and again
// until it has an answer that says how it went.
type client struct {
	*site
	ends context.Context //nolint:containedctx // a client gives up when its time is over

	mu       sync.Mutex
	refusals int
	answers  int
}

// do makes one attempt. 0 stands for an answer that leaves open whether it was done.
func (c *client) do(method, path, body string) int {
	replicas := c.with("api")
	ctx, cancel := context.WithTimeout(c.Context(), answerWithin)
	defer cancel()
	answer, err := replicas[rand.IntN(len(replicas))].Do(ctx, method, path, body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers++
	switch {
	case err != nil, answer.Status == http.StatusServiceUnavailable, answer.Status == http.StatusTooManyRequests:
		c.refusals++
		return 0
	case answer.Status >= http.StatusInternalServerError, answer.Status == http.StatusBadRequest:
		c.Errorf("an answer that nobody should get: %s: %d: %s", answer.Call, answer.Status, answer.Body)
		return 0
	}
	return answer.Status
}

// until asks until the status is one of these, and answers whether it came to that
// before the client's time was over.
func (c *client) until(method, path, body string, want ...int) bool {
	for c.ends.Err() == nil {
		status := c.do(method, path, body)
		if slices.Contains(want, status) {
			return true
		}
		if status == 0 {
			pause(c.ends, 50*time.Millisecond)
		}
	}
	return false
}

// archive posts projects of its own, each by another name.
type archive struct {
	*client
	acknowledged []string
}

func (a *archive) write(name string) {
	for n := 0; a.ends.Err() == nil; n++ {
		project := fmt.Sprintf("%s-%d", name, n)
		if a.until(http.MethodPost, "/v2/projects", document(project, `{}`), http.StatusCreated, http.StatusConflict) {
			a.acknowledged = append(a.acknowledged, "/v2/projects/"+project)
		}
		pause(a.ends, 20*time.Millisecond)
	}
}

// renamer gives a group one name after another, and updates it each time.
type renamer struct {
	*client
	group   string
	turns   int
	updates int
	may     []string // what the group's name may be now, as far as answers tell
}

func (g *renamer) path() string {
	return "/v2/projects/shop/composite-apps/store/v1/deployment-intent-groups/" + g.group
}

func (g *renamer) host() string { return fmt.Sprintf("h%d-%s.lab.example", g.turns, g.group) }

func (g *renamer) write() {
	for g.ends.Err() == nil {
		g.turns++
		host := g.host()
		g.may = append(g.may, host)
		if !g.until(http.MethodPut, g.path()+"/traffic-group-intents/front/dns-intents/www", document("www", naming(host)), http.StatusOK) ||
			!g.until(http.MethodPost, g.path()+"/update", "", http.StatusAccepted) {
			return
		}
		g.may = []string{host}
		g.updates++
		pause(g.ends, time.Duration(rand.IntN(1500))*time.Millisecond)
	}
}

// cloud gives a cluster's load balancer other addresses, as long as it may, and
// says in the end which one is the last.
type cloud struct {
	*client
	cluster *cluster
	prefix  string
	last    string
}

func (l *cloud) write() {
	for n := 1; l.ends.Err() == nil; n++ {
		l.set(fmt.Sprintf("%s.%d", l.prefix, n%250+1))
		pause(l.ends, time.Duration(2000+rand.IntN(4000))*time.Millisecond)
	}
}

// set insists: a cluster that is down comes back.
func (l *cloud) set(address string) {
	for l.Context().Err() == nil {
		ctx, cancel := context.WithTimeout(l.Context(), answerWithin)
		err := l.cluster.SetLoadBalancer(ctx, "shop", "web", address)
		cancel()
		if err == nil {
			l.last = address
			return
		}
		pause(l.Context(), 200*time.Millisecond)
	}
}

func document(name, spec string) string {
	return fmt.Sprintf(`{"metadata": {"name": %q}, "spec": %s}`, name, spec)
}

func naming(host string) string {
	return fmt.Sprintf(`{"app": "web", "serviceName": "web", "ttl": 5, "hostnames": [%q]}`, host)
}

// post posts the documents of the story: an app in two clusters, and groups of it
// with one name each, all instantiated.
func (s *site) post(groups ...string) {
	s.Helper()
	const clouds, apps = "/v2/projects/shop/logical-clouds", "/v2/projects/shop/composite-apps"
	type post struct{ collection, name, spec string }
	posts := []post{{"/v2/cluster-providers", "edge", `{}`}}
	for _, c := range s.clusters {
		posts = append(posts, post{"/v2/cluster-providers/edge/clusters", c.Name, c.kubeconfig(s.T)})
	}
	posts = append(posts, []post{
		{"/v2/projects", "shop", `{"namespaces": ["shop"]}`},
		{"/v2/projects/shop/dns-update-records", "lab", `{
			"provider": "coredns", "environment": {"ETCD_URLS": "http://127.0.0.1:2379"}, "releaseTimeout": "1s",
			"external-dns-parameters": {"policy": "sync", "domain-filter": ["lab.example"]}
		}`},
		{clouds, "eu", `{"namespace": "shop", "controllerCluster": {"clusterProvider": "edge", "cluster": "hub"}}`},
		{clouds + "/eu/cluster-references", "berlin", `{"clusterProvider": "edge", "cluster": "berlin"}`},
		{clouds + "/eu/cluster-references", "paris", `{"clusterProvider": "edge", "cluster": "paris"}`},
		{clouds + "/eu/kv-pairs", "dns-update-record-list", `{"kv": [{"key1": "lab"}]}`},
		{apps, "store", `{"compositeAppVersion": "v1"}`},
	}...)
	for _, group := range groups {
		at := apps + "/store/v1/deployment-intent-groups"
		config := fmt.Sprintf(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": %q}, "data": {"of": "us"}}`, group)
		posts = append(posts, []post{
			{at, group, `{"logicalCloud": "eu", "apps": [{"name": "web", "manifests": [` + config + `]}]}`},
			{at + "/" + group + "/traffic-group-intents", "front", `{}`},
			{at + "/" + group + "/traffic-group-intents/front/dns-intents", "www", naming("h0-" + group + ".lab.example")},
		}...)
	}
	api := s.with("api")[0]
	call := func(path, body string, want int) {
		answer, err := api.Do(s.Context(), http.MethodPost, path, body)
		require.NoError(s, err)
		require.Equal(s, want, answer.Status, "%s: %s", answer.Call, answer.Body)
	}
	for _, p := range posts {
		call(p.collection, document(p.name, p.spec), http.StatusCreated)
	}
	for _, group := range groups {
		call(apps+"/store/v1/deployment-intent-groups/"+group+"/instantiate", "", http.StatusAccepted)
	}
}
