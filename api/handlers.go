package api

import (
	"maps"
	"time"

	"github.com/signpost-dns/signpost/api/actions"
	"github.com/signpost-dns/signpost/api/drafts"
	"github.com/signpost-dns/signpost/api/names"
	"github.com/signpost-dns/signpost/api/operation"
	"github.com/signpost-dns/signpost/api/probes"
	"github.com/signpost-dns/signpost/api/resources"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// resources are the handlers of documents.
func (o Options) resources() *resources.Handlers {
	return &resources.Handlers{
		Store: o.Store, Admitter: o.Admitter, Sealer: o.Sealer, Lifecycle: o.Lifecycle, Clusters: o.Clusters, History: o.History, NearlyFull: o.NearlyFull, Log: o.Log,
	}
}

// handlers maps each operation of openapi.yaml to its handler.
func (o Options) handlers(documents *resources.Handlers, planned drafts.Handlers) map[string]operation.Handler {
	statuses := &operation.Remembered{Record: o.Lifecycle.Record, Now: time.Now}
	lifecycle := actions.Lifecycle{Service: o.Lifecycle, Statuses: statuses}
	providers := o.providers()
	providers.Statuses = statuses
	corefiles := actions.Corefiles{Service: o.Corefiles}
	all := map[string]operation.Handler{
		"listDNSUpdateRecordUsers": providers.Users,
		"getDNSUpdateRecordStatus": providers.Status,
		"listUnmanaged":            providers.Unmanaged,
		"listProjectGroups":        lifecycle.Groups,

		"planDocuments": planned.Plan,

		"preflightCluster":    actions.Clusters{Service: o.Clusters}.Preflight,
		"listClusterServices": actions.Clusters{Service: o.Clusters}.Services,

		"lintCorefile":     corefiles.Lint,
		"traceDNSCRIntent": corefiles.Trace,

		"previewPodDNSIntent": actions.PodDNS{Admitter: o.Admitter}.Preview,
	}
	maps.Copy(all, o.failovers())
	maps.Copy(all, o.probes())
	all["getOpenAPI"], all["getCaller"] = probes.Description, probes.Caller
	all["listEvents"] = actions.History{Service: o.History}.All
	all["listNameHistory"] = actions.History{Service: o.History}.Name
	for _, top := range []string{"Project", "ClusterProvider"} {
		all["list"+top+"Events"] = actions.History{Service: o.History}.Events
	}
	for _, owner := range owners() {
		all["get"+owner+"Status"] = lifecycle.Status
		all["list"+owner+"Events"] = lifecycle.Events
	}
	for id, act := range o.actions() {
		all[id] = documents.Conditional(act)
	}
	maps.Copy(all, documents.Operations())
	published := names.Handlers{Handlers: documents, Names: o.Lifecycle}
	maps.Copy(all, map[string]operation.Handler{
		"createName": published.Create, "getName": published.Get, "putName": published.Put, "deleteName": published.Delete,
		"listNameEvents": lifecycle.Events, "findNames": published.Search, "explainName": published.Explain, "getFleet": published.Fleet, "listTroubles": published.Troubles,
	})
	return all
}

func (o Options) providers() actions.Providers {
	return actions.Providers{Store: o.Store, Admitter: o.Admitter, Lifecycle: o.Lifecycle}
}

func (o Options) failovers() map[string]operation.Handler {
	of := actions.Failovers{Service: o.Clusters}
	return map[string]operation.Handler{
		"failOver":           of.Begin,
		"revertFailover":     of.Revert,
		"getFailover":        of.Get,
		"listFailovers":      of.List,
		"getSafetyRules":     of.Rules,
		"replaceSafetyRules": of.PutRules,
	}
}

// probes maps the operations that any process answers to their handlers.
func (o Options) probes() map[string]operation.Handler {
	of := &probes.Handlers{Readiness: o.Readiness, Build: o.Build, Metrics: o.Metrics, Log: o.Log}
	return map[string]operation.Handler{
		"getHealth":    of.Health,
		"getReadiness": of.Ready,
		"getVersion":   of.Version,
		"getMetrics":   of.Measurements,
	}
}

// actions maps the operations that act on a document, or plan to, to their handlers.
func (o Options) actions() map[string]operation.Handler {
	lifecycle, providers, clusters := actions.Lifecycle{Service: o.Lifecycle}, o.providers(), actions.Clusters{Service: o.Clusters}
	all := map[string]operation.Handler{
		"planDNSUpdateRecord":   providers.Plan,
		"updateDNSUpdateRecord": providers.Update,
		"deployDNSUpdateRecord": providers.Deploy,

		"drainCluster":   clusters.Drain,
		"undrainCluster": clusters.Undrain,
		"abandonCluster": clusters.Abandon,
	}
	for _, owner := range owners() {
		all["plan"+owner] = lifecycle.Plan
		all["instantiate"+owner] = lifecycle.Begin(intent.Instantiate)
		all["update"+owner] = lifecycle.Begin(intent.Update)
		all["deploy"+owner] = lifecycle.Deploy
		all["rollback"+owner] = lifecycle.Rollback
		all["terminate"+owner] = lifecycle.Terminate
	}
	return all
}

// owners are what has a lifecycle of its own.
func owners() []string { return []string{"DeploymentIntentGroup", "LogicalCloud"} }
