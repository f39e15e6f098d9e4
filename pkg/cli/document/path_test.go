package document

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/cli/terminal"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

func TestPathsAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]intent.Path{
		"projects":                                "projects",
		"/v2/projects/shop/":                      "projects/shop",
		"v2/project/shop/dns-update-records/lab":  "projects/shop/dns-update-records/lab",
		"project/shop":                            "projects/shop",
		" projects/shop ":                         "projects/shop",
		"projects/project/logical-clouds":         "projects/project/logical-clouds",
		"projects/Shop_1/composite-apps/a.b/v1.0": "projects/Shop_1/composite-apps/a.b/v1.0",
	} {
		got, err := CleanPath(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func TestPathsThatWouldLeadElsewhereAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "/", "projects//x", "projects/../x", "projects/./x", "projects/a b", "projects/a?b", "projects/a#b", "projects/%2e", "http://x/v2/projects"} {
		_, err := CleanPath(text)
		require.ErrorContains(t, err, "is not a path below /v2", text)
	}
}

func TestGroupsByBothForms(t *testing.T) {
	t.Parallel()
	const whole = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"
	for _, text := range []string{whole, "/v2/" + whole + "/", "project/shop/composite-apps/store/v1/deployment-intent-groups/prod", "shop/store/v1/prod"} {
		got, err := OwnerPath(text)
		require.NoError(t, err, text)
		require.Equal(t, intent.Path(whole), got)
	}
	require.Equal(t, "shop/store/v1/prod", ShortOwner(whole))
	for _, text := range []string{"prod", "a/b/c", "a/b/c/d/e", "projects/shop", "../a/b/c",
		"projects/shop/composite-apps/store/v1/deployment-intent-groups", whole + "/traffic-group-intents/front"} {
		_, err := OwnerPath(text)
		require.True(t, terminal.IsUsage(err), text)
	}
}

func TestOwnersAreGroupsAndLogicalClouds(t *testing.T) {
	t.Parallel()
	cloud, err := OwnerPath("/v2/project/shop/logical-clouds/eu/")
	require.NoError(t, err)
	require.Equal(t, intent.Path("projects/shop/logical-clouds/eu"), cloud)
	require.Equal(t, "shop/eu", ShortOwner(cloud))
	short, err := OwnerPath("shop/eu")
	require.NoError(t, err)
	require.Equal(t, cloud, short)
	for _, text := range []string{"projects/shop", "cluster-providers/edge", "projects/shop/logical-clouds", "projects/shop/logical-clouds/eu/dns-cr-intents/x", "projects/shop/dns-update-records/lab"} {
		_, err = OwnerPath(text)
		require.ErrorContains(t, err, "a logical cloud is project/logical-cloud, or projects/…/logical-clouds/…", text)
	}
}

func TestOwnersAndRecordsAreUpdated(t *testing.T) {
	t.Parallel()
	record, err := UpdatedPath("/v2/project/shop/dns-update-records/lab")
	require.NoError(t, err)
	require.True(t, IsRecord(record))
	require.Equal(t, string(record), ShortOwner(record))
	cloud, err := UpdatedPath("projects/shop/logical-clouds/eu")
	require.NoError(t, err)
	require.False(t, IsRecord(cloud))
	group, err := UpdatedPath("shop/store/v1/prod")
	require.NoError(t, err)
	require.False(t, IsRecord(group))
	_, err = UpdatedPath("projects/shop/dns-update-records")
	require.True(t, terminal.IsUsage(err))
}

func TestKindIsTheLastCollection(t *testing.T) {
	t.Parallel()
	for path, want := range map[intent.Path]string{
		"projects":                              "projects",
		"projects/shop":                         "projects",
		"projects/shop/composite-apps":          "composite-apps",
		"projects/shop/composite-apps/store/v1": "composite-apps",
		"projects/shop/logical-clouds/eu/kv-pairs/dns-update-record-list": "kv-pairs",
	} {
		require.Equal(t, want, Kind(path), string(path))
	}
}

func TestClustersByTheirForms(t *testing.T) {
	t.Parallel()
	const whole = "cluster-providers/edge/clusters/hub"
	for _, text := range []string{whole, "/v2/" + whole + "/", "edge/hub", "edge+hub"} {
		got, err := ClusterPath(text)
		require.NoError(t, err, text)
		require.Equal(t, intent.Path(whole), got)
	}
	for _, text := range []string{"hub", "projects/shop", "cluster-providers/edge", "cluster-providers/edge/clusters", "a/b/c", "a b/c", whole + "/kv-pairs/x"} {
		_, err := ClusterPath(text)
		require.True(t, terminal.IsUsage(err), text)
	}
}
