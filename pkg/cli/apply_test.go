package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/golden"
)

const shop = `resource: projects/shop/dns-update-records
metadata: {name: lab}
spec: {provider: coredns}
---
resource: projects
metadata: {name: shop}
---
resource: cluster-providers
metadata: {name: edge}
`

const aRefusal = `{"type":"about:blank","title":"Bad Request","status":400,"detail":"the body has 2 errors","errors":[
	{"pointer":"/spec/provider","detail":"is unknown; did you mean coredns?"},{"pointer":"","detail":"is odd"}]}`

func TestApplyCreatesConfiguresAndLeavesAlone(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	file := write(t, "shop.yaml", shop)
	got := signpost(t, f.url, "apply", "-f", file)
	require.Equal(t, result{exitDone, "created projects/shop\ncreated cluster-providers/edge\ncreated projects/shop/dns-update-records/lab\n", ""}, got)
	require.Equal(t, []string{"PUT projects/shop", "PUT cluster-providers/edge", "PUT projects/shop/dns-update-records/lab"}, f.seen())

	changed := strings.Replace(shop, "provider: coredns", "provider: rfc2136", 1)
	got = withInput(t.Context(), f.url, changed, "apply", "-f", "-")
	require.Equal(t, result{exitDone, "unchanged projects/shop\nunchanged cluster-providers/edge\nconfigured projects/shop/dns-update-records/lab\n", ""}, got)
}

func TestApplyGoesOnAfterARefusalButNotBelowIt(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("PUT projects/shop", 400, "Problem", aRefusal)
	file := write(t, "shop.yaml", shop)
	got := signpost(t, f.url, "apply", "-f", file)
	require.Equal(t, exitFailed, got.code)
	require.Equal(t, "created cluster-providers/edge\n", got.out)
	golden.Equal(t, "apply_refused.golden", strings.ReplaceAll(got.err, file, "shop.yaml"))
}

func TestApplySendsNothingWhenADocumentIsBroken(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	got := withInput(t.Context(), f.url, shop+"---\nresource: projects\n", "apply", "-f", "-")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "standard input, document 4")
	require.Contains(t, got.err, "/metadata/name: is missing")
	require.Empty(t, f.seen())
}

// TestApplyPassesOverWhatMayNotBeWrittenAndIsSo: the files of a team say its project,
// which administrators write. What differs is refused.
func TestApplyPassesOverWhatMayNotBeWrittenAndIsSo(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	file := write(t, "shop.yaml", shop)
	require.Equal(t, exitDone, signpost(t, f.url, "apply", "-f", file).code)
	f.on("PUT projects/shop", 403, "Problem", `{"type":"about:blank","title":"Forbidden","status":403,"detail":"anna lacks the role admin"}`)
	got := signpost(t, f.url, "apply", "-f", file)
	require.Equal(t, exitDone, got.code, got.err)
	require.Contains(t, got.out, "unchanged projects/shop\n")
	for _, other := range []string{"metadata: {name: shop, description: ours}", "metadata: {name: shop}\nspec: {domains: [lab.example]}"} {
		got = withInput(t.Context(), f.url, strings.Replace(shop, "metadata: {name: shop}", other, 1), "apply", "-f", "-")
		require.Equal(t, exitFailed, got.code)
		require.Contains(t, got.err, "anna lacks the role admin")
	}
}

func TestApplyShowsWarnings(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("PUT projects/shop/dns-update-records/lab", 201, "DNSUpdateRecord", example(t, "dnsUpdateRecordStored"))
	got := withInput(t.Context(), f.url, shop, "apply", "-f", "-")
	require.Equal(t, exitDone, got.code)
	require.Contains(t, got.err, "standard input, document 1 (projects/shop/dns-update-records/lab): warning: ETCD_URLS is reached without TLS\n")
}

func TestApplyEndsWhenTheServerCannotAnswer(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("PUT projects/shop", 503, "Problem", `{"type":"about:blank","title":"Service Unavailable","status":503,"detail":"etcd does not answer"}`)
	got := withInput(t.Context(), f.url, shop, "apply", "-f", "-")
	require.Equal(t, exitUnreachable, got.code)
	require.Contains(t, got.err, "etcd does not answer")
	require.NotContains(t, f.seen(), "PUT cluster-providers/edge")
}

func TestDeleteOfFilesIsTheReverseOfApply(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	file := write(t, "shop.yaml", shop)
	require.Equal(t, exitDone, signpost(t, f.url, "apply", "-f", file).code)
	require.Equal(t, exitDone, signpost(t, f.url, "delete", "/v2/cluster-providers/edge").code)
	got := signpost(t, f.url, "delete", "-f", file)
	require.Equal(t, result{exitDone, "deleted projects/shop/dns-update-records/lab\nabsent cluster-providers/edge\ndeleted projects/shop\n", ""}, got)
	require.Empty(t, f.documents)
}

func TestDeleteKeepsTheParentsOfWhatStays(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	require.Equal(t, exitDone, withInput(t.Context(), f.url, shop, "apply", "-f", "-").code)
	f.on("DELETE projects/shop/dns-update-records/lab", 409, "Problem", `{"type":"about:blank","title":"Conflict","status":409,"detail":"the record is in use"}`)
	got := withInput(t.Context(), f.url, shop, "delete", "-f", "-")
	require.Equal(t, exitFailed, got.code)
	require.Equal(t, "deleted cluster-providers/edge\n", got.out)
	require.Contains(t, got.err, "the record is in use")
	require.Contains(t, got.err, "(projects/shop) is skipped because of projects/shop/dns-update-records/lab")
	require.NotContains(t, f.seen(), "DELETE projects/shop")
}

const aGroup = `resource: projects/shop/composite-apps/store/v1/deployment-intent-groups
metadata: {name: prod}
---
resource: ` + prod + `/traffic-group-intents
metadata: {name: front}
---
resource: projects/shop/dns-update-records
metadata: {name: lab}
`

// TestDeleteDeletesNothingOfWhatIsInUse: the traffic group comes before the
// group, which the server would refuse.
func TestDeleteDeletesNothingOfWhatIsInUse(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]string{
		"Instantiated": "is Instantiated; terminate it first: signpost terminate shop/store/v1/prod --wait",
		"Failed":       "is Failed; terminate it first: signpost terminate shop/store/v1/prod --wait",
		"Terminating":  "is Terminating; wait until it is Terminated: signpost terminate shop/store/v1/prod --wait",
		"Terminated":   "",
		"Created":      "",
	} {
		f := newFake(t)
		require.Equal(t, exitDone, withInput(t.Context(), f.url, aGroup, "apply", "-f", "-").code)
		f.on("GET "+prod+"/status", 200, "Status", inState(state, "1", "Applied", "Applied", "true"))
		f.on("GET projects/shop/dns-update-records/lab/users", 200, "UseList", `{"items":[{"deploymentIntentGroup":"`+prod+`","clusters":["edge+hub"]}]}`)
		got := withInput(t.Context(), f.url, aGroup, "delete", "-f", "-")
		if want == "" {
			require.Equal(t, exitDone, got.code, got.err)
			require.Empty(t, f.documents)
			continue
		}
		require.Equal(t, result{exitFailed, "", "signpost delete: nothing was deleted, because some documents are in use:\n  standard input, document 1 (" + prod + ") " + want + "\n"}, got)
		require.Len(t, f.documents, 3)
	}
}

func TestDeleteDeletesNothingOfALogicalCloudWhoseDNSIsDeployed(t *testing.T) {
	t.Parallel()
	const cloud = "resource: projects/shop/logical-clouds\nmetadata: {name: eu}\n---\n" +
		"resource: projects/shop/logical-clouds/eu/dns-cr-intents\nmetadata: {name: resolvers}\n"
	f := newFake(t)
	require.Equal(t, exitDone, withInput(t.Context(), f.url, cloud, "apply", "-f", "-").code)
	f.on("GET projects/shop/logical-clouds/eu/status", 200, "Status", inState("Instantiated", "1", "Applied", "Applied", "true"))
	got := withInput(t.Context(), f.url, cloud, "delete", "-f", "-")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "is Instantiated; terminate it first: signpost terminate shop/eu --wait")
	require.Len(t, f.documents, 2)
}

func TestDeleteDeletesNothingWhenOthersUseARecord(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	require.Equal(t, exitDone, withInput(t.Context(), f.url, shop, "apply", "-f", "-").code)
	f.on("GET projects/shop/dns-update-records/lab/users", 200, "UseList", example(t, "useList"))
	got := withInput(t.Context(), f.url, shop, "delete", "-f", "-")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "(projects/shop/dns-update-records/lab) is used by shop/store/v1/prod; first terminate these (signpost unpublish ends a name), or update them without it")
	require.Len(t, f.documents, 3)
}

func TestDeleteOfOneThatIsNotThereFails(t *testing.T) {
	t.Parallel()
	got := signpost(t, newFake(t).url, "delete", "projects/shop")
	require.Equal(t, exitFailed, got.code)
	require.Equal(t, "signpost delete: projects/shop does not exist\n", got.err)
	for _, command := range []string{"get", "delete"} {
		got = signpost(t, newFake(t).url, command, "edge/berlin")
		require.Equal(t, exitFailed, got.code)
		require.Contains(t, got.err, "projects/edge/logical-clouds/berlin does not exist; if you mean the cluster, write edge+berlin\n")
	}
}

func TestARefusedDeleteTellsEachReasonOnALine(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("DELETE cluster-providers/edge/clusters/hub", 409, "Problem", example(t, "conflict"))
	got := signpost(t, f.url, "delete", "cluster-providers/edge/clusters/hub")
	require.Equal(t, exitFailed, got.code)
	require.Equal(t, `signpost delete: cluster-providers/edge/clusters/hub cannot be deleted: it is needed by projects/shop/dns-update-records/lab and 1 more
  projects/shop/dns-update-records/lab refers to it
  projects/shop/logical-clouds/eu/cluster-references/hub refers to it
`, got.err)
}
