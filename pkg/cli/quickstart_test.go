package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/golden"
	"github.com/signpost-dns/signpost/internal/session"
)

const quickstart = "../../examples/quickstart"

// hastyQuickstart is a directory with the documents of the quickstart, whose provider waits a second for external-dns,
// which does not run here.
func hastyQuickstart(t *testing.T) string {
	t.Helper()
	hasty := t.TempDir()
	files, err := filepath.Glob(filepath.Join(quickstart, "*.yaml"))
	require.NoError(t, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		content = []byte(strings.Replace(string(content), "releaseTimeout: 5s", "releaseTimeout: 1s", 1))
		require.NoError(t, os.WriteFile(filepath.Join(hasty, filepath.Base(file)), content, 0o600))
	}
	return hasty
}

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

	documents := hastyQuickstart(t)
	created := run("apply", "-f", documents)
	require.NotContains(t, created.out, "unchanged")
	require.Empty(t, created.err, "the quickstart has no warnings")
	again := run("apply", "-f", documents)
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
	deleted := run("delete", "-f", documents)
	require.NotContains(t, deleted.out, "absent")
	require.Equal(t, "There are no projects.\n", run("get", "projects").out)
	require.NoError(t, service.stop())
}
