package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/app"
)

const aDraft = `resource: projects/shop/dns-update-records
metadata: {name: lab}
spec: {provider: coredns}
---
resource: projects
metadata: {name: shop}
`

// aDraftPlan is a plan of aDraft, in the order in which it is sent.
func aDraftPlan(changes, action, owners, faults string) string {
	return `{"changes":` + changes + `,"documents":[{"path":"projects/shop","action":"unchanged"},{"path":"projects/shop/dns-update-records/lab","action":"` + action + `"}],"owners":[` + owners + `],"errors":[` + faults + `]}`
}

// TestTheExitCodeOfAPlanOfFiles tells a pipeline whether something would change; apply
// --dry-run is the same.
func TestTheExitCodeOfAPlanOfFiles(t *testing.T) {
	t.Parallel()
	file := write(t, "draft.yaml", aDraft)
	owner := `{"path":"` + prod + `","changes":true,"plan":` + aPlan + `}`
	for _, c := range []struct {
		reason, answer string
		code           int
		out, err       string
	}{
		{"nothing changes", aDraftPlan("false", "unchanged", "", ""), exitDone, "Nothing would change.\n", ""},
		{"a document changes", aDraftPlan("true", "update", "", ""), exitChanges, "ACTION  DOCUMENT\nupdate  projects/shop/dns-update-records/lab\n", ""},
		{"a document is refused", aDraftPlan("false", "refused", "", `{"pointer":"/documents/1/spec/provider","detail":"is unknown"}`), exitFailed,
			"error: " + file + ", document 1 (projects/shop/dns-update-records/lab): /spec/provider: is unknown\n", "the plan has 1 error; what is wrong would be refused, and all else applied"},
		{"an owner would be refused", aDraftPlan("true", "update", `{"path":"`+prod+`","changes":true,"plan":{"token":"","objects":[],"names":[],"warnings":[],"errors":[{"pointer":"x#/spec","detail":"no"}]}}`, ""), exitFailed,
			prod + "\nerror: x#/spec: no", "the plan has 1 error; what is wrong would be refused, and all else applied"},
		{"an owner changes", aDraftPlan("true", "unchanged", owner, ""), exitChanges, prod + "\nObjects: ", ""},
	} {
		f := newFake(t)
		f.on("POST plan", 200, "DraftPlan", c.answer)
		for _, args := range [][]string{{"plan", "-f", file}, {"apply", "--dry-run", "-f", file}} {
			got := signpost(t, f.url, args...)
			require.Equal(t, c.code, got.code, c.reason)
			require.Contains(t, got.out, c.out, c.reason)
			require.Contains(t, got.err, c.err, c.reason)
			if c.err == "" {
				require.Empty(t, got.err, c.reason)
			}
		}
		require.Equal(t, []string{"POST plan", "POST plan"}, f.seen(), "nothing else is asked for")
		require.JSONEq(t, c.answer, signpost(t, f.url, "plan", "-f", file, "-o", "json").out)
	}
}

func TestWhatIsNoPlanOfFiles(t *testing.T) {
	t.Parallel()
	file := write(t, "draft.yaml", aDraft)
	for part, args := range map[string][]string{
		"takes one deployment intent group, logical cloud or provider, or files by -f": {"plan"},
		"or files by -f":                {"plan", "shop/eu", "-f", file},
		"files are planned for deploy":  {"plan", "-f", file, "--for", "terminate"},
		"there is no document to plan":  {"plan", "-f", write(t, "only.yaml", "version: emco/v2\nresourceContext: {anchor: "+prod+"/instantiate}\n")},
		"-f is missing: give a file, a": {"apply", "--dry-run"},
	} {
		got := signpost(t, "http://127.0.0.1:1", args...)
		require.Equal(t, exitUsage, got.code, part)
		require.Contains(t, got.err, part)
	}
}

// TestAnEditorPlansAPullRequest without the rights to deploy it: the exit code tells that
// something would change. Names of other projects stay unknown.
func TestAnEditorPlansAPullRequest(t *testing.T) {
	t.Parallel()
	tokens := write(t, "tokens", "root,anna,admin\nedit,emil,editor,shop\n")
	service := startService(t, func(c *app.Config) { c.Access.TokenFile = tokens })
	as := func(token string, args ...string) result {
		t.Helper()
		return signpost(t, service.url, append(args, "--token", token)...)
	}
	require.Equal(t, exitDone, as("root", "apply", "-f", quickstart).code)
	require.Equal(t, exitDone, as("root", "apply", "-f", write(t, "bank.yaml", "resource: projects\nmetadata: {name: bank}\n")).code)

	request := write(t, "request.yaml", `resource: projects/shop/dns-update-records
metadata: {name: lab, description: new}
spec: {provider: coredns}
`)
	planned := as("edit", "plan", "-f", request)
	require.Equal(t, exitChanges, planned.code, planned.err)
	require.Contains(t, planned.out, "update  projects/shop/dns-update-records/lab")
	require.Contains(t, as("edit", "deploy", "shop/store/v1/prod").err, "emil is editor, but this needs the role operator")

	for _, project := range []string{"bank", "nobody"} {
		got := as("edit", "plan", "-f", write(t, "other.yaml", "resource: projects/"+project+"/logical-clouds\nmetadata: {name: eu}\n"))
		require.Equal(t, exitFailed, got.code, got.out)
		require.Contains(t, got.out, "emil has no rights on project "+project, "a project that exists is like one that does not")
	}
}

// TestARefusedNameIsNotPlanned: its row says refused, and nothing says that the name or its objects will be created.
func TestARefusedNameIsNotPlanned(t *testing.T) {
	t.Parallel()
	const name = "projects/shop/names/www.lab.example"
	f := newFake(t)
	f.on("POST plan", 200, "DraftPlan", `{"changes":true,"errors":[],"documents":[{"path":"`+name+`","action":"create"}],"owners":[{"path":"`+name+`","changes":true,
		"plan":{"token":"","warnings":[],"errors":[{"pointer":"`+name+`#/metadata/name","detail":"is given by a group; take it over with ?takeover=store/v1/prod"}],
		"objects":[{"cluster":"edge+hub","action":"create","kind":"DNSEndpoint","namespace":"shop-dns","name":"www","diff":""}],
		"names":[{"name":"www.lab.example","type":"A","record":"lab","action":"create","targets":["192.0.2.7"]}]}}]}`)
	got := signpost(t, f.url, "plan", "-f", write(t, "name.yaml", "resource: projects/shop/names\nmetadata: {name: www.lab.example}\nspec: {addresses: [192.0.2.7]}\n"))
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.out, "refused  "+name+"\n")
	require.NotContains(t, got.out, "create")
	require.Contains(t, got.out, "take it over with --takeover store/v1/prod")
	require.NotContains(t, got.err, "take it over", "errors are told once")
}
