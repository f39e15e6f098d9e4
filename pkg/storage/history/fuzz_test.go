package history_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/signpost-dns/signpost/pkg/domain/intent"
)

// kept is what the history keeps of a document.
func kept(t *testing.T, body string) string {
	t.Helper()
	w := newWorld(t)
	w.write(shop, `{}`)
	w.write(lab, body)
	page, err := w.Page(t.Context(), shop, 1, "")
	require.NoError(t, err)
	require.Equal(t, lab, page.Items[0].Path)
	return string(page.Items[0].After)
}

// FuzzPasswordsOfURLsAreHidden, whatever they are made of, as long as it is a URL
// to those who use it.
func FuzzPasswordsOfURLsAreHidden(f *testing.F) {
	f.Add("https://", "anna", "hunter2", "@db.example/x")
	f.Add("mongodb://", "anna", "hunter2@home", "@db.example")
	f.Add("see http://", "", "hunter2", "@db.example and more")
	f.Add("https://", "a:b", "hunter2?q", "@db.example#f")
	f.Fuzz(func(t *testing.T, before, user, password, after string) {
		const marker = "s3ntinel"
		text := before + user + ":" + password + marker + after
		_, rest, is := strings.Cut(text, "://")
		parsed, err := url.Parse("x://" + rest)
		if !is || err != nil || parsed.User == nil || strings.ContainsAny(rest, " \t\r\n\v\f") {
			return
		}
		if secret, _ := parsed.User.Password(); !strings.Contains(secret, marker) || strings.Count(text, marker) > 1 {
			return
		}
		raw, err := json.Marshal(map[string]string{"a": text})
		require.NoError(t, err)
		require.NotContains(t, kept(t, string(raw)), marker)
	})
}

// FuzzWhatIsKept is JSON of bounded size without what is named for a secret, at
// any depth, and shown again it stays as it is.
func FuzzWhatIsKept(f *testing.F) {
	f.Add("spec", `{"args":["--token","s3ntinel"]}`)
	f.Add("password", `{"name":"x","value":["s3ntinel"]}`)
	f.Add("data", `{"kind":"Secret","data":{"a":"s3ntinel"}}`)
	f.Add("env", `[{"name":"API_TOKEN","value":"s3ntinel"}]`)
	f.Fuzz(func(t *testing.T, key, inner string) {
		if !json.Valid([]byte(inner)) || !utf8.ValidString(inner) {
			return
		}
		name, err := json.Marshal(key)
		require.NoError(t, err)
		body := `{` + string(name) + `:` + inner + `,"password":"s3ntinel-beside"}`
		after := kept(t, body)
		require.LessOrEqual(t, len(after), 16<<10)
		require.NotContains(t, after, "s3ntinel-beside")
		if after == "" {
			return
		}
		require.JSONEq(t, after, kept(t, after))
		if intent.NamesSecret(key) && !strings.ContainsAny(inner, "{") {
			require.NotContains(t, after, "s3ntinel")
		}
	})
}
