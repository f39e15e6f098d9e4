package provider

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
	"github.com/signpost-dns/signpost/pkg/plan"
)

func TestDeploymentNames(t *testing.T) {
	thirtyNine, forty := strings.Repeat("a", 39), strings.Repeat("a", 40)
	for _, c := range []struct {
		reason, record string
		scope          intent.Scope
		want           string
	}{
		{"the record's name", "lab", intent.Public, "external-dns-lab"},
		{"the cluster scope", "lab", intent.ClusterScope, "external-dns-lab-cluster"},
		{"52 characters with the prefix", thirtyNine, intent.Public, "external-dns-" + thirtyNine},
		{"53 characters", forty, intent.Public, "external-dns-" + strings.Repeat("a", 30) + "-" + plan.Hash(forty, "public")},
		{"52 characters with the suffix", thirtyNine[:31], intent.ClusterScope, "external-dns-" + thirtyNine[:31] + "-cluster"},
		{"53 characters with the suffix", thirtyNine[:32], intent.ClusterScope, "external-dns-" + thirtyNine[:30] + "-" + plan.Hash(thirtyNine[:32], "cluster")},
		{"upper case", "Lab", intent.Public, "external-dns-lab-" + plan.Hash("Lab", "public")},
		{"dots and underscores", "lab_1.eu", intent.Public, "external-dns-lab-1-eu-" + plan.Hash("lab_1.eu", "public")},
		{"another record's cluster scope", "lab-cluster", intent.Public, "external-dns-lab-cluster-" + plan.Hash("lab-cluster", "public")},
	} {
		t.Run(c.reason, func(t *testing.T) { assert.Equal(t, c.want, DeploymentName(c.record, c.scope)) })
	}
}

// FuzzDeploymentNameIsLegalAndUnique takes any two records: the names of their
// Deployments are labels of at most 52 characters, and differ.
func FuzzDeploymentNameIsLegalAndUnique(f *testing.F) {
	for _, pair := range [][2]string{
		{"lab", "Lab"}, {"lab", "lab-cluster"}, {"a.b", "a_b"}, {"a", strings.Repeat("a", 63)}, {"", "é"}, {"x--y", "x-y"},
	} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		var names []string
		for _, record := range slices.Compact([]string{a, b}) {
			for _, scope := range []intent.Scope{intent.Public, intent.ClusterScope} {
				name := DeploymentName(record, scope)
				assert.Empty(t, validation.IsDNS1123Label(name), name)
				assert.LessOrEqual(t, len(name), longestName)
				assert.Equal(t, name, DeploymentName(record, scope))
				assert.NotContains(t, names, name, "%q and %q", a, b)
				names = append(names, name)
			}
		}
	})
}

func TestOwnerIDs(t *testing.T) {
	p := plan.Provider{Record: plan.Record{Installation: "k7wq2m9xhdr4", UID: "9F3C2A1Be4d0", OwnerID: "sp-k7wq2m9x-9f3c2a1b"}, Scope: intent.Public, Cluster: "edge+hub"}
	assert.Equal(t, "sp-k7wq2m9x-9f3c2a1b", plan.OwnerID("k7wq2m9xhdr4", "9F3C2A1Be4d0"))
	assert.Equal(t, "sp-k7wq2m9x-9f3c2a1b", OwnerID(p), "the public scope's is pinned in the record")

	p.Scope = intent.ClusterScope
	hub := OwnerID(p)
	assert.Regexp(t, `^sp-k7wq2m9x-9f3c2a1b-[0-9a-f]{8}$`, hub)
	p.Cluster = "edge+berlin"
	assert.NotEqual(t, hub, OwnerID(p), "clusters do not share an owner")

	for _, written := range []any{"mine", " mine ", []any{"mine"}} {
		p.Record.Spec.Parameters = map[string]any{"txt-owner-id": written}
		assert.Equal(t, "mine", OwnerID(p), "the user's own wins")
	}
}

func TestUsersAreWrittenAsTheSeedProposes(t *testing.T) {
	assert.Equal(t, "shop/v2/canary,store/v1/prod", users([]string{
		"projects/p/composite-apps/store/v1/deployment-intent-groups/prod",
		"projects/p/composite-apps/shop/v2/deployment-intent-groups/canary",
	}))
	var many []string
	for n := range 900 {
		many = append(many, fmt.Sprintf("projects/p/composite-apps/%s/%s/deployment-intent-groups/%s%04d",
			strings.Repeat("a", 63), strings.Repeat("b", 63), strings.Repeat("c", 59), n))
	}
	text := users(many)
	assert.Less(t, len(text), 8<<10, "an object's annotations have 256 KiB together")
	require.True(t, strings.HasSuffix(text, "0019,…"), text[len(text)-20:])
	require.Equal(t, text, users(many[:21]), "of many, the same is told")
	require.False(t, strings.HasSuffix(users(many[:20]), "…"))
}
