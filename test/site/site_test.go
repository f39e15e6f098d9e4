package site

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../.."

var (
	attribute = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	id        = regexp.MustCompile(`id="([^"]*)"`)
)

// TestTheSiteIsWhole: each link of each page leads to a page and a heading that are there,
// and nothing is loaded from elsewhere.
func TestTheSiteIsWhole(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	require.NoError(t, Build(root, out))
	ids := map[string]map[string]bool{}
	texts := map[string]string{}
	require.NoError(t, filepath.WalkDir(out, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(file)
		texts[file], ids[file] = string(content), map[string]bool{}
		for _, found := range id.FindAllStringSubmatch(string(content), -1) {
			ids[file][found[1]] = true
		}
		return err
	}))
	require.Greater(t, len(texts), 80)
	for file, text := range texts {
		if filepath.Ext(file) != ".html" {
			continue
		}
		for _, found := range attribute.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(found[1], "#")
			if strings.Contains(target, ":") {
				assert.True(t, strings.HasPrefix(found[0], "href"), "%s loads %s", file, target)
				continue
			}
			to := filepath.Join(filepath.Dir(file), target)
			if target == "" {
				to = file
			}
			if assert.NotNil(t, ids[to], "%s points at %s, which is not there", file, found[1]) && anchor != "" {
				assert.True(t, ids[to][anchor], "%s points at %s, which has no such heading", file, found[1])
			}
		}
	}
	list := texts[filepath.Join(out, "pages.js")]
	for _, word := range []string{"txt-owner-id", "RemovalFrozen"} {
		assert.Contains(t, strings.ToLower(list), strings.ToLower(word), "the search knows it")
	}
}

// TestEachOperationIsInTheReference: with its role and its answers.
func TestEachOperationIsInTheReference(t *testing.T) {
	t.Parallel()
	page, err := reference(root)
	require.NoError(t, err)
	rights, err := os.ReadFile(filepath.Join(root, "api/testdata/rights.txt"))
	require.NoError(t, err)
	paths := regexp.MustCompile(`(GET|POST|PUT|DELETE)\s+(/v2/\S+)`).FindAllStringSubmatch(string(rights), -1)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		assert.Contains(t, string(page.HTML), path[1]+" <code>"+path[2]+"</code>")
	}
}

func TestALinkToWhatTheSiteHasNotLeadsToTheRepository(t *testing.T) {
	t.Parallel()
	html, err := render([]byte("[a](../Makefile) [b](names.md#owners) [c](https://example.org) [d](#here)"), "docs/x.md", map[string]Page{"docs/names.md": {URL: "docs/names.html"}})
	require.NoError(t, err)
	for _, want := range []string{source + "Makefile", "../docs/names.html#owners", "https://example.org", "#here"} {
		assert.Contains(t, string(html), `href="`+want+`"`)
	}
}
