package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// proof is a test as docs/conformance.md names it: its file, and the test,
// perhaps with a case of it.
var proof = regexp.MustCompile("`([a-z][^` ]*_test\\.go)` `(Test|Fuzz)(\\w+)(?:/([^`]+))?`")

// TestEachPromiseOfTheDesignsHasAProof: a row of the page names tests that are
// there, or says that there is none.
func TestEachPromiseOfTheDesignsHasAProof(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "conformance.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows, named := 0, 0
	for line := range strings.SplitSeq(string(text), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 2 || strings.HasPrefix(cells[1], "---") || cells[1] == " promise " {
			continue
		}
		rows++
		if len(cells) != 5 {
			t.Errorf("a row has a promise, its proof and what differs: %s", line)
			continue
		}
		if !proof.MatchString(cells[2]) && !strings.HasPrefix(cells[2], " unproven: ") {
			t.Errorf("%s has no proof; name a test, or write \"unproven: \" and why", cells[1])
		}
		for _, found := range proof.FindAllStringSubmatch(line, -1) {
			named++
			expectTest(t, found[1], found[2]+found[3], found[4])
		}
		if bare := regexp.MustCompile("`(Test|Fuzz)\\w").FindAllString(line, -1); len(bare) != len(proof.FindAllString(line, -1)) {
			t.Errorf("a test is named without its file, or in another form than `file_test.go` `TestName`: %s", line)
		}
	}
	if rows < 60 || named < rows {
		t.Errorf("the page has %d rows, which name %d tests: is it still read?", rows, named)
	}
}

// expectTest wants the test in the file. A case is a text of that file, or a
// story beside it.
func expectTest(t *testing.T, file, name, of string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Error(err)
		return
	}
	if !strings.Contains(string(text), "\nfunc "+name+"(") {
		t.Errorf("%s has no %s", file, name)
	}
	_, err = os.Stat(filepath.Join(root, filepath.Dir(file), "testdata", of+".txtar"))
	if of != "" && err != nil && !strings.Contains(string(text), of) {
		t.Errorf("%s has no case %q of %s", file, of, name)
	}
}
