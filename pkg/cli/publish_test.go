package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const shopName = "projects/default/names/shop.lab.example"

const publishedName = `{"metadata":{"name":"shop.lab.example","revision":1,"createdAt":"2026-11-02T09:30:00Z","updatedAt":"2026-11-02T09:30:00Z"},
	"spec":{"service":"web/frontend","clusters":["edge/hub"],"provider":"lab"},
	"status":{"state":"Instantiated","published":"True","verified":"True","message":"","warnings":[],
	"records":[{"name":"shop.lab.example","type":"A","record":"lab","scope":"public","targets":["203.0.113.7"],"conditions":[],"sources":[],"rejected":[]}]}}`

// TestPublishIsOneCommand that makes the default project if it does not exist, waits,
// and prints what the name answers.
func TestPublishIsOneCommand(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("PUT "+shopName, 404, "Problem", `{"type":"about:blank","title":"Not Found","status":404,"detail":"projects/default does not exist"}`)
	f.on("PUT "+shopName, 201, "DNSName", publishedName)
	f.on("POST projects", 201, "Project", example(t, "projectStored"))
	got := signpost(t, f.url, "publish", "Shop.lab.example.", "--service", "web/frontend", "--clusters", "edge+hub")
	require.Equal(t, []string{"PUT " + shopName, "POST projects", "PUT " + shopName}, f.seen())
	require.Equal(t, exitDone, got.code)
	require.Contains(t, got.err, `created project "default"`)

	f.on("GET "+shopName, 200, "DNSName", publishedName)
	got = signpost(t, f.url, "publish", "shop.lab.example", "--service", "web/frontend", "--clusters", "edge/hub", "--wait", "verified")
	require.Equal(t, result{exitDone, `shop.lab.example Instantiated: published True, verified True

TYPE  TARGETS      CHANGE
A     203.0.113.7  -
`, ""}, got)
}

func TestPublishRefusesWhatItCanJudge(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"publish"}, {"publish", "a..example"}, {"publish", "a.example", "--wait", "someday"},
		{"publish", "a.example", "--clusters", "a/b", "--selector", "region=eu"}, {"unpublish"}, {"names", "x"},
	} {
		require.Equal(t, exitUsage, signpost(t, "http://127.0.0.1:1", args...).code, args)
	}
}

func TestUnpublishWaitsUntilTheNameIsGone(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.on("DELETE "+shopName, 202, "DNSName", publishedName)
	require.Equal(t, result{exitDone, "shop.lab.example is going\n", ""}, signpost(t, f.url, "unpublish", "shop.lab.example"))
	f.on("GET "+shopName, 404, "Problem", `{"type":"about:blank","title":"Not Found","status":404,"detail":"it does not exist"}`)
	require.Equal(t, result{exitDone, "shop.lab.example is gone\n", ""}, signpost(t, f.url, "unpublish", "shop.lab.example", "--wait"))
}
