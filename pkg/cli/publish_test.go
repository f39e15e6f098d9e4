package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const shopName = "projects/default/names/shop.lab.example"

const publishedName = `{"metadata":{"name":"shop.lab.example","revision":1,"createdAt":"2026-11-02T09:30:00Z","updatedAt":"2026-11-02T09:30:00Z"},
	"spec":{"service":"web/frontend","clusters":["edge/hub"],"provider":"lab"},
	"status":{"state":"Instantiated","published":"True","verified":"True","message":"","warnings":[],
	"records":[{"name":"shop.lab.example","type":"A","record":"lab","scope":"public","targets":["203.0.113.7"],"conditions":[],"sources":[],"rejected":[]}]}}`

// TestPublishIsOneCommand that waits, and prints what the name answers.
func TestPublishIsOneCommand(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	changed := strings.Replace(publishedName, `"warnings"`, `"changes":[{"name":"shop.lab.example","type":"A","record":"lab","action":"update","before":["203.0.113.9"],"targets":["203.0.113.7"]}],"warnings"`, 1)
	f.on("PUT "+shopName, 201, "DNSName", changed)
	got := signpost(t, f.url, "publish", "Shop.lab.example.", "--service", "web/frontend", "--clusters", "edge+hub")
	require.Equal(t, []string{"PUT " + shopName}, f.seen())
	require.Equal(t, exitDone, got.code)
	require.Empty(t, got.err)
	require.Contains(t, got.out, "A     203.0.113.9 -> 203.0.113.7  update\n")

	f = newFake(t)
	f.on("PUT "+shopName, 200, "DNSName", publishedName)
	f.on("GET "+shopName, 200, "DNSName", publishedName)
	got = signpost(t, f.url, "publish", "shop.lab.example", "--service", "web/frontend", "--clusters", "edge/hub", "--wait", "verified")
	require.Equal(t, result{exitDone, `shop.lab.example Instantiated: published True, verified True

TYPE  TARGETS      CHANGE
A     203.0.113.7  unchanged
`, ""}, got)
}

// TestPublishKeepsWhatNoFlagSpeaksOf: of a name that is published already.
func TestPublishKeepsWhatNoFlagSpeaksOf(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	require.Equal(t, exitDone, signpost(t, f.url, "apply", "-f", write(t, "name.yaml", `resource: projects/shop/names
metadata: {name: www.lab.example, description: the bakery}
spec: {addresses: [192.0.2.7], provider: lab, ttl: 30, recordTypes: [A], health: {whenAllUnhealthy: keep}}
`)).code)
	stored := func() string {
		return signpost(t, f.url, "get", "projects/shop/names/www.lab.example", "-o", "yaml").out
	}
	got := signpost(t, f.url, "publish", "www.lab.example", "--project", "shop", "--address", "192.0.2.8")
	require.Equal(t, exitDone, got.code, got.err)
	for _, kept := range []string{"the bakery", "ttl: 30", "whenAllUnhealthy: keep", "- A", "- 192.0.2.8"} {
		require.Contains(t, stored(), kept)
	}
	require.NotContains(t, stored(), "192.0.2.7")
	require.Equal(t, exitDone, signpost(t, f.url, "publish", "www.lab.example", "--project", "shop", "--ttl", "default").code)
	require.NotContains(t, stored(), "ttl")
	require.Equal(t, exitDone, signpost(t, f.url, "publish", "www.lab.example", "--project", "shop", "--ttl", "60").code)
	require.Contains(t, stored(), "ttl: 60")
	require.Contains(t, stored(), "- 192.0.2.8")
	require.Equal(t, exitDone, signpost(t, f.url, "publish", "www.lab.example", "--project", "shop", "--service", "web/front", "--selector", "region=eu", "--scope", "cluster").code)
	require.NotContains(t, stored(), "addresses")
	require.Equal(t, exitDone, signpost(t, f.url, "publish", "www.lab.example", "--project", "shop", "--address", "192.0.2.8").code)
	require.NotContains(t, stored(), "scope", "it is for Services alone")
	require.NotContains(t, stored(), "region")
	require.Equal(t, exitDone, signpost(t, f.url, "publish", "www.lab.example", "--project", "shop", "--address", "192.0.2.9", "--replace").code)
	require.NotContains(t, stored(), "ttl: 60")
}

// TestPublishKeepsFieldsOfANewerServer, which this version does not know.
func TestPublishKeepsFieldsOfANewerServer(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	const path = "projects/shop/names/www.lab.example"
	f.documents[path] = `{"metadata":{"name":"www.lab.example","color":"red"},"spec":{"addresses":["192.0.2.7"],"ttl":30,"mood":{"a":[1]}},"status":{"state":"Instantiated"}}`
	f.revisions[path] = 1
	got := signpost(t, f.url, "publish", "www.lab.example", "--project", "shop", "--ttl", "5m", "--provider", "lab")
	require.Equal(t, exitDone, got.code, got.err)
	require.JSONEq(t, `{"metadata":{"name":"www.lab.example","color":"red"},"spec":{"addresses":["192.0.2.7"],"ttl":300,"provider":"lab","mood":{"a":[1]}}}`, f.documents[path])
}

// TestWaitTakesItsStateInBothForms, and waits for the publication without one.
func TestWaitTakesItsStateInBothForms(t *testing.T) {
	t.Parallel()
	half := strings.Replace(publishedName, `"verified":"True","message":""`, `"verified":"False","message":"not all servers answer"`, 1)
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"--wait"}, exitDone}, {[]string{"--wait", "published"}, exitDone}, {[]string{"--wait=published"}, exitDone},
		{[]string{"--wait", "verified", "--timeout", "1ms"}, exitTimeout}, {[]string{"--wait=verified", "--timeout", "1ms"}, exitTimeout},
	} {
		f := newFake(t)
		f.on("PUT "+shopName, 200, "DNSName", half)
		f.on("GET "+shopName, 200, "DNSName", half)
		require.Equal(t, c.code, signpost(t, f.url, append([]string{"publish", "shop.lab.example", "--address", "203.0.113.7"}, c.args...)...).code, c.args)
		require.Equal(t, c.code, signpost(t, f.url, append(append([]string{"publish"}, c.args...), "shop.lab.example")...).code, c.args)
	}
}

// TestANameNeedsAProjectWithAProvider: the command says which projects there are.
func TestANameNeedsAProjectWithAProvider(t *testing.T) {
	t.Parallel()
	service := startService(t)
	publish := []string{"publish", "www.lab.example", "--address", "192.0.2.7"}
	require.Contains(t, signpost(t, service.url, publish...).err, "projects/default does not exist; create it first, by signpost apply")
	projects := write(t, "projects.yaml", "resource: projects\nmetadata: {name: shop}\nspec: {}\n---\nresource: projects\nmetadata: {name: mall}\nspec: {}\n")
	require.Equal(t, exitDone, signpost(t, service.url, "apply", "-f", projects).code)
	for _, args := range [][]string{publish, append(publish, "--dry-run")} {
		got := signpost(t, service.url, args...)
		require.Equal(t, exitFailed, got.code)
		require.Contains(t, got.err, `project "default" does not exist; give another one by --project or SIGNPOST_PROJECT: mall, shop`)
	}
	require.NoError(t, service.stop())
}

// TestTheProjectOfTheEnvironment is that of commands that name none.
func TestTheProjectOfTheEnvironment(t *testing.T) {
	t.Setenv("SIGNPOST_PROJECT", "shop")
	f := newFake(t)
	f.on("DELETE projects/shop/names/a.example", 202, "DNSName", publishedName)
	f.on("DELETE projects/bakery/names/a.example", 202, "DNSName", publishedName)
	require.Equal(t, exitDone, signpost(t, f.url, "unpublish", "a.example").code)
	require.Equal(t, exitDone, signpost(t, f.url, "unpublish", "a.example", "--project", "bakery").code)
	require.Equal(t, []string{"DELETE projects/shop/names/a.example", "DELETE projects/bakery/names/a.example"}, f.seen())
}

// TestAFlagForEachTarget is told to those who give a target as an argument.
func TestAFlagForEachTarget(t *testing.T) {
	t.Parallel()
	for target, flag := range map[string]string{"192.0.2.7": "--address 192.0.2.7", "2001:db8::7": "--address 2001:db8::7", "web/frontend": "--service web/frontend"} {
		got := signpost(t, "http://127.0.0.1:1", "publish", "www.lab.example", target)
		require.Equal(t, exitUsage, got.code)
		require.Contains(t, got.err, flag)
	}
	for _, ttl := range []string{"soon", "0", "-5", "1.5s"} {
		got := signpost(t, "http://127.0.0.1:1", "publish", "www.lab.example", "--ttl", ttl)
		require.Equal(t, exitUsage, got.code)
		require.Contains(t, got.err, "give 300, 5m or default", ttl)
	}
}

// TestTheDefaultProjectStaysOnlyIfItIsNeeded by what is applied.
func TestTheDefaultProjectStaysOnlyIfItIsNeeded(t *testing.T) {
	t.Parallel()
	service := startService(t)
	provider := func(project, kind string) string {
		return write(t, "provider.yaml", "resource: projects/"+project+"/dns-update-records\nmetadata: {name: lab}\nspec: {provider: "+kind+", external-dns-parameters: {domain-filter: lab.example}}\n")
	}
	got := signpost(t, service.url, "apply", "-f", provider("default", "none"))
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "removed project \"default\", because it is empty\n")
	require.Equal(t, "There are no projects.\n", signpost(t, service.url, "get", "projects").out)
	other := signpost(t, service.url, "apply", "-f", provider("shop", "coredns"))
	require.Equal(t, exitFailed, other.code)
	require.Contains(t, other.err, "projects/shop does not exist; create it first, by signpost apply. Or give another project, with --project\n")

	for _, plan := range [][]string{{"plan", "-f"}, {"apply", "--dry-run", "-f"}} {
		planned := signpost(t, service.url, append(plan, provider("default", "coredns"))...)
		require.Equal(t, exitUsage, planned.code, "something would change")
		require.Contains(t, planned.out, "create  projects/default\n")
	}
	made := signpost(t, service.url, "apply", "-f", provider("default", "coredns"))
	require.Equal(t, exitDone, made.code, made.err)
	require.Contains(t, made.err, "created project \"default\"\n")
	require.Equal(t, exitFailed, signpost(t, service.url, "publish", "www.lab.example", "--address", "192.0.2.7").code, "the provider has no home")
	require.Contains(t, signpost(t, service.url, "get", "projects").out, "default", "a command removes what it has made itself only")
	require.NoError(t, service.stop())
}

func TestPublishRefusesWhatItCanJudge(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"publish"}, {"publish", "a..example"}, {"publish", "a.example", "--wait", "someday"},
		{"publish", "a.example", "--clusters", "a/b", "--selector", "region=eu"}, {"unpublish"}, {"names", "x"},
		{"publish", "a.example", "--service", "web/frontend", "--clusters", "berlin"},
	} {
		require.Equal(t, exitUsage, signpost(t, "http://127.0.0.1:1", args...).code, args)
	}
}

// The name is most often in another project than the default one.
func TestANameThatTheDefaultProjectLacksAsksForAnotherProject(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	missing := `{"type":"about:blank","title":"Not Found","status":404,"detail":"it does not exist"}`
	for _, path := range []string{"GET projects/default/names", "DELETE projects/default/names/a.example", "DELETE projects/shop/names/a.example"} {
		f.on(path, 404, "Problem", missing)
	}
	for _, args := range [][]string{{"names"}, {"unpublish", "a.example"}} {
		got := signpost(t, f.url, args...)
		require.Equal(t, exitFailed, got.code)
		require.Contains(t, got.err, "it does not exist; give its project by --project or SIGNPOST_PROJECT\n")
	}
	require.NotContains(t, signpost(t, f.url, "unpublish", "a.example", "--project", "shop").err, "--project")
}

func TestUnpublishWaitsUntilTheNameIsGone(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("DELETE "+shopName, 202, "DNSName", publishedName)
	require.Equal(t, result{exitDone, "shop.lab.example is going\n", ""}, signpost(t, f.url, "unpublish", "shop.lab.example"))
	f.on("GET "+shopName, 404, "Problem", `{"type":"about:blank","title":"Not Found","status":404,"detail":"it does not exist"}`)
	require.Equal(t, result{exitDone, "shop.lab.example is gone\n", ""}, signpost(t, f.url, "unpublish", "shop.lab.example", "--wait"))
}

// TestHistoryIsATable: what came and went, why, and by whom.
func TestHistoryIsATable(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET names/www.shop.example/history", 200, "NameHistory", example(t, "nameHistory"))
	got := signpost(t, f.url, "history", "WWW.shop.example.")
	require.Equal(t, result{exitDone, `TIME                  PROJECT  CAUSE                BY    TARGETS                        ANSWERED              MESSAGE
2026-11-02T10:00:00Z  shop     drain: dc/one        olga  A -203.0.113.10                2026-11-02T10:00:07Z  the cluster is drained
2026-11-02T09:31:07Z  shop     release 1 (publish)  anna  A +203.0.113.10 +203.0.113.20  2026-11-02T09:31:14Z  -
`, ""}, got)

	f.on("GET names/a.example/history", 200, "NameHistory", `{"items":[{"time":"2026-11-02T10:00:00Z","project":"shop","cause":{"reason":"Readiness","message":"m","cluster":"dc+one"},
		"changes":[{"name":"_https._tcp.a.example","type":"SRV","added":["b"],"leftOut":3}],"times":14,"lastTime":"2026-11-02T10:09:00Z","gap":true}]}`)
	got = signpost(t, f.url, "history", "a.example")
	require.Contains(t, got.out, "readiness of the Service: dc/one  -   _https._tcp.a.example SRV +b and 3 more  not seen  changes before it are lost; flapping, 14 times until 2026-11-02T10:09:00Z; m")
	turn := func(release int, action string) string {
		return fmt.Sprintf(`{"time":"2026-11-02T10:00:00Z","project":"shop","owner":"projects/shop/names/c.example","cause":{"reason":"Release","message":"","action":%q,"release":%d},"changes":[]}`, action, release)
	}
	for _, last := range []int{1, 3} { // the number of the deletion
		lives := []string{turn(2, "update"), turn(1, "instantiate"), turn(last, "terminate"), turn(last, "update"), turn(1, "instantiate")}
		host := fmt.Sprintf("c%d.example", last)
		f.on("GET names/"+host+"/history", 200, "NameHistory", `{"items":[`+strings.Join(lives, ",")+`]}`)
		got = signpost(t, f.url, "history", host)
		require.Equal(t, 3, strings.Count(got.out, " of before ("), got.out)
		require.Contains(t, got.out, fmt.Sprintf("release %d of before (unpublish)", last))
		require.Contains(t, got.out, "\nof before: the name was unpublished since, and its releases are counted anew.")
	}
	f.on("GET names/c.example/history", 200, "NameHistory", `{"items":[`+strings.Join([]string{turn(4, "instantiate"), turn(3, "terminate"), turn(3, "update")}, ",")+`]}`)
	require.NotContains(t, signpost(t, f.url, "history", "c.example").out, "of before", "the numbers go on")
	f.on("GET names/b.example/history", 200, "NameHistory", `{"items":[]}`)
	require.Equal(t, result{exitDone, "There is no history of b.example. A change is written some seconds after it happened; signpost find looks for names like it.\n", ""}, signpost(t, f.url, "history", "b.example"))
	require.Equal(t, exitUsage, signpost(t, f.url, "history", "a..example").code)
	secure := strings.Replace(f.url, "http:", "https:", 1)
	require.Contains(t, signpost(t, secure, "history", "b.example").err, secure+" answers without TLS; give its URL with http://")
	require.Equal(t, exitUsage, signpost(t, f.url, "history").code)
}

// TestPublishNamesTheFlagsThatAreMissing, not the fields of the API: of a new name, of one that
// is replaced, and of one that leads to addresses so far.
func TestPublishNamesTheFlagsThatAreMissing(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	require.Equal(t, exitDone, signpost(t, f.url, "publish", "old.lab.example", "--project", "shop", "--address", "192.0.2.7").code)
	sent := len(f.seen())
	for _, c := range []struct{ args, err string }{
		{"new.lab.example", "nothing says what new.lab.example leads to: give --service NAMESPACE/NAME with --clusters or --selector, or --address, or --cname"},
		{"old.lab.example --replace --ttl 60", "nothing says what old.lab.example leads to"},
		{"new.lab.example --service web/frontend", "--service needs the clusters in which the Service is: give --clusters"},
		{"old.lab.example --service web/frontend", "--service needs the clusters"},
		{"new.lab.example --address 192.0.2.7 --cname www.lab.example", "--address and --cname exclude each other"},
	} {
		got := signpost(t, f.url, append([]string{"publish", "--project", "shop"}, strings.Fields(c.args)...)...)
		require.Equal(t, exitUsage, got.code, c.args)
		require.Contains(t, got.err, c.err, c.args)
	}
	for _, request := range f.seen()[sent:] {
		require.NotContains(t, request, "PUT ", "nothing is sent")
	}
	require.Equal(t, exitDone, signpost(t, f.url, "publish", "old.lab.example", "--project", "shop", "--ttl", "60").code, "the name keeps its target")
}
