package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Links within the repository, and names of our own files and directories.
var (
	link    = regexp.MustCompile(`\]\(([^)#: ]*)(?:#([^)]*))?\)`)
	title   = regexp.MustCompile("(?m)^#{1,6} (.*)$")
	fence   = regexp.MustCompile("(?s)(?:^|\n) *```.*?\n *```(?:\n|$)")
	slugged = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
	named   = regexp.MustCompile("`((?:api|cmd|docs|examples|internal|openapi|pkg|test)/[A-Za-z0-9_./-]+)`")
)

func TestDocumentsPointAtWhatExists(t *testing.T) {
	for _, document := range documents(t) {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range link.FindAllStringSubmatch(string(text), -1) {
			file := filepath.Join(filepath.Dir(document), target[1])
			if target[1] == "" {
				file = document
			}
			expect(t, document, file)
			if target[2] != "" && strings.HasSuffix(file, ".md") && !headings(t, file)[target[2]] {
				t.Errorf("%s points at #%s of %s, which has no such heading", document, target[2], file)
			}
		}
		for _, target := range named.FindAllStringSubmatch(string(text), -1) {
			expect(t, document, filepath.Join(root, target[1]))
		}
	}
}

// TestEachPageIsInTheIndex: docs/README.md, which the site takes for its navigation, has each
// page of docs, once.
func TestEachPageIsInTheIndex(t *testing.T) {
	index, err := os.ReadFile(filepath.Join(root, "docs", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" && strings.Count(string(index), "]("+name+")") != 1 {
			t.Errorf("docs/README.md needs one row with a link to %s, in the section of its reader", name)
		}
	}
}

func expect(t *testing.T, document, target string) {
	t.Helper()
	if _, err := os.Stat(target); err != nil {
		t.Errorf("%s points at %s, which does not exist", document, target)
	}
}

// headings are those of a page, as links name them.
func headings(t *testing.T, page string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, heading := range title.FindAllStringSubmatch(fence.ReplaceAllString(string(text), "\n"), -1) {
		found[strings.ReplaceAll(slugged.ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-")] = true
	}
	return found
}

// documents are the pages for people: those at the top and below docs.
func documents(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(filepath.Join(root, "docs"), func(file string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(file, ".md") {
			pages = append(pages, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}
