package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// inEMCO is a story whose documents have three services of EMCO's and Signpost
// as keepers.
const inEMCO = `version: emco/v2
resourceContext: {anchor: ` + prod + `/instantiate}
---
version: emco/v2
resourceContext: {anchor: ` + prod + `/intents}
metadata: {name: all}
spec: {intent: {signpost: front}}
---
version: emco/v2
resourceContext: {anchor: ` + prod + `/traffic-group-intents}
metadata: {name: front}
---
version: emco/v2
resourceContext: {anchor: projects/shop/dns-update-records}
metadata: {name: lab}
spec: {provider: coredns}
---
version: emco/v2
resourceContext: {anchor: projects/shop/logical-clouds/eu/kv-pairs}
metadata: {name: dns-update-record-list}
spec: {kv: [{key1: lab}]}
---
version: emco/v2
resourceContext: {anchor: projects/shop/logical-clouds/eu/dns-cr-intents}
metadata: {name: resolvers}
---
version: emco/v2
resourceContext: {anchor: cluster-providers/edge/clusters/hub/labels}
clusterLabel: west
---
version: emco/v2
resourceContext: {anchor: cluster-providers/edge/clusters}
metadata: {name: hub}
file: KUBECONFIG
---
resource: projects
metadata: {name: mall}
`

func TestEMCOsServicesGetWhatIsTheirs(t *testing.T) {
	ours, orchestrator, dcm, clm := newFake(t), newFakeEMCO(t), newFakeEMCO(t), newFakeEMCO(t)
	story := strings.ReplaceAll(inEMCO, "KUBECONFIG", write(t, "hub", "kind: Config\n"))
	run := func(command string) result {
		return withInput(t.Context(), ours.url, story, command, "-f", "-", "--orchestrator", orchestrator.url, "--dcm", dcm.url, "--clm", clm.url)
	}
	got := run("apply")
	require.Equal(t, exitDone, got.code, got.err)
	require.Equal(t, []string{"POST " + prod + "/intents", "POST " + prod + "/instantiate"}, orchestrator.requests)
	require.Equal(t, []string{"POST projects/shop/logical-clouds/eu/kv-pairs"}, dcm.requests)
	require.Equal(t, []string{"POST cluster-providers/edge/clusters", "POST cluster-providers/edge/clusters/hub/labels"}, clm.requests)
	require.Equal(t, "kind: Config\n", clm.files["cluster-providers/edge/clusters/hub"])
	require.JSONEq(t, `{"metadata":{"name":""},"clusterLabel":"west"}`, clm.documents["cluster-providers/edge/clusters/hub/labels/west"])
	require.Len(t, ours.documents, 4, "a record, a DNS CR intent, a traffic group and what is in Signpost's form")

	got = run("get")
	require.Equal(t, exitDone, got.code, got.err)
	require.Contains(t, got.out, "projects/shop/logical-clouds/eu/kv-pairs\nNAME                    KEPT BY\ndns-update-record-list  EMCO's dcm\n")
	require.Contains(t, got.out, "projects/shop/dns-update-records\nNAME  PROVIDER")
	clm.documents["cluster-providers/edge/clusters/hub"] = "<html>"
	require.Contains(t, run("get").err, "the answer is no JSON; is --clm EMCO's clm?")
	clm.documents["cluster-providers/edge/clusters/hub"] = "{}"

	orchestrator.requests = nil
	got = run("delete")
	require.Equal(t, exitDone, got.code, got.err)
	require.Equal(t, []string{"POST " + prod + "/terminate", "DELETE " + prod + "/intents/all"}, orchestrator.requests)
	require.Empty(t, ours.documents)
	require.Contains(t, run("delete").out, "absent "+prod+"/intents/all\n")
}

// TestWhatEMCOCannotReplaceStays, and its words are told.
func TestWhatEMCOCannotReplaceStays(t *testing.T) {
	f, emco := newFake(t), newFakeEMCO(t)
	const kv = "version: emco/v2\nresourceContext: {anchor: projects/shop/logical-clouds/eu/kv-pairs}\nmetadata: {name: list}\n"
	args := []string{"apply", "-f", "-", "--dcm", emco.url}
	require.Equal(t, exitDone, withInput(t.Context(), f.url, kv, args...).code)
	got := withInput(t.Context(), f.url, kv, args...)
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "(projects/shop/logical-clouds/eu/kv-pairs/list): EMCO's dcm answers 409 Conflict: Controller already exists\n")

	emco.status = http.StatusInternalServerError
	got = withInput(t.Context(), f.url, kv, args...)
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "EMCO's dcm answers 500 Internal Server Error: Cannot perform requested operation\n")
}

func TestApplyEndsWhenAServiceOfEMCOIsDown(t *testing.T) {
	f := newFake(t)
	story := strings.ReplaceAll(inEMCO, "KUBECONFIG", write(t, "hub", "kind: Config\n"))
	got := withInput(t.Context(), f.url, story, "apply", "-f", "-", "--orchestrator", "http://127.0.0.1:1", "--clm", "http://127.0.0.1:1")
	require.Equal(t, exitUnreachable, got.code)
	require.Contains(t, got.err, "EMCO's clm at http://127.0.0.1:1 cannot be reached: ")
	require.Contains(t, got.err, "--clm says where it is")

	got = withInput(t.Context(), f.url, story, "apply", "-f", "-", "--orchestrator", "orchestrator")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, `--orchestrator: "orchestrator" is no server`)
}
