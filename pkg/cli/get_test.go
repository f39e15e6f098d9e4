package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/golden"
)

func TestTablesOfEveryCollection(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ path, schema, example string }{
		{"projects", "ProjectList", "projectPage"},
		{"cluster-providers", "ClusterProviderList", "clusterProviderPage"},
		{"cluster-providers/edge/clusters", "ClusterList", "clusterPage"},
		{"projects/shop/dns-update-records", "DNSUpdateRecordList", "dnsUpdateRecordPage"},
		{"projects/shop/logical-clouds", "LogicalCloudList", "logicalCloudPage"},
		{"projects/shop/logical-clouds/eu/cluster-references", "ClusterReferenceList", "clusterReferencePage"},
		{"projects/shop/logical-clouds/eu/kv-pairs", "KVPairsList", "logicalCloudKVPairsPage"},
		{"projects/shop/composite-apps", "CompositeAppList", "compositeAppPage"},
		{"projects/shop/composite-apps/store/v1/deployment-intent-groups", "DeploymentIntentGroupList", "deploymentIntentGroupPage"},
		{"projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/traffic-group-intents", "TrafficGroupIntentList", "trafficGroupIntentPage"},
		{"projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/traffic-group-intents/front/dns-intents", "DNSIntentList", "dnsIntentPage"},
		{"projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/traffic-group-intents/front/pod-dns-intents", "PodDNSIntentList", "podDNSIntentPage"},
		{"projects/shop/logical-clouds/eu/dns-cr-intents", "DNSCRIntentList", "dnsCRIntentPage"},
		{"projects/shop/dns-update-records/lab/users", "UseList", "useList"},
		{"projects/shop/composite-apps/store/v1/deployment-intent-groups/prod/events", "EventList", "eventList"},
		{"projects/shop/events", "EventPage", "eventPage"},
	} {
		f := newFake(t)
		f.on("GET "+test.path, 200, test.schema, example(t, test.example))
		f.on("GET "+test.path+"?continue=MXNob3A", 200, "", `{"items":[]}`)
		got := signpost(t, f.url, "get", test.path)
		require.Equal(t, exitDone, got.code, got.err)
		golden.Equal(t, "get_"+test.example+".golden", got.out)
	}
}

func TestADocumentInEveryFormat(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	const lab = "projects/shop/dns-update-records/lab"
	f.on("GET "+lab, 200, "DNSUpdateRecord", example(t, "dnsUpdateRecordStored"))
	for _, format := range []string{"table", "wide", "json", "yaml"} {
		got := signpost(t, f.url, "get", "/v2/project/shop/dns-update-records/lab/", "-o", format)
		require.Equal(t, exitDone, got.code, got.err)
		golden.Equal(t, "get_record_"+format+".golden", got.out)
		if format == "json" {
			requireSchema(t, "DNSUpdateRecord", got.out)
		}
	}
}

// TestWideTablesShowTheFleet: how clusters and providers do, as far as the caller may know.
func TestWideTablesShowTheFleet(t *testing.T) {
	t.Parallel()
	const clusters, providers = "cluster-providers/edge/clusters", "projects/shop/dns-update-records"
	f := newFake(t)
	f.on("GET fleet?limit=1000", 200, "Fleet", `{"groups":{},"names":{},"hosts":{"total":7,"unpublished":2,"unverified":3},"asOf":{"revision":1,"time":"2026-11-02T09:30:00Z"},"items":[
		{"kind":"cluster","cluster":"edge/hub","healthy":"False","pending":4,"pendingSince":"2026-11-02T09:30:00Z","hosts":{"total":7,"unpublished":2,"unverified":3}},
		{"kind":"cluster","cluster":"other/paris","healthy":"True","pending":9,"hosts":{"total":9,"unpublished":9,"unverified":9}},
		{"kind":"externalDNS","cluster":"edge/hub","project":"shop","provider":"lab","scope":"public","healthy":"True","pending":0,"hosts":{"total":6,"unpublished":1,"unverified":3}},
		{"kind":"externalDNS","cluster":"edge/paris","project":"shop","provider":"lab","scope":"cluster","healthy":"Unknown","pending":0,"hosts":{"total":1,"unpublished":1,"unverified":0}},
		{"kind":"externalDNS","cluster":"edge/hub","project":"bank","provider":"lab","scope":"public","healthy":"False","pending":0,"hosts":{"total":8,"unpublished":8,"unverified":8}}]}`)
	for _, name := range []string{"hub", "paris"} {
		f.on("GET "+clusters+"/"+name, 200, "Cluster", `{"metadata":{"name":"`+name+`","revision":1,"createdAt":"2026-11-02T09:30:00Z","updatedAt":"2026-11-02T09:30:00Z"},"spec":{"directory":"d"}}`)
	}
	f.on("GET "+providers, 200, "DNSUpdateRecordList", example(t, "dnsUpdateRecordPage"))
	f.on("GET "+providers+"?continue=MXNob3A", 200, "", `{"items":[]}`)
	cells := func(path string) string {
		t.Helper()
		got := signpost(t, f.url, "get", path, "-o", "wide")
		require.Equal(t, exitDone, got.code, got.err)
		return regexp.MustCompile(` {2,}`).ReplaceAllString(got.out, "  ")
	}
	hub := cells(clusters + "/hub")
	require.Contains(t, hub, "UPDATED  REACHABLE  NAMES  UNPUBLISHED  PENDING OBJECTS  PENDING SINCE  CREATED  DESCRIPTION\n")
	require.Contains(t, hub, "2026-11-02T09:30:00Z  False  7  2  4  2026-11-02T09:30:00Z  2026-11-02T09:30:00Z  -\n")
	require.Contains(t, cells(clusters+"/paris"), "2026-11-02T09:30:00Z  -  -  -  -  -  2026-11-02T09:30:00Z  -\n", "another provider's cluster has the name")
	lab := cells(providers)
	require.Contains(t, lab, "UPDATED  EXTERNAL-DNS  AVAILABLE  NAMES  UNPUBLISHED  UNVERIFIED  CREATED")
	require.Contains(t, lab, "  public in edge/hub,cluster in edge/paris  True,Unknown  6,1  1,1  3,0  ")

	without := newFake(t)
	without.documents[clusters+"/hub"] = `{"metadata":{"name":"hub"},"spec":{"directory":"d"}}`
	without.on("GET fleet?limit=1000", 403, "Problem", `{"type":"about:blank","title":"Forbidden","status":403,"detail":"it needs a role"}`)
	got := signpost(t, without.url, "get", clusters+"/hub", "-o", "wide")
	require.Equal(t, exitDone, got.code, got.err)
	require.Contains(t, got.out, "hub")
	require.Contains(t, got.err, "the state of clusters is not shown: it needs a role")
	require.NotContains(t, signpost(t, without.url, "get", clusters+"/hub").err, "not shown", "others are not asked")
}

// TestWideTablesShowGroupsAndNames with their state and what is pending.
func TestWideTablesShowGroupsAndNames(t *testing.T) {
	t.Parallel()
	const groups, names = "projects/shop/composite-apps/store/v1/deployment-intent-groups", "projects/shop/names"
	f := newFake(t)
	f.on("GET "+groups, 200, "", `{"items":[{"metadata":{"name":"prod"},"spec":{}},{"metadata":{"name":"test"},"spec":{}}]}`)
	f.on("GET "+groups+"/prod/status", 200, "", `{"state":"Instantiated","undeployed":[{},{}],"names":[{"conditions":[{"type":"Published","status":"True"}]},{},{}],
		"clusters":[{"resources":[{"status":"Applied"},{"status":"Applying"},{"status":"Applying"},{"status":"Applying"},{"status":"Applying"}]}]}`)
	f.on("GET "+groups+"/test/status", 200, "", `{"state":"Created"}`)
	f.on("GET "+names, 200, "DNSNameList", example(t, "namePage"))
	f.on("GET names?limit=1000&project=shop", 200, "FoundNamePage", example(t, "foundNamePage"))
	f.on("GET "+names+"/a.lab.example", 200, "DNSName", `{"metadata":{"name":"a.lab.example"},"spec":{"addresses":["203.0.113.1"]},
		"status":{"state":"Terminating","published":"False","verified":"Unknown","message":"","records":[],"warnings":["it goes"]}}`)
	cells := func(path string, args ...string) string {
		t.Helper()
		got := signpost(t, f.url, append([]string{"get", path}, args...)...)
		require.Equal(t, result{exitDone, got.out, ""}, got)
		return regexp.MustCompile(` {2,}`).ReplaceAllString(got.out, "  ")
	}
	listed := cells(groups, "-o", "wide")
	require.Contains(t, listed, "UPDATED  STATE  NAMES  UNPUBLISHED  PENDING OBJECTS  NOT DEPLOYED  CREATED  DESCRIPTION\n")
	require.Regexp(t, `(?m)^prod  .*  Instantiated  3  2  4  2  -  -$`, listed)
	require.Regexp(t, `(?m)^test  .*  Created  0  0  0  0  -  -$`, listed)
	require.Equal(t, 3, f.reads, "the list, and a summary for each group")
	cells(groups)
	require.Equal(t, 4, f.reads, "no summaries for a narrow table")

	require.Contains(t, cells(names, "-o", "wide"), "  Instantiated  True  True  ")
	require.Equal(t, 6, f.reads, "the list, and one search")
	require.Contains(t, cells(names+"/a.lab.example", "-o", "wide"), "  Terminating  False  Unknown  ")
	require.Equal(t, 7, f.reads, "a document tells its own state")
}

func TestAllPagesAreRead(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET projects?namePrefix=s", 200, "ProjectList", `{"items":[{"metadata":{"name":"sa","revision":1}}],"continue":"x"}`)
	f.on("GET projects?continue=x&namePrefix=s", 200, "ProjectList", `{"items":[{"metadata":{"name":"sb","revision":1}}]}`)
	got := signpost(t, f.url, "get", "projects?namePrefix=s", "-o", "json")
	require.Equal(t, exitDone, got.code, got.err)
	require.JSONEq(t, `{"items":[{"metadata":{"name":"sa","revision":1}},{"metadata":{"name":"sb","revision":1}}]}`, got.out)
}

func TestAnEmptyListIsSaidAndIsStillAList(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET projects", 200, "ProjectList", `{"items":[]}`)
	require.Equal(t, "There are no projects.\n", signpost(t, f.url, "get", "projects").out)
	require.Equal(t, "items: []\n", signpost(t, f.url, "get", "projects", "-o", "yaml").out)
}

func TestWhatHasNoTableIsYAML(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET cluster-providers/edge/clusters/hub/preflight", 200, "", `{"reachable":true,"checks":[]}`)
	require.Equal(t, "checks: []\nreachable: true\n", signpost(t, f.url, "get", "cluster-providers/edge/clusters/hub/preflight").out)
}

func TestProblemsArePrintedFieldByField(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET projects", 400, "Problem", aRefusal)
	got := signpost(t, f.url, "get", "projects")
	require.Equal(t, result{exitFailed, "", "signpost get: the body has 2 errors\n  /spec/provider: is unknown; did you mean coredns?\n  the whole body: is odd\n"}, got)
}

func TestTheTokenIsShownAndAskedFor(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t0ken" {
			respond(w, canned{401, `{"type":"about:blank","title":"Unauthorized","status":401,"detail":"a token is needed"}`})
			return
		}
		_, _ = io.WriteString(w, `{"items":[]}`)
	}))
	defer server.Close()
	got := signpost(t, server.URL, "get", "projects")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "SIGNPOST_TOKEN or --token-file")
	require.Equal(t, exitDone, signpost(t, server.URL, "get", "projects", "--token", "t0ken").code)
	require.Equal(t, exitDone, signpost(t, server.URL, "get", "projects", "--token-file", write(t, "token", "t0ken\n")).code)
	t.Setenv("SIGNPOST_TOKEN", "t0ken")
	t.Setenv("SIGNPOST_SERVER", server.URL)
	require.Equal(t, exitDone, signpost(t, "", "get", "projects").code)
	require.Equal(t, exitFailed, signpost(t, "", "get", "projects", "--token", "other").code, "a flag beats the environment")
}

func TestControlCharactersDoNotReachTheTerminal(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET projects", 200, "", `{"items":[{"metadata":{"name":"x","description":"\u001b[31mred\nline"}}]}`)
	got := signpost(t, f.url, "get", "projects", "-o", "wide")
	require.NotContains(t, got.out, "\x1b")
	require.Contains(t, got.out, "[31mred line")
}
