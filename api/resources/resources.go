// Package resources answers the verbs on documents: one implementation of create, list,
// get, put and delete for all of them.
package resources

import (
	"context"
	"log/slog"

	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/response"
	"github.com/signpost-dns/signpost/api/service"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// Handlers answer the verbs.
type Handlers struct {
	Store      intent.Store // read directly, written through Admitter
	Admitter   service.Admitter
	Sealer     service.Sealer
	Lifecycle  service.Lifecycle
	Clusters   service.Clusters
	History    service.History
	NearlyFull func() bool // whether the store has little room left: documents can be deleted then, and not written
	Log        *slog.Logger
}

// Resource is a row of the table of resources: how its operations are called and what
// sets it apart.
type Resource struct {
	One, Many string // as in getProject and listProjects
	Record    bool   // its status has more than the document tells
	Cluster   bool   // it may be drained or abandoned
	Names     bool   // it asks for names, which may be others'
	Pairs     bool   // ?key= asks for one value
	Short     bool   // its path leaves out the default traffic group
}

// All lists what the verbs work on.
func All() []Resource {
	return []Resource{
		{One: "Project", Many: "Projects"},
		{One: "ClusterProvider", Many: "ClusterProviders"},
		{One: "Cluster", Many: "Clusters", Cluster: true},
		{One: "ClusterKVPairs", Many: "ClusterKVPairs", Pairs: true},
		{One: "DNSUpdateRecord", Many: "DNSUpdateRecords", Record: true},
		{One: "LogicalCloud", Many: "LogicalClouds"},
		{One: "ClusterReference", Many: "ClusterReferences"},
		{One: "LogicalCloudKVPairs", Many: "LogicalCloudKVPairs", Pairs: true},
		{One: "DNSCRIntent", Many: "DNSCRIntents"},
		{One: "CompositeApp", Many: "CompositeApps"},
		{One: "DeploymentIntentGroup", Many: "DeploymentIntentGroups"},
		{One: "TrafficGroupIntent", Many: "TrafficGroupIntents"},
		{One: "DNSIntent", Many: "DNSIntents", Names: true},
		{One: "GroupDNSIntent", Many: "GroupDNSIntents", Names: true, Short: true},
		{One: "PodDNSIntent", Many: "PodDNSIntents"},
	}
}

// handler has the path name the default traffic group, if the resource leaves it out.
func (r Resource) handler(handle operation.Handler) operation.Handler {
	if !r.Short {
		return handle
	}
	return func(ctx context.Context, c *operation.Call) (response.Answer, error) {
		group := c.Path.Parent()
		c.Path = intent.DefaultTrafficGroup(group) + c.Path[len(group):]
		return handle(ctx, c)
	}
}

// Operations maps the operations of a resource to their handlers.
func (h *Handlers) Operations(r Resource) map[string]operation.Handler {
	return map[string]operation.Handler{
		"create" + r.One: r.handler(h.Create(r)),
		"list" + r.Many:  r.handler(h.List(r)),
		"get" + r.One:    r.handler(h.Get(r)),
		"put" + r.One:    r.handler(h.Put(r)),
		"delete" + r.One: r.handler(h.Delete),
	}
}

// Conditional holds an action's preconditions against its owner, as it is when the
// request arrives.
func (h *Handlers) Conditional(act operation.Handler) operation.Handler {
	return func(ctx context.Context, c *operation.Call) (response.Answer, error) {
		asked, err := operation.ReadPrecondition(c.Header)
		if err != nil {
			return response.Answer{}, err
		}
		if asked.Asked() {
			owner, err := h.Find(ctx, c.Owner())
			if err != nil {
				return response.Answer{}, err
			}
			if err := asked.Check(c.Owner(), owner); err != nil {
				return response.Answer{}, err
			}
		}
		return act(ctx, c)
	}
}
