package connections

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/storage/documents/etcd"
	"github.com/signpost-dns/signpost/pkg/storage/kv/kvtest"
	"github.com/signpost-dns/signpost/pkg/storage/ledger"
)

const hub intent.Path = "cluster-providers/edge/clusters/hub"

// registered is a world in which cluster hub has this spec.
func registered(t *testing.T, spec intent.Cluster) (*Pool, intent.Store) {
	store := kvtest.NewFake()
	documents := etcd.New(store)
	put(t, documents, hub, spec)
	of := Settings{Installation: "inst-1", Root: t.TempDir(), Alone: func(context.Context) error { return nil }}
	return New(of, Identities{ledger.New(store), documents}, nil), documents
}

func put(t *testing.T, documents intent.Store, path intent.Path, spec any, refs ...intent.Path) {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"name": path.Name()}, "spec": spec})
	require.NoError(t, err)
	_, err = documents.Put(t.Context(), intent.Write{Path: path, Body: body, Refs: refs})
	require.NoError(t, err)
}

func TestPreflightOfAnInventoryOnlyClusterSaysWhatToSet(t *testing.T) {
	t.Parallel()
	c, _ := registered(t, intent.Cluster{})
	p, err := c.Preflight(t.Context(), hub)
	require.NoError(t, err)
	require.False(t, p.Reachable)
	require.Len(t, p.Checks, 1)
	require.False(t, p.Checks[0].OK)
	require.Contains(t, p.Checks[0].Message, "/spec/kubeconfig")
}

func TestPreflightOfADirectoryCluster(t *testing.T) {
	t.Parallel()
	c, _ := registered(t, intent.Cluster{Directory: "gitops"})
	p, err := c.Preflight(t.Context(), hub)
	require.NoError(t, err)
	require.True(t, p.Reachable)
	require.Len(t, p.Checks, 4)
	for _, check := range p.Checks {
		require.True(t, check.OK, check.Name)
	}
}

// TestPreflightOfAnAbandonedCluster: it is not asked, so that its name does not
// stand for it again; and one that is registered anew is.
func TestPreflightOfAnAbandonedCluster(t *testing.T) {
	t.Parallel()
	c, documents := registered(t, intent.Cluster{Directory: "gitops"})
	doc, err := documents.Get(t.Context(), hub)
	require.NoError(t, err)
	entries := c.Identities.Ledger
	require.NoError(t, entries.Abandon(t.Context(), ledger.Abandonment{Cluster: "edge+hub", UID: doc.UID}))
	p, err := c.Preflight(t.Context(), hub)
	require.NoError(t, err)
	require.False(t, p.Reachable)
	require.Len(t, p.Checks, 1)
	require.Contains(t, p.Checks[0].Message, "it is abandoned")
	names, err := entries.Claimants(t.Context())
	require.NoError(t, err)
	require.Empty(t, names)

	require.NoError(t, documents.Delete(t.Context(), hub, intent.Always()))
	put(t, documents, hub, intent.Cluster{Directory: "gitops"})
	p, err = c.Preflight(t.Context(), hub)
	require.NoError(t, err)
	require.True(t, p.Reachable)
}

func TestPreflightOfWhatIsNotRegistered(t *testing.T) {
	t.Parallel()
	c, _ := registered(t, intent.Cluster{})
	_, err := c.Preflight(t.Context(), "cluster-providers/edge/clusters/other")
	require.Equal(t, intent.NotFound, intent.CodeOf(err))
}

// TestPreflightLooksAtTheNamespacesOfProjects: of those that are named as
// allowed, else of those that use the cluster.
func TestPreflightLooksAtTheNamespacesOfProjects(t *testing.T) {
	t.Parallel()
	c, documents := registered(t, intent.Cluster{})
	for _, project := range []string{"shop", "bakery"} {
		put(t, documents, intent.Join("projects", project), intent.Project{Namespace: project + "-dns"})
	}
	put(t, documents, "projects/shop/logical-clouds/eu", intent.LogicalCloud{}, "projects/shop")
	put(t, documents, "projects/shop/logical-clouds/eu/cluster-references/hub", intent.ClusterRef{}, hub)
	used, err := c.namespaces(t.Context(), hub, intent.Cluster{})
	require.NoError(t, err)
	require.Equal(t, []string{"shop-dns"}, used)
	allowed, err := c.namespaces(t.Context(), hub, intent.Cluster{Projects: []string{"shop", "bakery", "gone"}})
	require.NoError(t, err)
	require.Equal(t, []string{"bakery-dns", "shop-dns"}, allowed)
}
