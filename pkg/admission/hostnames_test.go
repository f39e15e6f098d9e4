package admission_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// newEdges is the main story with two clusters in the logical cloud, of which
// one has a label.
func newEdges(t *testing.T) *world {
	w := newShop(t)
	w.must("cluster-providers/edge/clusters/berlin", `{"labels":{"region":"eu","site/code":"b1"}}`)
	w.must(eu.Child("cluster-references", "paris"), `{"clusterProvider":"edge","cluster":"paris"}`)
	return w
}

func TestTemplatesAreStoredAsTheyAre(t *testing.T) {
	w := newEdges(t)
	const given = `["WWW.lab.example","{{.Cluster}}.{{.Namespace}}.lab.example","{{lower .App}}.{{.Project}}.lab.example"]`
	w.must(www, names(given, `,"records":["lab"]`))
	assert.Equal(t, []any{"www.lab.example", "{{.Cluster}}.{{.Namespace}}.lab.example", "{{lower .App}}.{{.Project}}.lab.example"}, w.spec(www)["hostnames"])
}

// TestTemplatesAreJudgedOnTheClustersOfNow: at the write, before any plan.
func TestTemplatesAreJudgedOnTheClustersOfNow(t *testing.T) {
	const first, second = "/spec/hostnames/0", "/spec/hostnames/1"
	w := newEdges(t)
	for _, c := range []struct {
		reason, hostnames, more string
		want                    map[string]string
	}{
		{"a template that fails", `["{{.Site}}.lab.example"]`, ``, map[string]string{first: "has .Site; write one such as {{.Cluster}}.lab.example"}},
		{"a template that is none", `["{{.App"]`, ``, map[string]string{first: "is not a template: unclosed action"}},
		{"a label that a cluster lacks", `["{{.Labels.region}}.{{.Cluster}}.lab.example"]`, ``,
			map[string]string{first: `of edge+paris needs label "region", which the cluster does not have; add the label to the cluster`}},
		{"an illegal name", `["{{.Cluster}}_1.lab.example"]`, ``, map[string]string{first: `of edge+berlin makes "berlin_1.lab.example", which has a label with other characters than letters`}},
		{"colliding names of two clusters", `["{{.ClusterProvider}}.lab.example"]`, ``,
			map[string]string{first: `"edge.lab.example" of edge+paris is the same name as /spec/hostnames/0 of edge+berlin; use .Cluster and .ClusterProvider in the template, so that each cluster`}},
		{"a name that is written out, too", `["berlin.lab.example","{{.Cluster}}.lab.example"]`, ``,
			map[string]string{second: `"berlin.lab.example" of edge+berlin is the same name as /spec/hostnames/0; leave one out`}},
		{"names outside the record's filter", `["www.lab.example","{{.Cluster}}.else.example"]`, `,"records":["lab"]`,
			map[string]string{second: `"berlin.else.example"; give a name within its domain-filter and zones, or remove the provider from the intentprovider lab does not cover "paris.else.example"`}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			_, err := w.admit(www, names(c.hostnames, c.more))
			assertFields(t, err, intent.Invalid, c.want)
		})
	}
	_, err := w.admit(www, `{"app":"web","serviceName":"web","hostnames":["www.lab.example","{{.Site}}.lab.example"],"scope":"all"}`)
	assertFields(t, err, intent.Invalid, map[string]string{second: "has .Site", "/spec/scope": "not a scope"})
}

// TestTemplatesOfAnAppAreForItsClusters: those that it selects.
func TestTemplatesOfAnAppAreForItsClusters(t *testing.T) {
	w := newEdges(t)
	w.must(prod, `{"logicalCloud":"eu","apps":[{"name":"web","clusterLabels":{"region":"eu"}},{"name":"api"}]}`)
	const spec = `,"hostnames":["{{index .Labels \"site/code\"}}.lab.example"]}`
	w.must(www, `{"app":"web","serviceName":"web"`+spec)
	_, err := w.admit(www, `{"app":"api","serviceName":"api"`+spec)
	assertFields(t, err, intent.Invalid, map[string]string{"/spec/hostnames/0": `of edge+paris needs label "site/code"`})
}

// TestVeryManyNamesAreRefusedSoon: an intent's names are one DNSEndpoint, and those
// that templates make are many with many clusters.
func TestVeryManyNamesAreRefusedSoon(t *testing.T) {
	w := newEdges(t)
	all := make([]string, 45_000)
	for n := range all {
		all[n] = fmt.Sprintf(`"n%d.lab.example"`, n)
	}
	_, err := w.admit(www, names("["+strings.Join(all, ",")+"]", ""))
	assertFields(t, err, intent.Invalid, map[string]string{"/spec/hostnames/10000": "more than 10000 names; divide them among several intents"})
	_, err = w.admit(www, names("["+strings.Join(all[:10_000], ",")+"]", ""))
	assert.NoError(t, err)
}
