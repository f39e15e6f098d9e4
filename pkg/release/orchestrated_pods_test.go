package release_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPodDNSIsBroughtIntoTheWorkloads: of all the keys of the context, only
// those of the workloads change, and in those only what the intent asks for.
func TestPodDNSIsBroughtIntoTheWorkloads(t *testing.T) {
	w := newOrchestrated(t)
	w.podsAsk(podsNone)
	require.Equal(t, map[string]string{
		resourceKey(early, berlin, "web+Deployment"): quoted(t, withDNS),
		resourceKey(early, paris, "web+Deployment"):  quoted(t, withDNS),
	}, w.changedBy("/context/", func() { w.called(early) }))
	before := w.keys()
	w.called(early)
	require.Equal(t, before, w.keys(), "a second call writes nothing")
}
