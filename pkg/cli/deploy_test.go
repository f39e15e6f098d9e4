package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const labRecord = "projects/shop/dns-update-records/lab"

// withConditions is an Instantiated status of release 2 whose names are in these states.
func withConditions(published, verified string) string {
	condition := func(kind, status string) string {
		return `{"type":"` + kind + `","status":"` + status + `","reason":"r","message":"` + strings.ToLower(kind) + ` is ` + status + `","lastTransitionTime":"2026-11-21T08:14:10Z"}`
	}
	return strings.Replace(inState("Instantiated", "2", "Applied", "Applied", "true"), `"conditions":[]`,
		`"conditions":[`+condition("Published", published)+`,`+condition("Verified", verified)+`]`, 1)
}

func TestDeploySaysWhatItDid(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST "+prod+"/deploy?confirm=abc&takeover=store%2Fv1%2Ftest", 202, "Deployed", `{"contextID":"4242","revision":1,"action":"instantiate"}`)
	f.on("POST "+prod+"/deploy", 202, "Deployed", `{"contextID":"4242","revision":1,"action":"none"}`)
	f.on("POST "+prod+"/deploy?dryRun=true", 200, "Plan", aPlan)
	f.on("POST "+labRecord+"/deploy?adopt=old", 202, "Deployed", `{"contextID":"4243","revision":2,"action":"update"}`)
	f.on("POST "+labRecord+"/deploy", 202, "Deployed", `{"contextID":"","revision":0,"action":"none"}`)
	for line, args := range map[string][]string{
		labRecord + " is not in use yet (release 0, context -)\n":                         {labRecord},
		"shop/store/v1/prod accepted (release 1, context 4242)\n":                         {"shop/store/v1/prod", "--confirm", "abc", "--takeover", "store/v1/test"},
		"shop/store/v1/prod is deployed as its documents say (release 1, context 4242)\n": {"shop/store/v1/prod"},
		labRecord + " accepted (release 2, context 4243)\n":                               {labRecord, "--adopt", "old"},
	} {
		require.Equal(t, result{exitDone, line, ""}, signpost(t, f.url, append([]string{"deploy"}, args...)...))
	}
	got := signpost(t, f.url, "deploy", "shop/store/v1/prod", "--dry-run")
	require.Equal(t, exitDone, got.code, got.err)
	require.Contains(t, got.out, "www.lab.example")
}

// TestWaitingForNames ends once all of them are published, or answered by authoritative
// servers.
func TestWaitingForNames(t *testing.T) {
	t.Parallel()
	for wait, want := range map[string]struct {
		reached, progress string
	}{
		"published": {"Instantiated, Published", "Instantiated: 2 of 2 objects done; not Published: published is False\n"},
		"verified":  {"Instantiated, Verified", "Instantiated: 2 of 2 objects done; not Verified: verified is False\nInstantiated: 2 of 2 objects done; not Verified: verified is Unknown\n"},
	} {
		f := newFake(t)
		f.on("POST "+prod+"/deploy", 202, "Deployed", `{"contextID":"4242","revision":2,"action":"update"}`)
		for _, status := range []string{withConditions("False", "False"), withConditions("False", "False"), withConditions("True", "Unknown"), withConditions("True", "True")} {
			f.on("GET "+prod+"/status", 200, "Status", status)
		}
		got := signpost(t, f.url, "deploy", "shop/store/v1/prod", "--wait="+wait)
		require.Equal(t, result{exitDone, "shop/store/v1/prod " + want.reached + " (release 2, context 4242)\n", want.progress}, got)
	}
}

// TestWaitingWithoutAValue is for the state alone, as it was before there were others.
func TestWaitingWithoutAValue(t *testing.T) {
	t.Parallel()
	for _, wait := range []string{"--wait", "--wait=instantiated"} {
		f := newFake(t)
		f.on("POST "+prod+"/rollback", 202, "Accepted", `{"contextID":"4242","revision":2}`)
		f.on("GET "+prod+"/status", 200, "Status", withConditions("False", "False"))
		got := signpost(t, f.url, "rollback", "shop/store/v1/prod", wait)
		require.Equal(t, result{exitDone, "shop/store/v1/prod Instantiated (release 2, context 4242)\n", ""}, got)
	}
}

func TestWaitingInVainForNamesSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST "+prod+"/update", 202, "Accepted", `{"contextID":"4242","revision":2}`)
	f.on("GET "+prod+"/status", 200, "Status", inState("Instantiated", "2", "Applied", "Applied", "true"))
	got := signpost(t, f.url, "update", "shop/store/v1/prod", "--wait=verified", "--timeout", "1s")
	require.Equal(t, exitTimeout, got.code)
	require.Contains(t, got.err, "not done after 1s: Instantiated: 2 of 2 objects done; not Verified; the server continues")
}

func TestWhatCannotBeWaitedFor(t *testing.T) {
	t.Parallel()
	for part, args := range map[string][]string{
		`"soon" is nothing to wait for; give instantiated, published or verified`:      {"deploy", "shop/store/v1/prod", "--wait=soon"},
		"a provider has no state to wait for":                                          {"deploy", labRecord, "--wait"},
		"--wait=verified: a logical cloud has no names; give --wait=instantiated":      {"deploy", "shop/eu", "--wait=verified"},
		"--wait=verified: terminate does not lead to it; give --wait":                  {"terminate", "shop/store/v1/prod", "--wait=verified"},
		"--wait=terminated: instantiate does not lead to it; give --wait":              {"instantiate", "shop/store/v1/prod", "--wait=terminated"},
		"--adopt: only a provider adopts names; give projects/PROJECT/dns-update-reco": {"deploy", "shop/store/v1/prod", "--adopt", "old"},
	} {
		got := signpost(t, "http://127.0.0.1:1", args...)
		require.Equal(t, exitUsage, got.code, part)
		require.Contains(t, got.err, part)
	}
}

// TestApplyDeploysWhatDocumentsBelongTo: providers first, then cluster DNS, then groups, each
// once; nothing if a document is refused.
func TestApplyDeploysWhatDocumentsBelongTo(t *testing.T) {
	t.Parallel()
	const eu = "projects/shop/logical-clouds/eu"
	files := write(t, "shop.yaml", `
{resource: `+prod+`/dns-intents, metadata: {name: www}}
---
{resource: `+prod+`/dns-intents, metadata: {name: api}}
---
{resource: projects/shop/logical-clouds, metadata: {name: us}}
---
{resource: `+eu+`/dns-cr-intents, metadata: {name: resolvers}}
---
{resource: projects/shop/dns-update-records, metadata: {name: lab}}
`)
	f := newFake(t)
	for _, owner := range []string{labRecord, eu, prod} {
		f.on("POST "+owner+"/deploy", 202, "Deployed", `{"contextID":"4242","revision":2,"action":"update"}`)
	}
	f.on("GET "+eu+"/status", 200, "Status", inState("Instantiated", "2", "Applied", "Applied", "true"))
	f.on("GET "+prod+"/status", 200, "Status", withConditions("True", "True"))
	got := signpost(t, f.url, "apply", "-f", files, "--deploy", "--wait=verified")
	require.Equal(t, exitDone, got.code, got.err)
	require.Contains(t, got.out, labRecord+" accepted (release 2, context 4242)\nshop/eu Instantiated (release 2, context 4242)\nshop/store/v1/prod Instantiated, Verified (release 2, context 4242)\n")
	require.Equal(t, []string{"POST " + labRecord + "/deploy", "POST " + eu + "/deploy", "POST " + prod + "/deploy"}, f.seen()[5:], "each once, after all documents")

	f = newFake(t)
	f.on("PUT "+labRecord, 400, "Problem", aRefusal)
	got = signpost(t, f.url, "apply", "-f", files, "--deploy")
	require.Equal(t, exitFailed, got.code)
	require.NotContains(t, strings.Join(f.seen(), "\n"), "POST")

	f = newFake(t)
	f.on("POST "+labRecord+"/deploy", 409, "Problem", aRefusal)
	got = signpost(t, f.url, "apply", "-f", files, "--deploy")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "the body has 2 errors")
	got = signpost(t, f.url, "apply", "-f", files, "--wait")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "add --deploy")
}

// TestApplyWaitsForNames that are published as they are stored.
func TestApplyWaitsForNames(t *testing.T) {
	t.Parallel()
	file := write(t, "name.yaml", "{resource: projects/default/names, metadata: {name: shop.lab.example}, spec: {addresses: [203.0.113.7]}}\n")
	f := newFake(t)
	f.on("GET projects/default", 200, "Project", example(t, "projectStored"))
	f.on("PUT "+shopName, 200, "DNSName", publishedName)
	pending := strings.Replace(publishedName, `"verified":"True","message":""`, `"verified":"False","message":"no server answers it yet"`, 1)
	require.NotEqual(t, publishedName, pending)
	for _, answer := range []string{publishedName, pending, pending, publishedName} {
		f.on("GET "+shopName, 200, "DNSName", answer)
	}
	got := signpost(t, f.url, "apply", "-f", file, "--wait=verified")
	require.Equal(t, exitDone, got.code, got.err)
	require.Contains(t, got.out, shopName+" verified\n")
	require.Equal(t, "no server answers it yet\n", got.err)
}
