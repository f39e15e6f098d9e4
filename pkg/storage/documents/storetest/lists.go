package storetest

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

func list(t *testing.T, s intent.Store, options intent.ListOptions) intent.Page {
	t.Helper()
	page, err := s.List(t.Context(), options)
	require.NoError(t, err)
	require.NotNil(t, page.Items)
	return page
}

func listOrdered(t *testing.T, data Data) {
	s := data.Open(t)
	for _, name := range []string{"b", "a", "B", "a-1", "a.1", "a1", "a_1", "c"} {
		put(t, s, intent.Join("projects", name), name)
	}
	page := list(t, s, intent.ListOptions{Collection: "projects"})
	require.Equal(t, []string{"B", "a", "a-1", "a.1", "a1", "a_1", "b", "c"}, names(page), "bytewise")
	require.Empty(t, page.Continue)
	require.Equal(t, body("B"), page.Items[0].Body)
	require.Equal(t, get(t, s, "projects/a.1"), page.Items[3])
	require.Equal(t, names(page), names(list(t, s, intent.ListOptions{Collection: "projects", PathsOnly: true})))
	require.Equal(t, []string{"a", "a-1", "a.1", "a1", "a_1"}, names(list(t, s, intent.ListOptions{Collection: "projects", NamePrefix: "a"})))
	require.Equal(t, []string{"a.1"}, names(list(t, s, intent.ListOptions{Collection: "projects", NamePrefix: "a."})), "a dot is a dot")
	require.Empty(t, names(list(t, s, intent.ListOptions{Collection: "projects", NamePrefix: "z"})))
	require.Empty(t, names(list(t, s, intent.ListOptions{Collection: "cluster-providers"})))
}

func listPages(t *testing.T, data Data) {
	s := data.Open(t)
	var want []string
	for i := range 7 {
		want = append(want, fmt.Sprintf("p%d", i))
		put(t, s, intent.Join("projects", want[i]), "x")
	}
	put(t, s, "projects/q", "x")
	for limit := 1; limit <= 8; limit++ {
		var got []string
		options := intent.ListOptions{Collection: "projects", NamePrefix: "p", Limit: limit}
		for {
			page := list(t, s, options)
			require.LessOrEqual(t, len(page.Items), limit)
			got = append(got, names(page)...)
			if options.Continue = page.Continue; page.Continue == "" {
				break
			}
		}
		require.Equal(t, want, got, "limit %d", limit)
	}
	first := list(t, s, intent.ListOptions{Collection: "projects", Limit: 2})
	require.NoError(t, s.Delete(t.Context(), "projects/p1", intent.Always()))
	require.NoError(t, s.Delete(t.Context(), "projects/p2", intent.Always()))
	put(t, s, "projects/p11", "x")
	second := list(t, s, intent.ListOptions{Collection: "projects", Limit: 2, Continue: first.Continue})
	require.Equal(t, []string{"p11", "p3"}, names(second), "a page begins behind the last name, be it there or not")
	require.Equal(t, names(second), names(list(t, s, intent.ListOptions{Collection: "projects", NamePrefix: "p", Limit: 2, After: "p10"})), "and behind a name that is given")
	paths := list(t, s, intent.ListOptions{Collection: "projects", NamePrefix: "p", Limit: 2, After: "p10", PathsOnly: true})
	require.Equal(t, names(second), names(paths), "by their paths alone")
	require.Equal(t, second.Continue, paths.Continue)
}

// listBytes: a page ends early, and the next one goes on behind it.
func listBytes(t *testing.T, data Data) {
	s := data.Open(t)
	var want []string
	for n := range 70 {
		name := fmt.Sprintf("p%02d", n)
		want = append(want, name)
		put(t, s, intent.Join("projects", name), strings.Repeat("x", 1000))
	}
	for _, bytes := range []int{1, 5000, 50_000, 1 << 30} {
		var got []string
		options := intent.ListOptions{Collection: "projects", Limit: 60, Bytes: bytes}
		for {
			page := list(t, s, options)
			require.True(t, len(page.Items) > 0 || page.Continue == "", "it goes on")
			require.LessOrEqual(t, len(page.Items), max(1, min(60, bytes/1000)), "%d bytes", bytes)
			got = append(got, names(page)...)
			if options.Continue = page.Continue; page.Continue == "" {
				break
			}
		}
		require.Equal(t, want, got, "%d bytes", bytes)
	}
}

func listContinue(t *testing.T, data Data) {
	s := data.Open(t)
	put(t, s, "projects/a1", "x")
	put(t, s, "projects/a2", "x")
	token := list(t, s, intent.ListOptions{Collection: "projects", NamePrefix: "a", Limit: 1}).Continue
	require.NotEmpty(t, token)
	for _, one := range []struct {
		reason  string
		options intent.ListOptions
	}{
		{"no base64", intent.ListOptions{Collection: "projects", Continue: "%%%"}},
		{"base64 of something else", intent.ListOptions{Collection: "projects", Continue: base64.RawURLEncoding.EncodeToString([]byte("xyz"))}},
		{"of no name", intent.ListOptions{Collection: "projects", Continue: base64.RawURLEncoding.EncodeToString([]byte("1"))}},
		{"of another prefix", intent.ListOptions{Collection: "projects", NamePrefix: "b", Continue: token}},
		{"a negative limit", intent.ListOptions{Collection: "projects", Limit: -1}},
		{"no collection", intent.ListOptions{}},
	} {
		_, err := s.List(t.Context(), one.options)
		requireCode(t, intent.Invalid, err, one.reason)
	}
}

func listApart(t *testing.T, data Data) {
	s := data.Open(t)
	for _, path := range []intent.Path{
		"projects/shop",
		"projects/shop/kv-pairs/x",
		"projects/shop-2/kv-pairs/y",
		"projects/shop/composite-apps/store/v1",
		"projects/shop/composite-apps/store/v1/deployment-intent-groups/d",
		"lifecycle/projects/shop",
		"lifecycle/projects/shop/composite-apps/store/v1/deployment-intent-groups/d",
		"secrets/projects/shop",
	} {
		put(t, s, path, "x")
	}
	for collection, want := range map[string][]string{
		"projects":                     {"shop"},
		"projects/shop/kv-pairs":       {"x"},
		"projects/shop/composite-apps": {"store/v1"},
		"projects/shop/composite-apps/store/v1/deployment-intent-groups": {"d"},
		"lifecycle": {"projects/shop", "projects/shop/composite-apps/store/v1/deployment-intent-groups/d"},
		"secrets":   {"projects/shop"},
	} {
		require.Equal(t, want, names(list(t, s, intent.ListOptions{Collection: collection})), collection)
	}
}
