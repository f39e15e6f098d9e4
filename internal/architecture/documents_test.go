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
	link  = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	named = regexp.MustCompile("`((?:api|cmd|docs|examples|internal|openapi|pkg|test)/[A-Za-z0-9_./-]+)`")
)

func TestDocumentsPointAtWhatExists(t *testing.T) {
	for _, document := range documents(t) {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range link.FindAllStringSubmatch(string(text), -1) {
			expect(t, document, filepath.Join(filepath.Dir(document), target[1]))
		}
		for _, target := range named.FindAllStringSubmatch(string(text), -1) {
			expect(t, document, filepath.Join(root, target[1]))
		}
	}
}

func expect(t *testing.T, document, target string) {
	t.Helper()
	if _, err := os.Stat(target); err != nil {
		t.Errorf("%s points at %s, which does not exist", document, target)
	}
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
