package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/golden"
	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

const prod = "projects/shop/composite-apps/store/v1/deployment-intent-groups/prod"

// inState is a status in a state of a release, with objects in two clusters,
// of which paris may not be reachable.
func inState(state, revision, berlin, paris, reachable string) string {
	return `{"state":"` + state + `","contextID":"4242","revision":` + revision + `,"conditions":[],"names":[],"providers":[],"clusters":[
	{"clusterProvider":"edge","cluster":"berlin","reachable":true,"message":"","resources":[
		{"kind":"Service","namespace":"shop","name":"web","status":"` + berlin + `","message":""}]},
	{"clusterProvider":"edge","cluster":"paris","reachable":` + reachable + `,"message":"","resources":[
		{"kind":"Service","namespace":"shop","name":"web","status":"` + paris + `","message":""}]}]}`
}

func TestInstantiateWithoutWaiting(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST "+prod+"/instantiate", 202, "Accepted", `{"contextID":"4242","revision":1}`)
	got := signpost(t, f.url, "instantiate", "shop/store/v1/prod")
	require.Equal(t, result{exitDone, "shop/store/v1/prod accepted (release 1, context 4242)\n", ""}, got)
	require.Equal(t, []string{"POST " + prod + "/instantiate"}, f.seen())
	require.JSONEq(t, `{"contextID":"4242","revision":1}`, signpost(t, f.url, "instantiate", prod, "-o", "json").out)
}

// TestALogicalCloudHasALifecycle: its cluster DNS is planned, deployed, rolled
// back and taken away by its path.
func TestALogicalCloudHasALifecycle(t *testing.T) {
	t.Parallel()
	const eu = "projects/shop/logical-clouds/eu"
	f := newFake(t)
	f.on("POST "+eu+"/plan?for=instantiate", 200, "Plan", example(t, "cloudPlan"))
	for _, action := range []string{"instantiate", "update", "rollback", "terminate"} {
		f.on("POST "+eu+"/"+action, 202, "Accepted", `{"contextID":"4242","revision":1}`)
	}
	f.on("GET "+eu+"/status", 200, "Status", example(t, "cloudStatus"))
	got := signpost(t, f.url, "plan", "/v2/project/shop/logical-clouds/eu/", "--for", "instantiate")
	require.Equal(t, exitDone, got.code, got.err)
	require.Contains(t, got.out, "ConfigMap")
	for _, action := range []string{"instantiate", "update", "rollback", "terminate"} {
		got := signpost(t, f.url, action, eu)
		require.Equal(t, result{exitDone, "shop/eu accepted (release 1, context 4242)\n", ""}, got)
	}
	require.Equal(t, "shop/eu Instantiated (release 1, context 4242)\n", signpost(t, f.url, "instantiate", "shop/eu", "--wait").out)
	got = signpost(t, f.url, "delete", "-f", write(t, "eu.yaml", "resource: projects/shop/logical-clouds\nmetadata: {name: eu}"))
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "is Instantiated; terminate it first: signpost terminate shop/eu --wait")
}

func TestWaitingShowsProgressAndEndsWithTheState(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST "+prod+"/update?confirm=a%2Bb", 202, "Accepted", `{"contextID":"4243","revision":2}`)
	for _, status := range []string{
		inState("Instantiated", "1", "Applied", "Applied", "true"), // the release before: not yet
		inState("Updating", "2", "Pending", "Pending", "true"),
		inState("Updating", "2", "Pending", "Pending", "true"),
		inState("Updating", "2", "Applied", "Pending", "false"),
		inState("Instantiated", "2", "Applied", "Applied", "true"),
	} {
		f.on("GET "+prod+"/status", 200, "Status", status)
	}
	got := signpost(t, f.url, "update", "shop/store/v1/prod", "--confirm", "a+b", "--wait")
	require.Equal(t, exitDone, got.code, got.err)
	require.Equal(t, "shop/store/v1/prod Instantiated (release 2, context 4243)\n", got.out)
	require.Equal(t, `Updating: 0 of 2 objects done
Updating: 1 of 2 objects done; edge+paris cannot be reached
`, got.err)
}

func TestTerminateOfWhatWasNeverDeployedWaitsForNothing(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST "+prod+"/terminate", 202, "Accepted", `{"contextID":"","revision":0}`)
	got := signpost(t, f.url, "terminate", "shop/store/v1/prod", "--wait")
	require.Equal(t, result{exitDone, "shop/store/v1/prod was never deployed (release 0, context -)\n", ""}, got)
}

func TestTerminateWaitsUntilAllIsGone(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST "+prod+"/terminate", 202, "Accepted", `{"contextID":"4242","revision":1}`)
	f.on("GET "+prod+"/status", 200, "Status", inState("Terminating", "1", "Applied", "Applied", "true"))
	f.on("GET "+prod+"/status", 200, "Status", inState("Terminating", "1", "Deleted", "Applied", "true"))
	f.on("GET "+prod+"/status", 503, "", `{"type":"about:blank","title":"Service Unavailable","status":503,"detail":"starting"}`)
	f.on("GET "+prod+"/status", 200, "Status", inState("Terminated", "1", "Deleted", "Deleted", "true"))
	got := signpost(t, f.url, "terminate", "shop/store/v1/prod", "--wait")
	require.Equal(t, exitDone, got.code, got.err)
	require.Contains(t, got.err, "Terminating: 1 of 2 objects done\n")
}

// TestAForcedTermination is for what EMCO has, which else is refused.
func TestAForcedTermination(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST "+prod+"/terminate?confirm=abc&force=true", 202, "Accepted", `{"contextID":"4242","revision":1}`)
	got := signpost(t, f.url, "terminate", "shop/store/v1/prod", "--force", "--confirm", "abc")
	require.Equal(t, result{exitDone, "shop/store/v1/prod accepted (release 1, context 4242)\n", ""}, got)
	require.Equal(t, exitUsage, signpost(t, f.url, "update", "shop/store/v1/prod", "--force").code)
}

// TestTerminateSaysWhatItWaitsFor: the group's own objects are gone long before
// the external-dns is that has to remove its names.
func TestTerminateSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST "+prod+"/terminate", 202, "Accepted", `{"contextID":"4242","revision":1}`)
	waiting := func(reason, message string) string {
		return `{"state":"Terminating","contextID":"4242","revision":1,"names":[],"providers":[],"clusters":[],"conditions":[
			{"type":"Synced","status":"False","reason":"` + reason + `","message":"` + message + `","lastTransitionTime":"2026-11-21T08:14:10Z"}]}`
	}
	f.on("GET "+prod+"/status", 200, "Status", waiting("Deleting", "objects are being deleted"))
	f.on("GET "+prod+"/status", 200, "Status", waiting("Deleting", "objects are being deleted"))
	f.on("GET "+prod+"/status", 200, "Status", waiting("Draining", "external-dns of record lab outlives the names that it is to remove"))
	f.on("GET "+prod+"/status", 200, "Status", inState("Terminated", "1", "Deleted", "Deleted", "true"))
	got := signpost(t, f.url, "terminate", "shop/store/v1/prod", "--wait")
	require.Equal(t, result{exitDone, "shop/store/v1/prod Terminated (release 1, context 4242)\n", `Terminating; objects are being deleted
Terminating; external-dns of record lab outlives the names that it is to remove
`}, got)
}

func TestWaitingInVainHasItsOwnExitCode(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST "+prod+"/instantiate", 202, "Accepted", `{"contextID":"4242","revision":1}`)
	f.on("GET "+prod+"/status", 200, "Status", strings.Replace(inState("Failed", "1", "Pending", "Pending", "true"), `"conditions"`, `"message":"etcd is full","conditions"`, 1))
	got := signpost(t, f.url, "instantiate", "shop/store/v1/prod", "--wait", "--timeout", "2s")
	require.Equal(t, exitTimeout, got.code)
	require.Contains(t, got.err, "not done after 2s: Failed: 0 of 2 objects done; etcd is full; the server continues, see signpost status shop/store/v1/prod")
}

func TestAnInterruptEndsWaiting(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST "+prod+"/instantiate", 202, "Accepted", `{"contextID":"4242","revision":1}`)
	f.on("GET "+prod+"/status", 200, "Status", inState("Instantiating", "1", "Pending", "Pending", "true"))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan result)
	go func() { done <- withInput(ctx, f.url, "", "instantiate", "shop/store/v1/prod", "--wait") }()
	require.Eventually(t, func() bool { return len(f.seen()) == 1 }, waitLimit, tick)
	cancel()
	got := <-done
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "interrupted")
}

func TestARefusedActionShowsThePlansErrors(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST "+prod+"/instantiate", 409, "Problem", `{"type":"about:blank","title":"Conflict","status":409,"detail":"the plan has 1 error","errors":[{"pointer":"/spec/hostnames/0","detail":"no record covers www.lab.example"},{"pointer":"projects/shop#","detail":"is gone"}]}`)
	got := signpost(t, f.url, "instantiate", "shop/store/v1/prod", "--wait")
	require.Equal(t, result{exitFailed, "", "signpost instantiate: the plan has 1 error\n  /spec/hostnames/0: no record covers www.lab.example\n  projects/shop: is gone\n"}, got)
}

func TestUpdateOfARecord(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST projects/shop/dns-update-records/lab/update", 202, "Accepted", `{"contextID":"7","revision":3}`)
	got := signpost(t, f.url, "update", "projects/shop/dns-update-records/lab")
	require.Equal(t, result{exitDone, "projects/shop/dns-update-records/lab accepted (release 3, context 7)\n", ""}, got)
}

func TestRollbackNamesItsRelease(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST "+prod+"/rollback", 202, "Accepted", `{"contextID":"9","revision":5}`)
	f.on("POST "+prod+"/rollback?confirm=6f1c&to=3", 202, "Accepted", `{"contextID":"10","revision":6}`)
	f.on("POST "+prod+"/plan?for=rollback&to=3", 200, "Plan", aPlan)
	f.on("GET "+prod+"/status", 200, "Status", inState("Instantiated", "6", "Applied", "Applied", "true"))
	got := signpost(t, f.url, "rollback", "shop/store/v1/prod")
	require.Equal(t, result{exitDone, "shop/store/v1/prod accepted (release 5, context 9)\n", ""}, got)
	require.Equal(t, exitDone, signpost(t, f.url, "plan", "shop/store/v1/prod", "--for", "rollback", "--to", "3").code)
	got = signpost(t, f.url, "rollback", "shop/store/v1/prod", "--to", "3", "--confirm", "6f1c", "--wait")
	require.Equal(t, result{exitDone, "shop/store/v1/prod Instantiated (release 6, context 10)\n", ""}, got)

	for text, args := range map[string][]string{
		`"-1" for "--to" flag: this is not a release; the first release is 1`: {"rollback", "shop/store/v1/prod", "--to", "-1"},
		`"0" for "--to" flag: this is not a release; the first release is 1`:  {"rollback", "shop/store/v1/prod", "--to", "0"},
		`"v1" for "--to" flag: this is not a release; the first release is 1`: {"plan", "shop/store/v1/prod", "--for", "rollback", "--to", "v1"},
		"add --for rollback": {"plan", "shop/store/v1/prod", "--to", "3"},
		"deployment intent":  {"rollback", "projects/shop/dns-update-records/lab"},
	} {
		got := signpost(t, f.url, args...)
		require.Equal(t, exitUsage, got.code, text)
		require.Contains(t, got.err, text)
	}
	require.NotContains(t, f.seen(), "POST "+prod+"/rollback?to=0")
}

const aPlan = `{"token":"6f1c","warnings":["sync without a domain filter"],"errors":[],"names":[
	{"name":"www.lab.example","type":"A","record":"lab","action":"update","before":["203.0.113.10"],"targets":["203.0.113.10","203.0.113.20"],"answeredWithin":"6s","clientsWithin":"37s"},
	{"name":"old.lab.example","type":"A","record":"lab","action":"delete","targets":["203.0.113.9"],"before":["203.0.113.9"]}],"objects":[
	{"cluster":"edge+hub","action":"update","kind":"DNSEndpoint","namespace":"shop-dns","name":"web-web-0a1b2c3d","diff":" spec:\n-  - 203.0.113.10\n+  - 203.0.113.20\n"},
	{"cluster":"edge+hub","action":"unchanged","kind":"Namespace","namespace":"","name":"shop-dns","diff":""}]}`

// TestAPlanWithoutChangesSaysSoBelowItsWarnings, and is not idle if a name goes that has no address.
func TestAPlanWithoutChangesSaysSoBelowItsWarnings(t *testing.T) {
	t.Parallel()
	for reason, c := range map[string]struct{ plan, out string }{
		"nothing to tell": {`{"token":"","warnings":[],"errors":[],"names":[],"objects":[]}`, "No object and no host name would change.\n"},
		"a warning": {`{"token":"","warnings":["the provider is suspended"],"errors":[],"objects":[],"names":[{"name":"www.lab.example","type":"A","record":"lab","action":"unchanged","targets":[]}]}`,
			"warning: the provider is suspended\nNo object and no host name would change.\n"},
		"a name without an address goes": {`{"token":"","warnings":["1 host name goes without a change in DNS"],"errors":[],"objects":[],"names":[{"name":"api.lab.example","type":"A","record":"lab","action":"delete","targets":[]}]}`,
			"warning: 1 host name goes without a change in DNS\n\nACTION  NAME             TYPE  RECORD  TARGETS     WITHIN  CLIENTS\ndelete  api.lab.example  A     lab     no address  -       -\n"},
		"a new name has no address yet": {`{"token":"","warnings":[],"errors":[],"objects":[],"names":[{"name":"api.lab.example","type":"A","record":"lab","action":"create","targets":[]}]}`,
			"\nACTION  NAME             TYPE  RECORD  TARGETS         WITHIN  CLIENTS\ncreate  api.lab.example  A     lab     no address yet  -       -\n"},
	} {
		f := newFake(t)
		f.on("POST "+prod+"/plan?for=terminate", 200, "Plan", c.plan)
		require.Equal(t, result{exitDone, c.out, ""}, signpost(t, f.url, "plan", "shop/store/v1/prod", "--for", "terminate"), reason)
	}
}

func TestPlans(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST "+prod+"/plan", 200, "Plan", aPlan)
	f.on("POST "+prod+"/plan?for=terminate", 200, "Plan", aPlan)
	f.on("POST projects/shop/dns-update-records/lab/plan", 200, "Plan", aPlan)
	for name, args := range map[string][]string{
		"plan":      {"plan", "shop/store/v1/prod"},
		"plan_wide": {"plan", "projects/shop/dns-update-records/lab", "-o", "wide"},
		"plan_diff": {"plan", "shop/store/v1/prod", "--for", "terminate", "--diff"},
		"plan_yaml": {"plan", "shop/store/v1/prod", "-o", "yaml"},
	} {
		got := signpost(t, f.url, args...)
		require.Equal(t, exitDone, got.code, got.err)
		golden.Equal(t, name+".golden", got.out)
	}
}

func TestAPlanCountsWhatItDoesNotList(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST "+prod+"/plan", 200, "Plan", strings.Replace(aPlan, `"token"`, `"objectsLeftOut":{"create":30000,"update":1,"delete":0,"unchanged":5},"token"`, 1))
	got := signpost(t, f.url, "plan", "shop/store/v1/prod")
	require.Equal(t, exitDone, got.code, got.err)
	require.Contains(t, got.out, "Objects: 30000 to create, 2 to update, 0 to delete, 6 unchanged.\nThe plan does not list 30001 of these changes, because there are too many.")
}

func TestAPlanWithErrorsFails(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("POST "+prod+"/plan", 200, "Plan", `{"token":"6f1c","warnings":[],"errors":[{"pointer":"/spec/hostnames/0","detail":"no record covers it"}],"names":[],"objects":[]}`)
	got := signpost(t, f.url, "plan", "shop/store/v1/prod")
	require.Equal(t, exitFailed, got.code)
	golden.Equal(t, "plan_errors.golden", got.out)
	require.NotContains(t, got.out, "--confirm")
	require.Contains(t, got.err, "the plan has 1 error and would be refused")
}

// TestARecordAdoptsNames of the owner id that is given; nothing else does.
func TestARecordAdoptsNames(t *testing.T) {
	t.Parallel()
	const lab = "projects/shop/dns-update-records/lab"
	f := newFake(t)
	f.on("POST "+lab+"/plan?adopt=old%2Fid", 200, "Plan", example(t, "plan"))
	f.on("POST "+lab+"/update?adopt=old%2Fid&confirm=abc", 202, "Accepted", `{"contextID":"4242","revision":2}`)
	got := signpost(t, f.url, "plan", lab, "--adopt", "old/id")
	require.Equal(t, exitDone, got.code, got.err)
	got = signpost(t, f.url, "update", lab, "--adopt", "old/id", "--confirm", "abc")
	require.Equal(t, exitDone, got.code, got.err)
	f.on("GET "+lab+"/status", 200, "RecordStatus", `{"ownerID":"sp-1","version":"v0.22.0","revision":2,"providers":[],"deployments":[],"warnings":[],
		"adoption":{"from":"old/id","names":["a.lab.example","b.lab.example"],"since":"2026-11-01T12:00:00Z"}}`)
	require.Contains(t, signpost(t, f.url, "status", lab).out, "adopting a.lab.example, b.lab.example from owner id old/id since 2026-11-01T12:00:00Z\n")
	for _, command := range []string{"plan", "update"} {
		got := signpost(t, f.url, command, "shop/store/v1/prod", "--adopt", "old")
		require.Equal(t, exitUsage, got.code)
		require.Contains(t, got.err, "--adopt: only a provider adopts names; give projects/PROJECT/dns-update-records/NAME")
	}
	require.Equal(t, exitUsage, signpost(t, f.url, "instantiate", "shop/store/v1/prod", "--adopt", "old").code)
}

// TestANameWithoutAnAddressIsNotDone: nobody is served by it.
func TestANameWithoutAnAddressIsNotDone(t *testing.T) {
	t.Parallel()
	named := func(each ...string) string {
		for n, targets := range each {
			each[n] = `{"name":"www.lab.example","type":"A","record":"lab","scope":"public","targets":[` + targets + `],"sources":[],"rejected":[],"conditions":[]}`
		}
		return strings.Replace(inState("Instantiated", "1", "Applied", "Applied", "true"), `"names":[]`, `"names":[`+strings.Join(each, ",")+`]`, 1)
	}
	f := newFake(t)
	f.on("POST "+prod+"/instantiate", 202, "Accepted", `{"contextID":"4242","revision":1}`)
	f.on("GET "+prod+"/status", 200, "Status", named(""))
	got := signpost(t, f.url, "instantiate", "shop/store/v1/prod", "--wait", "--timeout", "1s")
	require.Equal(t, exitTimeout, got.code)
	require.Contains(t, got.err, "there is no address for www.lab.example")

	f = newFake(t)
	f.on("POST "+prod+"/instantiate", 202, "Accepted", `{"contextID":"4242","revision":1}`)
	f.on("GET "+prod+"/status", 200, "Status", named(""))
	f.on("GET "+prod+"/status", 200, "Status", named("", `"203.0.113.10"`)) // of two apps, one is drained
	got = signpost(t, f.url, "instantiate", "shop/store/v1/prod", "--wait")
	require.Equal(t, exitDone, got.code, got.err)
}

// TestNamesOfSomebodyElseAreNotVerified, although they are answered as they are to be: their publisher leaves them alone.
func TestNamesOfSomebodyElseAreNotVerified(t *testing.T) {
	t.Parallel()
	status := func(published string) string {
		return strings.Replace(inState("Instantiated", "1", "Applied", "Applied", "true"), `"conditions":[]`,
			`"conditions":[{"type":"Verified","status":"True","reason":"Matches","message":"","lastTransitionTime":"2026-11-01T12:00:00Z"},
			{"type":"Published","status":"`+published+`","reason":"Failed","message":"www.lab.example belongs to owner old","lastTransitionTime":"2026-11-01T12:00:00Z"}]`, 1)
	}
	for published, code := range map[string]int{"True": exitDone, "Unknown": exitDone, "False": exitTimeout} {
		f := newFake(t)
		f.on("POST "+prod+"/instantiate", 202, "Accepted", `{"contextID":"4242","revision":1}`)
		f.on("GET "+prod+"/status", 200, "Status", status(published))
		got := signpost(t, f.url, "instantiate", "shop/store/v1/prod", "--wait=verified", "--timeout", "1s")
		require.Equal(t, code, got.code, published+got.err)
		if code != exitDone {
			require.Contains(t, got.err, "not Published: www.lab.example belongs to owner old")
		}
		name := intent.NameReport{State: intent.Instantiated, Published: published, Verified: "True"}
		require.Equal(t, code == exitDone, name.Is("verified"))
	}
}

// TestAStatusOfNothingIsAnError: a mistyped cluster or name would look like good health.
func TestAStatusOfNothingIsAnError(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET "+prod+"/status?cluster=edge%2Fromme", 200, "Status", `{"state":"Instantiated","contextID":"4242","revision":1,"conditions":[],"names":[],"providers":[],"clusters":[]}`)
	f.on("GET "+prod+"/status?name=foo%2A", 200, "Status", inState("Instantiated", "1", "Applied", "Applied", "true"))
	got := signpost(t, f.url, "status", "shop/store/v1/prod", "--cluster", "edge/romme")
	require.Equal(t, result{exitFailed, "", "signpost status: --cluster: shop/store/v1/prod has nothing in edge/romme; signpost status shop/store/v1/prod lists its clusters\n"}, got)
	got = signpost(t, f.url, "status", "shop/store/v1/prod", "--name", "foo*")
	require.Equal(t, result{exitFailed, "", "signpost status: --name: shop/store/v1/prod has no name like foo*; signpost status shop/store/v1/prod lists its names\n"}, got)
}
