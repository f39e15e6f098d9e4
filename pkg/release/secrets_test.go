package release_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestPlansShowNoValuesOfSecrets: which of them come, go and change can be seen,
// and no value, of what kubectl notes neither.
func TestPlansShowNoValuesOfSecrets(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	secret := func(fields string) {
		w.put(prod, `{"logicalCloud":"eu","apps":[{"name":"web","manifests":[{"apiVersion":"v1","kind":"Secret",`+fields+`},
			{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"plain":"shown"}}]}]}`, eu)
	}
	diff := func(kind string, action intent.Action) string {
		for _, o := range w.plan(prod, action).Objects {
			if o.Kind == kind && o.Cluster == paris {
				return o.Diff
			}
		}
		return ""
	}
	secret(`"metadata":{"name":"s","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"hunter1"}},"data":{"old":"hunter2","same":"hunter3","key":"hunter4"},"stringData":{"text":"hunter5"}`)
	first := diff("Secret", intent.Instantiate)
	for _, line := range []string{"+  key: (redacted)", "+  old: (redacted)", "+  same: (redacted)", "+  text: (redacted)", "+    kubectl.kubernetes.io/last-applied-configuration: (redacted)"} {
		require.Contains(t, first, line)
	}
	require.NotContains(t, first, "hunter")
	require.Contains(t, diff("ConfigMap", intent.Instantiate), "plain: shown")
	w.do(intent.Instantiate, prod)
	w.settle(prod)

	secret(`"metadata":{"name":"s"},"data":{"new":"hunter6","same":"hunter3","key":"hunter7"},"stringData":"hunter8"`)
	next := diff("Secret", intent.Update)
	for _, line := range []string{"-  key: (redacted)", "+  key: (redacted, changed)", "+  new: (redacted)", "-  old: (redacted)", "   same: (redacted)"} {
		require.Contains(t, next, line)
	}
	require.NotContains(t, next, "hunter")

	w.do(intent.Update, prod)
	w.settle(prod)
	gone := diff("Secret", intent.Terminate)
	require.Contains(t, gone, "-  key: (redacted)")
	require.NotContains(t, gone, "hunter")
}
