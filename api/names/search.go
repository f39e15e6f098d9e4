package names

import (
	"context"
	"net/http"
	"strings"

	"github.com/signpost-dns/signpost/api/actions"
	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Search answers a page of the names of all projects that the caller may read.
func (h *Handlers) Search(_ context.Context, c *operation.Call) (response.Answer, error) {
	page, err := h.Names.FindNames(intent.NameQuery{
		Pattern: c.Query.Get("name"), Project: c.Query.Get("project"), Provider: c.Query.Get("provider"),
		Cluster: strings.Replace(c.Query.Get("cluster"), "/", "+", 1), State: intent.State(c.Query.Get("state")),
		Published: c.Query.Get("published"), Verified: c.Query.Get("verified"), Worst: c.Query.Get("sort") == "worst",
		Limit: c.Limit(), After: c.Query.Get("continue"), Sees: c.Actor.Sees,
	})
	if err != nil {
		return response.Answer{}, operation.ContinueError(err)
	}
	for n := range page.Items {
		asPaths(page.Items[n].Home)
		asPaths(page.Items[n].Clusters)
	}
	return response.Answer{Status: http.StatusOK, Body: page}, nil
}

// Explain answers all that the caller may know of a host name.
func (h *Handlers) Explain(ctx context.Context, c *operation.Call) (response.Answer, error) {
	explained, err := h.Names.ExplainName(ctx, c.Vars["host"], c.Actor.Sees)
	if err != nil {
		return response.Answer{}, err
	}
	for n := range explained.Owners {
		explained.Owners[n].Records = actions.WholeNames(explained.Owners[n].Records)
	}
	return response.Answer{Status: http.StatusOK, Body: explained}, nil
}

// asPaths writes clusters as users do in names: provider/cluster.
func asPaths(clusters []string) {
	for n, name := range clusters {
		clusters[n] = strings.Replace(name, "+", "/", 1)
	}
}

// Fleet answers how everything does that the caller may read.
func (h *Handlers) Fleet(ctx context.Context, c *operation.Call) (response.Answer, error) {
	fleet, err := h.Names.Fleet(ctx, intent.FleetQuery{Cluster: strings.Replace(c.Query.Get("cluster"), "/", "+", 1), Healthy: c.Query.Get("healthy"), Limit: c.Limit(), After: c.Query.Get("continue"), Sees: c.Actor.Sees})
	if err != nil {
		return response.Answer{}, operation.ContinueError(err)
	}
	for n := range fleet.Items {
		fleet.Items[n].Cluster = strings.Replace(fleet.Items[n].Cluster, "+", "/", 1)
	}
	return response.Answer{Status: http.StatusOK, Body: fleet}, nil
}

// Troubles answers what the caller may read of what is not as it should be.
func (h *Handlers) Troubles(_ context.Context, c *operation.Call) (response.Answer, error) {
	page, err := h.Names.Troubles(intent.TroubleQuery{Limit: c.Limit(), After: c.Query.Get("continue"), Sees: c.Actor.Sees})
	if err != nil {
		return response.Answer{}, operation.ContinueError(err)
	}
	for n := range page.Items {
		page.Items[n].Cluster = strings.Replace(page.Items[n].Cluster, "+", "/", 1)
	}
	return response.Answer{Status: http.StatusOK, Body: page}, nil
}
