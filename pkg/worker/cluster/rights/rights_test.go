package rights_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/signpost-dns/signpost/internal/golden"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/domain/safeyaml"
	"github.com/signpost-dns/signpost/pkg/worker/cluster/rights"
)

// TestTheManifestsOfTheRepositoryAreThoseOfTheTable: write them anew by
// SIGNPOST_GOLDEN=write.
func TestTheManifestsOfTheRepositoryAreThoseOfTheTable(t *testing.T) {
	for _, use := range intent.ClusterUses() {
		text, err := rights.Manifest(use)
		require.NoError(t, err)
		golden.Equal(t, filepath.Join("../../../../..", use.Manifest()), string(text))
	}
}

func TestAddressesAreReadOnly(t *testing.T) {
	t.Parallel()
	for _, r := range rights.Of([]intent.ClusterUse{intent.UseAddresses}) {
		assert.Contains(t, []string{"get", "list", "watch"}, r.Verb, r)
		assert.NotContains(t, []string{"secrets", "pods", "configmaps", "*"}, r.Resource, "they may hold secrets")
		assert.NotEqual(t, "*", r.Group)
	}
}

// TestEachUseHasWhatEveryClusterNeeds: without its identity, a cluster is not served.
func TestEachUseHasWhatEveryClusterNeeds(t *testing.T) {
	t.Parallel()
	for _, use := range intent.ClusterUses() {
		assert.True(t, slices.ContainsFunc(rights.Of([]intent.ClusterUse{use}), func(r rights.Right) bool {
			return r.Resource == "namespaces" && r.Verb == "get" && (r.Name == "" || r.Name == "kube-system")
		}), use)
	}
}

// TestARightIsNeededMoreThanOptional: a use that cannot do without a right says so, although
// another one could.
func TestARightIsNeededMoreThanOptional(t *testing.T) {
	t.Parallel()
	both := rights.Of([]intent.ClusterUse{intent.UseApps, intent.UseDNS})
	at := slices.IndexFunc(both, func(r rights.Right) bool { return r.Resource == "configmaps" && r.Verb == "create" })
	require.Empty(t, both[at].Lost)
	require.Contains(t, both[at].Missing(), "deploy/target-cluster/dns.yaml")
	for n, r := range both {
		for _, other := range both[:n] {
			require.False(t, other.In("") == r.In("") && other.Group == r.Group, "%v twice", r)
		}
	}
}

// TestRolesOfSeveralUsesDoNotOverwriteEachOther, if their manifests are applied one after
// the other.
func TestRolesOfSeveralUsesDoNotOverwriteEachOther(t *testing.T) {
	t.Parallel()
	text, err := rights.Manifest(intent.ClusterUses()...)
	require.NoError(t, err)
	seen := map[string]bool{}
	for part := range strings.SplitSeq(string(text), "\n---\n") {
		var role rbacv1.ClusterRole
		require.NoError(t, safeyaml.Unmarshal([]byte(part), &role))
		if role.Kind == "ClusterRole" {
			require.False(t, seen[role.Name], role.Name)
			seen[role.Name] = true
		}
	}
	require.Len(t, seen, 10)
}
