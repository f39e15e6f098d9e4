package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/api"
	"github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const statusPath = "/v2/projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/status"

// largeStatus answers the status of 100 names, of which every tenth has no address, in 10
// DNSEndpoints on each of two clusters.
type largeStatus struct {
	*lifecycle
	rendered int
	message  string
	changed  *bool
	asked    *int
}

func (l *largeStatus) Record(ctx context.Context) (context.Context, service.Reads) {
	*l.changed = false
	return ctx, reads{l.changed, l.asked}
}

func (l *largeStatus) Status(context.Context, intent.Path) (intent.Status, error) {
	l.rendered++
	s := intent.Status{State: intent.Instantiated, ContextID: "42", Revision: 1, Message: l.message}
	for n := range 100 {
		published, targets := "True", []string{"203.0.113.10"}
		if n%10 == 0 {
			published, targets = "False", nil
		}
		s.Names = append(s.Names, intent.NameStatus{
			Name: fmt.Sprintf("n%03d.lab.example", n), Type: "A", Record: "lab", Scope: intent.Public, Targets: targets,
			Conditions: []intent.StatusCondition{{Type: "Published", Status: published, Message: "external-dns synchronized after it had read the DNSEndpoint"}},
			Sources:    []intent.Source{{Target: "203.0.113.10", Cluster: "edge+berlin", Object: "Service shop/web", Kind: "loadBalancer"}},
		})
	}
	for _, cluster := range []string{"berlin", "paris"} {
		c := intent.ClusterStatus{ClusterRef: intent.ClusterRef{ClusterProvider: "edge", Cluster: cluster}, Reachable: cluster == "berlin"}
		for n := range 10 {
			status := "Applied"
			if cluster == "paris" {
				status = "Retrying"
			}
			c.Resources = append(c.Resources, intent.ResourceStatus{Kind: "DNSEndpoint", Namespace: "shop", Name: fmt.Sprintf("e%d", n), Status: status})
		}
		s.Clusters = append(s.Clusters, c)
	}
	return s, nil
}

// reads are those of a status, in a test.
type reads struct {
	changed *bool
	asked   *int
}

func (r reads) Unchanged(context.Context) (bool, error) {
	*r.asked++
	return !*r.changed, nil
}

func (reads) Size() int { return 1 }

func newLargeStatus(t *testing.T) (*world, *largeStatus) {
	status := &largeStatus{changed: new(bool), asked: new(int)}
	w := newWorld(t, func(o *api.Options) {
		own, _ := o.Lifecycle.(*lifecycle)
		status.lifecycle = own
		o.Lifecycle = status
	})
	return w, status
}

// TestASummaryOfAHundredNamesIsSmall, and has the sums.
func TestASummaryOfAHundredNamesIsSmall(t *testing.T) {
	t.Parallel()
	w, _ := newLargeStatus(t)
	whole := w.send("GET", statusPath, nil).want(http.StatusOK)
	summary := w.send("GET", statusPath+"?view=summary", nil).want(http.StatusOK)
	require.Greater(t, whole.Body.Len(), 30<<10)
	require.Less(t, summary.Body.Len(), 1<<10)
	require.Equal(t, map[string]any{
		"names": 100.0, "published": 90.0, "verified": 0.0, "unaddressed": []any{"n000.lab.example", "n010.lab.example", "n020.lab.example", "n030.lab.example", "n040.lab.example"},
		"objects": 20.0, "settled": 10.0, "clusters": 2.0, "unreachable": []any{"edge+paris"}, "undeployed": 0.0, "leftovers": 0.0,
	}, summary.json()["counts"])
	require.Equal(t, whole.json()["counts"], summary.json()["counts"])
}

// TestAStatusIsReadPageByPage: the names, then the objects, each once, and as the filters
// say.
func TestAStatusIsReadPageByPage(t *testing.T) {
	t.Parallel()
	w, _ := newLargeStatus(t)
	for query, want := range map[string][2]int{
		"limit=7":                                  {100, 20},
		"limit=1000":                               {100, 20},
		"":                                         {100, 20},
		"limit=3&name=n01*.lab.example":            {10, 0},
		"limit=3&published=False":                  {10, 0},
		"limit=100&published=True":                 {90, 0},
		"limit=30&cluster=edge%2Fberlin":           {100, 10},
		"limit=4&cluster=edge%2Fparis":             {0, 10},
		"name=nothing.lab.example":                 {0, 0},
		"verified=Unknown":                         {0, 0},
		"limit=50&name=*5.lab.example&limit=":      {-1, 0},
		"continue=!":                               {-1, 0},
		"cluster=nowhere":                          {-1, 0},
		"limit=5&name=n00*&cluster=edge%2Fberlin":  {10, 0},
		"published=False&cluster=edge%2Fparis":     {0, 0},
		"view=everything":                          {-1, 0},
		"view=summary&limit=1&name=n000":           {0, 0},
		"limit=5&name=n00*&published=False":        {1, 0},
		"limit=1000&name=*.lab.*&published=False":  {10, 0},
		"limit=100&continue=" + "bm4wOTgubGFiLmV4": {2, 20}, // "nn098.lab.ex"
	} {
		seen, objects, next := map[string]bool{}, 0, ""
		for more := true; more; more = next != "" {
			path := statusPath + "?" + query
			if next != "" {
				path += "&continue=" + url.QueryEscape(next)
			}
			answer := w.send("GET", path, nil)
			if want[0] < 0 {
				answer.want(http.StatusBadRequest)
				seen = nil
				break
			}
			page := answer.want(http.StatusOK).json()
			names, _ := page["names"].([]any)
			for _, n := range names {
				name, _ := n.(map[string]any)["name"].(string)
				require.False(t, seen[name], "%s twice", name)
				seen[name] = true
			}
			clusters, _ := page["clusters"].([]any)
			for _, c := range clusters {
				resources, _ := c.(map[string]any)["resources"].([]any)
				objects += len(resources)
			}
			next, _ = page["continue"].(string)
		}
		if seen != nil {
			require.Equal(t, want, [2]int{len(seen), objects}, query)
		}
	}
}

// TestAnUnchangedStatusIs304 and is not rendered. One that follows from something else is.
func TestAnUnchangedStatusIs304(t *testing.T) {
	t.Parallel()
	w, status := newLargeStatus(t)
	changed, asked := status.changed, status.asked
	for _, query := range []string{"", "?view=summary"} {
		status.rendered, *asked = 0, 0
		tag := w.send("GET", statusPath+query, nil).want(http.StatusOK).Header().Get("ETag")
		require.Zero(t, *asked)

		again := w.send("GET", statusPath+query, nil, "If-None-Match", tag).want(http.StatusNotModified)
		require.Zero(t, again.Body.Len())
		require.Equal(t, tag, again.Header().Get("ETag"))
		require.Equal(t, 1, status.rendered)
		require.Equal(t, 1, *asked)

		w.send("GET", statusPath+query, nil, "If-None-Match", `"0"`).want(http.StatusOK)
		require.Equal(t, 2, status.rendered, "the client has another one")

		*changed = true
		w.send("GET", statusPath+query, nil, "If-None-Match", tag).want(http.StatusNotModified)
		require.Equal(t, 3, status.rendered, "a key has changed, and the answer is the same")

		*changed, status.message = true, "etcd is full"
		w.send("GET", statusPath+query, nil, "If-None-Match", tag).want(http.StatusOK)
		status.message = ""
		*changed = true
	}
	w.send("GET", statusPath, nil, "If-None-Match", "no tag").want(http.StatusBadRequest)
}
