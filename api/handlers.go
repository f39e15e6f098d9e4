package api

import (
	"maps"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// handlers is who answers which operation of openapi.yaml.
func (e *edge) handlers() map[string]handler {
	all := map[string]handler{
		"getOpenAPI": e.description,

		"listDNSUpdateRecordUsers": e.recordUsers,
		"getDNSUpdateRecordStatus": e.recordStatus,

		"preflightCluster": e.preflight,

		"lintCorefile":     e.lint,
		"traceDNSCRIntent": e.trace,

		"previewPodDNSIntent": e.previewPodDNS,
	}
	maps.Copy(all, e.probes())
	for _, top := range []string{"Project", "ClusterProvider"} {
		all["list"+top+"Events"] = e.history
	}
	for _, owner := range owners() {
		all["get"+owner+"Status"] = e.status
		all["list"+owner+"Events"] = e.events
	}
	for id, act := range e.actions() {
		all[id] = e.conditional(act)
	}
	for _, r := range resources() {
		all["create"+r.one] = e.create(r)
		all["list"+r.many] = e.list(r)
		all["get"+r.one] = e.get(r)
		all["put"+r.one] = e.put(r)
		all["delete"+r.one] = e.remove
	}
	return all
}

// probes is who answers what is asked of any process.
func (e *edge) probes() map[string]handler {
	return map[string]handler{
		"getHealth":    e.health,
		"getReadiness": e.readiness,
		"getVersion":   e.version,
		"getMetrics":   e.measurements,
	}
}

// actions maps the operations that act on a document, or plan to, to their
// handlers.
func (e *edge) actions() map[string]handler {
	all := map[string]handler{
		"planDNSUpdateRecord":   e.planRecord,
		"updateDNSUpdateRecord": e.updateRecord,

		"drainCluster":   e.drain,
		"undrainCluster": e.undrain,
		"abandonCluster": e.abandon,
	}
	for _, owner := range owners() {
		all["plan"+owner] = e.plan
		all["instantiate"+owner] = action(e.Lifecycle.Instantiate)
		all["update"+owner] = action(e.Lifecycle.Update)
		all["rollback"+owner] = e.rollback
		all["terminate"+owner] = e.terminate
	}
	all["instantiateDeploymentIntentGroup"] = e.takingOver(intent.Instantiate, e.Lifecycle.Instantiate)
	all["updateDeploymentIntentGroup"] = e.takingOver(intent.Update, e.Lifecycle.Update)
	return all
}

// owners are what has a lifecycle of its own.
func owners() []string { return []string{"DeploymentIntentGroup", "LogicalCloud"} }

// resource is a row of the table of resources: how its operations are called
// and what sets it apart.
type resource struct {
	one, many string // as in getProject and listProjects
	record    bool   // its status has more than the document tells
	cluster   bool   // it may be drained or abandoned
	names     bool   // it asks for names, which may be others'
	pairs     bool   // ?key= asks for one value
}

// resources lists what the verbs work on.
func resources() []resource {
	return []resource{
		{one: "Project", many: "Projects"},
		{one: "ClusterProvider", many: "ClusterProviders"},
		{one: "Cluster", many: "Clusters", cluster: true},
		{one: "ClusterKVPairs", many: "ClusterKVPairs", pairs: true},
		{one: "DNSUpdateRecord", many: "DNSUpdateRecords", record: true},
		{one: "LogicalCloud", many: "LogicalClouds"},
		{one: "ClusterReference", many: "ClusterReferences"},
		{one: "LogicalCloudKVPairs", many: "LogicalCloudKVPairs", pairs: true},
		{one: "DNSCRIntent", many: "DNSCRIntents"},
		{one: "CompositeApp", many: "CompositeApps"},
		{one: "DeploymentIntentGroup", many: "DeploymentIntentGroups"},
		{one: "TrafficGroupIntent", many: "TrafficGroupIntents"},
		{one: "DNSIntent", many: "DNSIntents", names: true},
		{one: "PodDNSIntent", many: "PodDNSIntents"},
	}
}
