package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/cli/emco"
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
	t.Parallel()
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
	require.Contains(t, run("get").err, "the answer is not JSON; check that --clm is EMCO's clm")
	clm.documents["cluster-providers/edge/clusters/hub"] = "{}"

	orchestrator.requests, orchestrator.lives = nil, []string{life("Instantiated", "Instantiated"), life("Terminated", "Terminated")}
	got = run("delete")
	require.Equal(t, exitDone, got.code, got.err)
	require.Equal(t, []string{"POST " + prod + "/terminate", "DELETE " + prod + "/intents/all"}, orchestrator.requests)
	require.Empty(t, ours.documents)
	require.Contains(t, run("delete").out, "absent "+prod+"/intents/all\n")
}

const kvList = "version: emco/v2\nresourceContext: {anchor: projects/shop/logical-clouds/eu/kv-pairs}\nmetadata: {name: list}\nspec: {kv: [{key1: lab}]}\n"

const kvPath = "projects/shop/logical-clouds/eu/kv-pairs"

// TestWhatEMCOHasIsReadFirst: EMCO fills in what a document does not say, and
// has no PUT for some.
func TestWhatEMCOHasIsReadFirst(t *testing.T) {
	t.Parallel()
	f, emco := newFake(t), newFakeEMCO(t)
	apply := func(document string) result {
		emco.requests = nil
		return withInput(t.Context(), f.url, document, "apply", "-f", "-", "--orchestrator", emco.url, "--dcm", emco.url, "--clm", emco.url)
	}
	require.Equal(t, result{exitDone, "created " + kvPath + "/list\n", ""}, apply(kvList))
	emco.documents[kvPath+"/list"] = `{"metadata":{"name":"list","description":"","userData1":"","userData2":""},"spec":{"kv":[{"key1":"lab"}]}}`
	require.Equal(t, result{exitDone, "unchanged " + kvPath + "/list\n", ""}, apply(kvList))
	require.Empty(t, emco.requests)

	require.Equal(t, result{exitDone, "configured " + kvPath + "/list\n", ""}, apply(strings.Replace(kvList, "lab", "corp", 1)))
	require.Equal(t, []string{"PUT " + kvPath + "/list", "DELETE " + kvPath + "/list", "POST " + kvPath}, emco.requests)
	require.Contains(t, emco.documents[kvPath+"/list"], "corp")

	const reference = "version: emco/v2\nresourceContext: {anchor: projects/shop/logical-clouds/eu/cluster-references}\nmetadata: {name: hub}\nspec: {clusterProvider: edge, cluster: hub}\n"
	emco.documents["projects/shop/logical-clouds/eu/cluster-references/hub"] = `{"metadata":{"name":"hub"},"spec":{"clusterProvider":"edge","cluster":"hub","loadBalancerIP":"1.2.3.4","certificate":"x"}}`
	require.Contains(t, apply(reference).out, "unchanged ", "DCM writes the certificate")

	controller := "version: emco/v2\nresourceContext: {anchor: controllers}\nmetadata: {name: dns}\nspec: {host: dns, port: 1}\n"
	apply(controller)
	require.Contains(t, apply(controller).out, "unchanged controllers/dns")
	require.Contains(t, apply(strings.Replace(controller, "port: 1", "port: 2", 1)).out, "configured controllers/dns")
	require.Equal(t, []string{"PUT controllers/dns"}, emco.requests)
	emco.documents["controllers/dns"] = `{"metadata":{"name":"dns","description":"by hand"},"spec":{"host":"dns","port":2}}`
	require.Contains(t, apply(strings.Replace(controller, "port: 1", "port: 2", 1)).out, "configured controllers/dns", "what the file does not say goes")
}

// TestWhatEMCOCannotReplaceStays: a cluster has a file, and may be in use.
func TestWhatEMCOCannotReplaceStays(t *testing.T) {
	t.Parallel()
	f, emco := newFake(t), newFakeEMCO(t)
	file := write(t, "hub", "kind: Config\n")
	cluster := "version: emco/v2\nresourceContext: {anchor: cluster-providers/edge/clusters}\nmetadata: {name: hub}\nfile: " + file + "\n"
	apply := func() result {
		emco.requests = nil
		return withInput(t.Context(), f.url, cluster, "apply", "-f", "-", "--clm", emco.url)
	}
	require.Contains(t, apply().out, "created ")
	require.Contains(t, apply().out, "unchanged ")
	emco.files["cluster-providers/edge/clusters/hub"] = "kind: Other\n"
	got := apply()
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "the document differs from the one in EMCO, and EMCO's clm cannot replace it: delete it there first")
	require.Equal(t, []string{"PUT cluster-providers/edge/clusters/hub"}, emco.requests)

	emco.status = http.StatusInternalServerError
	got = apply()
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "EMCO's clm answers 500 Internal Server Error: Cannot perform requested operation\n")
}

// TestWhatWasDeletedToBeReplacedComesBack: when EMCO refuses what was to come in
// its place.
func TestWhatWasDeletedToBeReplacedComesBack(t *testing.T) {
	t.Parallel()
	f, emco := newFake(t), newFakeEMCO(t)
	emco.documents[kvPath+"/list"] = `{"metadata":{"name":"list"},"spec":{"kv":[{"key1":"corp"}]}}`
	emco.refused = "lab"
	got := withInput(t.Context(), f.url, kvList, "apply", "-f", "-", "--dcm", emco.url)
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "EMCO's dcm answers 400 Bad Request: Invalid Input")
	require.Contains(t, emco.documents[kvPath+"/list"], "corp")

	emco.refused = "metadata"
	got = withInput(t.Context(), f.url, kvList, "apply", "-f", "-", "--dcm", emco.url)
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, `could not be restored: {"metadata":{"name":"list"},"spec":{"kv":[{"key1":"corp"}]}}`)
}

// TestAMissingParentIsNamed: EMCO answers 409, as for what exists already.
func TestAMissingParentIsNamed(t *testing.T) {
	t.Parallel()
	f, emco := newFake(t), newFakeEMCO(t)
	emco.orphans = "Cannot perform requested operation. Parent resource not found"
	got := withInput(t.Context(), f.url, kvList, "apply", "-f", "-", "--dcm", emco.url)
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "projects/shop/logical-clouds/eu does not exist: EMCO's dcm answers 409 Conflict: ")
	require.Empty(t, emco.documents)
	require.Equal(t, []string{"POST " + kvPath}, emco.requests)

	emco.orphans = "Key Value already exists" // by somebody else, meanwhile
	got = withInput(t.Context(), f.url, kvList, "apply", "-f", "-", "--dcm", emco.url)
	require.Equal(t, exitFailed, got.code)
	require.NotContains(t, got.err, "does not exist")

	elsewhere := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(elsewhere.Close)
	got = withInput(t.Context(), f.url, kvList, "apply", "-f", "-", "--dcm", elsewhere.URL)
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "404 page not found; is --dcm EMCO's dcm?")
	got = withInput(t.Context(), f.url, kvList, "delete", "-f", "-", "--dcm", elsewhere.URL)
	require.Equal(t, exitFailed, got.code, "nothing is said to be absent by somebody else")
}

const emcoRequests = "version: emco/v2\nresourceContext: {anchor: " + prod + "/approve}\n---\nversion: emco/v2\nresourceContext: {anchor: " + prod + "/instantiate}\n"

// life is EMCO's status of a group: what was asked for last, and rsync's state.
func life(state, deployed string) string {
	return `{"name":"prod","states":{"statusctxid":"1","actions":[{"state":"Created","instance":""},{"state":"` + state + `","instance":"1"}]},"deployedStatus":"` + deployed + `"}`
}

// TestWhatIsInstantiatedAlreadyIsUnchanged: a file can be applied again.
func TestWhatIsInstantiatedAlreadyIsUnchanged(t *testing.T) {
	t.Parallel()
	f, emco := newFake(t), newFakeEMCO(t)
	apply := func() result {
		return withInput(t.Context(), f.url, emcoRequests, "apply", "-f", "-", "--orchestrator", emco.url)
	}
	emco.lives = []string{life("Approved", "")}
	require.Equal(t, result{exitDone, "requested " + prod + "/approve\nrequested " + prod + "/instantiate\n", ""}, apply())
	emco.lives = []string{life("Instantiated", "Instantiating")}
	require.Equal(t, result{exitDone, "unchanged " + prod + "/approve\nunchanged " + prod + "/instantiate\n", ""}, apply())
	emco.lives, emco.status = nil, http.StatusInternalServerError
	got := apply()
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "EMCO's orchestrator answers 500")
}

// TestDeleteWaitsUntilEMCOHasTerminatedTheGroup, and Signpost, too; and it can
// be repeated.
func TestDeleteWaitsUntilEMCOHasTerminatedTheGroup(t *testing.T) {
	t.Parallel()
	f, emco := newFake(t), newFakeEMCO(t)
	f.on("GET "+prod+"/status", 200, "Status", inState("Terminating", "1", "Applied", "Applied", "true"))
	f.on("GET "+prod+"/status", 200, "Status", inState("Terminating", "1", "Applied", "Applied", "true"))
	f.on("GET "+prod+"/status", 200, "Status", inState("Terminated", "1", "Deleted", "Deleted", "true"))
	remove := func(lives ...string) result {
		emco.lives, emco.requests = lives, nil
		return withInput(t.Context(), f.url, emcoRequests, "delete", "-f", "-", "--orchestrator", emco.url)
	}
	got := remove(life("Instantiated", "Instantiated"), life("Terminated", "Terminating"), life("Terminated", "Terminating"), life("Terminated", "Terminated"))
	require.Equal(t, exitDone, got.code, got.err)
	require.Equal(t, "terminated "+prod+"/instantiate\n", got.out)
	require.Equal(t, []string{"POST " + prod + "/terminate"}, emco.requests)
	require.Equal(t, 1, strings.Count(got.err, "EMCO's orchestrator: shop/store/v1/prod is Terminating\n"), got.err)
	require.Len(t, emco.lives, 1)
	require.Len(t, f.answers["GET "+prod+"/status"], 1)

	require.Equal(t, result{exitDone, "absent " + prod + "/instantiate\n", ""}, remove(life("Terminated", "Terminated")))
	require.Equal(t, result{exitDone, "absent " + prod + "/instantiate\n", ""}, remove(life("Approved", "")))
	require.Equal(t, result{exitDone, "absent " + prod + "/instantiate\n", ""}, remove(), "there is no such group")
	got = remove(life("Terminated", "Terminating"), life("Terminated", "Terminated"))
	require.Equal(t, "terminated "+prod+"/instantiate\n", got.out, "an earlier delete was interrupted")

	got = remove(life("TerminateStopped", "Terminating"))
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "DeploymentIntentGroup is not instantiated")
	got = remove(life("Instantiated", "Instantiated"), life("Terminated", "TerminateFailed"))
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "shop/store/v1/prod is TerminateFailed: rsync could not remove all objects")
}

func TestApplyEndsWhenAServiceOfEMCOIsDown(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	story := strings.ReplaceAll(inEMCO, "KUBECONFIG", write(t, "hub", "kind: Config\n"))
	got := withInput(t.Context(), f.url, story, "apply", "-f", "-", "--orchestrator", "http://127.0.0.1:1", "--clm", "http://127.0.0.1:1")
	require.Equal(t, exitUnreachable, got.code)
	require.Contains(t, got.err, "EMCO's clm at http://127.0.0.1:1 cannot be reached: ")
	require.Contains(t, got.err, "its URL in --clm")

	got = withInput(t.Context(), f.url, story, "apply", "-f", "-", "--orchestrator", "orchestrator")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, `--orchestrator: the URL names no server`)
}

// TestEMCODoesNotSendDocumentsElsewhere checks that no redirect is followed: what is
// sent may be a kubeconfig.
func TestEMCODoesNotSendDocumentsElsewhere(t *testing.T) {
	followed := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed = true }))
	t.Cleanup(elsewhere.Close)
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(at.Close)
	clm := emco.Service{Flag: "clm", URL: at.URL}
	require.NoError(t, clm.Parse())
	_, err := clm.Do(t.Context(), http.MethodPost, "cluster-providers", "application/json", []byte("{}"))
	require.ErrorContains(t, err, "EMCO's clm answers 307")
	require.False(t, followed)
}
