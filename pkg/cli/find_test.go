package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// foundPage is a page with a name of each kind of owner.
const foundPage = `{"items":[
	{"name":"www.lab.example","project":"shop","owner":"projects/shop/composite-apps/store/v1/deployment-intent-groups/prod","provider":"lab","scope":"public",
	 "externalDNS":["edge/hub"],"clusters":["edge/berlin","edge/paris"],"state":"Instantiated","published":"True","verified":"False"},
	{"name":"api.lab.example","project":"shop","owner":"projects/shop/names/api.lab.example","provider":"lab","scope":"public",
	 "externalDNS":["edge/hub"],"clusters":[],"state":"Updating","published":"Unknown","verified":"Unknown"}],
	"total":9,"hosts":8,"asOf":{"revision":4711,"time":"2026-11-02T09:30:00Z"},"continue":"eyJn"}`

// TestFindAsksForNamesOverProjects as its flags say, and tells when there are more.
func TestFindAsksForNamesOverProjects(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET names?cluster=edge%2Fhub&limit=2&name=%2A.lab.example&published=True&sort=worst&verified=False", 200, "FoundNamePage", foundPage)
	require.Equal(t, result{exitDone, `NAME             PROJECT  OWNER               PROVIDER  STATE         PUBLISHED  VERIFIED
www.lab.example  shop     shop/store/v1/prod  lab       Instantiated  True       False
api.lab.example  shop     name                lab       Updating      Unknown    Unknown
`, "showing 2 of 9 names; narrow the question, or give a larger --limit\n"},
		signpost(t, f.url, "find", "*.lab.example", "--cluster", "edge/hub", "--published", "True", "--verified", "False", "--worst", "--limit", "2"))

	rest := strings.Replace(foundPage, `,"continue":"eyJn"`, "", 1)
	f.on("GET names?limit=500&name=api", 200, "FoundNamePage", strings.Replace(rest, `"published":"Unknown"`, `"reason":"there is no Service shop/api on edge/hub","published":"Unknown"`, 1))
	told := signpost(t, f.url, "find", "api")
	require.Contains(t, told.out, "VERIFIED  REASON\n")
	require.Contains(t, told.out, "Unknown    Unknown   there is no Service shop/api on edge/hub\n")
	f.on("GET names?limit=1000&project=shop&provider=lab&state=Failed", 200, "FoundNamePage", foundPage)
	f.on("GET names?continue=eyJn&limit=1000&project=shop&provider=lab&state=Failed", 200, "FoundNamePage", rest)
	got := signpost(t, f.url, "find", "--project", "shop", "--provider", "lab", "--state", "Failed", "--limit", "0", "-o", "wide")
	require.Equal(t, exitDone, got.code)
	require.Equal(t, 2, strings.Count(got.out, "public  edge/berlin,edge/paris  edge/hub"), "all pages are read")

	f.on("GET names?limit=500", 200, "FoundNamePage", `{"items":[],"total":0,"hosts":0,"asOf":{"revision":1,"time":"2026-11-02T09:30:00Z"}}`)
	require.Equal(t, result{exitDone, "There are no such names.\n", ""}, signpost(t, f.url, "find"))
	for _, query := range []string{"limit=500&name=lab", "limit=500&name=%2Alab%2A"} {
		f.on("GET names?"+query, 200, "FoundNamePage", `{"items":[],"total":0,"hosts":0,"asOf":{"revision":1,"time":"2026-11-02T09:30:00Z"}}`)
	}
	require.Equal(t, "\"lab\" finds that very name; '*lab*' finds all names that hold it\n", signpost(t, f.url, "find", "lab").err)
	require.Empty(t, signpost(t, f.url, "find", "*lab*").err)
	f.on("GET names?cluster=edge%2Fhub&limit=500", 200, "FoundNamePage", rest)
	require.Equal(t, exitDone, signpost(t, f.url, "find", "--cluster", "edge+hub").code, "as a status calls it")
	require.Equal(t, exitUsage, signpost(t, f.url, "find", "--limit", "-1").code)
	require.Equal(t, exitUsage, signpost(t, f.url, "find", "a", "b").code)
}

// TestWhoisExplainsAName by the sentence of the server, and tables of all else.
func TestWhoisExplainsAName(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET names/shop.lab.example", 200, "NameExplanation", example(t, "nameExplanation"))
	got := signpost(t, f.url, "whois", "Shop.lab.example.")
	require.Equal(t, exitDone, got.code)
	first, rest, _ := strings.Cut(got.out, "\n")
	require.Equal(t, `shop.lab.example of projects/shop/names/shop.lab.example is published by provider "lab", and its servers answer 203.0.113.10.`, first)
	for _, says := range []string{
		"OWNER                                 STATE         RELEASE  ACCEPTED              BY    MESSAGE", "Service web/frontend status.loadBalancer.ingress[0].ip",
		"private address in a public name: its provider has no allowPrivate", "DOCUMENT                              DEPLOYED  CURRENT", "each of 2 servers answers 203.0.113.10", "PUBLISHER OF",
		"UNREACHABLE  SINCE                 WHY                 EFFECT\nedge+oslo    2026-11-02T09:31:00Z  connection refused  no answer changes",
	} {
		require.Contains(t, rest, says)
	}
	f.on("GET names/taken.example", 200, "NameExplanation", `{"name":"taken.example","summary":"taken.example is taken by another project.","others":true,"owners":[]}`)
	require.Equal(t, result{exitDone, "taken.example is taken by another project.\n", ""}, signpost(t, f.url, "whois", "taken.example"))
	require.Equal(t, exitUsage, signpost(t, f.url, "whois", "a..example").code)
}

// TestFleetCountsNamesAndShowsClusters reads the counts and the tables of the fleet.
func TestFleetCountsNamesAndShowsClusters(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET fleet?limit=1000", 200, "Fleet", example(t, "fleet"))
	require.Equal(t, result{exitDone, `host names: 10, of which 1 are not known to be published, and 1 not known to be verified
groups: 1 Instantiated
name documents: 1 Failed, 7 Instantiated

CLUSTER   REACHABLE  UNREACHABLE SINCE  DRAINED  NAMES  UNPUBLISHED  UNVERIFIED  PENDING OBJECTS  PENDING SINCE
edge/hub  True       -                  yes      10     1            1           1                2026-11-02T09:30:00Z

PUBLISHER OF  PROJECT  HOME      SCOPE   AVAILABLE  NAMES  UNPUBLISHED  UNVERIFIED
lab           shop     edge/hub  public  True       10     1            1
`, ""}, signpost(t, f.url, "fleet"))
}

// TestFleetTellsSinceWhenAClusterCannotBeReached, which is not since when objects wait there.
func TestFleetTellsSinceWhenAClusterCannotBeReached(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET fleet?limit=1000", 200, "Fleet", `{"groups":{},"names":{},"hosts":{"total":1,"unpublished":1,"unverified":1},"asOf":{"revision":1,"time":"2026-11-02T09:30:00Z"},"items":[
		{"kind":"cluster","cluster":"edge/oslo","healthy":"False","message":"no route","unreachableSince":"2026-11-02T09:30:00Z","pending":2,"pendingSince":"2026-11-02T09:40:00Z","hosts":{"total":1,"unpublished":1,"unverified":1}}]}`)
	require.Contains(t, signpost(t, f.url, "fleet").out, `
CLUSTER    REACHABLE  UNREACHABLE SINCE     DRAINED  NAMES  UNPUBLISHED  UNVERIFIED  PENDING OBJECTS  PENDING SINCE
edge/oslo  False      2026-11-02T09:30:00Z  no       1      1            1           2                2026-11-02T09:40:00Z
`)
}

// TestUnmanagedListsAllPages, as a table and as a zone file that becomes documents.
func TestUnmanagedListsAllPages(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	const provider = "projects/shop/dns-update-records/lab"
	first, second := `{"items":[{"name":"mail.lab.example","type":"A","values":["192.0.2.1","192.0.2.2"],"ttl":300,"owner":"legacy"}],"continue":"eA"}`,
		`{"items":[{"name":"lab.example","type":"MX","values":["10 mail.lab.example."],"ttl":60}]}`
	f.on("GET "+provider+"/unmanaged?limit=1000", 200, "UnmanagedList", first)
	f.on("GET "+provider+"/unmanaged?continue=eA&limit=1000", 200, "UnmanagedList", second)
	require.Equal(t, result{exitDone, `NAME              TYPE  TTL  OWNER   VALUES
mail.lab.example  A     300  legacy  192.0.2.1, 192.0.2.2
lab.example       MX    60   -       10 mail.lab.example.
`, ""}, signpost(t, f.url, "unmanaged", provider))
	require.Contains(t, signpost(t, f.url, "unmanaged", provider, "-o", "yaml").out, "- name: mail.lab.example")

	zone := signpost(t, f.url, "unmanaged", provider, "--zone-file")
	require.Equal(t, "mail.lab.example. 300 IN A 192.0.2.1\nmail.lab.example. 300 IN A 192.0.2.2\nlab.example. 60 IN MX 10 mail.lab.example.\n", zone.out)
	file := filepath.Join(t.TempDir(), "zone")
	require.NoError(t, os.WriteFile(file, []byte(zone.out), 0o600))
	documents := signpost(t, "", "import", "zone", file, "--project", "shop", "--provider", "lab")
	require.Equal(t, exitDone, documents.code, documents.err)
	require.Contains(t, documents.out, "name: mail.lab.example")
	require.Contains(t, documents.err, "2 names")

	f.on("GET "+provider+"/unmanaged?limit=1", 200, "UnmanagedList", first)
	require.Equal(t, "there are more than 1 record set; give a larger --limit\n", signpost(t, f.url, "unmanaged", provider, "--limit", "1").err)
	f.on("GET projects/shop/dns-update-records/corp/unmanaged?limit=1000", 200, "UnmanagedList", `{"items":[]}`)
	require.Equal(t, "The zones have no such records.\n", signpost(t, f.url, "unmanaged", "projects/shop/dns-update-records/corp").out)
	for _, wrong := range [][]string{{"projects/shop"}, {provider, "--limit", "-1"}, {}} {
		require.Equal(t, exitUsage, signpost(t, f.url, append([]string{"unmanaged"}, wrong...)...).code)
	}
}
