package state

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

// TestClientsFollowByTheTTLThatTheyHave: that of the record before, if there was one. Without a TTL, it is the usual one.
func TestClientsFollowByTheTTLThatTheyHave(t *testing.T) {
	t.Parallel()
	record := plan.Record{
		Installation: "k7wq2m9xhdr4", Path: "projects/shop/dns-update-records/lab", Name: "lab", Project: plan.Project{Name: "shop", Namespace: "shop-dns"}, UID: "9F3C2A1Be4d0", OwnerID: "sp-k7wq2m9x-9f3c2a1b", Version: "v0.22.0", Home: &intent.ClusterRef{ClusterProvider: "edge", Cluster: "hub"},
		Spec: intent.Record{Provider: "coredns", Environment: map[string]string{"ETCD_URLS": "http://192.0.2.1:2379"}, Parameters: map[string]any{"interval": "10s", "policy": "sync", "domain-filter": []any{"lab.example"}}},
	}
	before := []string{"192.0.2.1"}
	names := []intent.NameChange{
		{Action: "create", Targets: before, Record: "lab", TTL: 30},
		{Action: "create", Targets: before, Record: "lab"},
		{Action: "update", Before: before, Targets: before, Record: "lab", TTLBefore: 60, TTL: 300},
		{Action: "update", Before: before, Targets: before, Record: "lab", TTLBefore: 300, TTL: 60},
		{Action: "update", Before: before, Targets: before, Record: "lab", TTL: 30},
	}
	TellAnswers(names, map[string]plan.Record{"lab": record})
	within := map[int]string{}
	for n, name := range names {
		within[n] = name.ClientsWithin
	}
	require.Equal(t, map[int]string{0: "42s", 1: "5m12s", 2: "1m12s", 3: "5m12s", 4: "5m12s"}, within)
}
