package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/internal/golden"
)

// How long a test waits for what happens at once, and how often it looks.
const (
	waitLimit = time.Minute
	tick      = time.Millisecond
)

// aStatus has something for every table.
const aStatus = `{"state":"Terminating","contextID":"4242","revision":2,"message":"",
	"conditions":[{"type":"Synced","status":"False","reason":"Retrying","message":"1 of 2 objects\napplied","lastTransitionTime":"2026-11-02T09:31:07.5Z"}],
	"clusters":[
		{"clusterProvider":"edge","cluster":"berlin","reachable":true,"message":"","resources":[
			{"kind":"Service","namespace":"shop","name":"web","status":"Applied","message":""},
			{"kind":"Deployment","namespace":"shop","name":"web","status":"Retrying","message":"is somebody else's"}]},
		{"clusterProvider":"edge","cluster":"paris","reachable":false,"message":"connection refused","resources":[]}],
	"providers":[
		{"record":"lab","cluster":"edge+hub","scope":"public","version":"v0.22.0","message":""},
		{"record":"corp","cluster":"edge+hub","scope":"cluster","version":"v0.22.0","available":false,"lastSync":"2026-11-02T09:31:07.5Z","message":"crashes"}],
	"names":[
		{"name":"www.lab.example","type":"A","record":"lab","scope":"public","targets":["203.0.113.10","203.0.113.20"],"conditions":[],
			"sources":[{"target":"203.0.113.10","cluster":"edge+berlin","object":"Service shop/web","field":"spec.externalIPs[0]","kind":"external"},
				{"target":"203.0.113.10","cluster":"edge+paris","object":"Service shop/web","field":"spec.externalIPs[0]","kind":"external"}],
			"rejected":[{"target":"10.1.2.3","cluster":"edge+berlin","object":"Service shop/web","reason":"private address in a public name: its provider has no allowPrivate","code":"Private","field":"spec.externalIPs[1]","kind":"external"}],
			"answers":[{"server":"192.0.2.53:53","at":"2026-11-02T09:31:07.5Z","rcode":"NOERROR","targets":["203.0.113.10","203.0.113.20"],"ttl":30},
				{"server":"192.0.2.54:53","at":"2026-11-02T09:31:07.5Z","rcode":"NXDOMAIN","message":"has no A record for www.lab.example (NXDOMAIN)"},
				{"server":"192.0.2.55:53","at":"2026-11-02T09:31:09.5Z","message":"does not answer: no answer by UDP within 2s"}]},
		{"name":"www.lab.example","type":"AAAA","record":"lab","scope":"public","targets":[],"conditions":[],"sources":[],"rejected":[]}],
	"undeployed":[{"path":"projects/shop/logical-clouds/eu","change":"changed","revision":1,"current":2},
		{"path":"projects/shop/logical-clouds/eu/cluster-references/rome","change":"added","current":1},
		{"path":"projects/shop/dns-update-records/corp","change":"removed","revision":4}],
	"leftovers":[{"name":"old.lab.example","type":"A","record":"lab","reason":"policy upsert-only"}]}`

func TestStatusTables(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"status":         aStatus,
		"status_example": example(t, "status"),
		"status_cloud":   example(t, "cloudStatus"),
		"status_created": `{"state":"Created","contextID":"","revision":0,"conditions":[],"clusters":[],"providers":[],"names":[]}`,
		"status_emco": `{"state":"Instantiated","contextID":"42","revision":3,"conditions":[],"clusters":[],"providers":[],"names":[],
			"appContext":{"id":"7007","state":"Updated","message":"EMCO has put another in its place"},"message":"EMCO's app context 7008 is not followed: a record is gone"}`,
		"status_emco_gone": `{"state":"Terminated","contextID":"42","revision":3,"conditions":[],"clusters":[],"providers":[],"names":[],
			"appContext":{"id":"7007","state":"","message":"app context 7007 does not exist"}}`,
		"status_emco_new": `{"state":"Instantiating","contextID":"42","revision":3,"conditions":[],"clusters":[],"providers":[],"names":[],
			"appContext":{"id":"7007","state":"","message":""}}`,
		"status_failed": `{"state":"Failed","contextID":"42","revision":1,"message":"etcd is full","conditions":[],"clusters":[],"providers":[],"names":[]}`,
	} {
		f := newFake(t)
		f.on("GET "+prod+"/status", 200, "Status", body)
		got := signpost(t, f.url, "status", "shop/store/v1/prod")
		require.Equal(t, exitDone, got.code, got.err)
		golden.Equal(t, name+".golden", got.out)
	}
}

func TestWideStatusListsEveryObject(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("GET "+prod+"/status", 200, "Status", aStatus)
	require.NotContains(t, signpost(t, f.url, "status", prod).out, "Service/web")
	require.Contains(t, signpost(t, f.url, "status", prod, "-o", "wide").out, "Service/web")
	requireSchema(t, "Status", signpost(t, f.url, "status", prod, "-o", "json").out)
}

func TestStatusOfARecord(t *testing.T) {
	t.Parallel()
	const lab = "projects/shop/dns-update-records/lab"
	f := newFake(t)
	f.on("GET "+lab+"/status", 200, "RecordStatus", example(t, "recordStatus"))
	golden.Equal(t, "status_record.golden", signpost(t, f.url, "status", lab).out)
	unused := newFake(t)
	unused.on("GET "+lab+"/status", 200, "RecordStatus", `{"ownerID":"","version":"","revision":0,"providers":[],"deployments":[],"warnings":[{"parameter":"once","message":"has no effect"}]}`)
	require.Equal(t, lab+" is not in use\nwarning: once has no effect\n", signpost(t, unused.url, "status", lab).out)
}

func TestWatchShowsChangesUntilInterrupted(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for _, status := range []string{
		inState("Instantiating", "1", "Pending", "Pending", "true"),
		inState("Instantiating", "1", "Pending", "Pending", "true"),
		inState("Instantiated", "1", "Applied", "Applied", "true"),
	} {
		f.on("GET "+prod+"/status", 200, "Status", status)
	}
	got := watched(t, f, 4)
	require.Equal(t, exitDone, got.code, got.err)
	require.Equal(t, 1, strings.Count(got.out, "Instantiating"))
	require.Equal(t, 1, strings.Count(got.out, "Instantiated"))
}

// TestWatchShowsAnswersAsTheyComeIn is --watch for the condition Verified.
func TestWatchShowsAnswersAsTheyComeIn(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for _, now := range [][3]string{
		{``, "Unknown", "NotAsked"},
		{`{"server":"192.0.2.53:53","at":"2026-11-02T09:31:07Z","rcode":"NXDOMAIN"}`, "False", "NotThere"},
		{`{"server":"192.0.2.53:53","at":"2026-11-02T09:31:12Z","rcode":"NOERROR","targets":["203.0.113.10"],"ttl":30}`, "True", "Matches"},
	} {
		f.on("GET "+prod+"/status", 200, "Status", fmt.Sprintf(`{"state":"Instantiated","contextID":"42","revision":1,"clusters":[],"providers":[],
			"names":[{"name":"www.lab.example","type":"A","record":"lab","scope":"public","targets":["203.0.113.10"],"conditions":[],"sources":[],"rejected":[],"answers":[%s]}],
			"conditions":[{"type":"Verified","status":%q,"reason":%q,"message":"","lastTransitionTime":"2026-11-02T09:31:07Z"}]}`, now[0], now[1], now[2]))
	}
	got := watched(t, f, 4)
	require.Equal(t, exitDone, got.code, got.err)
	golden.Equal(t, "status_watch.golden", got.out)
}

// watched is what --watch has shown after more than so many reads, and the last
// of the answers.
func watched(t *testing.T, f *fake, reads int) result {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan result)
	go func() { done <- withInput(ctx, f.url, "", "status", "shop/store/v1/prod", "--watch") }()
	require.Eventually(t, func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return len(f.answers["GET "+prod+"/status"]) == 1 && f.reads > reads
	}, waitLimit, tick)
	cancel()
	return <-done
}

func TestWatchFailsWhenThereIsNothing(t *testing.T) {
	t.Parallel()
	require.Equal(t, exitFailed, signpost(t, newFake(t).url, "status", prod, "--watch").code)
}

// TestStatusJoinsItsPages: names and objects of all pages are shown as of one.
func TestStatusJoinsItsPages(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	page := func(name, object, more string) string {
		return fmt.Sprintf(`{"state":"Instantiated","contextID":"42","revision":1,"conditions":[],"providers":[],
			"names":[{"name":%q,"type":"A","record":"lab","scope":"public","targets":[],"conditions":[],"sources":[],"rejected":[]}],
			"clusters":[{"clusterProvider":"edge","cluster":"berlin","reachable":true,"message":"","resources":[
				{"kind":"Service","namespace":"shop","name":%q,"status":"Applied","message":""}]}]%s}`, name, object, more)
	}
	f.on("GET "+prod+"/status", 200, "Status", page("a.lab.example", "one", `,"continue":"next"`))
	f.on("GET "+prod+"/status?continue=next", 200, "Status", page("b.lab.example", "two", ""))
	got := signpost(t, f.url, "status", prod, "-o", "json").out
	requireSchema(t, "Status", got)
	for _, word := range []string{"a.lab.example", "b.lab.example", "one", "two"} {
		require.Contains(t, got, `"`+word+`"`)
	}
	require.Equal(t, 1, strings.Count(got, `"berlin"`))
	require.NotContains(t, got, "continue")
}
