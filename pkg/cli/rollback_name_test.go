package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestANameGoesBack to the document before its latest change, to that of any release, and out of its grave. The history
// tells of each.
func TestANameGoesBack(t *testing.T) {
	t.Parallel()
	service := startService(t)
	run := func(args ...string) result {
		t.Helper()
		got := signpost(t, service.url, args...)
		require.Equal(t, exitDone, got.code, "%v: %s", args, got.err)
		return got
	}
	const host = "pie.lab.example"
	ttl := func() string { return run("get", "projects/shop/names/"+host, "-o", "yaml").out }
	run("apply", "-f", quickstart)
	run("publish", host, "--project", "shop", "--address", "203.0.113.7", "--ttl", "60")
	for args, want := range map[string]string{
		"--address 203.0.113.7 --project shpo":                                "projects/shpo does not exist; did you mean shop? Else create it first, by signpost apply",
		"--address 203.0.113.7 --project shop --provider labb":                "/spec/provider: projects/shop/names/tart.lab.example refers to projects/shop/dns-update-records/labb, which does not exist; did you mean lab? Else create it first",
		"--service shop/web --project shop --clusters edge/berln":             "which does not exist; did you mean berlin? Else create it first",
		"--address 203.0.113.7 --project shop --provider quite-another-thing": "which does not exist; create it first",
	} {
		refused := signpost(t, service.url, append([]string{"publish", "tart.lab.example"}, strings.Fields(args)...)...)
		require.Equal(t, exitFailed, refused.code)
		require.Contains(t, refused.err, want)
	}
	got := signpost(t, service.url, "rollback", host, "--project", "shop")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "pie.lab.example has no earlier document; signpost unpublish takes it out of DNS")
	run("publish", host, "--project", "shop", "--ttl", "5m")
	run("publish", host, "--project", "shop", "--address", "203.0.113.8")
	require.Contains(t, ttl(), "- 203.0.113.8")

	plan := run("rollback", host, "--project", "shop", "--to", "1", "--dry-run")
	require.Contains(t, plan.out, "203.0.113.8 -> 203.0.113.7 (TTL 300 -> 60)")
	require.Contains(t, ttl(), "- 203.0.113.8", "a dry run changes nothing")
	back := run("rollback", host, "--project", "shop", "--wait=instantiated")
	require.Contains(t, back.out, "203.0.113.8 -> 203.0.113.7")
	require.Contains(t, ttl(), "ttl: 300")
	run("rollback", "projects/shop/names/"+host, "--to", "1")
	require.Contains(t, ttl(), "ttl: 60")
	require.Contains(t, ttl(), "- 203.0.113.7")

	late := signpost(t, service.url, "rollback", host, "--project", "shop", "--to", "9")
	require.Equal(t, exitFailed, late.code)
	require.Contains(t, late.err, `the history of project "shop" has no release 9 of pie.lab.example; signpost history pie.lab.example lists the releases`)
	elsewhere := signpost(t, service.url, "rollback", host)
	require.Equal(t, exitFailed, elsewhere.code)
	require.Contains(t, elsewhere.err, `it is a name of project "shop", so add --project shop`)

	run("unpublish", host, "--project", "shop")
	run("rollback", host, "--project", "shop")
	require.Contains(t, ttl(), "- 203.0.113.7")
	events := run("get", "projects/shop/names/"+host+"/events").out
	require.Regexp(t, `update +5 +accepted +\S+ +rolled back to release 1\n`, events)
	require.Contains(t, run("get", "projects/shop/events").out, "rolled back to release 2\n")
	require.Contains(t, events, "rolled back to release 5\n", "that before it was unpublished")
	run("rollback", host, "--project", "shop", "--to", "3")
	require.Contains(t, ttl(), "- 203.0.113.8", "a release of before")
	run("rollback", host, "--project", "shop", "--to", "5")
	require.Contains(t, ttl(), "ttl: 60", "the number of the deletion, too")
	require.NoError(t, service.stop())
}

// TestANameWithAHiddenValueDoesNotGoBack, because it would get three stars for the value.
func TestANameWithAHiddenValueDoesNotGoBack(t *testing.T) {
	t.Parallel()
	for reason, before := range map[string]string{
		"because it looks like a secret":   `"before":{"metadata":{"name":"a.example"},"spec":{"cname":"***"}},`,
		"because it is larger than 16 KiB": ``,
	} {
		f := newFake(t)
		f.on("GET projects/shop/events?limit=500", 200, "EventPage", `{"items":[{"time":"2026-11-02T09:30:00Z","actor":"anna","action":"replace","revision":2,"outcome":"stored",
			"message":"changes /spec",`+before+`"path":"projects/shop/names/a.example"}]}`)
		got := signpost(t, f.url, "rollback", "a.example", "--project", "shop")
		require.Equal(t, exitFailed, got.code)
		require.Contains(t, got.err, reason)
		require.Empty(t, f.seen())
	}
}

// TestANameThatChangesMeanwhileDoesNotGoBack: it is read before its history, so that a change while that is read is refused.
func TestANameThatChangesMeanwhileDoesNotGoBack(t *testing.T) {
	t.Parallel()
	for reason, c := range map[string]struct{ stored, precondition string }{
		"another has changed it":   {`{"spec":{"ttl":60}}`, `If-Match: "1"`},
		"another has published it": {"", "If-None-Match: *"},
	} {
		f := newFake(t)
		const name = "projects/shop/names/a.example"
		if c.stored != "" {
			f.documents[name], f.revisions[name] = c.stored, 1
		}
		var sent string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/events") {
				f.documents[name], f.revisions[name] = `{"spec":{"ttl":120}}`, 2
			}
			for _, key := range []string{"If-Match", "If-None-Match"} {
				if value := r.Header.Get(key); r.Method == http.MethodPut && value != "" {
					sent = key + ": " + value
				}
			}
			f.ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		f.on("GET projects/shop/events?limit=500", 200, "EventPage", `{"items":[{"time":"2026-11-02T09:30:00Z","actor":"anna","action":"replace","revision":2,"outcome":"stored",
			"message":"changes /spec","before":{"metadata":{"name":"a.example"},"spec":{"ttl":300}},"path":"`+name+`"}]}`)
		f.on("PUT "+name, 412, "", `{"type":"about:blank","title":"Precondition Failed","status":412,"detail":"it does not hold"}`)
		got := signpost(t, server.URL, "rollback", "a.example", "--project", "shop")
		require.Equal(t, exitFailed, got.code, reason)
		require.Equal(t, c.precondition, sent, reason)
		require.Contains(t, got.err, "it does not hold; look at signpost history a.example --project shop, and roll back again if it is still needed")
	}
}

// TestARollbackOfANameDoesNotWaitForItsEnd, which it does not lead to.
func TestARollbackOfANameDoesNotWaitForItsEnd(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	got := signpost(t, f.url, "rollback", "a.example", "--project", "shop", "--wait=terminated")
	require.Equal(t, exitUsage, got.code, got.err)
	require.Contains(t, got.err, "--wait=terminated: rollback does not lead to it; give --wait")
	require.Empty(t, f.seen())
	require.Zero(t, f.reads)
}

// TestANameThatWasMadeAgainGoesBackBehindItsDeletion, and does not claim a release that it has not reached.
func TestANameThatWasMadeAgainGoesBackBehindItsDeletion(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	event := func(action, outcome, request string, revision int, more string) string {
		return fmt.Sprintf(`{"time":"2026-11-02T09:30:00Z","actor":"anna","action":%q,"revision":%d,"outcome":%q,"requestID":%q,"message":"",%s"path":"projects/shop/names/a.example"}`,
			action, revision, outcome, request, more)
	}
	f.on("GET projects/shop/events?limit=500", 200, "EventPage", `{"items":[`+strings.Join([]string{
		event("instantiate", "accepted", "d", 1, ""), event("create", "stored", "d", 1, `"after":{"spec":{"ttl":60}},`),
		event("terminate", "accepted", "c", 6, ""), event("delete", "deleted", "c", 5, `"before":{"spec":{"ttl":300}},`),
		event("update", "accepted", "b", 5, ""), event("replace", "stored", "b", 5, `"before":{"spec":{"ttl":120}},"after":{"spec":{"ttl":300}},`),
	}, ",")+`]}`)
	for _, args := range [][]string{{}, {"--to", "5"}} {
		f.requests = nil
		got := signpost(t, f.url, append([]string{"rollback", "a.example", "--project", "shop"}, args...)...)
		require.Equal(t, []string{"PUT projects/shop/names/a.example"}, f.seen(), got.err)
		require.JSONEq(t, `{"metadata":{"name":"a.example"},"spec":{"ttl":300}}`, f.documents["projects/shop/names/a.example"])
	}
}
