package release_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// named has prod's intent give these names, and ask for more.
func (w *world) named(hostnames, more string) {
	w.put(www(prod), `{"app":"web","serviceName":"web","hostnames":`+hostnames+more+`}`)
}

// TestPerClusterNamesStandBesideTheGlobalOne: each with the addresses of its own
// cluster alone.
func TestPerClusterNamesStandBesideTheGlobalOne(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.named(`["www.lab.example","{{.Cluster}}.{{.App}}.lab.example"]`, `,"routing":{"policy":"failover","order":["edge+paris","edge+berlin"]}`)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Equal(t, []string{
		"edge+hub lab/public: berlin.web.lab.example A 203.0.113.10",
		"edge+hub lab/public: paris.web.lab.example A 203.0.113.20",
		"edge+hub lab/public: www.lab.example A 203.0.113.20",
	}, w.published(prod), "in the order of failover, which one cluster's name has none of")
	w.observe(berlin, "shop/web", "203.0.113.11")
	w.settle(prod)
	require.Contains(t, w.published(prod), "edge+hub lab/public: berlin.web.lab.example A 203.0.113.11")
}

// TestDrainAsksBeforeItEmptiesAClustersOwnName, though others have addresses for the
// global one; abandon does, too.
func TestDrainAsksBeforeItEmptiesAClustersOwnName(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.named(`["www.lab.example","{{.Cluster}}.lab.example","{{.Cluster}}.{{.App}}.lab.example"]`, ``)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	before := w.published(prod)
	_, abandons := w.service.Abandon(ann(prod), clusterPath(t, berlin), false, "ann")
	for _, err := range []error{w.drain(berlin, false), abandons} {
		require.Equal(t, intent.Conflict, intent.CodeOf(err))
		require.ErrorContains(t, err, "or remove the names with --force (?force=true)")
		var refusal *intent.Error
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, []intent.Field{
			{Detail: "berlin.lab.example would be left without any address"},
			{Detail: "berlin.web.lab.example would be left without any address"},
		}, refusal.Fields)
	}
	w.settle(prod)
	require.Equal(t, before, w.published(prod), "nothing was changed")

	require.NoError(t, w.drain(berlin, true))
	w.settle(prod)
	require.Equal(t, []string{
		"edge+hub lab/public: paris.lab.example A 203.0.113.20",
		"edge+hub lab/public: paris.web.lab.example A 203.0.113.20",
		"edge+hub lab/public: www.lab.example A 203.0.113.20",
	}, w.published(prod))
}

func TestTemplatesSpeakOfLabels(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.put("cluster-providers/edge/clusters/berlin", `{"kubeconfigRef":"sealed","labels":{"site":"B1"}}`)
	w.put("cluster-providers/edge/clusters/paris", `{"kubeconfigRef":"sealed","labels":{"site":"P1"}}`)
	w.named(`["{{.Labels.site}}.{{.Namespace}}.lab.example"]`, ``)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Equal(t, []string{
		"edge+hub lab/public: b1.shop.lab.example A 203.0.113.10", "edge+hub lab/public: p1.shop.lab.example A 203.0.113.20",
	}, w.published(prod))
	w.put("cluster-providers/edge/clusters/berlin", `{"kubeconfigRef":"sealed","labels":{"site":"B2"}}`)
	w.settle(prod)
	require.Contains(t, fmt.Sprint(w.published(prod)), "b1.shop.lab.example", "what was released stays until the next update")
}

// TestAClustersOwnRecordHasThatClustersName: of a template in the cluster scope.
func TestAClustersOwnRecordHasThatClustersName(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.associate(eu)
	w.associate("cluster-providers/edge/clusters/berlin", "lab")
	w.named(`["{{.Cluster}}.lab.example"]`, ``)
	w.do(intent.Instantiate, prod)
	w.settle(prod)
	require.Equal(t, []string{"edge+berlin lab/cluster: berlin.lab.example A 203.0.113.10"}, w.published(prod))
}

func TestTemplatesThatAPlanRefuses(t *testing.T) {
	t.Parallel()
	const at = "dns-intents/www#/spec/hostnames/"
	for _, c := range []struct {
		reason, hostnames string
		given             func(w *world)
		says              []string
	}{
		{"one that fails", `["{{.Site}}.lab.example"]`, nil, []string{at + "0", "has .Site"}},
		{"a label that a cluster lacks", `["{{.Labels.site}}.lab.example"]`, nil,
			[]string{at + "0", `of edge+berlin needs label "site", which the cluster does not have; add the label to the cluster`, "of edge+paris needs"}},
		{"an illegal name", `["{{.Cluster}}_.lab.example"]`, nil, []string{at + "0", `of edge+berlin makes "berlin_.lab.example"`}},
		{"colliding names of two clusters", `["{{.ClusterProvider}}.lab.example"]`, nil,
			[]string{at + "0", `"edge.lab.example" of edge+paris is the same name as /spec/hostnames/0 of edge+berlin; give each cluster a name of its own`}},
		{"a name that another intent gives to all clusters", `["{{.Cluster}}.lab.example"]`, func(w *world) {
			w.put(www(prod)+"2", `{"app":"web","serviceName":"web","hostnames":["paris.lab.example"]}`)
		}, []string{"dns-intents/www2#/spec/hostnames/0", `another intent publishes "paris.lab.example" for service "web" with another ttl, or other clusters`}},
		{"names outside the record's filter", `["www.lab.example","{{.Cluster}}.else.example"]`, nil,
			[]string{at + "1", `no provider serves "berlin.else.example"`, `no provider serves "paris.else.example"`}},
		{"one cluster's name outside it", `["{{.Labels.zone}}.example"]`, func(w *world) {
			w.put("cluster-providers/edge/clusters/berlin", `{"kubeconfigRef":"sealed","labels":{"zone":"b.lab"}}`)
			w.put("cluster-providers/edge/clusters/paris", `{"kubeconfigRef":"sealed","labels":{"zone":"p.else"}}`)
		}, []string{at + "0", `no provider serves "p.else.example"`}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			w := newShop(t)
			w.named(c.hostnames, ``)
			if c.given != nil {
				c.given(w)
			}
			w.refuses(intent.Instantiate, prod, c.says...)
		})
	}
}
