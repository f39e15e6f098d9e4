package status_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/address"
	"github.com/signpost-dns/signpost/pkg/domain/bundle"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
	"github.com/signpost-dns/signpost/pkg/plan/endpoints"
	"github.com/signpost-dns/signpost/pkg/release/query"
	"github.com/signpost-dns/signpost/pkg/release/state"
	"github.com/signpost-dns/signpost/pkg/storage/appcontext"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
	"github.com/signpost-dns/signpost/pkg/storage/observed"
)

// What the snapshots speak of.
const (
	prod intent.Path = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"
	lab  intent.Path = "projects/shop/dns-update-records/lab"

	hub    = "edge+hub"
	berlin = "edge+berlin"
)

func accepted() time.Time { return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC) }
func settled() time.Time  { return accepted().Add(time.Minute) }

// running is the snapshot of a group with one name and one ConfigMap, of which
// everything was applied, and whose external-dns is available.
func running(t testing.TB) *query.Snapshot {
	group := plan.Group{
		Installation: "k7wq2m9x", Path: prod, Project: plan.Project{Name: "shop", Namespace: "shop-dns"},
		CompositeApp: "store", Version: "v1", Name: "prod", LogicalCloud: "eu", LogicalCloudNamespace: "shop",
		Bindings: []plan.Binding{{
			App: "web", Service: "web", Namespace: "shop", Record: "lab", Scope: intent.Public, Cluster: hub,
			Sources: []string{berlin}, Hosts: []plan.Host{{Name: "www.lab.example"}},
		}},
	}
	use := state.Use{Record: lab, Scope: intent.Public, Cluster: hub}
	snap := &query.Snapshot{
		Owner: appcontext.Owner(prod), Group: group, Committed: true,
		Lifecycle: state.Lifecycle{
			Wanted: intent.Instantiate, Seq: 1, ContextID: "42", Settled: true, Since: accepted(), Done: settled(), Uses: []state.Use{use},
		},
		Clusters: map[string]query.ClusterReport{hub: reachable(), berlin: reachable()},
		Providers: []query.ProviderReport{{
			Owner: appcontext.ProviderOwner(string(lab), "public", hub), Use: use, OwnerID: "sp-1",
			Record:    plan.Record{Path: lab, Name: "lab", Version: "v0.22.0"},
			Observed:  &observed.Deployment{Available: true, Sync: &observed.Sync{Last: settled()}},
			Published: map[string]observed.Published{}, Cluster: reachable(),
		}},
	}
	choose(t, snap, "203.0.113.10")
	publish(snap)
	add(t, snap, object(t, berlin, "v1", "ConfigMap", "shop", "c"))
	provider := object(t, hub, "apps/v1", "Deployment", "shop-dns", "external-dns-lab")
	snap.Providers[0].Objects = bundle.Bundle{provider}
	apply(snap.Providers[0].Cluster, snap.Providers[0].Owner, provider)
	return snap
}

func reachable() query.ClusterReport {
	return query.ClusterReport{Reachability: &observed.Reachability{Reachable: true}, Entries: map[bundle.ID]ledger.Entry{}}
}

func object(t testing.TB, cluster, version, kind, namespace, name string) bundle.Object {
	o, err := bundle.New(cluster, "web", map[string]any{"apiVersion": version, "kind": kind, "metadata": map[string]any{"name": name, "namespace": namespace}})
	require.NoError(t, err)
	return o
}

// choose has the clusters offer targets, and the context publish them.
func choose(t testing.TB, snap *query.Snapshot, targets ...string) {
	o := address.Observation{Found: true}
	for _, target := range targets {
		o.Candidates = append(o.Candidates, address.Candidate{Target: target, Field: "spec.externalIPs[0]"})
	}
	choice, _ := address.Fold(address.Input{Rule: address.Rule{Scope: intent.Public}, Offers: []address.Offer{{
		Service: address.Service{Cluster: berlin, Namespace: "shop", Name: "web"}, Observation: &o,
	}}})
	snap.Choices = [][]address.Choice{slices.Repeat([]address.Choice{choice}, len(snap.Group.Bindings[0].Hosts))}
	drop(snap, bundle.EndpointKind)
	due(t, snap)
	for _, endpoint := range snap.Due {
		add(t, snap, endpoint)
	}
}

// due renders what follows from the choices.
func due(t testing.TB, snap *query.Snapshot) {
	snap.Due = nil
	for n, choices := range snap.Choices {
		endpoint, some, err := endpoints.Render(snap.Group, snap.Group.Bindings[n], choices)
		require.NoError(t, err)
		if some {
			snap.Due = append(snap.Due, endpoint)
		}
	}
	var err error
	snap.Due, err = bundle.Collect(snap.Due)
	require.NoError(t, err)
}

// add puts an object into the current context and has it applied.
func add(t testing.TB, snap *query.Snapshot, o bundle.Object) {
	var err error
	snap.Objects, err = bundle.Collect(append(snap.Objects, o))
	require.NoError(t, err)
	apply(snap.Clusters[o.Cluster], snap.Owner, o)
}

// drop takes the objects of a kind out of the current context.
func drop(snap *query.Snapshot, kind string) {
	var kept bundle.Bundle
	for _, o := range snap.Objects {
		if o.Kind != kind {
			kept = append(kept, o)
		}
	}
	snap.Objects = kept
}

func apply(report query.ClusterReport, owner appcontext.Owner, o bundle.Object) {
	report.Entries[o.ID] = ledger.Entry{
		ID: o.ID, UID: "uid of " + o.ID.Name, Generation: 1 + report.Entries[o.ID].Generation,
		Digest: o.Digest(), Owners: []string{string(owner)}, CreatedByUs: true, Status: ledger.Applied, Since: settled(),
	}
}

// publish has external-dns put every DNSEndpoint through as it was applied.
func publish(snap *query.Snapshot) {
	for id, e := range snap.Clusters[hub].Entries {
		if id.Kind == bundle.EndpointKind {
			snap.Providers[0].Published[id.Name] = observed.Published{UID: e.UID, Generation: e.Generation, At: settled()}
		}
	}
}

// edit changes the entries of a kind.
func edit(report query.ClusterReport, kind string, change func(e *ledger.Entry)) {
	for id, e := range report.Entries {
		if id.Kind == kind {
			change(&e)
			report.Entries[id] = e
		}
	}
}

// forget removes the entries of a kind.
func forget(report query.ClusterReport, kind string) {
	for id := range report.Entries {
		if id.Kind == kind {
			delete(report.Entries, id)
		}
	}
}

// summary is a list of conditions as "Type=Status/Reason".
func summary(conditions []intent.StatusCondition) string {
	var out []string
	for _, c := range conditions {
		out = append(out, c.Type+"="+c.Status+"/"+c.Reason)
	}
	return strings.Join(out, " ")
}

func condition(t testing.TB, s intent.Status, kind string) intent.StatusCondition {
	for _, c := range s.Conditions {
		if c.Type == kind {
			return c
		}
	}
	require.Fail(t, "no condition", kind)
	return intent.StatusCondition{}
}

// resources are a cluster's resources as "Kind name Status: message".
func resources(s intent.Status, cluster string) []string {
	var out []string
	for _, c := range s.Clusters {
		if c.ClusterRef.String() != cluster {
			continue
		}
		for _, r := range c.Resources {
			name, _, _ := strings.Cut(r.Name, "-")
			out = append(out, strings.TrimSuffix(r.Kind+" "+name+" "+r.Status+": "+r.Message, ": "))
		}
	}
	return out
}
