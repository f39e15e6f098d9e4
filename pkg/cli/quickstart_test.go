package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/golden"
	"github.com/signpost-dns/signpost/internal/session"
)

const quickstart = "../../examples/quickstart"

// The story of the quickstart, from the first document to the last.
func TestQuickstart(t *testing.T) {
	t.Parallel()
	service := startService(t)
	run := func(args ...string) result {
		t.Helper()
		got := signpost(t, service.url, args...)
		require.Equal(t, exitDone, got.code, "signpost %s: %s", strings.Join(args, " "), got.err)
		return got
	}

	created := run("apply", "-f", quickstart)
	require.NotContains(t, created.out, "unchanged")
	require.Empty(t, created.err, "the quickstart has no warnings")
	again := run("apply", "-f", quickstart)
	require.Equal(t, strings.ReplaceAll(created.out, "created", "unchanged"), again.out)

	plan := run("plan", "shop/store/v1/prod")
	require.Contains(t, plan.out, "203.0.113.10 of Service shop/web on edge+berlin is an address for documentation")
	require.Contains(t, plan.out, "Objects: 13 to create, 0 to update, 0 to delete, 0 unchanged.")
	token := plan.out[strings.LastIndexByte(strings.TrimSpace(plan.out), ' ')+1:]
	run("instantiate", "shop/store/v1/prod", "--wait", "--confirm", strings.TrimSpace(token))
	golden.Equal(t, "quickstart_status.golden", session.Normal(run("status", "shop/store/v1/prod").out))
	golden.Equal(t, "quickstart_manifests.golden", strings.Join(service.manifests(t), "\n")+"\n")
	require.Contains(t, run("get", "projects/shop/dns-update-records/lab/users").out, "shop/store/v1/prod       edge+hub")

	refused := signpost(t, service.url, "delete", "projects/shop/dns-update-records/lab")
	require.Equal(t, exitFailed, refused.code)
	require.Contains(t, refused.err, "in use")

	run("terminate", "shop/store/v1/prod", "--wait")
	require.Equal(t, []string{"hub/_cluster/customresourcedefinition_dnsendpoints.externaldns.k8s.io.yaml"}, service.manifests(t))
	deleted := run("delete", "-f", quickstart)
	require.NotContains(t, deleted.out, "absent")
	require.Equal(t, "There are no projects.\n", run("get", "projects").out)
	require.NoError(t, service.stop())
}
