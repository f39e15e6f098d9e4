// Package oracle asks external-dns' own plan and registry txt what external-dns would change in a zone. Tests of
// the built-in publisher compare with it.
package oracle

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/external-dns/endpoint"
	"sigs.k8s.io/external-dns/pkg/apis/externaldns"
	"sigs.k8s.io/external-dns/plan"
	"sigs.k8s.io/external-dns/provider"
	"sigs.k8s.io/external-dns/registry"
	"sigs.k8s.io/external-dns/registry/txt"

	"github.com/signpost-dns/signpost/pkg/domain/fault"
	"github.com/signpost-dns/signpost/pkg/publisher"
)

// ExternalDNS is one external-dns with registry txt: its loop, without its source.
type ExternalDNS struct {
	registry registry.Registry
	owner    string
}

// Marks are the settings of an external-dns that show in its marks.
type Marks struct{ Owner, Prefix, Suffix, Wildcard string }

// New makes an external-dns of a provider.
func New(t *testing.T, p provider.Provider, m Marks) *ExternalDNS {
	t.Helper()
	r, err := txt.New(&externaldns.Config{
		TXTOwnerID: m.Owner, TXTPrefix: m.Prefix, TXTSuffix: m.Suffix, TXTWildcardReplacement: m.Wildcard, ManagedDNSRecordTypes: publisher.Managed(),
	}, p)
	require.NoError(t, err)
	return &ExternalDNS{registry: r, owner: m.Owner}
}

// Plan is what external-dns would change, so that the zone has these sets.
func (e *ExternalDNS) Plan(t *testing.T, want []publisher.Set) *plan.Changes {
	t.Helper()
	ctx := context.Background()
	current, err := e.registry.Records(ctx)
	require.NoError(t, err)
	var desired []*endpoint.Endpoint
	for _, set := range want {
		made := endpoint.NewEndpointWithTTL(set.Name, set.Type, endpoint.TTL(set.TTL), set.Targets...)
		require.NotNil(t, made, "external-dns takes %v", set)
		made.Labels[endpoint.ResourceLabelKey] = set.Mark.Resource
		desired = append(desired, made)
	}
	desired, err = e.registry.AdjustEndpoints(desired)
	require.NoError(t, err)
	p := &plan.Plan{
		Policies: []plan.Policy{&plan.SyncPolicy{}}, Current: current, Desired: desired,
		ManagedRecords: publisher.Managed(), OwnerID: e.owner,
	}
	return p.Calculate().Changes
}

// Apply lets external-dns write these sets.
func (e *ExternalDNS) Apply(t *testing.T, want []publisher.Set) {
	t.Helper()
	require.NoError(t, e.registry.ApplyChanges(context.Background(), e.Plan(t, want)))
}

// Publish brings all of the names to these sets. A name that has changed since it was read is
// read again, because a key of etcd may hold the mark of one name and the address of another.
func Publish(t testing.TB, writer publisher.Writer, names []string, want []publisher.Set) {
	t.Helper()
	for chunk := range slices.Chunk(names, publisher.Most) {
		states, err := writer.Read(t.Context(), chunk)
		require.NoError(t, err)
		for _, name := range chunk {
			change := publisher.Change{
				Before: states[name],
				After:  slices.DeleteFunc(slices.Clone(want), func(s publisher.Set) bool { return s.Name != name }),
			}
			err := writer.Write(t.Context(), change)
			if fault.Of(err) == fault.Stale {
				again, failed := writer.Read(t.Context(), []string{name})
				require.NoError(t, failed)
				change.Before = again[name]
				err = writer.Write(t.Context(), change)
			}
			require.NoError(t, err, "%s", name)
		}
	}
}
