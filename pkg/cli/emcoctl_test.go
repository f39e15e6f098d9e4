package cli

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/golden"
	"github.com/signpost-dns/signpost/internal/session"
	"github.com/signpost-dns/signpost/pkg/cli/document"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// TestEmcoctlsFormAndOursInOneFile: what is applied is the same.
func TestEmcoctlsFormAndOursInOneFile(t *testing.T) {
	t.Parallel()
	const mixed = `# the tenant
version: emco/v2
resourceContext:
  anchor: projects
metadata :
  name: shop
  userData1: x
---
resource: projects
metadata: {name: mall}
---
{"version":"emco/v2","resourceContext":{"anchor":"project/shop/dns-update-records"},"metadata":{"name":"lab"},"spec":{"provider":"coredns"}}
---
resourceContext: {anchor: projects/shop/composite-apps}
metadata: {name: store}
spec: {compositeAppVersion: v1}
`
	f := newFake(t)
	got := withInput(t.Context(), f.url, mixed, "apply", "-f", "-")
	require.Equal(t, result{exitDone, "created projects/shop\ncreated projects/mall\ncreated projects/shop/dns-update-records/lab\n" +
		"created projects/shop/composite-apps/store/v1\n", ""}, got)
	require.JSONEq(t, `{"metadata":{"name":"shop","userData1":"x"}}`, f.documents["projects/shop"])
	require.JSONEq(t, `{"metadata":{"name":"lab"},"spec":{"provider":"coredns"}}`, f.documents["projects/shop/dns-update-records/lab"])
	got = withInput(t.Context(), f.url, mixed, "delete", "-f", "-")
	require.Equal(t, exitDone, got.code, got.err)
	require.Empty(t, f.documents)
}

func TestEveryFaultOfEmcoctlsFormIsNamed(t *testing.T) {
	t.Parallel()
	file := write(t, "bad.yaml", `version: emco/v2
metadata: {name: shop}
---
version: emco/v3
resourceContext: {Anchor: projects}
Metadata: {name: shop}
---
version: emco/v2
resourceContext: {anchor: dns-update-records}
metadata: {name: lab}
---
version: emco/v2
resourceContext: {anchor: projects/shop/dns-update-recrods}
metadata: {Name: lab}
---
version: emco/v2
resourceContext: {anchor: projects/shop/dns-update-records/lab}
metadata: {name: lab}
---
version: emco/v2
resourceContext: {anchor: projects//dns-update-records}
resource: projects
metadata: {name: a/b}
---
version: emco/v2
resourceContext: {anchor: 7}
---
version: emco/v2
resourceContext: {anchor: projects/shop/instantiate}
---
version: emco/v2
resourceContext: {anchor: projects/shop/composite-apps}
metadata: {name: store}
---
version: emco/v2
resourceContext: {anchor: cluster-providers/edge/clusters}
metadata: {name: hub}
file: missing.kubeconfig
files: [a]
---
version: emco/v2
resourceContext: {anchor: projects/{{ .Project }}/logical-clouds}
metadata: {name: eu}
---
{{- range .Clusters }}
version: emco/v2
---
version: emco/v2
resourceContext: {anchor: "projects/{{ .Project }}/logical-clouds"}
metadata: {name: "{{ .Cloud }}"}
`)
	f := newFake(t)
	got := signpost(t, f.url, "apply", "-f", file)
	require.Equal(t, exitFailed, got.code)
	require.Empty(t, f.seen(), "nothing is half-done")
	golden.Equal(t, "emcoctl_faults.golden", strings.ReplaceAll(got.err, file, "bad.yaml"))
}

// TestWhatOnlyLooksLikeATemplateIsApplied: braces in a value are the value's.
func TestWhatOnlyLooksLikeATemplateIsApplied(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	got := withInput(t.Context(), f.url, `version: emco/v2
resourceContext: {anchor: projects/shop/dns-update-records}
metadata: {name: lab}
spec: {provider: coredns, external-dns-parameters: {fqdn-template: "{{.Name}}.lab.example"}}
`, "apply", "-f", "-")
	require.Equal(t, exitDone, got.code, got.err)
}

func TestWhatIsEMCOsAloneIsSaidToBe(t *testing.T) {
	t.Parallel()
	const group = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"
	for anchor, says := range map[string]string{
		"controllers": "controllers/x): only EMCO has controllers; give EMCO's URL with --orchestrator; see also signpost register",
		group + "/generic-placement-intents/all/app-intents": "app-intents/x): only EMCO has app-intents; give EMCO's URL with --orchestrator. Signpost's own groups have spec.apps, with clusters",
		group + "/migrate":                                 "migrate): only EMCO has migrate; give EMCO's URL with --orchestrator",
		group + "/intents":                                 "intents/x): only EMCO has intents; give EMCO's URL with --orchestrator",
		"projects/shop/composite-apps/store/v1/apps":       "apps/store/v1/apps/x): only EMCO has apps; give EMCO's URL with --orchestrator. Signpost's own groups have spec.apps, with manifests",
		"projects/shop/logical-clouds/eu/user-permissions": "user-permissions/x): only EMCO has user-permissions; give EMCO's URL with --dcm",
		"cluster-providers/edge/clusters/hub/labels":       "only EMCO has labels; give EMCO's URL with --clm. Signpost's own clusters have spec.labels",
	} {
		f := newFake(t)
		got := withInput(t.Context(), f.url, fmt.Sprintf("version: emco/v2\nresourceContext: {anchor: %s}\nmetadata: {name: x}\n", anchor), "apply", "-f", "-")
		require.Equal(t, exitFailed, got.code)
		require.Contains(t, got.err, says)
		require.Empty(t, f.seen())
	}
}

// TestAClustersFileIsItsKubeconfig: as EMCO's clusters have it.
func TestAClustersFileIsItsKubeconfig(t *testing.T) {
	t.Parallel()
	file := write(t, "hub.kubeconfig", "kind: Config\n")
	cluster := "version: emco/v2\nresourceContext: {anchor: cluster-providers/edge/clusters}\nmetadata: {name: hub}\nfile: " + file + "\n"
	f := newFake(t)
	got := withInput(t.Context(), f.url, cluster, "apply", "-f", "-")
	require.Equal(t, exitDone, got.code, got.err)
	encoded := base64.StdEncoding.EncodeToString([]byte("kind: Config\n"))
	require.JSONEq(t, `{"metadata":{"name":"hub"},"spec":{"kubeconfig":"`+encoded+`"}}`, f.documents["cluster-providers/edge/clusters/hub"])

	got = withInput(t.Context(), f.url, strings.Replace(cluster, "anchor: cluster-providers/edge/clusters", "anchor: projects", 1), "apply", "-f", "-")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "only clusters have a file, their kubeconfig")
}

const requests = `version: emco/v2
resourceContext: {anchor: ` + prod + `/approve}
---
version: emco/v2
resourceContext: {anchor: ` + prod + `/instantiate}
---
version: emco/v2
resourceContext: {anchor: ` + prod + `/rollback}
metadata: {description: back}
spec: {revision: "3"}
---
`

// TestRequestsAreMadeAfterAllDocuments: wherever they are written.
func TestRequestsAreMadeAfterAllDocuments(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST "+prod+"/instantiate", 202, "Accepted", `{"contextID":"1","revision":1}`)
	f.on("POST "+prod+"/rollback?to=3", 202, "Accepted", `{"contextID":"2","revision":2}`)
	got := withInput(t.Context(), f.url, requests+shop, "apply", "-f", "-")
	require.Equal(t, exitDone, got.code, got.err)
	require.Equal(t, []string{
		"PUT projects/shop", "PUT cluster-providers/edge", "PUT projects/shop/dns-update-records/lab",
		"POST " + prod + "/instantiate", "POST " + prod + "/rollback?to=3",
	}, f.seen())
	require.Contains(t, got.out, "unneeded "+prod+"/approve\nrequested "+prod+"/instantiate\nrequested "+prod+"/rollback\n")
}

func TestNothingIsRequestedOfWhatCouldNotBeStored(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("PUT projects/shop/dns-update-records/lab", 400, "Problem", aRefusal)
	got := withInput(t.Context(), f.url, requests+shop, "apply", "-f", "-")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "("+prod+"/instantiate) is skipped because of projects/shop/dns-update-records/lab")
	require.NotContains(t, f.seen(), "POST "+prod+"/instantiate")
}

// TestDeleteTerminatesWhatWasInstantiated: first, and waits for it; other
// requests leave nothing behind.
func TestDeleteTerminatesWhatWasInstantiated(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	require.Equal(t, exitDone, withInput(t.Context(), f.url, shop, "apply", "-f", "-").code)
	f.requests = nil
	f.on("POST "+prod+"/terminate", 202, "Accepted", `{"contextID":"1","revision":1}`)
	f.on("GET "+prod+"/status", 200, "Status", inState("Terminating", "1", "Applied", "Applied", "true"))
	f.on("GET "+prod+"/status", 200, "Status", inState("Terminated", "1", "Deleted", "Deleted", "true"))
	got := withInput(t.Context(), f.url, requests+shop, "delete", "-f", "-")
	require.Equal(t, exitDone, got.code, got.err)
	require.Equal(t, []string{
		"POST " + prod + "/terminate", "DELETE projects/shop/dns-update-records/lab", "DELETE cluster-providers/edge", "DELETE projects/shop",
	}, f.seen())

	f = newFake(t)
	require.Equal(t, exitDone, withInput(t.Context(), f.url, aGroup, "apply", "-f", "-").code)
	f.on("POST "+prod+"/terminate", 409, "Problem", `{"type":"about:blank","title":"Conflict","status":409,"detail":"others need it"}`)
	got = withInput(t.Context(), f.url, requests+aGroup, "delete", "-f", "-")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, f.documents, prod, "what is deployed stays whole")
	require.Contains(t, f.documents, prod+"/traffic-group-intents/front", "what is deployed stays whole")
}

// TestDeleteOfADeployedGroupWithItsRequest: what the request is to terminate is
// no reason to delete nothing.
func TestDeleteOfADeployedGroupWithItsRequest(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	require.Equal(t, exitDone, withInput(t.Context(), f.url, aGroup, "apply", "-f", "-").code)
	f.on("POST "+prod+"/terminate", 202, "Accepted", `{"contextID":"1","revision":1}`)
	f.on("GET "+prod+"/status", 200, "Status", inState("Instantiated", "1", "Applied", "Applied", "true"))
	f.on("GET "+prod+"/status", 200, "Status", inState("Terminated", "1", "Deleted", "Deleted", "true"))
	got := withInput(t.Context(), f.url, requests+aGroup, "delete", "-f", "-")
	require.Equal(t, exitDone, got.code, got.err)
	require.Empty(t, f.documents)
}

func TestEMCOsDocumentsHaveTheirPlaceInTheOrder(t *testing.T) {
	t.Parallel()
	var documents []document.Document
	for i, path := range strings.Fields(`
		controllers/signpost
		cluster-providers/edge/clusters/hub
		cluster-providers/edge/clusters/hub/labels/west
		projects/shop/logical-clouds/eu/user-permissions/all
		projects/shop/composite-apps/store/v1/apps/web
		projects/shop/composite-apps/store/v1/composite-profiles/plain/profiles/web
		projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/generic-placement-intents/all
		projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/intents/all`) {
		documents = append([]document.Document{{Number: i, Path: intent.Path(path)}}, documents...)
	}
	document.Order(documents)
	for i, d := range documents {
		require.Equal(t, i, d.Number, string(d.Path))
	}
}

// TestEmcoctlsExamplesArePlanned: the files of deploy/emco, with Signpost alone.
func TestEmcoctlsExamplesArePlanned(t *testing.T) {
	t.Parallel()
	service := startService(t)
	run := func(args ...string) result {
		t.Helper()
		got := signpost(t, service.url, args...)
		require.Equal(t, exitDone, got.code, "signpost %s: %s", strings.Join(args, " "), got.err)
		return got
	}
	run("apply", "-f", quickstart+"/project.yaml", "-f", quickstart+"/clusters.yaml", "-f", quickstart+"/store.yaml")
	text, err := os.ReadFile(emcoFiles + "/records.yaml")
	require.NoError(t, err)
	records := filepath.Join(t.TempDir(), "records.yaml")
	hasty := strings.Replace(string(text), "  deployOn:\n", "  releaseTimeout: 1s\n  deployOn:\n", 1) // nobody has to remove names here
	require.NoError(t, os.WriteFile(records, []byte(hasty), 0o600))
	ours := []string{"-f", records, "-f", emcoFiles + "/intents.yaml", "-f", emcoFiles + "/instantiate.yaml"}
	run(append([]string{"apply"}, ours[:4]...)...)
	require.Contains(t, run("plan", "shop/store/v1/prod").out, "create  www.lab.example  A     lab     203.0.113.10  6s      37s\n")
	applied := run(append([]string{"apply"}, ours...)...)
	require.Contains(t, applied.out, "requested "+prod+"/instantiate\n")
	golden.Equal(t, "emco_get.golden", session.Normal(run(append([]string{"get"}, ours...)...).out))
	require.Contains(t, run(append([]string{"delete"}, ours...)...).out, "terminated "+prod+"/instantiate\n")
}

const emcoFiles = "../../deploy/emco"

func TestEveryFileOfDeployEMCOIsInEmcoctlsForm(t *testing.T) {
	t.Parallel()
	from := document.Source{Files: []string{emcoFiles, emcoFiles + "/install"}}
	from.Emco.Orchestrator.Flag, from.Emco.Orchestrator.URL = "orchestrator", "http://orchestrator.emco:9015"
	documents, err := from.Read(nil, 0)
	require.NoError(t, err)
	for _, d := range documents {
		require.True(t, d.Emcoctl, d.String())
		require.Equal(t, strings.Contains(d.File, "/install/"), document.Kind(d.Path) == "controllers", "all groups use it: it neither goes nor changes with one")
	}
	content, err := os.ReadFile(emcoFiles + "/install/controller.yaml")
	require.NoError(t, err)
	require.Contains(t, string(content), "host: signpost.signpost\n  port: 9048\n  type: action\n  priority: 90\n", "as signpost register has it")
}
